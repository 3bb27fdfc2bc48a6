//! Why a request failed, in one sentence, with what to do about it.
//!
//! Owns: [`CallError`], [`ErrorKind`]. May use: `rpc`, `json`, `transport`'s plain data. Must not: know scripts.

use std::fmt;
use std::time::Duration;

use super::findings::preview;
use crate::json::Raw;
use crate::rpc::RpcError;
use crate::transport::{Closed, HttpAnswer};

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Nothing came in time.
    Timeout,
    /// The connection or process is gone, or was never there.
    Closed,
    /// HTTP said no.
    Http,
    /// The server broke the protocol, or cannot speak the revision.
    Protocol,
    /// The server asked for input that nobody had prepared.
    Input,
    /// We refused before anything was sent.
    Refused,
}

/// Why a request has no answer. A JSON-RPC error is an answer and no `CallError`.
#[derive(Clone, Debug)]
pub enum CallError {
    /// The server was silent for too long.
    Timeout {
        /// The method that waited.
        method: String,
        /// How long it was silent.
        after: Duration,
        /// Progress notifications before that.
        progress: usize,
        /// The last of them, in words.
        last: Option<String>,
        /// A reply that fitted no request, such as `reply with unknown id 0 while request 2 waits`.
        stray: Option<String>,
    },
    /// The connection is over.
    Closed {
        /// The method that waited.
        method: String,
        /// Why.
        closed: Closed,
        /// As in `Timeout`.
        stray: Option<String>,
    },
    /// An HTTP answer without a message.
    Http(HttpAnswer),
    /// It could not be delivered, or its answer's stream ended early.
    Transport(String),
    /// The answer cannot be read as one.
    BadReply {
        /// The answer, cut to a readable length.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server asked for input and nobody answered.
    InputRequired {
        /// What it asked, one each.
        questions: Vec<String>,
        /// The request or result that asked.
        raw: Raw,
    },
    /// The tool is not on the allowlist.
    NotAllowed(String),
    /// It cannot be sent, for this reason.
    Unsendable(String),
    /// A paged list that cannot be followed to its end.
    List {
        /// The list's method.
        method: &'static str,
        /// Pages read.
        pages: usize,
        /// What is wrong.
        why: String,
    },
}

impl CallError {
    /// The refusal of HTTP that a JSON-RPC error came with.
    pub(super) fn refused(status: u16, error: &RpcError) -> Self {
        Self::Http(HttpAnswer {
            status,
            content_type: Some("application/json".to_owned()),
            hint: None,
            body: error.raw.to_string(),
        })
    }

    /// What kind of failure it is.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Closed { .. } | Self::Transport(_) => ErrorKind::Closed,
            Self::Http(_) => ErrorKind::Http,
            Self::BadReply { .. } | Self::List { .. } => ErrorKind::Protocol,
            Self::InputRequired { .. } => ErrorKind::Input,
            Self::NotAllowed(_) | Self::Unsendable(_) => ErrorKind::Refused,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Timeout { stray: Some(_), .. } => {
                Some("the server must answer with the id of the request".to_owned())
            }
            Self::Timeout { .. } => {
                Some("give it more time with `--timeout`, or a `timeout` prefix on the line".to_owned())
            }
            Self::Closed { closed, .. } => stderr_hint(&closed.stderr),
            Self::Http(answer) => http_hint(answer),
            Self::InputRequired { .. } => Some("prepare an answer before the call".to_owned()),
            Self::NotAllowed(_) => Some("add it to `--allow-tools`".to_owned()),
            Self::Transport(_) | Self::BadReply { .. } | Self::List { .. } | Self::Unsendable(_) => None,
        }
    }

    /// The HTTP status, where HTTP said no.
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Http(answer) => Some(answer.status),
            _ => None,
        }
    }

    /// The last lines of the server's stderr, where its end is the failure.
    pub fn stderr(&self) -> &[String] {
        match self {
            Self::Closed { closed, .. } => &closed.stderr,
            _ => &[],
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { method, after, progress, last, stray } => {
                write!(f, "no answer to {method} within {}", Seconds(*after))?;
                match (progress, last) {
                    (0, _) => {}
                    (1, last) => write!(f, " after one progress notification{}", Said(last))?,
                    (n, last) => write!(f, " after {n} progress notifications{}", Said(last))?,
                }
                stray.as_ref().map_or(Ok(()), |stray| write!(f, "; {stray}"))
            }
            Self::Closed { method, closed, stray } => {
                write!(f, "the connection closed while {method} waited: {}", closed.cause)?;
                stray.as_ref().map_or(Ok(()), |stray| write!(f, "; {stray}"))
            }
            Self::Http(answer) => write_http(answer, f),
            Self::Transport(cause) | Self::Unsendable(cause) => f.write_str(cause),
            Self::BadReply { why, .. } => f.write_str(why),
            Self::InputRequired { questions, .. } => match questions.as_slice() {
                [] => f.write_str("the server asked to be called again with its state"),
                questions => {
                    write!(f, "the server asked for input and no answer was prepared: {}", questions.join("; "))
                }
            },
            Self::NotAllowed(tool) => write!(f, "the tool `{tool}` is not among the allowed ones; nothing was sent"),
            Self::List { method, pages, why } => write!(f, "{method} does not end after {pages} pages: {why}"),
        }
    }
}

