//! The other side of a connection: takes what arrives, finds the request it belongs to, notes what is wrong with it.
//!
//! Owns: [`Peer`], the one [`Inbox`] of a connection. May use: `rpc`, `json`, `transport`'s plain data.
//! Must not: wait. What it sends goes through a bounded queue, so that a server that does not read cannot stop our reading.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::declares::{ClientDeclares, Root};
use super::dialect::{Dialect, Stop};
use super::error::CallError;
use super::findings::{Finding, KEPT, Throttle};
use super::notices::{Log, Tail};
use super::table::{Arrival, Pending, Table, WaitKind, later};
use super::{Direction, Observer};
use crate::json::{Limits as JsonLimits, Raw};
use crate::rpc::Id;
use crate::transport::{Closed, Inbox, Incoming, Outgoing, Transport};

/// Messages of ours that may wait to be sent without a caller: answers and cancellations.
const QUEUE: usize = 1_000;
/// Lines of noise kept.
const KEPT_NOISE: usize = 1_000;
/// Lines of stderr kept.
const KEPT_STDERR: usize = 50;

/// The other side of a connection.
pub(super) struct Peer {
    pub(super) state: Mutex<State>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) declares: ClientDeclares,
    pub(super) json: JsonLimits,
    /// How long a request may go on that cannot succeed any more.
    pub(super) grace: Duration,
    dialect: OnceLock<Arc<dyn Dialect>>,
    transport: OnceLock<Weak<dyn Transport>>,
    queue: mpsc::Sender<Outgoing>,
    clock: Arc<Notify>,
}

/// What changes while a connection lives.
pub(super) struct State {
    pub table: Table,
    /// When the clock looks again; none while it sleeps.
    pub wake: Option<Instant>,
    pub closed: Option<Closed>,
    pub notices: Log,
    pub logs: Log,
    pub noise: Tail,
    pub stderr: Tail,
    /// Whether stderr was cut off at some point, so that `stderr` is all that counts.
    pub stderr_cut: bool,
    pub throttle: Throttle,
    pub roots: Option<Vec<Root>>,
    /// Ids that the server used for its requests.
    pub server_ids: HashSet<Id>,
    /// Counts `notifications/tools/list_changed`.
    pub tools_changed: u64,
    /// The server's capabilities, once known.
    pub capabilities: Option<Raw>,
}

/// What is to be done once the state is unlocked.
#[derive(Default)]
pub(super) struct Effects {
    pub findings: Vec<Finding>,
    pub progress: Option<(Option<String>, Option<f64>, Option<f64>)>,
    pub send: Vec<Outgoing>,
}

impl Peer {
    /// A peer, and the queue of what it wants to send.
    pub fn new(
        observer: Arc<dyn Observer>,
        declares: ClientDeclares,
        json: JsonLimits,
        grace: Duration,
    ) -> (Arc<Self>, mpsc::Receiver<Outgoing>) {
        let (queue, receiver) = mpsc::channel(QUEUE);
        let state = State {
            table: Table::default(),
            wake: None,
            closed: None,
            notices: Log::default(),
            logs: Log::default(),
            noise: Tail::new(KEPT_NOISE),
            stderr: Tail::new(KEPT_STDERR),
            stderr_cut: false,
            throttle: Throttle::default(),
            roots: declares.roots.clone(),
            server_ids: HashSet::new(),
            tools_changed: 0,
            capabilities: None,
        };
        let peer = Self {
            state: Mutex::new(state),
            observer,
            declares,
            json,
            grace,
            dialect: OnceLock::new(),
            transport: OnceLock::new(),
            queue,
            clock: Arc::default(),
        };
        (Arc::new(peer), receiver)
    }

    /// Names the transport. It is not kept alive: its tasks keep the peer.
    pub fn attach(&self, transport: &Arc<dyn Transport>) {
        // Called once, by the link that made both.
        _ = self.transport.set(Arc::downgrade(transport));
    }

    /// Sets the era, once it is known.
    pub fn speak(&self, dialect: Arc<dyn Dialect>) {
        _ = self.dialect.set(dialect);
    }

    /// The era, once it is known.
    pub fn dialect(&self) -> Option<&Arc<dyn Dialect>> {
        self.dialect.get()
    }

    /// Keeps the server's capabilities, against which what it sends is held.
    pub fn knows(&self, capabilities: Raw) {
        self.state().capabilities = Some(capabilities);
    }

