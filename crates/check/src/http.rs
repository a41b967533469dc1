//! HTTP by hand: every byte is ours, so that it can be shown, cut short or held back.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use league_agent::address::Address;
use league_agent::ambient::Mark;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::limits::{ANSWER_BYTES_MAX, CONNECT_TIMEOUT};
use crate::transcript::{Transcript, Way};

/// An answer as it came.
#[derive(Debug, Clone)]
pub struct Got {
    /// The HTTP status.
    pub status: u16,
    /// The names, in lower case, and values of the head.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// How long it took from the beginning of the sending.
    pub after: Duration,
}

impl Got {
    /// The value of a header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// No connection.
    #[error("no connection: {0}")]
    NotConnected(String),
    /// The connection ended before the answer did.
    #[error("the connection ended before an answer had come: {0}")]
    Broken(String),
    /// No answer in time.
    #[error("no answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// What came is no answer of HTTP.
    #[error("what came is not an HTTP response: {0}")]
    NotHttp(&'static str),
    /// The answer has no end.
    #[error("the answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    /// Our own side failed.
    #[error("a failure of the checker's machine: {0}")]
    Ours(String),
}

/// A connection to an agent.
#[derive(Debug)]
pub struct Line {
    stream: TcpStream,
    read: Vec<u8>,
    transcript: Transcript,
    since: Mark,
}

/// The head of a POST to `address`, up to and including the empty line. `headers` are whole lines.
pub fn post_head(address: &Address, length: usize, headers: &[&str]) -> Vec<u8> {
    let (path, host, port) = (address.path(), address.host(), address.port());
    let mut head = format!("POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str(&format!("Content-Length: {length}\r\n\r\n"));
    head.into_bytes()
}

impl Line {
    /// Connects to `address`.
    ///
    /// # Errors
    /// If there is no connection.
    pub async fn open(address: &Address, transcript: Transcript) -> Result<Self, Trouble> {
        let host = address.host().to_string();
        let host = host.trim_matches(['[', ']']);
        let connecting = TcpStream::connect((host, address.port()));
        let stream = match timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) if is_ours(&error) => return Err(Trouble::Ours(error.to_string())),
            Ok(Err(error)) => return Err(Trouble::NotConnected(error.to_string())),
            Err(_) => return Err(Trouble::NotConnected(format!("none in {CONNECT_TIMEOUT:?}"))),
        };
        // Without it the last piece of a body may wait for an acknowledgement of the first.
        stream.set_nodelay(true).map_err(|error| Trouble::Ours(error.to_string()))?;
        Ok(Self { stream, read: Vec::new(), transcript, since: Mark::set() })
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// If the other side does not take them.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.since = Mark::set();
        self.transcript.record(Way::Sent, bytes);
        self.stream.write_all(bytes).await.map_err(|error| Trouble::Broken(error.to_string()))
    }

    /// Waits for one answer, at most `limit`.
    ///
    /// # Errors
    /// If there is none.
    pub async fn receive(&mut self, limit: Duration) -> Result<Got, Trouble> {
        let outcome = timeout(limit, self.read_answer()).await;
        let outcome = outcome.unwrap_or(Err(Trouble::TimedOut(limit)));
        if let Err(trouble) = &outcome {
            if !self.read.is_empty() {
                self.transcript.record(Way::Came, &self.read);
            }
            self.transcript.note(trouble.to_string());
        }
        outcome
    }

    async fn read_answer(&mut self) -> Result<Got, Trouble> {
        loop {
            let end = self.read_until_blank().await?;
            let head = Head::parse(&self.read[..end])?;
            if head.status < 200 {
                self.read.drain(..end);
                continue;
            }
            let (body, used) = self.read_body(&head, end).await?;
            self.transcript.record(Way::Came, &self.read[..used]);
            self.read.drain(..used);
            let after = self.since.elapsed();
            return Ok(Got { status: head.status, headers: head.headers, body, after });
        }
    }

