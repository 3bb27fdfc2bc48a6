//! Words in front of another command. The evaluator carries them out; here they are declared.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::ERROR_KINDS;
use crate::engine::spec::{Arity, CommandSpec, Form, Group, Kind, Param, PrefixKind, Role, Slot};

const KIND: Param<Arc<str>> = Param::word(
    Kind::Choice(ERROR_KINDS),
    "kind",
    "which failures count: tool, protocol, timeout, closed or any; without it tool errors, JSON-RPC errors, invalid results and unanswered requests for input",
);
const LIMIT: Param<Duration> =
    Param::duration("limit", "longest time to the whole answer; a bare number is milliseconds");
const TIMES: Param<u64> = Param::count("times", "how often");
const DELAY: Param<Duration> = Param::duration("delay", "pause between tries; 100ms when left out");
const HEADER: Param<Arc<str>> = Param::text("header", "'Name: value'; an empty value removes the header");
const COMMAND: Slot = Slot {
    name: "command",
    doc: "the command it stands before, with its words",
    kind: Kind::Command,
    arity: Arity::Rest,
};

/// The prefixes.
pub static FAMILY: &[CommandSpec] = &[
    CommandSpec {
        name: "expect_error",
        group: Group::Prefixes,
        summary: "Expects the command after it to fail.",
        details: "The failure becomes the last response, so that assert_tool_error, assert_error_code and assert_contains can look at it. A timeout counts only where the line has a timeout prefix, a lost connection only with closed or any, and a mistake in the script never.",
        forms: &[Form::new(&[KIND.optional(), COMMAND])],
        example: "expect_error call_tool add a:\"not_a_number\" b:1\nassert_tool_error",
        role: Role::Prefix(PrefixKind::ExpectError),
    },
    CommandSpec {
        name: "not",
        group: Group::Prefixes,
        summary: "Turns an assertion around.",
        details: "Stands only before assert_*. A missing path or a failed request does not satisfy it.",
        forms: &[Form::new(&[COMMAND])],
        example: "call_tool echo text:hello\nnot assert_contains \"goodbye\"",
        role: Role::Prefix(PrefixKind::Not),
    },
    CommandSpec {
        name: "timeout",
        group: Group::Prefixes,
        summary: "Limits the time that the request after it may take.",
        details: "Progress does not extend it, as it extends --timeout. Left of retry or repeat it limits all tries together.",
        forms: &[Form::new(&[LIMIT.required(), COMMAND])],
        example: "timeout 5s call_tool echo text:hello",
        role: Role::Prefix(PrefixKind::Timeout),
    },
    CommandSpec {
        name: "retry",
        group: Group::Prefixes,
        summary: "Tries the command after it again until it does what the line expects.",
        details: "times counts further tries. Before an assertion it repeats the last request and the set_var and assertion lines since.",
        forms: &[Form::new(&[TIMES.required(), DELAY.optional(), COMMAND])],
        example: "call_tool echo text:ready\nretry 5 200ms assert_contains \"ready\"",
        role: Role::Prefix(PrefixKind::Retry),
    },
    CommandSpec {
        name: "repeat",
        group: Group::Prefixes,
        summary: "Runs the command after it several times, and stops at the first failure.",
        details: "",
        forms: &[Form::new(&[TIMES.required(), COMMAND])],
        example: "repeat 3 call_tool echo text:again",
        role: Role::Prefix(PrefixKind::Repeat),
    },
    CommandSpec {
        name: "header",
        group: Group::Prefixes,
        summary: "Adds an HTTP header to the request after it, or removes one.",
        details: "Over stdio there are no headers, and it does nothing.",
        forms: &[Form::new(&[HEADER.required(), COMMAND])],
        example: "header 'X-Trace: 1' call_tool echo text:hello",
        role: Role::Prefix(PrefixKind::Header),
    },
];
