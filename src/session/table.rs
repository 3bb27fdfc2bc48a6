//! The requests that wait for an answer, and when each of them has waited long enough.
//!
//! Owns: [`Table`], [`Pending`], [`Arrival`]. May use: `rpc`, `json`. Must not: send, or read a clock.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::CallError;
use crate::json::Raw;
use crate::rpc::{Id, RpcError};
use crate::transport::Closed;

/// Ids of requests that were given up, kept to tell a late answer from a second one.
const KEPT_GIVEN_UP: usize = 1_000;

/// Why a request waits; the opening's own are never cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitKind {
    /// `server/discover` as the first message; an answer without a usable id is its answer.
    Probe,
    /// `initialize`.
    Initialize,
    /// Anything else.
    Ordinary,
    /// A frame written by hand, with an id of its own.
    Written,
    /// A frame written by hand that has no id: the next error without one is its answer.
    Nameless,
}

/// What a waiting request gets.
#[derive(Debug)]
pub(super) enum Arrival {
    /// Its answer.
    Reply {
        /// Result or error.
        outcome: Result<Raw, RpcError>,
        /// HTTP status it came with.
        status: Option<u16>,
        /// When it came.
        at: Instant,
    },
    /// Why there is none.
    Failed(CallError),
}

/// A request for input that came while this one waited.
#[derive(Debug)]
pub(super) struct Unanswered {
    /// What was asked, one each.
    pub questions: Vec<String>,
    /// The first request that asked.
    pub raw: Raw,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Pending {
    method: Cow<'static, str>,
    kind: WaitKind,
    reply: oneshot::Sender<Arrival>,
    silence: Duration,
    deadline: Instant,
    progress: usize,
    last_value: Option<f64>,
    last_words: Option<String>,
    unanswered: Option<Unanswered>,
    send_failed: Option<String>,
    stray: Option<String>,
}

impl Pending {
    /// A request that may be silent for `silence` from `now` on.
    pub fn new(
        method: Cow<'static, str>,
        kind: WaitKind,
        silence: Duration,
        now: Instant,
    ) -> (Self, oneshot::Receiver<Arrival>) {
        let (reply, receiver) = oneshot::channel();
        let pending = Self {
            method,
            kind,
            reply,
            silence,
            deadline: later(now, silence),
            progress: 0,
            last_value: None,
            last_words: None,
            unanswered: None,
            send_failed: None,
            stray: None,
        };
        (pending, receiver)
    }

    /// When it has waited long enough.
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Its method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Whether giving it up is told to the server.
    pub fn is_cancellable(&self) -> bool {
        self.kind == WaitKind::Ordinary
    }

    /// Takes progress: the time starts anew, unless the end is near anyway. True where the value did not grow.
    pub fn progressed(&mut self, value: Option<f64>, words: Option<String>, now: Instant) -> bool {
        self.progress += 1;
        self.last_words = words.or_else(|| value.map(|value| value.to_string()));
        if self.unanswered.is_none() && self.send_failed.is_none() {
            self.deadline = later(now, self.silence);
        }
        let stalled = matches!((self.last_value, value), (Some(last), Some(value)) if value <= last);
        self.last_value = value.or(self.last_value);
        stalled
    }

    /// A question came that nobody answers: the request cannot succeed any more, the server gets until `until` to end it.
    pub fn asked(&mut self, question: String, raw: &Raw, until: Instant) {
        self.deadline = self.deadline.min(until);
        match &mut self.unanswered {
            Some(unanswered) if unanswered.questions.len() < 100 => unanswered.questions.push(question),
            Some(_) => {}
            None => self.unanswered = Some(Unanswered { questions: vec![question], raw: raw.clone() }),
        }
    }

    /// It could not be sent; until `until` the connection's end may explain why.
    pub fn send_failed(&mut self, cause: String, until: Instant) {
        self.deadline = self.deadline.min(until);
        self.send_failed = Some(cause);
    }

    /// Something came that may have been meant as its answer.
    pub fn strayed(&mut self, stray: String) {
        self.stray = Some(stray);
    }

    /// Gives it its answer. A question that nobody answered outweighs whatever the server made of that.
    pub fn reply(self, outcome: Result<Raw, RpcError>, status: Option<u16>, at: Instant) {
        let arrival = match self.unanswered {
            Some(Unanswered { questions, raw }) => Arrival::Failed(CallError::InputRequired { questions, raw }),
            None => Arrival::Reply { outcome, status, at },
        };
        // The caller may have gone meanwhile.
        _ = self.reply.send(arrival);
    }

