//! One POST and what comes back.
//!
//! Owns: turning an HTTP answer into arrivals. May use: `rpc`, `answer`, `stream`. Must not: know MCP methods.
//! Rules: 2025-03-26 to 2026-07-28, "Transports", "Streamable HTTP", "Sending Messages to the Server".

use std::sync::Arc;

use reqwest::header::HeaderMap;
use reqwest::{Request, Response};
use tokio::sync::oneshot;

use super::answer::{self, BodyFault, Content, Head};
use super::open::Entry;
use super::{Shared, stream, words};
use crate::rpc::Id;
use crate::transport::{HttpAnswer, Incoming, OutgoingKind, Via};

/// Bytes of a strange answer to a notification that are shown.
const PREVIEW: usize = 60;

/// A message on its way.
pub(super) struct Exchange {
    pub(super) kind: OutgoingKind,
    pub(super) request: Request,
    pub(super) opens_session: bool,
    /// The headers to resume its stream with; none where the revision knows no resumption.
    pub(super) resume_with: Option<HeaderMap>,
}

impl Exchange {
    /// Sends the message and delivers what comes back. The sender of a one-way message waits on `taken`, and is told
    /// there what would otherwise be delivered as a failure.
    pub(super) async fn run(self, shared: Arc<Shared>, entry: Entry, taken: oneshot::Sender<String>) {
        let Self { kind, request, opens_session, resume_with } = self;
        let id = match &kind {
            OutgoingKind::Request(id) => Some(id.clone()),
            OutgoingKind::OneWay | OutgoingKind::Raw => None,
        };
        let outcome = match shared.client() {
            Ok(client) => client.execute(request).await.map_err(|error| words::describe(&error, &shared.url)),
            Err(cause) => Err(cause),
        };
        let mut response = match outcome {
            Ok(response) => response,
            Err(cause) if kind == OutgoingKind::OneWay => {
                // Nobody waits any more where the send was given up.
                let _ = taken.send(cause);
                return;
            }
            Err(cause) => return shared.deliver(Incoming::Failed { id, cause }),
        };
        let head = Head::of(&response);
        if opens_session && head.is_success() {
            shared.keep_session(&response);
        }
        if kind == OutgoingKind::OneWay {
            if head.content == Content::Events && head.is_success() {
                unexpected(&shared, head.status, " and an event stream");
                drop(taken);
                return stream::answer(&shared, &entry, None, response, None).await;
            }
            // The sender goes on when `taken` is dropped: after what the answer says was delivered.
            return one_way(&shared, head, &mut response).await;
        }
        drop(taken);
        if !head.is_success() {
            return refused(&shared, id, head, &mut response).await;
        }
        match head.content {
            Content::Events => {
                // Resuming needs the session that this very answer may have opened.
                let resume_with = resume_with.map(|headers| shared.with_session(headers));
                stream::answer(&shared, &entry, id, response, resume_with).await;
            }
            Content::Json => json(&shared, id, head, &mut response).await,
            Content::Other => {
                let body = answer::refusal(&mut response, shared.max_message).await;
                shared.deliver(Incoming::HttpProblem { id, answer: head.problem(&body) });
            }
        }
    }
}

async fn json(shared: &Shared, id: Option<Id>, head: Head, response: &mut Response) {
    match answer::body(response, shared.max_message).await {
        Ok(body) if body.iter().all(u8::is_ascii_whitespace) => {
            shared.deliver(Incoming::HttpProblem { id, answer: head.problem(&body) });
        }
        Ok(bytes) => {
            let via = Via::Answer { id, status: head.status, sse: false };
            shared.deliver(Incoming::Frame { bytes, via });
        }
        Err(BodyFault::TooLarge(limit)) => {
            let cause = format!("the answer is larger than {limit} bytes");
            shared.deliver(Incoming::Failed { id, cause });
        }
        Err(BodyFault::Broken(error)) => {
            shared.deliver(Incoming::Failed { id, cause: words::describe(&error, &shared.url) });
        }
    }
}

/// A refusal may carry a JSON-RPC error, whatever its content type.
pub(super) async fn refused(shared: &Shared, id: Option<Id>, head: Head, response: &mut Response) {
    let bytes = answer::refusal(response, shared.max_message).await;
    shared.deliver(if answer::is_json_rpc(&bytes) {
        Incoming::Frame { bytes, via: Via::Answer { id, status: head.status, sse: false } }
    } else {
        Incoming::HttpProblem { id, answer: head.problem(&bytes) }
    });
}

/// A notification or an answer of ours is accepted with 202 and no body.
async fn one_way(shared: &Shared, head: Head, response: &mut Response) {
    if !head.is_success() {
        return refused(shared, None, head, response).await;
    }
    let status = head.status;
    let bytes = answer::refusal(response, shared.max_message).await;
    let empty = bytes.iter().all(u8::is_ascii_whitespace);
    if status != 202 || !empty {
        let HttpAnswer { body, .. } = head.problem(&bytes);
        let preview: String = body.chars().take(PREVIEW).collect();
        let with = if empty { String::new() } else { format!(" and the body `{preview}`") };
        unexpected(shared, status, &with);
    }
    if answer::is_json_rpc(&bytes) {
        shared.deliver(Incoming::Frame { bytes, via: Via::Answer { id: None, status, sse: false } });
    }
}

fn unexpected(shared: &Shared, status: u16, with: &str) {
    let message =
        format!("a notification or answer was accepted with HTTP {status}{with}; 202 without a body is expected");
    shared.remark_once("http-notification-202", message);
}
