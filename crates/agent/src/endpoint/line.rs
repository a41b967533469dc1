//! A connection that does not wait for ever: neither for the first byte, nor for somebody who does
//! not read.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// One connection.
pub(super) struct Line {
    stream: TcpStream,
    /// Runs until something has been read.
    first_byte: Option<Pin<Box<Sleep>>>,
    /// Runs while something is written that the other side does not take.
    stuck: Option<Pin<Box<Sleep>>>,
    write_timeout: Duration,
}

impl Line {
    pub(super) fn new(
        stream: TcpStream,
        first_byte_timeout: Duration,
        write_timeout: Duration,
    ) -> Self {
        let first_byte = Some(Box::pin(sleep(first_byte_timeout)));
        Self { stream, first_byte, stuck: None, write_timeout }
    }

    /// The outcome of a write of `wanted` bytes. Only a write that takes all of it stops the timer:
    /// whoever reads a byte now and then does not get any longer than the others.
    fn written(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
        wanted: usize,
    ) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(Ok(written)) if written < wanted => {
                self.stuck.get_or_insert_with(|| Box::pin(sleep(self.write_timeout)));
                outcome
            }
            Poll::Ready(_) => {
                self.stuck = None;
                outcome
            }
            Poll::Pending => {
                let stuck = self.stuck.get_or_insert_with(|| Box::pin(sleep(self.write_timeout)));
                stuck.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.first_byte = None;
        }
        match (&outcome, &mut self.first_byte) {
            (Poll::Pending, Some(timer)) => {
                timer.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
            }
            (Poll::Pending, None) | (Poll::Ready(_), _) => outcome,
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(cx, outcome, buf.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(cx, outcome, bufs.iter().map(|buf| buf.len()).sum())
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
