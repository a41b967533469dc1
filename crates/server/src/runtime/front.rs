//! What answers at the manager's endpoint: the manager, and before it whoever lets others in.

use std::net::SocketAddr;
use std::sync::Arc;

use league_agent::endpoint::Service;

use crate::manager::Manager;

/// The manager that listens on `address`, with clients of the Model Context Protocol let in.
#[cfg(feature = "mcp")]
pub(super) fn front(
    manager: Arc<Manager>,
    address: SocketAddr,
    hosts: &[String],
) -> Arc<impl Service> {
    use crate::manager::{Hosts, Reception};

    Arc::new(Reception::new(manager, Hosts::of_server(address, hosts)))
}

/// The manager that listens on `address`; it speaks the dialects of the league alone.
#[cfg(not(feature = "mcp"))]
pub(super) fn front(
    manager: Arc<Manager>,
    _address: SocketAddr,
    _hosts: &[String],
) -> Arc<impl Service> {
    manager
}
