//! Headers that mirror a request over HTTP in 2026-07-28: how values are encoded, which arguments a tool mirrors.
//!
//! Owns: the encoding of `Mcp-Name` and `Mcp-Param-*`, reading `x-mcp-header`. May use: `json`. Must not: send anything.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::inventory::HeaderParam;
use super::target::is_token_byte;
use crate::json::{JsonKind, Raw};

/// The annotation in a property's schema that names the header's last part.
const ANNOTATION: &str = "x-mcp-header";
/// What every mirrored argument's header begins with.
const PREFIX: &str = "Mcp-Param-";
/// Markers around Base64.
const MARKS: (&str, &str) = ("=?base64?", "?=");
/// Schemas nested deeper than this are not searched for annotations.
const DEEPEST: usize = 64;
/// Schemas larger than this are not searched: each level of nesting reads its part again.
const LARGEST: usize = 4 << 20;
/// Headers one tool may ask for; HTTP servers refuse far fewer.
const MOST: usize = 100;

/// A text as a header's value (2026-07-28, "Streamable HTTP", encoding of header values): as it is where it is printable
/// ASCII without white space at its ends, else as marked Base64.
pub fn encode(text: &str) -> Cow<'_, str> {
    let printable = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let marked = text.starts_with(MARKS.0) && text.ends_with(MARKS.1);
    let plain = printable && !padded && !marked;
    if plain { Cow::Borrowed(text) } else { Cow::Owned(format!("{}{}{}", MARKS.0, STANDARD.encode(text), MARKS.1)) }
}

/// The header's value for an argument; none where no header is sent: `null`, a fraction, an object, an array.
fn value(argument: &Raw) -> Option<String> {
    match argument.kind() {
        JsonKind::String => argument.string().map(|text| encode(&text).into_owned()),
        JsonKind::Boolean => Some(argument.as_str().to_owned()),
        JsonKind::Number if argument.as_str().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            Some(argument.as_str().to_owned())
        }
        JsonKind::Number => argument.i64().map(|integer| integer.to_string()),
        JsonKind::Null | JsonKind::Object | JsonKind::Array => None,
    }
}

/// The headers that mirror these arguments.
pub fn mirrored(params: &[HeaderParam], arguments: &Raw) -> Vec<(String, String)> {
    let find = |param: &HeaderParam| {
        let argument = param.path.iter().try_fold(arguments.clone(), |object, name| object.get(name))?;
        Some((param.header.clone(), value(&argument)?))
    };
    params.iter().filter_map(find).collect()
}

