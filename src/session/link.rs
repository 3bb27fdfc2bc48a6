//! A connection with the tasks that serve it, and the one way in which a request goes out and its answer comes back.
//!
//! Owns: [`Link`], [`Waiting`]. May use: `transport`, `rpc`. Must not: know the eras.

use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::Observer;
use super::declares::ClientDeclares;
use super::dialect::Wire;
use super::error::CallError;
use super::open_error::OpenError;
use super::peer::Peer;
use super::table::{Arrival, WaitKind};
use super::target::{Endpoint, HttpFlavor, Target};
use crate::json::{Limits as JsonLimits, Raw};
use crate::rpc::{Id, RpcError};
use crate::transport::http::{ClientOptions, Http, HttpOptions, OldSse, display_url};
use crate::transport::stdio::{Stdio, StdioOptions};
use crate::transport::{Inbox, Outgoing, OutgoingKind, SendError, Transport};

/// The longest that a message without an answer holds up the next one over HTTP; it goes on by itself.
const ONE_WAY: Duration = Duration::from_secs(2);

/// A connection. Dropping it ends its tasks, and with them the child process.
pub(super) struct Link {
    pub peer: Arc<Peer>,
    pub transport: Arc<dyn Transport>,
    pub wire: Wire,
    tasks: [AbortHandle; 2],
}

impl Drop for Link {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answered {
    /// Result or error.
    pub outcome: Result<Raw, RpcError>,
    /// HTTP status it came with.
    pub status: Option<u16>,
    /// When it came.
    pub at: Instant,
}

impl Link {
    /// Starts the server or prepares the connection to it.
    pub fn connect(
        target: &Target,
        flavor: HttpFlavor,
        declares: &ClientDeclares,
        observer: &Arc<dyn Observer>,
    ) -> Result<Self, OpenError> {
        let json = JsonLimits { bytes: target.limits.max_message, ..JsonLimits::default() };
        let (peer, queue) = Peer::new(Arc::clone(observer), declares.clone(), json, target.limits.grace);
        let inbox: Arc<dyn Inbox> = peer.clone();
        let transport = transport(target, flavor, inbox)?;
        peer.attach(&transport);
        let wire = if transport.label() == "http" { Wire::Http } else { Wire::Pipe };
        let pump = tokio::spawn(pump(Arc::downgrade(&transport), wire, queue)).abort_handle();
        let clock = tokio::spawn(clock(Arc::downgrade(&peer), peer.clock())).abort_handle();
        Ok(Self { peer, transport, wire, tasks: [pump, clock] })
    }

    /// Sends a request and waits for its answer, which may be silent for `silence`.
    pub async fn ask(
        &self,
        message: Outgoing,
        method: Cow<'static, str>,
        silence: Duration,
    ) -> Result<Answered, CallError> {
        self.start(message, method, silence, WaitKind::Ordinary)?.answer().await
    }

    /// Registers a request; it is sent, and its answer read, by waiting.
    pub fn start(
        &self,
        message: Outgoing,
        method: Cow<'static, str>,
        silence: Duration,
        kind: WaitKind,
    ) -> Result<Waiting<'_>, CallError> {
        let OutgoingKind::Request(id) = &message.kind else {
            return Err(CallError::Transport(format!("{method} carries no id that an answer could have")));
        };
        let id = id.clone();
        let arrival = self.peer.register(id.clone(), method, silence, kind)?;
        Ok(Waiting { link: self, id: Some(id), message: Some(message), arrival })
    }

    /// Registers a request that is sent by other means.
    pub fn wait(
        &self,
        id: Id,
        method: Cow<'static, str>,
        silence: Duration,
        kind: WaitKind,
    ) -> Result<Waiting<'_>, CallError> {
        let arrival = self.peer.register(id.clone(), method, silence, kind)?;
        Ok(Waiting { link: self, id: Some(id), message: None, arrival })
    }

    /// Sends a message that is not answered.
    pub async fn tell(&self, method: &str, message: Outgoing, limit: Duration) -> Result<(), CallError> {
        if let Some(closed) = self.peer.over() {
            return Err(CallError::Closed { method: method.to_owned(), closed, stray: None });
        }
        match timeout(limit, self.transport.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(CallError::Transport(format!("{method} could not be sent: {}", error.0))),
            Err(_) => Err(CallError::Timeout {
                method: method.to_owned(),
                after: limit,
                progress: 0,
                last: None,
                stray: Some("the server does not read what is sent to it".to_owned()),
            }),
        }
    }

    /// The last lines on stderr that count.
    pub fn stderr(&self) -> Vec<String> {
        self.peer.stderr().unwrap_or_else(|| self.transport.stderr_tail())
    }
}

