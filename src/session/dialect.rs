//! How the two eras differ once a session is open: what a request wears, what a result means, how a request is given up.
//!
//! Owns: [`Dialect`] and what its two implementations share. May use: `rpc`, `json`, `transport`'s plain data.
//! Must not: wait, send, or keep anything but what is set for the whole session.

use std::borrow::Cow;

use super::call::Call;
use super::findings::Finding;
use super::version::Revision;
use crate::json::{JsonKind, Raw};
use crate::rpc::{Envelope, Id, push_id, push_quoted};
use crate::sensitive::Sensitive;
use crate::transport::{Outgoing, OutgoingKind};

/// Headers for one message.
pub(super) type Headers = Vec<(Cow<'static, str>, Sensitive<String>)>;

/// The header that carries the revision.
pub(super) const VERSION_HEADER: &str = "MCP-Protocol-Version";

/// What carries the messages, as far as eras care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// One channel for all messages, without headers of theirs: stdio, memory, HTTP+SSE.
    Pipe,
    /// Streamable HTTP: messages wear headers, answers have streams of their own.
    Http,
}

/// What a result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The answer.
    Done,
    /// The server asks for input before it answers (2026-07-28).
    NeedsInput(Vec<String>),
}

/// A result as read, and what was odd about it.
#[derive(Debug)]
pub(super) struct Reading {
    /// What it is, or why it is no valid result.
    pub reply: Result<Reply, String>,
    /// What was odd.
    pub findings: Vec<Finding>,
}

/// How to give up a request.
#[derive(Debug)]
pub(super) enum Stop {
    /// Send this notification.
    Notify(Outgoing),
    /// Close the answer's stream; that says it.
    Abandon,
}

/// One era's ways.
pub(super) trait Dialect: Send + Sync {
    /// The revision spoken.
    fn revision(&self) -> Revision;
    /// The message for a call: params with the era's `_meta`, headers that mirror it.
    fn dress(&self, id: Id, call: &Call) -> Outgoing;
    /// The headers of a message that was written by hand, as far as it can be read.
    fn mirror(&self, written: &Envelope) -> Headers;
    /// A message that is not answered.
    fn one_way(&self, method: Option<&str>, body: String) -> Outgoing;
    /// Reads the result of `method`; `tasks` says that the request opted in to them.
    fn read(&self, method: &str, tasks: bool, result: &Raw) -> Reading;
    /// How to give up the request `id`.
    fn stop(&self, id: &Id, reason: &str) -> Stop;
    /// Headers for messages that stand outside of requests: the GET stream, DELETE.
    fn headers(&self) -> Headers;
    /// Asks for log messages of at least this level on later requests.
    fn set_log_level(&self, level: &str);
    /// True where some request asked for log messages this way.
    fn wants_logs(&self) -> bool;
}

/// A header of ours.
pub(super) fn header(
    name: impl Into<Cow<'static, str>>,
    value: impl Into<String>,
) -> (Cow<'static, str>, Sensitive<String>) {
    (name.into(), Sensitive::new(value.into()))
}

/// `notifications/cancelled` for a request.
pub(super) fn cancelled(id: &Id, reason: &str) -> String {
    let mut params = String::from("{\"requestId\":");
    push_id(id, &mut params);
    params.push_str(",\"reason\":");
    push_quoted(reason, &mut params);
    params.push('}');
    crate::rpc::notification("notifications/cancelled", Some(&params))
}

/// A request with its params and a `_meta` member.
pub(super) fn assemble(id: Id, call: &Call, meta: Option<&str>, headers: Headers) -> Outgoing {
    let body = body(&id, &call.method, call.params.as_deref(), meta);
    wear(Outgoing { headers, ..bare(body, OutgoingKind::Request(id)) }, &call.headers)
}

/// A message without headers.
pub(super) const fn bare(body: String, kind: OutgoingKind) -> Outgoing {
    Outgoing { body, kind, headers: Vec::new(), without: Vec::new(), opens_session: false }
}

/// Adds the caller's headers, which replace ours; one without a value takes ours away.
pub(super) fn wear(mut message: Outgoing, headers: &[(String, Sensitive<String>)]) -> Outgoing {
    for (name, value) in headers {
        message.headers.retain(|(ours, _)| !ours.eq_ignore_ascii_case(name));
        if value.reveal().is_empty() {
            message.without.push(name.clone());
        } else {
            message.headers.push((Cow::Owned(name.clone()), value.clone()));
        }
    }
    message
}