/// The arguments that a tool wants as headers.
///
/// # Errors
/// Why the annotations are invalid; a client over HTTP must then not show the tool (2026-07-28, "Tools", custom headers).
pub fn annotated(input_schema: &Raw) -> Result<Vec<HeaderParam>, String> {
    // Most schemas have none, and a search through every schema would be dear.
    if memchr::memmem::find(input_schema.as_str().as_bytes(), ANNOTATION.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    if input_schema.as_str().len() > LARGEST {
        return Err(format!("its schema is larger than {LARGEST} bytes"));
    }
    let mut search = Search { found: Vec::new(), names: HashSet::new() };
    search.schema(input_schema, &mut Vec::new(), true, 0)?;
    Ok(search.found)
}

/// Keywords whose values are schemas by name, and keywords whose values are schemas; `properties` is treated apart.
const MAPS: [&str; 5] = ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"];
const SCHEMAS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

struct Search {
    found: Vec<HeaderParam>,
    names: HashSet<String>,
}

impl Search {
    /// Searches one schema; `open` says that only `properties` led here.
    fn schema(&mut self, schema: &Raw, path: &mut Vec<String>, open: bool, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("its schema nests deeper than {DEEPEST} levels"));
        }
        if let Some(annotation) = schema.get(ANNOTATION) {
            self.take(schema, &annotation, path, open)?;
        }
        for (keyword, inner) in schema.members() {
            let keyword = &*keyword;
            if keyword == "properties" {
                for (name, property) in inner.members() {
                    path.push(name.into_owned());
                    self.schema(&property, path, open, depth + 1)?;
                    path.pop();
                }
            } else if MAPS.contains(&keyword) {
                for (_, inner) in inner.members() {
                    self.schema(&inner, path, false, depth + 1)?;
                }
            } else if SCHEMAS.contains(&keyword) {
                if inner.kind() == JsonKind::Array {
                    for inner in inner.elements() {
                        self.schema(&inner, path, false, depth + 1)?;
                    }
                } else {
                    self.schema(&inner, path, false, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, schema: &Raw, annotation: &Raw, path: &[String], open: bool) -> Result<(), String> {
        let place = if path.is_empty() { "the root".to_owned() } else { format!("`{}`", path.join(".")) };
        let Some(name) = annotation.string() else {
            return Err(format!("{ANNOTATION} of {place} is no string"));
        };
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(format!("{ANNOTATION} of {place} is no header name: {annotation}"));
        }
        if !open || path.is_empty() {
            return Err(format!(
                "{ANNOTATION} of {place} stands where arguments cannot be found by `properties` alone"
            ));
        }
        let kind = schema.get("type");
        let kind = kind.as_ref().and_then(Raw::string).unwrap_or_default();
        if !matches!(&*kind, "string" | "integer" | "boolean") {
            return Err(format!("{ANNOTATION} of {place} needs the type string, integer or boolean"));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("{ANNOTATION} of {place} repeats the header `{name}`"));
        }
        if self.found.len() == MOST {
            return Err(format!("more than {MOST} arguments are annotated with {ANNOTATION}"));
        }
        self.found.push(HeaderParam { path: path.to_vec(), header: format!("{PREFIX}{name}") });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{annotated, encode, mirrored};
    use crate::json::Raw;

    fn raw(text: &str) -> Raw {
        Raw::parse(text).expect(text)
    }

    #[test]
    fn values_are_encoded_as_the_table_of_the_digest_says() {
        let table = [
            ("eu-north", "eu-north"),
            ("two words", "two words"),
            ("", ""),
            ("Zürich", "=?base64?WsO8cmljaA==?="),
            (" lead", "=?base64?IGxlYWQ=?="),
            ("trail ", "=?base64?dHJhaWwg?="),
            ("two\nlines", "=?base64?dHdvCmxpbmVz?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
            ("=?base64?x", "=?base64?x"),
            ("\u{7f}", "=?base64?fw==?="),
        ];
        for (text, header) in table {
            assert_eq!(encode(text), header, "{text:?}");
        }
    }

    #[test]
    fn arguments_become_headers_by_their_type() {
        let schema = raw(r#"{"type":"object","properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "n":{"type":"integer","x-mcp-header":"N"},
                "on":{"type":"boolean","x-mcp-header":"On"},
                "where":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}},
                "none":{"type":"string","x-mcp-header":"None"}}}"#);
        let params = annotated(&schema).expect("valid annotations");
        let arguments = raw(r#"{"region":"eu","n":42.0,"on":true,"where":{"city":"Zürich"},"none":null}"#);
        let headers = mirrored(&params, &arguments);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(
            headers,
            [
                ("Mcp-Param-Region", "eu"),
                ("Mcp-Param-N", "42"),
                ("Mcp-Param-On", "true"),
                ("Mcp-Param-City", "=?base64?WsO8cmljaA==?="),
            ]
        );
        let odd = mirrored(&params, &raw(r#"{"region":["eu"],"n":1.5,"where":"x"}"#));
        assert!(odd.is_empty(), "{odd:?}");
        assert_eq!(mirrored(&params, &raw(r#"{"n":-9007199254740993123}"#))[0].1, "-9007199254740993123");
    }

    #[test]
    fn broken_annotations_are_named() {
        let table = [
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#, "no header name"),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#, "no header name"),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":5}}}"#, "no string"),
            (r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#, "needs the type"),
            (r#"{"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}"#, "needs the type"),
            (r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#, "needs the type"),
            (r#"{"x-mcp-header":"A"}"#, "the root"),
            (r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}"#, "by `properties` alone"),
            (r#"{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#, "by `properties` alone"),
            (r#"{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}"#, "by `properties` alone"),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
                "repeats",
            ),
        ];
        for (schema, why) in table {
            let error = annotated(&raw(schema)).expect_err(schema);
            assert!(error.contains(why), "{schema}: {error}");
        }
        // An argument of that name, or the word in a text, is no annotation.
        for fine in [
            r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#,
            r#"{"default":{"x-mcp-header":1},"description":"x-mcp-header"}"#,
        ] {
            assert!(annotated(&raw(fine)).expect(fine).is_empty());
        }
    }
}