    /// The place after the empty line that ends the head.
    async fn read_until_blank(&mut self) -> Result<usize, Trouble> {
        loop {
            if let Some(at) = find(&self.read, b"\r\n\r\n") {
                return Ok(at + 4);
            }
            if self.more().await? == 0 {
                let why = if self.read.is_empty() { "nothing came" } else { "half a head came" };
                return Err(Trouble::Broken(why.into()));
            }
        }
    }

    /// The body, and where it ends in what was read.
    async fn read_body(&mut self, head: &Head, start: usize) -> Result<(Bytes, usize), Trouble> {
        if head.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            loop {
                if let Some((body, used)) = unchunk(&self.read[start..])? {
                    return Ok((body.into(), start + used));
                }
                if self.more().await? == 0 {
                    return Err(Trouble::Broken("the last chunk is missing".into()));
                }
            }
        }
        let length = head.header("content-length").map(str::parse::<usize>);
        let Some(length) = length else {
            // The body ends with the connection.
            while self.more().await? > 0 {}
            return Ok((Bytes::copy_from_slice(&self.read[start..]), self.read.len()));
        };
        let length = length.map_err(|_| Trouble::NotHttp("Content-Length is not a number"))?;
        while self.read.len() < start + length {
            if self.more().await? == 0 {
                let got = self.read.len() - start;
                return Err(Trouble::Broken(format!("{got} of {length} bytes of the body came")));
            }
        }
        let end = start + length;
        Ok((Bytes::copy_from_slice(&self.read[start..end]), end))
    }

    async fn more(&mut self) -> Result<usize, Trouble> {
        if self.read.len() > ANSWER_BYTES_MAX {
            return Err(Trouble::TooLarge);
        }
        let outcome = self.stream.read_buf(&mut self.read).await;
        outcome.map_err(|error| Trouble::Broken(error.to_string()))
    }
}

struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        let text = str::from_utf8(bytes).map_err(|_| Trouble::NotHttp("its head is not text"))?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
        let status = status.and_then(|status| status.parse().ok());
        let status = status.ok_or(Trouble::NotHttp("it has no status line of HTTP/1.1"))?;
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string()));
        Ok(Self { status, headers: headers.collect() })
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A body in chunks and how long it was on the line; nothing while it is not complete.
fn unchunk(mut rest: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Trouble> {
    const WRONG: Trouble = Trouble::NotHttp("a chunk has no length");
    let (whole, mut body) = (rest.len(), Vec::new());
    loop {
        let Some(end) = find(rest, b"\r\n") else { return Ok(None) };
        let line = str::from_utf8(&rest[..end]).map_err(|_| WRONG)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| WRONG)?;
        if size > ANSWER_BYTES_MAX {
            return Err(Trouble::TooLarge);
        }
        rest = &rest[end + 2..];
        if size == 0 {
            let after = find(rest, b"\r\n").map(|end| &rest[end + 2..]);
            return Ok(after.map(|after| (body, whole - after.len())));
        }
        if rest.len() < size + 2 {
            return Ok(None);
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// No descriptors or ports left: the agent has no part in it.
fn is_ours(error: &io::Error) -> bool {
    const NO_DESCRIPTORS: [i32; 2] = [23, 24];
    let is_full = error.raw_os_error().is_some_and(|code| NO_DESCRIPTORS.contains(&code));
    is_full || error.kind() == io::ErrorKind::AddrNotAvailable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_put_together_once_they_are_complete() {
        let whole = b"3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\nrest";
        let (body, used) = unchunk(whole).unwrap().unwrap();
        assert_eq!((&body[..], &whole[used..]), (&b"abcde"[..], &b"rest"[..]));
        for length in 0..used {
            assert_eq!(unchunk(&whole[..length]).unwrap(), None, "{length}");
        }
        assert!(unchunk(b"x\r\n").is_err());
    }

    #[test]
    fn a_head_has_a_status_and_names_in_lower_case() {
        let head = Head::parse(b"HTTP/1.1 200 OK\r\nContent-Type: a\r\n\r\n").unwrap();
        assert_eq!((head.status, head.header("content-type")), (200, Some("a")));
        assert!(Head::parse(b"220 smtp\r\n\r\n").is_err());
    }
}
