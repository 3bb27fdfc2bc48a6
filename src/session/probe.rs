//! What an answer to the probe proves (2026-07-28, "Versioning"): which era the server is of, or that nothing is proven.
//!
//! Owns: [`judge`]. May use: `rpc`, `json`, `transport`'s plain data. Must not: send, wait, or try anything.

use std::time::Duration;

use super::dialect::Wire;
use super::error::{CallError, Seconds};
use super::findings::preview;
use super::open_error::OpenError;
use super::version::{Era, Revision};
use super::views::strings;
use crate::json::Raw;
use crate::rpc::RpcError;

/// The probe's method.
pub(super) const DISCOVER: &str = "server/discover";
/// A header that does not match the body.
pub(super) const HEADER_MISMATCH: i64 = -32020;
/// A client capability that is missing.
pub(super) const MISSING_CAPABILITY: i64 = -32021;
/// A revision that the server does not speak; `data.supported` lists those it does.
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;
/// JSON-RPC's code for a method that is not there.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// What came of the probe.
#[derive(Debug)]
pub(super) enum Probe {
    /// An answer, with the HTTP status it came with.
    Reply(Result<Raw, RpcError>, Option<u16>),
    /// No answer, and why.
    Failed(CallError),
    /// Nothing for so long.
    Silent(Duration),
}

/// What the probe proves.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The server speaks this modern revision; its answer says who it is.
    Modern(Revision, Raw),
    /// The server is modern and asks for this revision instead.
    Again(Revision),
    /// The server opens with `initialize` at this revision.
    Legacy {
        /// The revision to ask for.
        revision: Revision,
        /// What was seen, as half a sentence.
        seen: String,
        /// The process has ended.
        ended: bool,
    },
    /// Nothing is proven, or nothing can be done.
    Stop(OpenError),
}

/// Reads what came of a probe at `asked`.
pub(super) fn judge(asked: Revision, wire: Wire, probe: Probe) -> Verdict {
    match probe {
        Probe::Reply(Ok(result), _) => match strings(&result, "supportedVersions") {
            Some(versions) => choose(asked, &versions, |revision| Verdict::Modern(revision, result.clone())),
            None => legacy(format!("{DISCOVER} was answered with a result that lists no versions"), false),
        },
        Probe::Reply(Err(error), status) => refused(asked, error, status),
        Probe::Failed(error) => failed(wire, error),
        Probe::Silent(limit) if wire == Wire::Pipe => {
            legacy(format!("{DISCOVER} was not answered within {}", Seconds(limit)), false)
        }
        Probe::Silent(limit) => Verdict::Stop(OpenError::Call(CallError::Timeout {
            method: DISCOVER.to_owned(),
            after: limit,
            progress: 0,
            last: None,
            stray: None,
        })),
    }
}

/// The versions that a refusal lists.
pub(super) fn supported(error: &RpcError) -> Option<Vec<String>> {
    strings(&error.data()?, "supported")
}

/// True for the errors that only modern servers give.
pub(super) const fn is_modern(error: &RpcError) -> bool {
    matches!(error.code, Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION))
}

/// True for statuses that say nothing about the server's era: who one is, load, faults, other places.
pub(super) const fn proves_nothing(status: u16) -> bool {
    matches!(status, 401 | 403 | 429 | 300..=399 | 500..)
}

fn legacy(seen: String, ended: bool) -> Verdict {
    Verdict::Legacy { revision: Revision::LATEST_LEGACY, seen, ended }
}

/// The newest modern version of a list, else the newest legacy one: that is then chosen from what the server offers.
fn choose(asked: Revision, versions: &[String], modern: impl FnOnce(Revision) -> Verdict) -> Verdict {
    let texts = || versions.iter().map(String::as_str);
    if let Some(revision) = Revision::newest(texts(), Era::Modern) {
        return modern(revision);
    }
    match Revision::newest(texts(), Era::Legacy) {
        Some(revision) => {
            let seen = format!("the answer to {DISCOVER} offers nothing newer than {revision}");
            Verdict::Legacy { revision, seen, ended: false }
        }
        None => Verdict::Stop(OpenError::Version { asked, offered: versions.to_vec() }),
    }
}

fn refused(asked: Revision, error: RpcError, status: Option<u16>) -> Verdict {
    if let Some(status) = status.filter(|status| proves_nothing(*status) && !is_modern(&error)) {
        return Verdict::Stop(CallError::refused(status, &error).into());
    }
    match error.code {
        Some(UNSUPPORTED_VERSION) => choose(asked, &supported(&error).unwrap_or_default(), Verdict::Again),
        Some(HEADER_MISMATCH | MISSING_CAPABILITY) => {
            Verdict::Stop(OpenError::Rpc { method: DISCOVER, error, hint: None })
        }
        _ => {
            let status = status.filter(|status| *status != 200).map(|status| format!(" under HTTP {status}"));
            let error = preview(&error.to_string(), 200);
            legacy(format!("{DISCOVER} was refused{}: {error}", status.unwrap_or_default()), false)
        }
    }
}

