//! What the server says and asks unasked: notifications, and requests of its own.
//!
//! Owns: the answering half of [`Peer`]. May use: `rpc`, `json`, `transport`'s plain data. Must not: wait; answers are queued.

use std::time::Duration;

use tokio::time::Instant;

use super::declares::roots_result;
use super::dialect::{bare, may_ask};
use super::findings::{
    Finding, KEPT, LIST_CHANGED_DECLARED, LOG_DECLARED, LOG_OPT_IN, NEGOTIATED_ONLY, NO_SERVER_REQUESTS,
    NOTIFICATION_NO_ID, PROGRESS_MONOTONIC, PROGRESS_STOPS, PROGRESS_TOKEN, ROOTS_DECLARED, SERVER_ID, preview,
};
use super::peer::{Effects, Peer, State};
use super::table::{Known, later};
use super::version::Features;
use super::views::{declares, question, text};
use crate::json::Raw;
use crate::rpc::{Envelope, Id, error, result};
use crate::transport::{OutgoingKind, Via};

/// Ids of the server's requests that are remembered.
const KEPT_SERVER_IDS: usize = 10_000;
/// JSON-RPC's code for a method that is not there.
const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC's code for params that cannot be.
const INVALID_PARAMS: i64 = -32602;
/// The code for a sampling request that the user refused (2025-06-18, "Sampling", error handling).
const USER_REJECTED: i64 = -1;

/// How a request of the server is answered.
enum Answer {
    Result(String),
    Error(i64, &'static str),
}

impl Peer {
    pub(super) fn notification(&self, envelope: &Envelope) {
        let Some(method) = envelope.method.as_deref() else { return };
        let params = envelope.params.as_ref();
        let mut effects = Effects::default();
        let mut state = self.state();
        match method {
            "notifications/progress" => self.progressed(&mut state, params, &mut effects),
            "notifications/message" => self.logged(&mut state, params, &mut effects),
            "notifications/tools/list_changed" => {
                state.tools_changed += 1;
                changed(&state, "tools", method, &mut effects);
            }
            "notifications/prompts/list_changed" => changed(&state, "prompts", method, &mut effects),
            "notifications/resources/list_changed" => changed(&state, "resources", method, &mut effects),
            _ => {}
        }
        if state.notices.push(envelope.raw.clone()) {
            effects.findings.push(Finding::new(KEPT, "more notifications came than are kept; the oldest are gone"));
        }
        drop(state);
        self.apply(effects);
    }

    fn progressed(&self, state: &mut State, params: Option<&Raw>, effects: &mut Effects) {
        let number = |name| params.and_then(|params| params.get(name)).and_then(|raw| raw.number());
        let value = number("progress").map(|number| number.to_f64());
        let total = number("total").map(|number| number.to_f64());
        let words = params.and_then(|params| text(params, "message"));
        let Some(token) = params.and_then(|params| params.get("progressToken")).map(|token| Id::read(&token)) else {
            effects.findings.push(Finding::new(PROGRESS_TOKEN, "a progress notification has no progressToken"));
            return;
        };
        if let Some(pending) = state.table.get(&token) {
            if pending.progressed(value, words.clone(), Instant::now()) {
                let message = format!("the progress of request {token} did not grow");
                effects.findings.push(Finding::new(PROGRESS_MONOTONIC, message));
            }
            effects.progress = Some((words, value, total));
            return;
        }
        let known = state.table.known(&token);
        let token = preview(&token.to_string(), 100);
        let finding = match known {
            Known::Answered => {
                Finding::new(PROGRESS_STOPS, format!("progress came for request {token}, which has its answer"))
            }
            // It crossed our cancellation.
            Known::GivenUp => return,
            Known::Never => Finding::new(PROGRESS_TOKEN, format!("progress came for the unknown token {token}")),
        };
        effects.findings.push(finding);
    }

    fn logged(&self, state: &mut State, params: Option<&Raw>, effects: &mut Effects) {
        if state.capabilities.as_ref().is_some_and(|capabilities| capabilities.get("logging").is_none()) {
            let message = "a log message came though the server does not declare logging";
            effects.findings.push(Finding::new(LOG_DECLARED, message));
        }
        if self.dialect().is_some_and(|dialect| !dialect.wants_logs()) {
            let message = "a log message came though no request asked for any";
            effects.findings.push(Finding::new(LOG_OPT_IN, message));
        }
        if let Some(params) = params
            && state.logs.push(params.clone())
        {
            effects.findings.push(Finding::new(KEPT, "more log messages came than are kept; the oldest are gone"));
        }
    }