/// A request under way. Dropping it gives the request up.
pub(super) struct Waiting<'a> {
    link: &'a Link,
    id: Option<Id>,
    message: Option<Outgoing>,
    arrival: oneshot::Receiver<Arrival>,
}

impl Waiting<'_> {
    /// False once its answer was taken.
    pub const fn is_open(&self) -> bool {
        self.id.is_some()
    }

    /// Sends the request where that was not done yet, and waits for its answer. May be dropped and called again.
    pub async fn arrived(&mut self) -> Result<Answered, CallError> {
        if let Some(message) = self.message.take() {
            let id = self.id.clone();
            let sent = self.link.transport.send(message);
            tokio::select! {
                biased;
                sent = sent => {
                    if let (Err(error), Some(id)) = (sent, &id) {
                        self.link.peer.send_failed(id, error.0);
                    }
                }
                arrival = &mut self.arrival => return self.open(arrival),
            }
        }
        let arrival = (&mut self.arrival).await;
        self.open(arrival)
    }

    /// As [`Waiting::arrived`], for those who wait once.
    pub async fn answer(mut self) -> Result<Answered, CallError> {
        self.arrived().await
    }

    fn open(&mut self, arrival: Result<Arrival, oneshot::error::RecvError>) -> Result<Answered, CallError> {
        // What has arrived is off the table: there is nothing left to give up.
        self.id = None;
        match arrival {
            Ok(Arrival::Reply { outcome, status, at }) => Ok(Answered { outcome, status, at }),
            Ok(Arrival::Failed(error)) => Err(error),
            Err(_) => Err(CallError::Transport("the request was given up".to_owned())),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.link.peer.give_up(id, "the request was given up");
        }
    }
}

fn transport(target: &Target, flavor: HttpFlavor, inbox: Arc<dyn Inbox>) -> Result<Arc<dyn Transport>, OpenError> {
    match &target.endpoint {
        Endpoint::Command { program, args, env, env_clear, env_remove, cwd } => {
            let options = StdioOptions {
                program: program.clone(),
                args: args.clone(),
                env: env.clone(),
                env_clear: *env_clear,
                env_remove: env_remove.clone(),
                cwd: cwd.clone(),
                max_message: target.limits.max_message,
            };
            match Stdio::spawn(&options, inbox) {
                Ok(stdio) => Ok(stdio),
                Err(error) => Err(OpenError::Spawn { program: error.program, cause: error.cause, hint: error.hint }),
            }
        }
        Endpoint::Http { url, headers, insecure, cacert, proxy, .. } => {
            let refused = |cause: String| OpenError::Spawn { program: display_url(url), cause, hint: None };
            let options = HttpOptions {
                headers: headers.clone(),
                client: ClientOptions {
                    insecure: *insecure,
                    cacert: cacert.clone(),
                    proxy: proxy.clone(),
                    connect_timeout: Some(target.limits.connect_timeout),
                },
                max_message: target.limits.max_message,
                ..HttpOptions::new(url.clone())
            };
            let made: Result<Arc<dyn Transport>, SendError> = match flavor {
                HttpFlavor::Sse => OldSse::new(&options, inbox).map(|sse| sse as Arc<dyn Transport>),
                HttpFlavor::Auto | HttpFlavor::Streamable => Http::new(&options, inbox).map(|http| http as _),
            };
            made.map_err(|error| refused(error.0))
        }
        Endpoint::Memory(memory) => Ok(memory.open(inbox)),
    }
}

/// Sends what no caller waits for: answers to the server's requests, cancellations.
/// It does not keep the transport alive: dropping the link ends the child at once.
async fn pump(transport: Weak<dyn Transport>, wire: Wire, mut queue: mpsc::Receiver<Outgoing>) {
    while let Some(message) = queue.recv().await {
        let Some(transport) = transport.upgrade() else { return };
        let sent = transport.send(message);
        // What fails here shows at the next request, with its cause.
        match wire {
            Wire::Pipe => _ = sent.await,
            Wire::Http => _ = timeout(ONE_WAY, sent).await,
        }
    }
}

/// Ends requests whose time is over. One task for all of them: most requests are answered before it looks.
async fn clock(peer: Weak<Peer>, poked: Arc<Notify>) {
    loop {
        let next = match peer.upgrade() {
            Some(peer) => peer.expire(Instant::now()),
            None => return,
        };
        match next {
            Some(deadline) => {
                tokio::select! {
                    () = sleep_until(deadline) => {}
                    () = poked.notified() => {}
                }
            }
            None => poked.notified().await,
        }
    }
}
