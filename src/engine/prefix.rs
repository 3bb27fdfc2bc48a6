//! Words in front of a command: what may stand before what, found before anything runs.

use super::datum::{Datum, read};
use super::lower::repeats;
use super::operand::Filled;
use super::outcome::FailureKind;
use super::plan::{Accepts, Op, Prefix};
use super::spec::{Kind, PrefixKind, Role};
use crate::diagnostic::Diagnostic;
use crate::source::Origin;

/// The words `expect_error` takes to narrow or widen what it accepts.
pub const ERROR_KINDS: &[&str] = &["tool", "protocol", "timeout", "closed", "any"];

/// True where an optional parameter of a prefix may take this word: a variable, or text that its kind reads.
pub(super) fn may_take(kind: Kind, text: &str) -> bool {
    text.starts_with('$') || read(kind, Filled::Text(text.into()), true).is_ok()
}

/// What an `expect_error` with these words accepts.
pub(super) fn accepts(op: &Op) -> Accepts {
    let word = op.operands.first().and_then(|operand| match &operand.literal {
        Some(Datum::Text(text)) => Some(&**text),
        _ => None,
    });
    match word {
        Some("tool") => Accepts::Tool,
        Some("protocol") => Accepts::Protocol,
        Some("timeout") => Accepts::Timeout,
        Some("closed") => Accepts::Closed,
        Some("any") => Accepts::Any,
        _ => Accepts::Usual { timeout: false },
    }
}

impl Accepts {
    /// True where a failure of this kind is the expected one.
    pub fn takes(self, kind: FailureKind) -> bool {
        use FailureKind::{Assertion, Closed, Input, Output, Protocol, Timeout, Tool};
        match self {
            Self::Usual { timeout } => {
                matches!(kind, Tool | Protocol | Output | Input | Assertion) || (timeout && kind == Timeout)
            }
            Self::Tool => kind == Tool,
            Self::Protocol => kind == Protocol,
            Self::Timeout => kind == Timeout,
            Self::Closed => kind == Closed,
            Self::Any => matches!(kind, Tool | Protocol | Output | Input | Assertion | Timeout | Closed),
        }
    }

    /// In words, for messages.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Usual { .. } => "an error",
            Self::Tool => "a tool error",
            Self::Protocol => "a JSON-RPC error",
            Self::Timeout => "a timeout",
            Self::Closed => "a lost connection",
            Self::Any => "any error",
        }
    }
}

/// Checks what stands before what, and settles what `timeout` limits.
pub(super) fn check(prefixes: &mut [Prefix], op: &Op, origin: &Origin) -> Option<Diagnostic> {
    let has_timeout = prefixes.iter().any(|prefix| prefix.kind == PrefixKind::Timeout);
    for at in 0..prefixes.len() {
        let repeats_later = prefixes[at + 1..].iter().any(|later| repeats(later.kind));
        let prefix = &mut prefixes[at];
        if prefix.kind == PrefixKind::Timeout {
            prefix.overall = repeats_later;
        }
        if let Accepts::Usual { timeout } = &mut prefix.accepts {
            *timeout = has_timeout;
        }
        if let Some((title, help)) = misplaced(prefix, op) {
            return Some(
                Diagnostic::error("mcp::script::misplaced_prefix", title)
                    .at_origin(&origin.at(prefix.op.span), "cannot stand here")
                    .help(help),
            );
        }
    }
    let not = prefixes.iter().position(|prefix| prefix.kind == PrefixKind::Not)?;
    let expect = prefixes.iter().find(|prefix| prefix.kind == PrefixKind::ExpectError)?;
    Some(
        Diagnostic::error("mcp::script::misplaced_prefix", "`not` and `expect_error` cannot stand on one line")
            .at_origin(&origin.at(prefixes[not].op.span), "this turns an assertion around")
            .and(&origin.source, expect.op.span, "this expects an error")
            .help("leave out `not`; to say that a call works, write the call alone"),
    )
}

fn misplaced(prefix: &Prefix, op: &Op) -> Option<(String, String)> {
    let name = op.spec.name;
    let request = matches!(op.spec.role, Role::Request(_));
    let assertion = matches!(op.spec.role, Role::Assert(_));
    match prefix.kind {
        PrefixKind::ExpectError if !request && !assertion => Some((
            format!("`expect_error` before `{name}`, which asks the server nothing"),
            "put it before a request, such as `expect_error call_tool …`".into(),
        )),
        PrefixKind::Not if !assertion => Some((
            format!("`not` before `{name}`, which is no assertion"),
            "`not` stands before assert_* only; an expected error is written `expect_error`".into(),
        )),
        PrefixKind::Timeout if !request && !prefix.overall => Some((
            format!("`timeout` before `{name}`, which asks the server nothing"),
            "`timeout` limits a request; left of `retry` or `repeat` it limits all tries together".into(),
        )),
        PrefixKind::Retry if !request && !assertion && !matches!(op.spec.role, Role::Store(_)) => Some((
            format!("`retry` before `{name}`, which cannot fail and then hold"),
            "put it before a request or an assertion".into(),
        )),
        PrefixKind::Header if !request => Some((
            format!("`header` before `{name}`, which asks the server nothing"),
            "put it before a request, such as `header 'X-Trace: 1' call_tool …`".into(),
        )),
        _ => None,
    }
}
