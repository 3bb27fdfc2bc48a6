//! Reads an HTTP answer that is no event stream.
//!
//! Owns: content types, bounded bodies, telling a JSON-RPC body from anything else. May use: `rpc`, `json`.
//! Must not: decide what a message means. Status codes: 2026-07-28, "Transports", "Streamable HTTP".

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION, WWW_AUTHENTICATE};

use crate::json::{JsonKind, Limits, Raw};
use crate::rpc::Envelope;
use crate::transport::HttpAnswer;

/// Bytes of a body that are kept to explain a problem.
const SHOWN: usize = 64 * 1024;
/// Bytes of the answer to a refused request that are read.
const REFUSAL: usize = 1024 * 1024;

/// What the content type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Json,
    Events,
    Other,
}

/// Status and headers of an answer, as far as they matter.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) content: Content,
    pub(super) content_type: Option<String>,
    hint: Option<String>,
}

impl Head {
    pub(super) fn of(response: &Response) -> Self {
        let content_type = text(response, CONTENT_TYPE);
        let essence = content_type.as_deref().unwrap_or_default();
        let essence = essence.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let content = match essence.as_str() {
            "application/json" => Content::Json,
            "text/event-stream" => Content::Events,
            _ => Content::Other,
        };
        let status = response.status();
        let hint = if status.is_redirection() { text(response, LOCATION) } else { text(response, WWW_AUTHENTICATE) };
        Self { status: status.as_u16(), content, content_type, hint }
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The answer in short, with the start of its body.
    pub(super) fn problem(self, body: &[u8]) -> HttpAnswer {
        let body = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]).into_owned();
        HttpAnswer { status: self.status, content_type: self.content_type, hint: self.hint, body }
    }
}

fn text(response: &Response, name: HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Why a body was not read in full.
#[derive(Debug)]
pub(super) enum BodyFault {
    TooLarge(usize),
    Broken(reqwest::Error),
}

/// Reads a body of at most `limit` bytes.
pub(super) async fn body(response: &mut Response, limit: usize) -> Result<Vec<u8>, BodyFault> {
    let announced = response.content_length().unwrap_or(0);
    if announced > limit as u64 {
        return Err(BodyFault::TooLarge(limit));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyFault::Broken)? {
        if body.len() + chunk.len() > limit {
            return Err(BodyFault::TooLarge(limit));
        }
        append(&mut body, chunk, announced as usize);
    }
    Ok(body)
}

/// A body that came in one piece is not copied.
fn append(body: &mut Vec<u8>, chunk: Bytes, announced: usize) {
    if body.is_empty() && chunk.len() >= announced {
        *body = chunk.into();
        return;
    }
    if body.is_empty() {
        body.reserve_exact(announced);
    }
    body.extend_from_slice(&chunk);
}

/// Reads what came with a refusal: enough to find a JSON-RPC error in it, and to show its start. A body that breaks
/// off is shown as far as it came.
pub(super) async fn refusal(response: &mut Response, limit: usize) -> Vec<u8> {
    let limit = limit.min(REFUSAL);
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit {
            break;
        }
    }
    body
}

/// True for a JSON-RPC message, or something that can only be meant as one, whatever its content type.
pub(super) fn is_json_rpc(body: &[u8]) -> bool {
    let Ok((raw, _)) = Raw::check(body, &Limits::default()) else { return false };
    match raw.kind() {
        JsonKind::Object => is_message(&raw),
        JsonKind::Array => raw.at(0).is_some_and(|first| is_message(&first)),
        _ => false,
    }
}

fn is_message(raw: &Raw) -> bool {
    let Some(envelope) = Envelope::read(raw) else { return false };
    // OAuth's errors have an `error` too, but it is a word.
    envelope.version.is_some() || envelope.error.is_some_and(|error| error.get("code").is_some())
}

#[cfg(test)]
mod tests {
    use super::is_json_rpc;

    #[test]
    fn json_rpc_is_told_from_other_json() {
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x"}}"#, true),
            (r#"{"id":null,"error":{"code":-32600,"message":"x"}}"#, true),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, true),
            (r#"{"error":"invalid_token","error_description":"expired"}"#, false),
            (r#"{"detail":"Not Found"}"#, false),
            ("<html></html>", false),
            ("", false),
            ("[]", false),
        ] {
            assert_eq!(is_json_rpc(body.as_bytes()), expected, "{body}");
        }
    }
}
