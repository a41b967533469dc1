//! A stranger's HTTP: requests written to a plain socket, answers read from it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Nothing in these tests takes longer unless it is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The JSON-RPC result.
    pub(crate) fn result(&self) -> Value {
        let json = self.json();
        assert!(json.get("error").is_none(), "expected a result, got {}", self.body);
        json["result"].clone()
    }

    /// The JSON-RPC error.
    pub(crate) fn error(&self) -> Value {
        let json = self.json();
        assert!(json.get("result").is_none(), "expected an error, got {}", self.body);
        json["error"].clone()
    }

    /// The catalogue's code of a refusal, which stands in `error.data`.
    pub(crate) fn code(&self) -> String {
        let error = self.error();
        let code = error["data"]["error_code"].as_str();
        code.unwrap_or_else(|| panic!("no error_code in {}", self.body)).into()
    }
}

/// Posts `body` to `/mcp`.
pub(crate) fn post(address: SocketAddr, body: &str) -> Reply {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    exchange(address, &format!("{head}{body}"))
}

/// Posts a JSON document to `/mcp`.
pub(crate) fn send(address: SocketAddr, json: &Value) -> Reply {
    post(address, &json.to_string())
}

/// Asks for a page with `method`.
pub(crate) fn page(address: SocketAddr, method: &str, path: &str) -> Reply {
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    exchange(address, &request)
}

/// Writes a whole request as it is and reads the answer.
pub(crate) fn exchange(address: SocketAddr, request: &str) -> Reply {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket has a timeout");
    stream.write_all(request.as_bytes()).expect("the request is taken");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer in time");
    let (head, body) = text.split_once("\r\n\r\n").expect("an HTTP answer");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Reply { status: status.expect("a status"), head: head.into(), body: body.into() }
}

/// The head and body of a request that arrived; `None` when the caller has hung up.
pub(crate) fn receive(reader: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).expect("JSON is UTF-8")))
}

/// Answers a request with `body`.
pub(crate) fn answer(stream: &mut TcpStream, body: &str) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
}