    pub(super) fn transport(&self) -> Option<Arc<dyn Transport>> {
        self.transport.get()?.upgrade()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the task that watches deadlines.
    pub fn clock(&self) -> Arc<Notify> {
        Arc::clone(&self.clock)
    }

    /// Adds a request that is about to be sent.
    pub fn register(
        &self,
        id: Id,
        method: Cow<'static, str>,
        silence: Duration,
        kind: WaitKind,
    ) -> Result<oneshot::Receiver<Arrival>, CallError> {
        let mut state = self.state();
        if let Some(closed) = &state.closed {
            return Err(CallError::Closed { method: method.into_owned(), closed: closed.clone(), stray: None });
        }
        let (pending, receiver) = Pending::new(method, kind, silence, Instant::now());
        self.wake_by(&mut state, pending.deadline());
        state.table.insert(id, pending);
        Ok(receiver)
    }

    /// The number that the next notification gets.
    pub fn notices(&self) -> u64 {
        self.state().notices.next()
    }

    /// The notifications from a number on.
    pub fn notices_since(&self, from: u64) -> Vec<Raw> {
        let state = self.state();
        if state.notices.next() == from { Vec::new() } else { state.notices.since(from) }
    }

    /// True where a request with this id is under way.
    pub fn waits(&self, id: &Id) -> bool {
        self.state().table.waits(id)
    }

    /// How often the server announced other tools.
    pub fn tools_changed(&self) -> u64 {
        self.state().tools_changed
    }

    /// Changes what `roots/list` is answered with.
    pub fn set_roots(&self, roots: Vec<Root>) {
        self.state().roots = Some(roots);
    }

    /// Why the connection is over, where it is.
    pub fn over(&self) -> Option<Closed> {
        self.state().closed.clone()
    }

    /// Gives a request up; the server is told where that is its era's way.
    pub fn give_up(&self, id: &Id, reason: &str) {
        let given_up = self.state().table.give_up(id);
        if given_up.is_some_and(|pending| pending.is_cancellable()) {
            self.stop(id, reason);
        }
    }

    /// Notes that a request could not be sent. Why may still arrive: the end of the process.
    pub fn send_failed(&self, id: &Id, cause: String) {
        let until = later(Instant::now(), Duration::from_millis(250));
        let mut state = self.state();
        if let Some(pending) = state.table.get(id) {
            pending.send_failed(cause, until);
            self.wake_by(&mut state, until);
        }
    }

    /// Makes sure that the clock looks by `deadline`.
    pub(super) fn wake_by(&self, state: &mut State, deadline: Instant) {
        if state.wake.is_none_or(|wake| deadline < wake) {
            state.wake = Some(deadline);
            self.clock.notify_one();
        }
    }

    /// Ends the requests whose time is over; says when to look again.
    pub fn expire(&self, now: Instant) -> Option<Instant> {
        let (expired, next) = {
            let mut state = self.state();
            let expired = state.table.expired(now);
            state.wake = state.table.next_deadline();
            (expired, state.wake)
        };
        for (id, pending) in expired {
            if pending.is_cancellable() {
                self.stop(&id, "the request timed out");
            }
            pending.expire();
        }
        next
    }

    fn stop(&self, id: &Id, reason: &str) {
        if let Some(dialect) = self.dialect()
            && let Stop::Notify(message) = dialect.stop(id, reason)
        {
            self.queue(message);
        }
        // Over HTTP nobody reads the answer's stream any more, whatever it means to the server that it closes.
        if let Some(transport) = self.transport() {
            transport.abandon(id);
        }
    }

    /// Queues a message that no caller waits for.
    pub(super) fn queue(&self, message: Outgoing) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(message) {
            self.find([Finding::new(KEPT, "the server asks faster than it reads our answers; some are not sent")]);
        }
    }

    /// Passes findings on, unless there are too many of a kind.
    pub fn find(&self, findings: impl IntoIterator<Item = Finding>) {
        let passed: Vec<Finding> = {
            let mut state = self.state();
            findings.into_iter().filter_map(|finding| state.throttle.pass(finding)).collect()
        };
        for finding in passed {
            self.observer.finding(finding);
        }
    }

    /// Does what was noted while the state was locked.
    pub(super) fn apply(&self, effects: Effects) {
        if !effects.findings.is_empty() {
            self.find(effects.findings);
        }
        if let Some((message, progress, total)) = effects.progress {
            self.observer.progress(message.as_deref(), progress, total);
        }
        for message in effects.send {
            self.queue(message);
        }
    }

    /// From here on stderr counts: what came before was caused by our probe.
    pub fn cut_stderr(&self) {
        let mut state = self.state();
        state.stderr.clear();
        state.stderr_cut = true;
    }

    /// The last lines on stderr, where some of them do not count; none where all do.
    pub fn stderr(&self) -> Option<Vec<String>> {
        let state = self.state();
        state.stderr_cut.then(|| state.stderr.lines())
    }

    fn closed(&self, mut closed: Closed) {
        let waiting = {
            let mut state = self.state();
            if state.stderr_cut {
                closed.stderr = state.stderr.lines();
            }
            state.closed.get_or_insert_with(|| closed.clone());
            state.table.drain()
        };
        for pending in waiting {
            pending.close(closed.clone());
        }
    }

    /// Ends one request without an answer; false where it does not wait.
    pub(super) fn fail(&self, id: &Id, error: impl FnOnce(&str) -> CallError) -> bool {
        let Some(pending) = self.state().table.take(id) else {
            return false;
        };
        let error = error(pending.method());
        pending.fail(error);
        true
    }
}

impl Inbox for Peer {
    fn deliver(&self, incoming: Incoming) {
        match incoming {
            Incoming::Frame { bytes, via } => self.frame(bytes, &via),
            Incoming::HttpProblem { id, answer } => self.http_problem(id.as_ref(), answer),
            Incoming::StreamEnded { id, cause } => {
                self.fail(&id, |method| {
                    CallError::Transport(format!(
                        "the stream ended without an answer to {method} (request {id}): {cause}"
                    ))
                });
            }
            Incoming::Failed { id, cause } => self.not_delivered(id.as_ref(), cause),
            Incoming::Stderr(line) => {
                self.state().stderr.push(&line);
                self.observer.stderr(&line);
            }
            Incoming::Remark { id, message } => self.find([Finding::remarked(id, message)]),
            Incoming::Closed(closed) => self.closed(closed),
        }
    }

    fn sent(&self, text: &str) {
        self.observer.frame(Direction::Sent, text);
    }
}
