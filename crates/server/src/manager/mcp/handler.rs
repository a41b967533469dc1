//! What `rmcp` asks us for: who we are, which tools and resources there are, and what they give.

use std::sync::{Arc, LazyLock};

use http::header::AUTHORIZATION;
use http::request::Parts;
use league_agent::endpoint::bearer;
use league_wire::Json;
use league_wire::mcp::{INSTRUCTIONS, TOOLS, failure_of};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::errand::{self, Caller, Untried};
use super::{Peer, resource};
use crate::manager::Manager;

/// The tools as they are listed.
static LISTED: LazyLock<Vec<Tool>> =
    LazyLock::new(|| serde_json::from_str(TOOLS).expect("the list of tools is tested"));

/// The manager as `rmcp` sees it.
#[derive(Clone)]
pub(super) struct Handler {
    manager: Arc<Manager>,
}

type Context = RequestContext<RoleServer>;

impl Handler {
    pub(super) const fn new(manager: Arc<Manager>) -> Self {
        Self { manager }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let about = Implementation::new("league", env!("CARGO_PKG_VERSION"));
        let about = about.with_title("League manager");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(LISTED.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        LISTED.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let head = context.extensions.get::<Parts>();
        let Some(Peer(peer)) = head.and_then(|head| head.extensions.get::<Peer>()).copied() else {
            return Err(ErrorData::internal_error("nobody knows who called", None));
        };
        let shown = head.and_then(|head| bearer(head.headers.get(AUTHORIZATION)));
        let caller = Caller { peer, bearer: shown };
        let text = call.arguments.map(|arguments| serde_json::Value::Object(arguments).to_string());
        let arguments = text.as_deref().and_then(|text| Json::parse(text).ok());
        let told = errand::run(&self.manager, &call.name, arguments, caller).await;
        let told = told.map_err(|untried| match untried {
            Untried::NoSuchTool => no_such_tool(&call.name),
            Untried::TooMany(wait) => {
                let text = format!("too many requests; come back in {} s", wait.as_secs() + 1);
                ErrorData::internal_error(text, None)
            }
        })?;
        let structured = serde_json::from_str(&told.json).ok();
        let mut result = match told.no {
            Some(no) => CallToolResult::error(vec![ContentBlock::text(no)]),
            None => CallToolResult::success(vec![ContentBlock::text(told.json)]),
        };
        result.structured_content = structured;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resource::list(&self.manager)))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resource::templates()))
    }

    async fn read_resource(
        &self,
        wanted: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resource::read(&self.manager, &wanted.uri).map_err(|unread| {
            let text = match unread {
                resource::Unread::NoSuchAddress => {
                    "there is no such resource; resources/list and resources/templates/list say \
                     what there is"
                        .to_string()
                }
                resource::Unread::Refused(report) => failure_of(&report),
            };
            ErrorData::resource_not_found(text, None)
        })?;
        let contents = ResourceContents::text(read, wanted.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn no_such_tool(name: &str) -> ErrorData {
    let names: Vec<_> = LISTED.iter().map(|tool| &*tool.name).collect();
    let text = format!("there is no tool {name:?}; there are: {}", names.join(", "));
    ErrorData::invalid_params(text, None)
}