fn body(id: &Id, method: &str, params: Option<&str>, meta: Option<&str>) -> String {
    let room = 64 + method.len() + params.map_or(2, str::len) + meta.map_or(0, |meta| meta.len() + 10);
    let mut out = String::with_capacity(room);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    push_id(id, &mut out);
    out.push_str(",\"method\":");
    push_quoted(method, &mut out);
    match (params, meta) {
        (None, None) => {}
        (None, Some(meta)) => {
            out.push_str(",\"params\":{\"_meta\":");
            out.push_str(meta);
            out.push('}');
        }
        (Some(params), meta) => {
            out.push_str(",\"params\":");
            push_params(params, meta, &mut out);
        }
    }
    out.push('}');
    out
}

/// Appends `params`, with `_meta` as its last member unless it has one or is no object. Line ends become spaces: where a
/// message is a line they would end it, and in valid JSON they stand between tokens only.
fn push_params(params: &str, meta: Option<&str>, out: &mut String) {
    let start = out.len();
    let inserted = meta.and_then(|meta| {
        let inner = params.trim_end().strip_suffix('}')?;
        let members = inner.trim_start().strip_prefix('{')?;
        (!has_meta(params)).then_some((inner, members.trim().is_empty(), meta))
    });
    match inserted {
        Some((inner, empty, meta)) => {
            out.push_str(inner);
            out.push_str(if empty { "\"_meta\":" } else { ",\"_meta\":" });
            out.push_str(meta);
            out.push('}');
        }
        None => out.push_str(params),
    }
    if let Cow::Owned(flat) = one_line(&out[start..]) {
        out.truncate(start);
        out.push_str(&flat);
    }
}

/// JSON text without line ends.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace(['\n', '\r'], " ")),
        None => Cow::Borrowed(text),
    }
}

/// True where the object `params` has a member `_meta`.
fn has_meta(params: &str) -> bool {
    // The name may be written with escapes, but without its letters or an escape it cannot be there.
    let bytes = params.as_bytes();
    let possible = memchr::memmem::find(bytes, b"_meta").is_some() || memchr::memmem::find(bytes, b"\\u").is_some();
    possible && Raw::parse(params).is_ok_and(|params| params.get("_meta").is_some())
}

/// The params' member that `Mcp-Name` mirrors for `method` (2026-07-28, "Streamable HTTP", request headers).
pub(super) fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// The methods that may be answered with a request for input (2026-07-28, "Multi round-trip requests").
pub(super) fn may_ask(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// Reads a text as an object.
pub(super) fn read_object(text: &str) -> Option<Raw> {
    Raw::parse(text).ok().filter(|raw| raw.kind() == JsonKind::Object)
}

#[cfg(test)]
mod tests {
    use super::{body, cancelled};
    use crate::rpc::Id;

    fn params(text: &str, meta: Option<&str>) -> String {
        let body = body(&Id::Number(1), "m", Some(text), meta);
        let inner = body.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"#).expect("the head");
        inner.strip_suffix('}').expect("the end").to_owned()
    }

    #[test]
    fn params_go_byte_for_byte_and_meta_comes_last() {
        let table = [
            (r#"{"n":1E5,"n": 9007199254740993}"#, r#"{"n":1E5,"n": 9007199254740993,"_meta":M}"#),
            ("{}", r#"{"_meta":M}"#),
            (" { } ", r#" { "_meta":M}"#),
            ("{\"a\":\n1}\r\n", "{\"a\": 1,\"_meta\":M}"),
            (r#"{"_meta":{}}"#, r#"{"_meta":{}}"#),
            (r#"{"\u005fmeta":1}"#, r#"{"\u005fmeta":1}"#),
            (r#"{"a":{"_meta":1}}"#, r#"{"a":{"_meta":1},"_meta":M}"#),
            (r#"{"a":"_meta"}"#, r#"{"a":"_meta","_meta":M}"#),
            ("[1]", "[1]"),
            ("5", "5"),
        ];
        for (given, sent) in table {
            assert_eq!(params(given, Some("M")), sent, "{given}");
        }
        assert_eq!(params("{\"a\":1}", None), "{\"a\":1}");
        assert_eq!(body(&Id::Number(1), "m", None, None), r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#);
        assert_eq!(
            body(&Id::Number(1), "m", None, Some("M")),
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":M}}"#
        );
    }

    #[test]
    fn a_cancellation_names_the_request_by_type_and_value() {
        assert_eq!(
            cancelled(&Id::Text("7".into()), "timed out"),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7","reason":"timed out"}}"#
        );
    }
}
