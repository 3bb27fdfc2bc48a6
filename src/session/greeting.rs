//! What an answer to `initialize` means (2025-11-25, "Lifecycle"; 2026-07-28, "Versioning").
//!
//! Owns: [`Greeting`]. May use: `rpc`, `json`. Must not: send, wait, or try anything.

use super::connect::INITIALIZE;
use super::error::CallError;
use super::link::Answered;
use super::open_error::OpenError;
use super::probe::{DISCOVER, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, is_modern, proves_nothing, supported};
use super::version::{Era, Revision};
use crate::json::Raw;
use crate::rpc::RpcError;

/// What came of `initialize`.
#[derive(Debug)]
pub(super) enum Greeting {
    /// The server's result.
    Agreed(Raw),
    /// The server turned out to be modern: it lists these versions, or answered the probe after all.
    Modern(Revision, Option<Raw>),
    /// The server wants this version instead.
    Counter(Revision),
    /// This is no endpoint of Streamable HTTP.
    NotHere(OpenError),
    /// It cannot be opened.
    Failed(OpenError),
}

/// Reads the answer to `initialize`.
pub(super) fn greeting(asked: Revision, answer: Result<Answered, CallError>) -> Greeting {
    match answer {
        Ok(Answered { outcome: Ok(result), .. }) => Greeting::Agreed(result),
        Ok(Answered { outcome: Err(error), status, .. }) => refusal(asked, error, status),
        Err(CallError::Http(answer)) => {
            let elsewhere = matches!(answer.status, 400 | 402 | 404..=428 | 430..=499);
            let error = CallError::Http(answer).into();
            if elsewhere { Greeting::NotHere(error) } else { Greeting::Failed(error) }
        }
        Err(error) => Greeting::Failed(error.into()),
    }
}

fn refusal(asked: Revision, error: RpcError, status: Option<u16>) -> Greeting {
    if let Some(status) = status.filter(|status| proves_nothing(*status) && !is_modern(&error)) {
        return Greeting::Failed(CallError::refused(status, &error).into());
    }
    let listed = supported(&error).unwrap_or_default();
    let newest = |era| Revision::newest(listed.iter().map(String::as_str), era);
    if error.code == Some(UNSUPPORTED_VERSION)
        && let Some(revision) = newest(Era::Modern)
    {
        return Greeting::Modern(revision, None);
    }
    if let Some(other) = newest(Era::Legacy).filter(|other| *other != asked) {
        return Greeting::Counter(other);
    }
    if error.code == Some(UNSUPPORTED_VERSION) {
        return Greeting::Failed(OpenError::Version { asked, offered: listed });
    }
    let missing = error.code == Some(METHOD_NOT_FOUND) && status == Some(404);
    let elsewhere = status.is_some_and(|status| (400..500).contains(&status));
    let hint = missing
        .then(|| format!("it looks like a modern endpoint without {DISCOVER}: try `--protocol {}`", Revision::LATEST));
    let modern = is_modern(&error) || missing;
    let error = OpenError::Rpc { method: INITIALIZE, error, hint };
    if elsewhere && !modern { Greeting::NotHere(error) } else { Greeting::Failed(error) }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::{Greeting, greeting};
    use crate::json::Raw;
    use crate::rpc::RpcError;
    use crate::session::error::CallError;
    use crate::session::link::Answered;
    use crate::session::version::Revision;
    use crate::transport::HttpAnswer;

    /// What an error at 2025-11-25 means, in one word.
    fn word(answer: Result<Answered, CallError>) -> String {
        match greeting(Revision::V2025_11_25, answer) {
            Greeting::Agreed(_) => "agreed".to_owned(),
            Greeting::Modern(revision, _) => format!("modern {revision}"),
            Greeting::Counter(revision) => format!("counter {revision}"),
            Greeting::NotHere(_) => "not here".to_owned(),
            Greeting::Failed(error) => format!("failed{}", error.hint().map(|_| " with a hint").unwrap_or_default()),
        }
    }

    #[test]
    fn every_refusal_has_its_meaning() {
        let table = [
            (-32022, r#"{"supported":["2026-07-28","2025-06-18"]}"#, None, "modern 2026-07-28"),
            (-32022, r#"{"supported":["2025-06-18"]}"#, None, "counter 2025-06-18"),
            (-32022, r#"{"supported":["2025-11-25"]}"#, None, "failed with a hint"),
            (-32022, "null", None, "failed"),
            (-32602, r#"{"supported":["2025-03-26","2024-11-05"]}"#, None, "counter 2025-03-26"),
            (-32602, r#"{"supported":["2026-07-28"]}"#, None, "failed"),
            (-32602, "null", None, "failed"),
            (-32601, "null", None, "failed"),
            (-32601, "null", Some(404), "failed with a hint"),
            (-32020, "null", Some(400), "failed"),
            (-32000, "null", Some(400), "not here"),
            (-32000, "null", Some(405), "not here"),
            (-32000, "null", Some(200), "failed"),
            (-32000, "null", Some(401), "failed with a hint"),
            (-32000, "null", Some(503), "failed"),
        ];
        for (code, data, status, expected) in table {
            let error = Raw::parse(&format!(r#"{{"code":{code},"message":"m","data":{data}}}"#)).expect("json");
            let answered = Answered { outcome: Err(RpcError::read(&error)), status, at: Instant::now() };
            assert_eq!(word(Ok(answered)), expected, "{code} {data} {status:?}");
        }
        for (status, expected) in [
            (400, "not here"),
            (404, "not here"),
            (405, "not here"),
            (406, "not here"),
            (401, "failed with a hint"),
            (500, "failed"),
        ] {
            let answer = HttpAnswer { status, content_type: None, hint: None, body: String::new() };
            let seen = word(Err(CallError::Http(answer)));
            assert!(seen.starts_with(expected), "{status}: {seen}");
        }
        let result = Raw::parse("{}").expect("json");
        assert_eq!(word(Ok(Answered { outcome: Ok(result), status: None, at: Instant::now() })), "agreed");
    }
}
