//! JSON-RPC 2.0 messages: ids, the envelope split into slices, errors, and the small functions that build what we send.
//!
//! Owns: [`Id`], [`Envelope`], [`RpcError`]. May use: `json`. Must not: know any method, revision or transport.

use std::fmt;
use std::sync::Arc;

use crate::json::{JsonKind, Raw};

/// A request's id. Two ids are the same only where JSON type and value are (`7` is not `"7"`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer.
    Number(i64),
    /// A string, decoded.
    Text(Arc<str>),
    /// What no id may be: a fraction, a number beyond 64 bits, `null`, an array; as written.
    Odd(Arc<str>),
}

impl Id {
    /// The id a message carries.
    pub fn read(raw: &Raw) -> Self {
        match raw.kind() {
            JsonKind::Number => raw.as_str().parse().map_or_else(|_| Self::Odd(raw.as_str().into()), Self::Number),
            JsonKind::String => Self::Text(raw.string().unwrap_or_default().into()),
            _ => Self::Odd(raw.as_str().into()),
        }
    }

    /// True for `null`, which JSON-RPC uses where the request's id could not be read.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Odd(text) if &**text == "null")
    }
}

/// The id as JSON.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Odd(text) => f.write_str(text),
        }
    }
}

/// What a message is, by the members it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `method` and `id`.
    Request,
    /// `method` without `id`.
    Notification,
    /// `result` or `error`, or an `id` alone.
    Response,
    /// None of these.
    Unknown,
}

/// A message split into its members; nothing is copied but the method's name.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The whole message.
    pub raw: Raw,
    /// `jsonrpc`.
    pub version: Option<Raw>,
    /// `id`.
    pub id: Option<Raw>,
    /// `method` where it is a string.
    pub method: Option<String>,
    /// `params`.
    pub params: Option<Raw>,
    /// `result`.
    pub result: Option<Raw>,
    /// `error`.
    pub error: Option<Raw>,
    /// `method` is there and is no string.
    pub odd_method: bool,
}

impl Envelope {
    /// Splits `raw`; none where it is no object. Of a member that occurs twice the last one counts.
    pub fn read(raw: &Raw) -> Option<Self> {
        if raw.kind() != JsonKind::Object {
            return None;
        }
        let mut envelope = Self {
            raw: raw.clone(),
            version: None,
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
            odd_method: false,
        };
        for (name, value) in raw.members() {
            match &*name {
                "jsonrpc" => envelope.version = Some(value),
                "id" => envelope.id = Some(value),
                "method" => {
                    envelope.method = value.string().map(|method| method.into_owned());
                    envelope.odd_method = envelope.method.is_none();
                }
                "params" => envelope.params = Some(value),
                "result" => envelope.result = Some(value),
                "error" => envelope.error = Some(value),
                _ => {}
            }
        }
        Some(envelope)
    }

    /// What the message is.
    pub fn kind(&self) -> Kind {
        if self.method.is_some() {
            if self.id.is_some() { Kind::Request } else { Kind::Notification }
        } else if self.odd_method {
            Kind::Unknown
        } else if self.result.is_some() || self.error.is_some() || self.id.is_some() {
            Kind::Response
        } else {
            Kind::Unknown
        }
    }

    /// True where `jsonrpc` is exactly `"2.0"`.
    pub fn is_tagged(&self) -> bool {
        self.version.as_ref().and_then(Raw::string).is_some_and(|version| version == "2.0")
    }
}

/// The `error` of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// Its code where that is an integer.
    pub code: Option<i64>,
    /// Its message; where it has none, the error as text.
    pub message: String,
    /// The whole error as sent.
    pub raw: Raw,
}

impl RpcError {
    /// Reads an error however it is shaped.
    pub fn read(raw: &Raw) -> Self {
        let message = match raw.get("message").as_ref().and_then(Raw::string) {
            Some(message) => message.into_owned(),
            None => raw.string().map_or_else(|| raw.as_str().to_owned(), |text| text.into_owned()),
        };
        Self { code: raw.get("code").as_ref().and_then(Raw::i64), message, raw: raw.clone() }
    }

    /// What JSON-RPC asks of an error and this one lacks.
    pub fn flaw(&self) -> Option<&'static str> {
        if self.raw.kind() != JsonKind::Object {
            Some("the error is no object")
        } else if self.code.is_none() {
            Some("the error's code is no integer")
        } else if self.raw.get("message").is_none_or(|message| message.kind() != JsonKind::String) {
            Some("the error has no message that is a string")
        } else {
            None
        }
    }

    /// Its `data`.
    pub fn data(&self) -> Option<Raw> {
        self.raw.get("data")
    }
}

/// `message (code -32601)`, or the message alone where there is no code.
impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{} (code {code})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// `text` as a JSON string, quotes included.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(text, &mut out);
    out
}

/// Appends `text` as a JSON string, quotes included.
pub fn push_quoted(text: &str, out: &mut String) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        crate::json::Json::from(text).write_compact(out);
    }
}

/// A request; `params` is JSON text and goes in as it is.
pub fn request(id: &Id, method: &str, params: Option<&str>) -> String {
    let mut out = head(method.len() + params.map_or(0, str::len));
    out.push_str(",\"id\":");
    push_id(id, &mut out);
    push_method(method, params, &mut out);
    out
}

