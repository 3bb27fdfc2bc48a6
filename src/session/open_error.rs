//! Why no session could be opened, in one sentence, with what to do about it.
//!
//! Owns: [`OpenError`]. May use: `rpc`. Must not: know scripts.

use std::fmt;

use super::error::{CallError, ErrorKind};
use super::findings::preview;
use super::version::Revision;
use crate::rpc::RpcError;

/// Why no session could be opened.
#[derive(Clone, Debug)]
pub enum OpenError {
    /// The target itself is refused.
    Target(String),
    /// The server could not be started or reached.
    Spawn {
        /// The program or URL.
        program: String,
        /// Why.
        cause: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A request of the opening failed.
    Call(CallError),
    /// The server answered the opening with an error.
    Rpc {
        /// The method it answered.
        method: &'static str,
        /// Its error.
        error: RpcError,
        /// What to do about it.
        hint: Option<String>,
    },
    /// No revision that both sides speak.
    Version {
        /// What we asked for.
        asked: Revision,
        /// What the server offers, as it says.
        offered: Vec<String>,
    },
    /// An answer of the opening lacks what is needed.
    Shape {
        /// The method it answered.
        method: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The probe failed, and then the fallback.
    Fallback {
        /// What came of the probe.
        probe: String,
        /// What came of the fallback.
        cause: Box<OpenError>,
    },
}

impl OpenError {
    /// What kind of failure it is.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Target(_) => ErrorKind::Refused,
            Self::Spawn { .. } => ErrorKind::Closed,
            Self::Call(error) => error.kind(),
            Self::Rpc { .. } | Self::Version { .. } | Self::Shape { .. } => ErrorKind::Protocol,
            Self::Fallback { cause, .. } => cause.kind(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Spawn { hint, .. } | Self::Rpc { hint, .. } => hint.clone(),
            Self::Call(CallError::Timeout { .. }) => Some("give it more time with `--connect-timeout`".to_owned()),
            Self::Call(error) => error.hint(),
            Self::Version { offered, .. } => offered
                .iter()
                .filter_map(|text| Revision::parse(text))
                .max()
                .map(|revision| format!("the server speaks {revision}: `--protocol {revision}`")),
            Self::Fallback { cause, .. } => cause.hint(),
            Self::Target(_) | Self::Shape { .. } => None,
        }
    }

    /// The HTTP status, where HTTP said no.
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Call(error) => error.http_status(),
            Self::Fallback { cause, .. } => cause.http_status(),
            _ => None,
        }
    }

    /// The last lines of the server's stderr, where its end is the failure.
    pub fn stderr(&self) -> &[String] {
        match self {
            Self::Call(error) => error.stderr(),
            Self::Fallback { cause, .. } => cause.stderr(),
            _ => &[],
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(why) => f.write_str(why),
            Self::Spawn { program, cause, .. } => write!(f, "cannot connect to `{program}`: {cause}"),
            Self::Call(error) => error.fmt(f),
            Self::Rpc { method, error, .. } => write!(f, "the server refused {method}: {error}"),
            Self::Version { asked, offered } if offered.is_empty() => write!(f, "the server does not speak {asked}"),
            Self::Version { asked, offered } => {
                write!(f, "the server does not speak {asked}; it offers {}", preview(&offered.join(", "), 300))
            }
            Self::Shape { method, why } => write!(f, "the answer to {method} cannot be used: {why}"),
            Self::Fallback { probe, cause } => write!(f, "{cause}; before that: {probe}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<CallError> for OpenError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

#[cfg(test)]
mod tests {
    use super::OpenError;
    use crate::session::error::{CallError, ErrorKind};
    use crate::session::version::Revision;
    use crate::transport::Closed;

    #[test]
    fn the_end_of_a_process_names_the_waiting_method_and_its_last_words() {
        let closed =
            Closed { cause: "exit code 3".to_owned(), code: Some(3), stderr: vec!["boom".to_owned(), " ".to_owned()] };
        let error = OpenError::Fallback {
            probe: "server/discover was refused".to_owned(),
            cause: Box::new(CallError::Closed { method: "initialize".to_owned(), closed, stray: None }.into()),
        };
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert_eq!(error.stderr().len(), 2);
        assert_eq!(error.hint().as_deref(), Some("its last line on stderr: boom"));
        let text = error.to_string();
        assert!(
            text.contains("while initialize waited: exit code 3") && text.contains("server/discover was refused"),
            "{text}"
        );
    }

    #[test]
    fn a_refused_version_shows_the_flag() {
        let error =
            OpenError::Version { asked: Revision::V2026_07_28, offered: vec!["2025-06-18".to_owned(), "x".to_owned()] };
        assert!(error.hint().unwrap_or_default().contains("--protocol 2025-06-18"));
    }
}
