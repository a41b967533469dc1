//! A small HTTP server and client by hand, for agents that are wrong about HTTP itself.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) get: bool,
    pub(crate) path: String,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Which one it is on its connection, counted from one.
    pub(crate) number: usize,
}

/// What goes back; nothing at all if there is none.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// In the middle of a request.
    Within,
    /// Between two requests.
    Between,
}

pub(crate) trait Front: Send + Sync + 'static {
    fn answer(&self, asked: Asked) -> impl Future<Output = Option<Told>> + Send;
    fn ended(&self, ended: Ended);
    /// Whether only one connection is served at a time.
    fn is_single(&self) -> bool;
}

pub(crate) async fn serve(listener: TcpListener, front: Arc<impl Front>) {
    let one = Arc::new(Mutex::new(()));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (front, one) = (front.clone(), one.clone());
        connections.spawn(async move {
            let _alone = if front.is_single() { Some(one.lock().await) } else { None };
            converse(stream, &*front).await;
        });
    }
}

async fn converse(mut stream: TcpStream, front: &impl Front) {
    let (mut read, mut number) = (Vec::new(), 0);
    loop {
        let end = loop {
            if let Some(at) = read.windows(4).position(|part| part == b"\r\n\r\n") {
                break at + 4;
            }
            if !more(&mut stream, &mut read).await {
                front.ended(Ended::Between);
                return;
            }
        };
        let head = String::from_utf8_lossy(&read[..end]).to_string();
        let lower = head.to_ascii_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        while read.len() < end + length {
            if !more(&mut stream, &mut read).await {
                front.ended(Ended::Within);
                return;
            }
        }
        let body = read[end..end + length].to_vec();
        read.drain(..end + length);
        number += 1;
        let path = head.split(' ').nth(1).unwrap_or_default().to_string();
        let is_last = lower.contains("connection: close");
        let asked = Asked { get: head.starts_with("GET"), path, head: lower, body, number };
        let Some(Told { status, content_type, body }) = front.answer(asked).await else { return };
        let head = format!(
            "HTTP/1.1 {status} Told\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let answer = [head.into_bytes(), body].concat();
        if stream.write_all(&answer).await.is_err() && !is_last {
            front.ended(Ended::Between);
            return;
        }
        if is_last {
            return;
        }
    }
}

/// Reads more; whether anything came.
async fn more(stream: &mut TcpStream, read: &mut Vec<u8>) -> bool {
    stream.read_buf(read).await.is_ok_and(|count| count > 0)
}
