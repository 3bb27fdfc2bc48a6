//! Writes whole lines to a child's stdin.
//!
//! Owns: stdin and the rest of a line that was not written in full. May use: nothing of ours.
//! Must not: read, or know what a line means.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;
use tokio::sync::{Mutex as Turn, watch};

/// Why a line could not be written.
#[derive(Debug)]
pub(super) enum WriteFault {
    /// Stdin was closed on our side.
    Closed,
    /// The other side is gone, or the system refused.
    Broken(io::Error),
}

/// Stdin, for any number of senders. A sender that gives up in the middle of its line leaves the rest of it here,
/// and the next sender writes that first: a frame is never cut by the next one.
#[derive(Debug)]
pub(super) struct Writer {
    /// Senders take turns, first come first served.
    turn: Turn<()>,
    /// Locked only while polling, so that closing never waits for a sender.
    pipe: Mutex<Pipe>,
    closed: watch::Sender<bool>,
}

#[derive(Debug)]
struct Pipe {
    stdin: Option<ChildStdin>,
    line: Vec<u8>,
    written: usize,
}

impl Writer {
    pub(super) fn new(stdin: Option<ChildStdin>) -> Self {
        Self {
            turn: Turn::new(()),
            pipe: Mutex::new(Pipe { stdin, line: Vec::new(), written: 0 }),
            closed: watch::Sender::new(false),
        }
    }

    /// Writes `line`, which brings its own line end; `announce` sees it when its first byte is about to go out.
    pub(super) async fn send(&self, line: String, announce: impl FnOnce(&str)) -> Result<(), WriteFault> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            done = self.write(line, announce) => done,
            _ = closed.wait_for(|closed| *closed) => Err(WriteFault::Closed),
        }
    }

    async fn write(&self, line: String, announce: impl FnOnce(&str)) -> Result<(), WriteFault> {
        let _turn = self.turn.lock().await;
        poll_fn(|cx| self.pipe().poll_flush(cx)).await?;
        announce(&line);
        {
            let mut pipe = self.pipe();
            pipe.line = line.into_bytes();
            pipe.written = 0;
        }
        poll_fn(|cx| self.pipe().poll_flush(cx)).await
    }

    /// Closes stdin at once; waiting senders are refused.
    pub(super) fn close(&self) {
        let mut pipe = self.pipe();
        pipe.stdin = None;
        pipe.line = Vec::new();
        pipe.written = 0;
        drop(pipe);
        self.closed.send_replace(true);
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipe {
    /// Writes what is left of the line.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), WriteFault>> {
        let Some(stdin) = &mut self.stdin else {
            return Poll::Ready(Err(WriteFault::Closed));
        };
        while self.written < self.line.len() {
            match ready!(Pin::new(&mut *stdin).poll_write(cx, &self.line[self.written..])) {
                Ok(0) => return Poll::Ready(Err(WriteFault::Broken(io::ErrorKind::WriteZero.into()))),
                Ok(count) => self.written += count,
                Err(error) => {
                    self.line = Vec::new();
                    self.written = 0;
                    return Poll::Ready(Err(WriteFault::Broken(error)));
                }
            }
        }
        self.line = Vec::new();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}