    pub(super) fn request(&self, envelope: &Envelope, via: &Via) {
        let (Some(method), Some(raw_id)) = (envelope.method.as_deref(), &envelope.id) else { return };
        let id = Id::read(raw_id);
        let features = self.dialect().map(|dialect| dialect.revision().features());
        let mut effects = Effects::default();
        let mut state = self.state();
        if let Some(message) = bad_id(&mut state, &id, method) {
            let rule = if method.starts_with("notifications/") { NOTIFICATION_NO_ID } else { SERVER_ID };
            effects.findings.push(Finding::new(rule, message));
        }
        if features.is_some_and(|features| features.result_type) {
            // This era's clients never write responses.
            let message =
                format!("the server sent the request {}; there are none in this revision", preview(method, 100));
            effects.findings.push(Finding::new(NO_SERVER_REQUESTS, message));
        } else if !matches!(id, Id::Odd(_)) && !method.starts_with("notifications/") {
            let answer = self.answer(&mut state, envelope, method, features, via, &mut effects);
            let body = match answer {
                Answer::Result(text) => result(&id, &text),
                Answer::Error(code, message) => error(&id, code, message),
            };
            effects.send.push(match self.dialect() {
                Some(dialect) => dialect.one_way(None, body),
                None => bare(body, OutgoingKind::OneWay),
            });
        }
        drop(state);
        self.apply(effects);
    }

    fn answer(
        &self,
        state: &mut State,
        envelope: &Envelope,
        method: &str,
        features: Option<&'static Features>,
        via: &Via,
        effects: &mut Effects,
    ) -> Answer {
        let undeclared = |rule, effects: &mut Effects| {
            let message = format!("the server asked for {method}, which the client does not declare");
            effects.findings.push(Finding::new(rule, message));
            Answer::Error(METHOD_NOT_FOUND, "the client does not declare this")
        };
        match method {
            "ping" => Answer::Result("{}".to_owned()),
            "roots/list" => match &state.roots {
                Some(roots) => Answer::Result(roots_result(roots)),
                None => undeclared(ROOTS_DECLARED, effects),
            },
            "elicitation/create" if self.declares.elicitation && features.is_some_and(|f| f.elicitation) => {
                let params = envelope.params.as_ref();
                let mode = params.and_then(|params| text(params, "mode"));
                if mode.as_deref() == Some("url") && features.is_some_and(|f| !f.modes) {
                    let message = "the server asked for elicitation by URL, which this revision does not have";
                    effects.findings.push(Finding::new(NEGOTIATED_ONLY, message));
                    return Answer::Error(INVALID_PARAMS, "this mode is not declared");
                }
                self.unanswered(state, envelope, method, via);
                Answer::Result("{\"action\":\"cancel\"}".to_owned())
            }
            "sampling/createMessage" if self.declares.sampling => {
                self.unanswered(state, envelope, method, via);
                Answer::Error(USER_REJECTED, "no answer was prepared")
            }
            "elicitation/create" | "sampling/createMessage" => undeclared(NEGOTIATED_ONLY, effects),
            _ => Answer::Error(METHOD_NOT_FOUND, "the client does not know this method"),
        }
    }

    /// Notes a question that nobody answers on the request it belongs to: that one cannot succeed any more. The server,
    /// once told, may end it itself, so that its answer does not come late.
    fn unanswered(&self, state: &mut State, envelope: &Envelope, method: &str, via: &Via) {
        let owner = match via {
            Via::Answer { id: Some(id), .. } if state.table.waits(id) => Some(id.clone()),
            _ => state.table.asker(may_ask),
        };
        let until = later(Instant::now(), self.grace.max(Duration::from_millis(1)));
        if let Some(pending) = owner.and_then(|owner| state.table.get(&owner)) {
            pending.asked(question(method, envelope.params.as_ref()), &envelope.raw, until);
            self.wake_by(state, until);
        }
    }
}

/// Notes a `list_changed` that the server did not announce.
fn changed(state: &State, capability: &str, method: &str, effects: &mut Effects) {
    if let Some(capabilities) = &state.capabilities
        && !declares(capabilities, capability, "listChanged")
    {
        let message = format!("{method} came though the server does not declare {capability}.listChanged");
        effects.findings.push(Finding::new(LIST_CHANGED_DECLARED, message));
    }
}

/// What is wrong with the id of a server's request, where something is.
fn bad_id(state: &mut State, id: &Id, method: &str) -> Option<String> {
    let shown = preview(&id.to_string(), 100);
    let method = preview(method, 100);
    if method.starts_with("notifications/") {
        return Some(format!("the notification {method} carries the id {shown}"));
    }
    if matches!(id, Id::Odd(_)) {
        return Some(format!("the server's request {method} has the id {shown}, which none may have"));
    }
    if state.server_ids.contains(id) {
        return Some(format!("the server used the request id {shown} a second time"));
    }
    if state.server_ids.len() < KEPT_SERVER_IDS {
        state.server_ids.insert(id.clone());
    }
    None
}
