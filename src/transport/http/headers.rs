//! Header lines as the HTTP library wants them.
//!
//! Owns: which names are the protocol's, conversion of values. May use: `sensitive`. Must not: decide what is sent.

use std::borrow::Borrow;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::sensitive::Sensitive;

/// Headers that the protocol or HTTP itself sets, in lower case; with them every name that starts with `mcp-param-`.
/// A user's value would break the connection or lie about it.
pub const PROTOCOL_HEADERS: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// True where `name`, in any case, is one of [`PROTOCOL_HEADERS`] or mirrors an argument.
pub fn is_protocol_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PROTOCOL_HEADERS.contains(&name.as_str()) || name.starts_with("mcp-param-")
}

/// Sets headers, in order; a later one replaces an earlier one of the same name, except within `lines` itself.
pub(super) fn set<N: Borrow<str>>(map: &mut HeaderMap, lines: &[(N, Sensitive<String>)]) -> Result<(), String> {
    let mut own = HeaderMap::with_capacity(lines.len());
    for (name, value) in lines {
        let name: &str = name.borrow();
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header name"))?;
        let mut value = HeaderValue::from_bytes(value.reveal().as_bytes())
            .map_err(|_| format!("the value of the header `{name}` holds a control character"))?;
        value.set_sensitive(true);
        own.append(parsed, value);
    }
    map.extend(own);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{is_protocol_header, set};
    use crate::sensitive::Sensitive;
    use reqwest::header::{HeaderMap, HeaderValue};

    #[test]
    fn the_protocols_names_are_known_in_any_case() {
        for name in ["MCP-Session-Id", "Mcp-Param-Region", "accept", "HOST"] {
            assert!(is_protocol_header(name), "{name}");
        }
        assert!(!is_protocol_header("Authorization"));
    }

    #[test]
    fn later_headers_replace_earlier_ones_and_repeated_ones_stay() {
        let mut map = HeaderMap::new();
        map.insert("accept", HeaderValue::from_static("a"));
        let value = |text: &str| Sensitive::new(text.to_owned());
        set(&mut map, &[("Accept", value("b")), ("X-A", value("1")), ("X-A", value("2"))]).expect("headers");
        assert_eq!(map.get_all("accept").iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!(map.get_all("x-a").iter().count(), 2);
        let error = set(&mut map, &[("X-B", value("secret\nline"))]).expect_err("a line end");
        assert!(error.contains("X-B") && !error.contains("secret"), "{error}");
    }
}
