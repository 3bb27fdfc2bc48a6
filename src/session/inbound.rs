//! Frames as they arrive: which are messages, which of those are answers, and to what.
//!
//! Owns: the reading half of [`Peer`]. May use: `rpc`, `json`, `transport`'s plain data. Must not: wait.

use tokio::time::Instant;

use super::Direction;
use super::error::CallError;
use super::findings::{
    BATCH, DUPLICATE_KEYS, ERROR_SHAPE, ERROR_WITHOUT_ID, Finding, HTTP_BODY, ID_ECHO, INVALID_MESSAGE, KEPT,
    LATE_RESPONSE, ONE_WAY, RESULT_OBJECT, RESULT_XOR_ERROR, SINGLE_RESPONSE, STDOUT_CLEAN, UTF8, VERSION_TAG, preview,
};
use super::peer::{Effects, Peer, State};
use super::table::Known;
use crate::json::{JsonKind, Raw, ReadError, Remark, RemarkKind};
use crate::rpc::{Envelope, Id, Kind, RpcError};
use crate::transport::{HttpAnswer, Via};

/// Bytes of a text that a failure shows.
const SHOWN: usize = 2_000;
/// Bytes of a text that a finding quotes.
const QUOTED: usize = 200;

impl Peer {
    /// Takes one frame.
    pub(super) fn frame(&self, bytes: Vec<u8>, via: &Via) {
        match Raw::check_or_return(bytes, &self.json) {
            Ok((raw, remarks)) => {
                self.observer.frame(Direction::Received, raw.as_str());
                if !remarks.is_empty() {
                    self.find(remarks.iter().take(10).map(|remark| odd(&raw, remark)));
                }
                self.messages(&raw, via);
                self.body_ended(&raw, via);
            }
            Err((error, bytes)) => {
                let text = String::from_utf8_lossy(&bytes);
                self.observer.frame(Direction::Received, &text);
                match self.repaired(&bytes, &text) {
                    Some(raw) => {
                        self.find([Finding::new(UTF8, format!("a message is not as it should be encoded: {error}"))]);
                        self.messages(&raw, via);
                        self.body_ended(&raw, via);
                    }
                    None => self.unreadable(&error, &text, via),
                }
            }
        }
    }

    /// A message that is one but for a wrong byte in a text, or a byte order mark before it.
    fn repaired(&self, bytes: &[u8], text: &str) -> Option<Raw> {
        let unmarked = text.strip_prefix('\u{feff}');
        if unmarked.is_none() && std::str::from_utf8(bytes).is_ok() {
            return None;
        }
        Raw::check(unmarked.unwrap_or(text), &self.json).ok().map(|(raw, _)| raw)
    }

    fn messages(&self, raw: &Raw, via: &Via) {
        if raw.kind() != JsonKind::Array {
            return self.message(raw, via);
        }
        let elements = raw.len();
        if self.dialect().is_some_and(|dialect| !dialect.revision().features().batches) {
            let message = format!("an array of {elements} messages came; only 2025-03-26 has batches");
            self.find([Finding::new(BATCH, message)]);
        }
        if elements == 0 {
            self.find([Finding::new(INVALID_MESSAGE, "an empty array came, which is no batch")]);
        }
        for element in raw.elements() {
            // What is kept of a batch must not keep all of it.
            let Ok((element, _)) = Raw::check(element.as_str(), &self.json) else { continue };
            self.message(&element, via);
        }
    }

    /// A JSON body was all that comes: a request that it did not answer has no answer.
    fn body_ended(&self, raw: &Raw, via: &Via) {
        if let Via::Answer { id: Some(id), sse: false, .. } = via {
            self.fail(id, |method| CallError::BadReply {
                text: preview(raw.as_str(), SHOWN),
                why: format!("the HTTP answer to {method} holds no reply to request {id}"),
            });
        }
    }

    fn message(&self, raw: &Raw, via: &Via) {
        let Some(envelope) = Envelope::read(raw) else {
            let error = ReadError { message: format!("it is a JSON {}, no message", raw.kind()), offset: 0 };
            return self.unreadable(&error, raw.as_str(), via);
        };
        let kind = envelope.kind();
        if kind == Kind::Unknown {
            // JSON all the same: a line of a structured log, most likely.
            let message = "it has neither method nor result nor error".to_owned();
            return self.unreadable(&ReadError { message, offset: 0 }, raw.as_str(), via);
        }
        if !envelope.is_tagged() {
            let message = format!("a message has no jsonrpc \"2.0\": {}", preview(raw.as_str(), QUOTED));
            self.find([Finding::new(VERSION_TAG, message)]);
        }
        match kind {
            Kind::Response | Kind::Unknown => self.response(&envelope, via),
            Kind::Notification => self.notification(&envelope),
            Kind::Request => self.request(&envelope, via),
        }
    }

