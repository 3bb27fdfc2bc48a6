//! What is wrong with a server's messages or process without being a failure by itself.
//!
//! Owns: [`Finding`] and the stable ids of the rules that the session watches. May use: nothing. Must not: end anything.

use std::collections::HashMap;

/// Something noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's stable id.
    pub id: &'static str,
    /// True where the protocol says MUST.
    pub must: bool,
    /// One line, unescaped; it may quote the server.
    pub message: String,
}

impl Finding {
    /// A finding of this rule.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self { id: rule.id, must: rule.must, message: message.into() }
    }
}

/// A rule: its id and whether it is a MUST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable id; never renamed.
    pub id: &'static str,
    /// MUST, or SHOULD and below.
    pub must: bool,
}

const fn must(id: &'static str) -> Rule {
    Rule { id, must: true }
}

const fn should(id: &'static str) -> Rule {
    Rule { id, must: false }
}

/// Every message has `jsonrpc: "2.0"`.
pub const VERSION_TAG: Rule = must("rpc-version-tag");
/// A response's id equals the request's in value and type.
pub const ID_ECHO: Rule = must("rpc-response-id-echo");
/// Exactly one of `result` and `error`.
pub const RESULT_XOR_ERROR: Rule = must("rpc-result-xor-error");
/// An error has an integer code and a message.
pub const ERROR_SHAPE: Rule = must("rpc-error-shape");
/// A result is an object.
pub const RESULT_OBJECT: Rule = must("rpc-result-object");
/// One response per request, none for unknown ids.
pub const SINGLE_RESPONSE: Rule = must("rpc-single-response");
/// An answer after the request was given up; allowed, but worth knowing.
pub const LATE_RESPONSE: Rule = should("rpc-late-response");
/// Notifications carry no id; requests a string or an integer.
pub const NOTIFICATION_NO_ID: Rule = must("rpc-notification-no-id");
/// A server's request ids are strings or integers and never used twice.
pub const SERVER_ID: Rule = must("rpc-server-id-valid");
/// An error without a usable id: allowed only where the request's id could not be read.
pub const ERROR_WITHOUT_ID: Rule = should("rpc-error-without-id");
/// A message is an object with a `method`, a `result` or an `error`.
pub const INVALID_MESSAGE: Rule = must("rpc-invalid-message");
/// Arrays of messages exist in 2025-03-26 only.
pub const BATCH: Rule = must("rpc-batch-received");
/// No object has two members of one name.
pub const DUPLICATE_KEYS: Rule = should("rpc-duplicate-keys");
/// Valid Unicode: no half surrogates, valid UTF-8.
pub const UTF8: Rule = must("rpc-utf8");
/// stdout holds only messages.
pub const STDOUT_CLEAN: Rule = must("stdio-stdout-clean");
/// An HTTP answer's body is a message.
pub const HTTP_BODY: Rule = must("http-response-body");
/// 2026-07-28: the server sends no requests.
pub const NO_SERVER_REQUESTS: Rule = must("no-server-requests");
/// Only what the client declared is asked of it.
pub const NEGOTIATED_ONLY: Rule = must("init-only-negotiated-caps");
/// `roots/list` only where roots are declared.
pub const ROOTS_DECLARED: Rule = should("roots-declared");
/// The `initialize` result has `protocolVersion`, `capabilities` and `serverInfo`.
pub const INIT_SHAPE: Rule = must("init-result-shape");
/// An unsupported version is answered with a supported one, not with an error.
pub const INIT_COUNTER: Rule = must("init-version-counter");
/// `server/discover` is answered with a result.
pub const DISCOVER_IMPLEMENTED: Rule = must("discover-implemented");
/// The `server/discover` result has its required members.
pub const DISCOVER_SHAPE: Rule = must("discover-shape");
/// Every result of 2026-07-28 has `resultType`.
pub const RESULT_TYPE_PRESENT: Rule = must("result-type-present");
/// `resultType` is one that this revision or a negotiated extension knows.
pub const RESULT_TYPE_KNOWN: Rule = must("result-type-known");
/// `input_required` only for `tools/call`, `prompts/get` and `resources/read`.
pub const MRTR_METHOD: Rule = must("mrtr-method-allowed");
/// `input_required` carries `inputRequests` or `requestState`.
pub const MRTR_PAYLOAD: Rule = must("mrtr-has-payload");
/// A modern server names itself in `_meta`.
pub const SERVER_INFO_META: Rule = should("server-info-meta");
/// Progress only for tokens of requests under way.
pub const PROGRESS_TOKEN: Rule = must("progress-token-known");
/// Progress grows with every notification.
pub const PROGRESS_MONOTONIC: Rule = must("progress-monotonic");
/// No progress after the response.
pub const PROGRESS_STOPS: Rule = must("progress-stops");
/// Log messages only with the `logging` capability.
pub const LOG_DECLARED: Rule = must("log-declared");
/// 2026-07-28: log messages only for requests that asked for them.
pub const LOG_OPT_IN: Rule = must("log-silent-without-optin");
/// `list_changed` only where it is declared.
pub const LIST_CHANGED_DECLARED: Rule = must("list-changed-declared");
/// A tool's `x-mcp-header` annotations are valid; a tool with a broken one cannot be called over HTTP.
pub const X_MCP_HEADER: Rule = must("tool-x-mcp-header-valid");
/// Tool names are unique.
pub const TOOL_NAME_UNIQUE: Rule = must("tools-name-unique");
/// A list's member is an array of objects.
pub const LIST_SHAPE: Rule = must("list-result-shape");
/// A notification or an answer of ours is taken without complaint (HTTP 202).
pub const ONE_WAY: Rule = must("http-notification-202");
/// More arrived than is kept.
pub const KEPT: Rule = should("session-kept-limit");

