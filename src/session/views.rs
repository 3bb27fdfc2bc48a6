//! What the session itself reads out of results and requests; everything else stays raw.
//!
//! Owns: views over the openings' results and over requests for input. May use: `json`. Must not: fail on odd shapes.

use super::findings::preview;
use super::version::Era;
use crate::json::{JsonKind, Raw};

/// The member of `_meta` in which modern servers name themselves.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Questions listed of one result.
const MOST_QUESTIONS: usize = 100;
/// Bytes shown of one question.
const QUESTION: usize = 500;

/// What an opening result says about the server.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    /// `serverInfo.name`.
    pub name: Option<String>,
    /// `serverInfo.version`.
    pub version: Option<String>,
    /// `capabilities` where it is an object, else `{}`.
    pub capabilities: Raw,
    /// `instructions`.
    pub instructions: Option<String>,
    /// Where the server's information stood.
    pub info: InfoPlace,
}

/// Where a server's information stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InfoPlace {
    /// In the result's body, as the handshake revisions want it.
    Body,
    /// In the result's `_meta`, as 2026-07-28 wants it.
    Meta,
    /// Nowhere.
    Nowhere,
}

impl Identity {
    /// Reads the result of `initialize` or `server/discover`.
    pub fn read(result: &Raw, era: Era) -> Self {
        let body = result.get("serverInfo");
        let meta = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO));
        let (info, place) = match (era, body, meta) {
            (Era::Modern, _, Some(info)) | (Era::Legacy, None, Some(info)) => (Some(info), InfoPlace::Meta),
            (_, Some(info), _) => (Some(info), InfoPlace::Body),
            (_, None, None) => (None, InfoPlace::Nowhere),
        };
        let text = |name: &str| info.as_ref().and_then(|info| text(info, name));
        Self {
            name: text("name"),
            version: text("version"),
            capabilities: object(result, "capabilities").unwrap_or_else(empty),
            instructions: self::text(result, "instructions"),
            info: place,
        }
    }

    /// A server that said nothing.
    pub fn unknown() -> Self {
        Self { name: None, version: None, capabilities: empty(), instructions: None, info: InfoPlace::Nowhere }
    }
}

/// `{}`.
pub(super) fn empty() -> Raw {
    Raw::from(crate::json::Json::object::<&str, crate::json::Json>([]))
}

/// The member `name` of `object` where it is a string.
pub(super) fn text(object: &Raw, name: &str) -> Option<String> {
    object.get(name)?.string().map(|text| text.into_owned())
}

/// The member `name` of `object` where it is an object.
pub(super) fn object(object: &Raw, name: &str) -> Option<Raw> {
    object.get(name).filter(|member| member.kind() == JsonKind::Object)
}

/// The strings of the array `name` of `object`, the first hundred.
pub(super) fn strings(object: &Raw, name: &str) -> Option<Vec<String>> {
    let array = object.get(name).filter(|member| member.kind() == JsonKind::Array)?;
    let strings =
        array.elements().take(100).filter_map(|element| element.string().map(|text| text.into_owned())).collect();
    Some(strings)
}

/// True where a capability such as `tools.listChanged` is declared.
pub(super) fn declares(capabilities: &Raw, name: &str, flag: &str) -> bool {
    capabilities.get(name).and_then(|capability| capability.get(flag)).and_then(|flag| flag.bool()) == Some(true)
}

/// What a request for input asks, in words.
pub(super) fn question(method: &str, params: Option<&Raw>) -> String {
    let said = |name: &str| params.and_then(|params| text(params, name));
    let words = match method {
        "elicitation/create" => {
            let message = said("message").unwrap_or_default();
            match said("url") {
                Some(url) => format!("{method} \"{message}\" ({url})"),
                None => format!("{method} \"{message}\""),
            }
        }
        "sampling/createMessage" => {
            let last = params.and_then(|params| params.get("messages")).and_then(|messages| messages.elements().last());
            let content = last.and_then(|message| message.get("content"));
            match content.and_then(|content| text(&content, "text").or_else(|| text(&content.at(0)?, "text"))) {
                Some(prompt) => format!("{method} \"{prompt}\""),
                None => method.to_owned(),
            }
        }
        other => other.to_owned(),
    };
    preview(&words, QUESTION)
}

/// The questions of an `input_required` result (2026-07-28), each with its key.
pub(super) fn questions(result: &Raw) -> Vec<String> {
    let Some(requests) = result.get("inputRequests") else {
        return Vec::new();
    };
    let words = |(key, request): (std::borrow::Cow<'_, str>, Raw)| {
        let method = text(&request, "method").unwrap_or_else(|| "a request without a method".to_owned());
        format!("{}: {}", preview(&key, 100), question(&method, request.get("params").as_ref()))
    };
    requests.members().take(MOST_QUESTIONS).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::{Identity, InfoPlace, declares, question, questions};
    use crate::json::Raw;
    use crate::session::version::Era;

    fn raw(text: &str) -> Raw {
        Raw::parse(text).expect(text)
    }

    #[test]
    fn servers_may_name_themselves_in_either_place() {
        let body = r#""serverInfo":{"name":"b","version":"1"}"#;
        let meta = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}"#;
        let read = |text: String, era| {
            let identity = Identity::read(&raw(&text), era);
            (identity.name, identity.info)
        };
        assert_eq!(read(format!("{{{body},{meta}}}"), Era::Modern), (Some("m".to_owned()), InfoPlace::Meta));
        assert_eq!(read(format!("{{{body},{meta}}}"), Era::Legacy), (Some("b".to_owned()), InfoPlace::Body));
        assert_eq!(read(format!("{{{body}}}"), Era::Modern), (Some("b".to_owned()), InfoPlace::Body));
        assert_eq!(read("{}".to_owned(), Era::Modern), (None, InfoPlace::Nowhere));
        assert_eq!(Identity::read(&raw(r#"{"capabilities":[]}"#), Era::Legacy).capabilities.as_str(), "{}");
    }

    #[test]
    fn questions_are_told_in_words() {
        let ask = |method, params| question(method, Some(&raw(params)));
        assert_eq!(ask("elicitation/create", r#"{"message":"Which nick?"}"#), "elicitation/create \"Which nick?\"");
        assert_eq!(
            ask("elicitation/create", r#"{"message":"Go","url":"https://x/"}"#),
            "elicitation/create \"Go\" (https://x/)"
        );
        assert_eq!(
            ask("sampling/createMessage", r#"{"messages":[{"content":{"text":"a"}},{"content":[{"text":"b"}]}]}"#),
            "sampling/createMessage \"b\""
        );
        assert_eq!(question("roots/list", None), "roots/list");
        let result = raw(r#"{"inputRequests":{"who":{"method":"elicitation/create","params":{"message":"M"}},"x":5}}"#);
        assert_eq!(questions(&result), ["who: elicitation/create \"M\"", "x: a request without a method"]);
    }

    #[test]
    fn capabilities_are_read_by_flag() {
        let capabilities = raw(r#"{"tools":{"listChanged":true},"resources":{}}"#);
        assert!(declares(&capabilities, "tools", "listChanged"));
        assert!(!declares(&capabilities, "resources", "subscribe"));
        assert!(!declares(&capabilities, "prompts", "listChanged"));
    }
}