    fn response(&self, envelope: &Envelope, via: &Via) {
        let mut effects = Effects::default();
        let id = envelope.id.as_ref().map(Id::read);
        let mut state = self.state();
        let owner = match &id {
            Some(id) if state.table.waits(id) => Some(id.clone()),
            other => owner_without_id(&mut state, other.as_ref(), envelope, via, &mut effects),
        };
        let pending = match &owner {
            Some(owner) => state.table.take(owner),
            None => {
                unknown(&mut state, id.as_ref(), envelope, via, &mut effects);
                None
            }
        };
        drop(state);
        if let (Some(owner), Some(pending)) = (owner, pending) {
            if let Some(transport) = self.transport() {
                transport.settled(&owner);
            }
            match outcome(envelope, pending.method(), &mut effects) {
                Ok(outcome) => pending.reply(outcome, status(via), Instant::now()),
                Err(why) => pending.fail(CallError::BadReply { text: preview(envelope.raw.as_str(), SHOWN), why }),
            }
        }
        self.apply(effects);
    }

    /// A frame that is no JSON, or none that could be a message.
    fn unreadable(&self, error: &ReadError, text: &str, via: &Via) {
        let is_http = *via != Via::Pipe || self.transport().is_some_and(|transport| transport.label() == "sse");
        if is_http {
            let message = format!("an HTTP body is no message: {}: {}", error.message, preview(text, QUOTED));
            self.find([Finding::new(HTTP_BODY, message)]);
            return self.strayed(text, &error.message, via);
        }
        let number = {
            let mut state = self.state();
            let full = state.noise.push(text);
            if text.starts_with(['{', '[']) {
                let words = format!("a line on stdout that looks like a message is none: {}", error.message);
                state.table.stray(&words);
            }
            (state.noise.seen(), full)
        };
        let line = preview(text, QUOTED);
        let message = if text.trim().is_empty() {
            format!("stdout holds an empty line (number {} that is no message)", number.0)
        } else {
            format!("stdout holds a line that is no message (number {}, {} bytes): {line}", number.0, text.len())
        };
        self.find([Finding::new(STDOUT_CLEAN, message)]);
        if number.1 {
            self.find([Finding::new(KEPT, "stdout holds more lines that are no messages than are kept")]);
        }
    }

    /// Something that cannot be read came where an answer was due. A JSON body is all there will be; a stream goes on.
    fn strayed(&self, text: &str, why: &str, via: &Via) {
        match via {
            Via::Answer { id: Some(id), sse: false, .. } => {
                self.fail(id, |method| CallError::BadReply {
                    text: preview(text, SHOWN),
                    why: format!("the answer to {method} is no message: {why}"),
                });
            }
            Via::Answer { id: Some(id), .. } => {
                if let Some(pending) = self.state().table.get(id) {
                    pending.strayed(format!("its stream held an event that is no message: {why}"));
                }
            }
            Via::Answer { id: None, .. } | Via::Standing | Via::Pipe => {}
        }
    }

    pub(super) fn http_problem(&self, id: Option<&Id>, answer: HttpAnswer) {
        let status = answer.status;
        let body = preview(answer.body.trim(), QUOTED);
        let owner = id.cloned().or_else(|| self.state().table.nameless());
        let failed = owner.is_some_and(|id| self.fail(&id, |_| CallError::Http(answer)));
        if !failed {
            let message = format!("a message of ours that needs no answer was answered with HTTP {status}: {body}");
            self.find([Finding::new(ONE_WAY, message)]);
        }
    }

    pub(super) fn not_delivered(&self, id: Option<&Id>, cause: String) {
        let said = cause.clone();
        let owner = id.cloned().or_else(|| self.state().table.nameless());
        let failed = owner.is_some_and(|id| {
            self.fail(&id, |method| CallError::Transport(format!("{method} (request {id}) failed: {cause}")))
        });
        if !failed {
            self.find([Finding::new(ONE_WAY, format!("a message of ours could not be delivered: {said}"))]);
        }
    }
}

/// The finding for what the reader remarked.
fn odd(raw: &Raw, remark: &Remark) -> Finding {
    let place = format!("at byte {} of {}", remark.offset, preview(raw.as_str(), QUOTED));
    match remark.kind {
        RemarkKind::DuplicateMember => {
            Finding::new(DUPLICATE_KEYS, format!("an object has two members of one name, {place}"))
        }
        RemarkKind::LoneSurrogate => Finding::new(UTF8, format!("half a surrogate pair stands alone, {place}")),
    }
}

