//! A pair in memory: a transport and the peer that plays the server. For tests and for embedding.
//!
//! Owns: the two queues. May use: `rpc`, `sensitive`. Must not: look into a message.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use super::{BoxFuture, Closed, Ending, Inbox, Incoming, Outgoing, SendError, Transport, Via};
use crate::rpc::Id;
use crate::sensitive::Sensitive;

/// Messages that may wait for the peer before sending waits.
const QUEUE: usize = 64;

/// Makes a connected pair. What the transport sends, the peer receives; what the peer sends, `inbox` gets.
pub fn pair(inbox: Arc<dyn Inbox>) -> (Arc<dyn Transport>, MemoryPeer) {
    let (queue, messages) = mpsc::channel(QUEUE);
    let line = Arc::new(Line { inbox, over: AtomicBool::new(false) });
    let transport = Memory { line: Arc::clone(&line), queue: Mutex::new(Some(queue)) };
    (Arc::new(transport), MemoryPeer { line, messages })
}

struct Line {
    inbox: Arc<dyn Inbox>,
    over: AtomicBool,
}

impl Line {
    fn close(&self, cause: &str) {
        if !self.over.swap(true, Ordering::AcqRel) {
            let closed = Closed { cause: cause.to_owned(), code: None, stderr: Vec::new() };
            self.inbox.deliver(Incoming::Closed(closed));
        }
    }
}

struct Memory {
    line: Arc<Line>,
    queue: Mutex<Option<mpsc::Sender<String>>>,
}

impl Memory {
    fn hang_up(&self) -> Option<mpsc::Sender<String>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Transport for Memory {
    fn label(&self) -> &'static str {
        "memory"
    }

    fn send<'a>(&'a self, message: Outgoing) -> BoxFuture<'a, Result<(), SendError>> {
        Box::pin(async move {
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(queue) = queue else {
                return Err(SendError("the connection was closed by us".to_owned()));
            };
            let Ok(place) = queue.reserve().await else {
                return Err(SendError("the peer is gone".to_owned()));
            };
            self.line.inbox.sent(&message.body);
            place.send(message.body);
            Ok(())
        })
    }

    fn abandon(&self, _id: &Id) {}

    fn listen(&self, _headers: Vec<(Cow<'static, str>, Sensitive<String>)>) {}

    fn close_stdin<'a>(&'a self) -> BoxFuture<'a, ()> {
        drop(self.hang_up());
        Box::pin(std::future::ready(()))
    }

    fn stderr_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn close<'a>(
        &'a self,
        _grace: Duration,
        _headers: Vec<(Cow<'static, str>, Sensitive<String>)>,
    ) -> BoxFuture<'a, Ending> {
        drop(self.hang_up());
        self.line.close("closed by us");
        Box::pin(std::future::ready(Ending { how: "closed".to_owned(), killed: false }))
    }
}

/// The other end of a [`pair`]. Dropping it ends the connection.
pub struct MemoryPeer {
    line: Arc<Line>,
    messages: mpsc::Receiver<String>,
}

impl MemoryPeer {
    /// The next message of the transport; none once it closed its side.
    pub async fn receive(&mut self) -> Option<String> {
        self.messages.recv().await
    }

    /// Delivers a frame, as if it had come as a line on stdout.
    pub fn send(&self, text: impl Into<Vec<u8>>) {
        self.deliver(Incoming::Frame { bytes: text.into(), via: Via::Pipe });
    }

    /// Delivers anything; nothing once the connection is over.
    pub fn deliver(&self, incoming: Incoming) {
        if !self.line.over.load(Ordering::Acquire) {
            self.line.inbox.deliver(incoming);
        }
    }

    /// Ends the connection with this cause.
    pub fn close(&self, cause: &str) {
        self.line.close(cause);
    }
}

impl Drop for MemoryPeer {
    fn drop(&mut self) {
        self.line.close("the peer is gone");
    }
}

impl std::fmt::Debug for MemoryPeer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryPeer").field("over", &self.line.over).finish_non_exhaustive()
    }
}