    /// Ends it without an answer.
    pub fn fail(self, error: CallError) {
        let error = match self.unanswered {
            Some(Unanswered { questions, raw }) => CallError::InputRequired { questions, raw },
            None => error,
        };
        _ = self.reply.send(Arrival::Failed(error));
    }

    /// Ends it because the connection did.
    pub fn close(self, closed: Closed) {
        let error = CallError::Closed { method: self.method.clone().into_owned(), closed, stray: self.stray.clone() };
        self.fail(error);
    }

    /// Ends it because its time is over.
    pub fn expire(self) {
        let error = match &self.send_failed {
            Some(cause) => CallError::Transport(format!("{} could not be sent: {cause}", self.method)),
            None => CallError::Timeout {
                method: self.method.clone().into_owned(),
                after: self.silence,
                progress: self.progress,
                last: self.last_words.clone(),
                stray: self.stray.clone(),
            },
        };
        self.fail(error);
    }
}

/// `now` plus `silence`, or far enough away where that cannot be said.
pub(super) fn later(now: Instant, silence: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    now + silence.min(YEAR)
}

/// All requests that wait.
#[derive(Debug, Default)]
pub(super) struct Table {
    waiting: BTreeMap<Id, Pending>,
    given_up: VecDeque<Id>,
    highest: i64,
}

/// What an id is to us that no request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The request was given up before.
    GivenUp,
    /// The request has its answer already.
    Answered,
    /// No request had it.
    Never,
}

impl Table {
    /// Adds a request.
    pub fn insert(&mut self, id: Id, pending: Pending) {
        let ours = !matches!(pending.kind, WaitKind::Written | WaitKind::Nameless);
        if let (Id::Number(number), true) = (&id, ours) {
            let number = *number;
            self.highest = self.highest.max(number);
        }
        self.waiting.insert(id, pending);
    }

    /// True where this request waits.
    pub fn waits(&self, id: &Id) -> bool {
        self.waiting.contains_key(id)
    }

    /// Takes a request out, to answer or fail it.
    pub fn take(&mut self, id: &Id) -> Option<Pending> {
        self.waiting.remove(id)
    }

    /// Takes a request out whose answer nobody waits for any more.
    pub fn give_up(&mut self, id: &Id) -> Option<Pending> {
        let pending = self.waiting.remove(id)?;
        if self.given_up.len() == KEPT_GIVEN_UP {
            self.given_up.pop_front();
        }
        self.given_up.push_back(id.clone());
        Some(pending)
    }

    /// A request, to note something about it.
    pub fn get(&mut self, id: &Id) -> Option<&mut Pending> {
        self.waiting.get_mut(id)
    }

    /// What an id is that no request waits for.
    pub fn known(&self, id: &Id) -> Known {
        if self.given_up.contains(id) {
            return Known::GivenUp;
        }
        match id {
            Id::Number(number) if (1..=self.highest).contains(number) => Known::Answered,
            _ => Known::Never,
        }
    }

    /// The probe where it is all that waits.
    pub fn lone_probe(&self) -> Option<Id> {
        match (self.waiting.len(), self.waiting.first_key_value()) {
            (1, Some((id, pending))) if pending.kind == WaitKind::Probe => Some(id.clone()),
            _ => None,
        }
    }

    /// The oldest frame without an id that waits.
    pub fn nameless(&self) -> Option<Id> {
        let mut waiting = self.waiting.iter();
        waiting.find(|(_, pending)| pending.kind == WaitKind::Nameless).map(|(id, _)| id.clone())
    }

    /// True where this request is a probe that waits.
    pub fn is_probe(&self, id: &Id) -> bool {
        self.waiting.get(id).is_some_and(|pending| pending.kind == WaitKind::Probe)
    }

    /// The request that a question most likely belongs to: of those that `fits` the youngest, else the youngest at all.
    pub fn asker(&self, fits: fn(&str) -> bool) -> Option<Id> {
        let ordinary = || self.waiting.iter().rev().filter(|(_, pending)| pending.kind == WaitKind::Ordinary);
        let chosen = ordinary().find(|(_, pending)| fits(&pending.method)).or_else(|| ordinary().next());
        chosen.map(|(id, _)| id.clone())
    }

    /// `request 2`, `requests 2, 3`, or none where nothing waits.
    pub fn waiting(&self) -> Option<String> {
        let mut ids: Vec<String> = self.waiting.keys().take(6).map(Id::to_string).collect();
        match ids.len() {
            0 => None,
            1 => Some(format!("request {} waits", ids[0])),
            n => {
                if n == 6 {
                    ids[5] = "…".to_owned();
                }
                Some(format!("requests {} wait", ids.join(", ")))
            }
        }
    }