/// HTTP status an answer came with.
const fn status(via: &Via) -> Option<u16> {
    match via {
        Via::Answer { status, .. } => Some(*status),
        Via::Pipe | Via::Standing => None,
    }
}

/// The request that a response without a usable id answers, where that can be said.
fn owner_without_id(
    state: &mut State,
    id: Option<&Id>,
    envelope: &Envelope,
    via: &Via,
    effects: &mut Effects,
) -> Option<Id> {
    let nameless = id.is_none_or(Id::is_null);
    let owner = match via {
        Via::Answer { id: Some(asked), sse, status } if state.table.waits(asked) => {
            // A refusal is meant for the request that it refuses, whatever its id says.
            let refusal = envelope.error.is_some() && (nameless || *status >= 400);
            if refusal {
                Some(asked.clone())
            } else if *sse {
                None
            } else {
                let pending = state.table.take(asked)?;
                let why = format!("reply with unknown id {} while request {asked} waits", shown(id));
                effects.findings.push(Finding::new(ID_ECHO, why.clone()));
                pending.fail(CallError::BadReply { text: preview(envelope.raw.as_str(), SHOWN), why });
                None
            }
        }
        _ if nameless && envelope.error.is_some() => match state.table.nameless() {
            // It was written to be refused so.
            Some(written) => return Some(written),
            None if *via == Via::Pipe => state.table.lone_probe(),
            None => None,
        },
        _ => None,
    };
    // An old server may not know what to make of a probe.
    if let Some(owner) = owner.as_ref().filter(|owner| !state.table.is_probe(owner)) {
        effects.findings.push(if nameless {
            Finding::new(ERROR_WITHOUT_ID, format!("the error that answers request {owner} has no id"))
        } else {
            Finding::new(ID_ECHO, format!("the error that answers request {owner} has the id {}", shown(id)))
        });
    }
    owner
}

/// A response that answers nothing which waits.
fn unknown(state: &mut State, id: Option<&Id>, envelope: &Envelope, via: &Via, effects: &mut Effects) {
    let nameless = id.is_none_or(Id::is_null);
    let known = id.map_or(Known::Never, |id| state.table.known(id));
    let (rule, message) = match (known, id) {
        (Known::GivenUp, Some(id)) => (LATE_RESPONSE, format!("the answer to request {id} came after it was given up")),
        (Known::Answered, Some(id)) => (SINGLE_RESPONSE, format!("request {id} was answered a second time")),
        _ => {
            let waiting = state.table.waiting();
            // Over HTTP the body of a failed request was dealt with just before.
            if waiting.is_none() && matches!(via, Via::Answer { id: Some(_), .. }) && !effects.findings.is_empty() {
                return;
            }
            let waiting = waiting.unwrap_or_else(|| "no request waits".to_owned());
            let (rule, mut words) = match &envelope.error {
                Some(error) if nameless => {
                    let error = RpcError::read(error);
                    let said = preview(&error.to_string(), QUOTED);
                    (ERROR_WITHOUT_ID, format!("error without an id ({said}) while {waiting}"))
                }
                _ => (ID_ECHO, format!("reply with unknown id {} while {waiting}", shown(id))),
            };
            if let Some(alike) = id.and_then(|id| state.table.alike(id)) {
                words.push_str(&format!(" (the request's id is {alike}, of another type)"));
            }
            state.table.stray(&words);
            (rule, words)
        }
    };
    effects.findings.push(Finding::new(rule, message));
}

fn shown(id: Option<&Id>) -> String {
    id.map_or_else(|| "(none)".to_owned(), |id| preview(&id.to_string(), 100))
}

/// Result or error of a response, or why it has neither.
fn outcome(envelope: &Envelope, method: &str, effects: &mut Effects) -> Result<Result<Raw, RpcError>, String> {
    match (&envelope.result, &envelope.error) {
        (Some(result), None) => {
            if result.kind() != JsonKind::Object {
                let message = format!("the result of {method} is no object but {}", preview(result.as_str(), QUOTED));
                effects.findings.push(Finding::new(RESULT_OBJECT, message));
            }
            Ok(Ok(result.clone()))
        }
        (None, Some(error)) => {
            let error = RpcError::read(error);
            if let Some(flaw) = error.flaw() {
                let message = format!("{method} was answered with a misshapen error: {flaw}");
                effects.findings.push(Finding::new(ERROR_SHAPE, message));
            }
            Ok(Err(error))
        }
        (Some(_), Some(_)) => Err(torn(method, "has both result and error", effects)),
        (None, None) => Err(torn(method, "has neither result nor error", effects)),
    }
}

fn torn(method: &str, what: &str, effects: &mut Effects) -> String {
    let why = format!("the answer to {method} {what}");
    effects.findings.push(Finding::new(RESULT_XOR_ERROR, why.clone()));
    why
}