impl std::error::Error for CallError {}

fn write_http(answer: &HttpAnswer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the server answered HTTP {}", answer.status)?;
    if let Some(content_type) = &answer.content_type {
        write!(f, " ({content_type})")?;
    }
    // A page is many lines; this is one sentence.
    let body = answer.body.split_whitespace().collect::<Vec<_>>().join(" ");
    if body.is_empty() { f.write_str(" without a body") } else { write!(f, ": {}", preview(&body, 300)) }
}

fn http_hint(answer: &HttpAnswer) -> Option<String> {
    let said = answer.hint.as_deref();
    match answer.status {
        200..=299 => Some("an answer to a request must be application/json or text/event-stream".to_owned()),
        300..=399 => Some(match said {
            Some(place) => format!("redirects are not followed; use the URL {place}"),
            None => "redirects are not followed".to_owned(),
        }),
        401 => Some(match said {
            Some(challenge) => {
                format!("the server wants authorization ({challenge}); give a token with `-H` or `--bearer-env`")
            }
            None => "the server wants authorization and does not say which; give a token with `-H` or `--bearer-env`"
                .to_owned(),
        }),
        403 => Some(said.map_or_else(|| "the credentials are not accepted here".to_owned(), str::to_owned)),
        404 => Some("the session is lost, or the path is not the server's endpoint".to_owned()),
        429 => Some("the server limits how often it is asked".to_owned()),
        _ => None,
    }
}

fn stderr_hint(stderr: &[String]) -> Option<String> {
    let last = stderr.iter().rev().find(|line| !line.trim().is_empty())?;
    Some(format!("its last line on stderr: {}", preview(last.trim(), 300)))
}

/// The last progress, as part of a sentence.
struct Said<'a>(&'a Option<String>);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |said| write!(f, " (the last: {})", preview(said, 120)))
    }
}

/// A duration as a person writes it: `30 s`, `1.5 s`, `200 ms`.
pub(super) struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        if millis < 1000 { write!(f, "{millis} ms") } else { write!(f, "{} s", self.0.as_millis() as f64 / 1000.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::{CallError, Seconds};
    use crate::transport::HttpAnswer;
    use std::time::Duration;

    #[test]
    fn a_timeout_says_what_had_arrived() {
        let error = CallError::Timeout {
            method: "tools/call".to_owned(),
            after: Duration::from_secs(30),
            progress: 2,
            last: Some("halfway".to_owned()),
            stray: Some("reply with unknown id 0 while request 2 waits".to_owned()),
        };
        assert_eq!(
            error.to_string(),
            "no answer to tools/call within 30 s after 2 progress notifications (the last: halfway); reply with unknown id 0 while request 2 waits"
        );
        assert_eq!(Seconds(Duration::from_millis(1500)).to_string(), "1.5 s");
        assert_eq!(Seconds(Duration::from_millis(200)).to_string(), "200 ms");
    }

    #[test]
    fn http_answers_say_what_to_do() {
        let answer = |status, hint: Option<&str>| HttpAnswer {
            status,
            content_type: None,
            hint: hint.map(str::to_owned),
            body: String::new(),
        };
        let hint = |status, said| CallError::Http(answer(status, said)).hint().unwrap_or_default();
        assert!(hint(307, Some("https://example.com/mcp/")).contains("https://example.com/mcp/"));
        assert!(hint(401, Some("Bearer")).contains("Bearer"));
        assert!(hint(404, None).contains("session is lost"));
        assert!(CallError::Http(answer(503, None)).hint().is_none());
    }
}