/// What transports remark that is a MUST; the rest of their remarks is worth knowing and no more.
const REMARKED_MUSTS: [&str; 1] = ["http-session-id-charset"];

impl Finding {
    /// What a transport remarked.
    pub(super) fn remarked(id: &'static str, message: String) -> Self {
        Self { id, must: REMARKED_MUSTS.contains(&id), message }
    }
}

/// Findings of one rule that are passed on; a hostile server could cause millions.
const PER_RULE: usize = 100;

/// Counts findings, so that a flood ends with one line.
#[derive(Debug, Default)]
pub(super) struct Throttle(HashMap<&'static str, usize>);

impl Throttle {
    /// What to pass on of this finding.
    pub fn pass(&mut self, finding: Finding) -> Option<Finding> {
        let seen = self.0.entry(finding.id).or_insert(0);
        *seen = seen.saturating_add(1);
        match *seen {
            n if n < PER_RULE => Some(finding),
            n if n == PER_RULE => {
                Some(Finding { message: format!("{} (more of this kind are not listed)", finding.message), ..finding })
            }
            _ => None,
        }
    }
}

/// `text` cut to at most `limit` bytes at a character, with the full length where it was cut.
pub(super) fn preview(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}… ({} bytes)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::{Finding, PER_RULE, Throttle, VERSION_TAG, preview};

    #[test]
    fn a_flood_of_one_kind_ends_with_one_line() {
        let mut throttle = Throttle::default();
        let passed: Vec<_> =
            (0..1000).filter_map(|n| throttle.pass(Finding::new(VERSION_TAG, n.to_string()))).collect();
        assert_eq!(passed.len(), PER_RULE);
        assert!(passed[PER_RULE - 1].message.contains("more of this kind"));
    }

    #[test]
    fn previews_are_cut_at_characters() {
        assert_eq!(preview("abc", 3), "abc");
        assert_eq!(preview("ääää", 3), "ä… (8 bytes)");
    }
}