/// A notification; `params` is JSON text and goes in as it is.
pub fn notification(method: &str, params: Option<&str>) -> String {
    let mut out = head(method.len() + params.map_or(0, str::len));
    push_method(method, params, &mut out);
    out
}

/// The answer to a request of the other side; `result` is JSON text.
pub fn result(id: &Id, result: &str) -> String {
    let mut out = head(result.len());
    out.push_str(",\"id\":");
    push_id(id, &mut out);
    out.push_str(",\"result\":");
    out.push_str(result);
    out.push('}');
    out
}

/// The refusal of a request of the other side.
pub fn error(id: &Id, code: i64, message: &str) -> String {
    let mut out = head(message.len() + 32);
    out.push_str(",\"id\":");
    push_id(id, &mut out);
    out.push_str(",\"error\":{\"code\":");
    out.push_str(&code.to_string());
    out.push_str(",\"message\":");
    push_quoted(message, &mut out);
    out.push_str("}}");
    out
}

/// Appends an id as JSON.
pub fn push_id(id: &Id, out: &mut String) {
    use std::fmt::Write as _;
    match id {
        // Writing into a String cannot fail.
        Id::Number(number) => _ = write!(out, "{number}"),
        Id::Text(text) => push_quoted(text, out),
        Id::Odd(text) => out.push_str(text),
    }
}

fn head(rest: usize) -> String {
    let mut out = String::with_capacity(rest + 64);
    out.push_str("{\"jsonrpc\":\"2.0\"");
    out
}

fn push_method(method: &str, params: Option<&str>, out: &mut String) {
    out.push_str(",\"method\":");
    push_quoted(method, out);
    if let Some(params) = params {
        out.push_str(",\"params\":");
        out.push_str(params);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::{Envelope, Id, Kind, RpcError, error, notification, quoted, request, result};
    use crate::json::Raw;

    fn raw(text: &str) -> Raw {
        Raw::parse(text).expect(text)
    }

    fn envelope(text: &str) -> Envelope {
        Envelope::read(&raw(text)).expect(text)
    }

    #[test]
    fn ids_differ_by_type_and_value() {
        let table = [
            ("7", Id::Number(7)),
            ("\"7\"", Id::Text("7".into())),
            ("7.0", Id::Odd("7.0".into())),
            ("9223372036854775808", Id::Odd("9223372036854775808".into())),
            ("null", Id::Odd("null".into())),
            ("\"a\\\"b\"", Id::Text("a\"b".into())),
        ];
        for (text, id) in table {
            assert_eq!(Id::read(&raw(text)), id);
            assert_eq!(id.to_string(), text);
        }
        assert!(Id::read(&raw("null")).is_null());
        assert!(!Id::Text("null".into()).is_null());
    }

    #[test]
    fn messages_are_told_apart_by_their_members() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Kind::Request),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Kind::Request),
            (r#"{"jsonrpc":"2.0","method":"x"}"#, Kind::Notification),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Kind::Response),
            (r#"{"error":{}}"#, Kind::Response),
            (r#"{"id":1}"#, Kind::Response),
            (r#"{"id":1,"method":5}"#, Kind::Unknown),
            ("{}", Kind::Unknown),
        ];
        for (text, kind) in table {
            assert_eq!(envelope(text).kind(), kind, "{text}");
        }
        assert!(Envelope::read(&raw("[1]")).is_none());
        assert!(!envelope(r#"{"jsonrpc":2.0,"id":1}"#).is_tagged());
        assert!(envelope(r#"{"jsonrpc":"2.0","id":1}"#).is_tagged());
    }

    #[test]
    fn of_a_member_that_occurs_twice_the_last_counts() {
        let twice = envelope(r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#);
        assert_eq!(twice.id.map(|id| Id::read(&id)), Some(Id::Number(2)));
    }

    #[test]
    fn errors_are_read_however_they_are_shaped() {
        let good = RpcError::read(&raw(r#"{"code":-32601,"message":"no","data":[1]}"#));
        assert_eq!((good.code, good.message.as_str(), good.flaw()), (Some(-32601), "no", None));
        assert_eq!(good.data().map(|data| data.to_string()).as_deref(), Some("[1]"));
        assert_eq!(good.to_string(), "no (code -32601)");
        let text = RpcError::read(&raw("\"boom\""));
        assert_eq!((text.code, text.message.as_str()), (None, "boom"));
        assert!(text.flaw().is_some());
        let odd = RpcError::read(&raw(r#"{"code":"E1","message":{}}"#));
        assert_eq!((odd.code, odd.message.as_str()), (None, r#"{"code":"E1","message":{}}"#));
    }

    #[test]
    fn what_is_built_is_compact_and_carries_text_byte_for_byte() {
        assert_eq!(request(&Id::Number(1), "ping", None), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(
            request(&Id::Text("a\n".into()), "a\"b", Some(r#"{"n":1E5,"n":2}"#)),
            r#"{"jsonrpc":"2.0","id":"a\n","method":"a\"b","params":{"n":1E5,"n":2}}"#
        );
        assert_eq!(notification("n", Some("{}")), r#"{"jsonrpc":"2.0","method":"n","params":{}}"#);
        assert_eq!(result(&Id::Number(3), "{}"), r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
        assert_eq!(
            error(&Id::Number(3), -32601, "no"),
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#
        );
        assert_eq!(quoted("ä\t"), "\"ä\\t\"");
    }
}