    /// Notes on every waiting request that something came which may have been meant for it.
    pub fn stray(&mut self, words: &str) {
        for pending in self.waiting.values_mut() {
            pending.strayed(words.to_owned());
        }
    }

    /// The waiting request whose id has the same characters but another JSON type.
    pub fn alike(&self, id: &Id) -> Option<&Id> {
        let text = id.to_string();
        let text = text.trim_matches('"');
        self.waiting.keys().find(|waiting| waiting.to_string().trim_matches('"') == text)
    }

    /// Takes out the requests whose time is over; they count as given up.
    pub fn expired(&mut self, now: Instant) -> Vec<(Id, Pending)> {
        let over: Vec<Id> = self.waiting.iter().filter(|(_, p)| p.deadline <= now).map(|(id, _)| id.clone()).collect();
        over.into_iter().filter_map(|id| Some((id.clone(), self.give_up(&id)?))).collect()
    }

    /// When the next request's time is over.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waiting.values().map(Pending::deadline).min()
    }

    /// Takes all requests out.
    pub fn drain(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.waiting).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Arrival, Known, Pending, Table, WaitKind};
    use crate::json::Raw;
    use crate::rpc::Id;
    use crate::session::error::CallError;

    fn pending(kind: WaitKind, now: Instant) -> (Pending, tokio::sync::oneshot::Receiver<Arrival>) {
        Pending::new("tools/call".into(), kind, Duration::from_secs(10), now)
    }

    #[test]
    fn progress_moves_the_deadline_and_questions_cap_it() {
        let now = Instant::now();
        let (mut waiting, mut arrival) = pending(WaitKind::Ordinary, now);
        let mid = now + Duration::from_secs(8);
        assert!(!waiting.progressed(Some(1.0), Some("half".to_owned()), mid));
        assert!(waiting.progressed(Some(1.0), None, mid));
        assert_eq!(waiting.deadline(), mid + Duration::from_secs(10));
        let raw = Raw::parse("{}").expect("json");
        waiting.asked("elicitation/create \"?\"".to_owned(), &raw, mid + Duration::from_secs(2));
        waiting.progressed(Some(2.0), None, mid);
        assert_eq!(waiting.deadline(), mid + Duration::from_secs(2));
        waiting.reply(Ok(raw), None, mid);
        assert!(
            matches!(arrival.try_recv(), Ok(Arrival::Failed(CallError::InputRequired { questions, .. })) if questions.len() == 1)
        );
    }

    #[test]
    fn ids_are_waiting_answered_given_up_or_unknown() {
        let now = Instant::now();
        let mut table = Table::default();
        for number in 1..=3 {
            table.insert(Id::Number(number), pending(WaitKind::Ordinary, now).0);
        }
        assert_eq!(table.waiting().as_deref(), Some("requests 1, 2, 3 wait"));
        assert!(table.take(&Id::Number(1)).is_some() && table.give_up(&Id::Number(2)).is_some());
        assert_eq!(table.waiting().as_deref(), Some("request 3 waits"));
        assert_eq!(table.known(&Id::Number(1)), Known::Answered);
        assert_eq!(table.known(&Id::Number(2)), Known::GivenUp);
        assert_eq!(table.known(&Id::Number(0)), Known::Never);
        assert_eq!(table.known(&Id::Text("1".into())), Known::Never);
        assert_eq!(table.alike(&Id::Text("3".into())), Some(&Id::Number(3)));
        assert_eq!(table.next_deadline(), Some(now + Duration::from_secs(10)));
        assert!(table.expired(now).is_empty());
        assert_eq!(table.expired(now + Duration::from_secs(10)).len(), 1);
        assert_eq!((table.next_deadline(), table.waiting()), (None, None));
        assert_eq!(table.known(&Id::Number(3)), Known::GivenUp);
    }

    #[test]
    fn only_a_probe_alone_takes_answers_without_an_id() {
        let now = Instant::now();
        let mut table = Table::default();
        let probe = Id::Text("probe-1".into());
        table.insert(probe.clone(), pending(WaitKind::Probe, now).0);
        assert_eq!(table.lone_probe(), Some(probe));
        table.insert(Id::Number(1), pending(WaitKind::Initialize, now).0);
        assert_eq!(table.lone_probe(), None);
        assert_eq!(table.asker(|_| true), None);
    }
}