fn failed(wire: Wire, error: CallError) -> Verdict {
    match error {
        CallError::Closed { closed, .. } if wire == Wire::Pipe => {
            legacy(format!("the server ended on {DISCOVER}: {}", closed.cause), true)
        }
        CallError::Timeout { after, .. } => judge(Revision::LATEST, wire, Probe::Silent(after)),
        CallError::Http(answer) if !proves_nothing(answer.status) => {
            legacy(format!("{DISCOVER} was answered with HTTP {}", answer.status), false)
        }
        CallError::BadReply { why, .. } => legacy(format!("{DISCOVER} was not answered with a message: {why}"), false),
        error => Verdict::Stop(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Probe, Verdict, judge};
    use crate::json::Raw;
    use crate::rpc::RpcError;
    use crate::session::dialect::Wire;
    use crate::session::error::CallError;
    use crate::session::open_error::OpenError;
    use crate::session::version::Revision;
    use crate::transport::{Closed, HttpAnswer};

    fn raw(text: &str) -> Raw {
        Raw::parse(text).expect(text)
    }

    fn error(code: i64, data: &str) -> Result<Raw, RpcError> {
        Err(RpcError::read(&raw(&format!(r#"{{"code":{code},"message":"m","data":{data}}}"#))))
    }

    fn http(status: u16) -> Probe {
        Probe::Failed(CallError::Http(HttpAnswer { status, content_type: None, hint: None, body: String::new() }))
    }

    /// The verdict in one word, with the revision.
    fn word(wire: Wire, probe: Probe) -> String {
        match judge(Revision::LATEST, wire, probe) {
            Verdict::Modern(revision, _) => format!("modern {revision}"),
            Verdict::Again(revision) => format!("again {revision}"),
            Verdict::Legacy { revision, ended: false, .. } => format!("legacy {revision}"),
            Verdict::Legacy { revision, ended: true, .. } => format!("respawn {revision}"),
            Verdict::Stop(OpenError::Version { .. }) => "stop version".to_owned(),
            Verdict::Stop(_) => "stop".to_owned(),
        }
    }

    #[test]
    fn every_row_of_the_table_of_answers() {
        let ok = |text: &str| Probe::Reply(Ok(raw(text)), None);
        let refused = |code, data: &str, status| Probe::Reply(error(code, data), status);
        let closed = || Closed { cause: "exit code 1".to_owned(), code: Some(1), stderr: Vec::new() };
        let ended = || CallError::Closed { method: "server/discover".to_owned(), closed: closed(), stray: None };
        let bad = || CallError::BadReply { text: String::new(), why: "no JSON".to_owned() };
        let (pipe, web) = (Wire::Pipe, Wire::Http);
        let table = [
            (pipe, ok(r#"{"supportedVersions":["2026-07-28","2025-11-25"]}"#), "modern 2026-07-28"),
            (pipe, ok(r#"{"supportedVersions":["2025-06-18","2024-11-05"]}"#), "legacy 2025-06-18"),
            (pipe, ok(r#"{"supportedVersions":["2099-01-01"]}"#), "stop version"),
            (pipe, ok("{}"), "legacy 2025-11-25"),
            (pipe, refused(-32022, r#"{"supported":["2026-07-28"]}"#, None), "again 2026-07-28"),
            (pipe, refused(-32022, r#"{"supported":["2025-03-26"]}"#, None), "legacy 2025-03-26"),
            (pipe, refused(-32022, "null", None), "stop version"),
            (web, refused(-32022, r#"{"supported":["2026-07-28"]}"#, Some(400)), "again 2026-07-28"),
            (web, refused(-32020, "null", Some(400)), "stop"),
            (web, refused(-32021, "{}", Some(400)), "stop"),
            (pipe, refused(-32601, "null", None), "legacy 2025-11-25"),
            (pipe, refused(-32602, "null", None), "legacy 2025-11-25"),
            (pipe, refused(-32001, "null", None), "legacy 2025-11-25"),
            (web, refused(-32000, "null", Some(400)), "legacy 2025-11-25"),
            (web, refused(-32601, "null", Some(404)), "legacy 2025-11-25"),
            (web, refused(-32600, "null", Some(200)), "legacy 2025-11-25"),
            (web, refused(-32000, "null", Some(401)), "stop"),
            (web, refused(-32000, "null", Some(503)), "stop"),
            (pipe, Probe::Silent(Duration::from_secs(30)), "legacy 2025-11-25"),
            (web, Probe::Silent(Duration::from_secs(30)), "stop"),
            (pipe, Probe::Failed(ended()), "respawn 2025-11-25"),
            (web, Probe::Failed(ended()), "stop"),
            (web, Probe::Failed(bad()), "legacy 2025-11-25"),
            (web, http(400), "legacy 2025-11-25"),
            (web, http(404), "legacy 2025-11-25"),
            (web, http(405), "legacy 2025-11-25"),
            (web, http(200), "legacy 2025-11-25"),
            (web, http(307), "stop"),
            (web, http(401), "stop"),
            (web, http(403), "stop"),
            (web, http(429), "stop"),
            (web, http(500), "stop"),
            (web, Probe::Failed(CallError::Transport("connection refused".to_owned())), "stop"),
        ];
        for (at, (wire, probe, expected)) in table.into_iter().enumerate() {
            let seen = format!("row {at}: {probe:?}");
            assert_eq!(word(wire, probe), expected, "{seen}");
        }
    }
}
