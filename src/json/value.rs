//! JSON as a tree of ours.
//!
//! Owns: [`Json`], [`Object`], [`JsonKind`] and writing them as text. May use: nothing of ours outside this folder.
//! Must not: change a number's text, the order of members, or drop a duplicate.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::number::Number;
use super::raw::Raw;
use super::read::ReadError;
use super::text::write_string;

/// A JSON value. Cloning shares strings, arrays and objects.
///
/// `==` is exact: number text, member order and duplicates count. [`super::compare::equal`] compares by value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(Number),
    /// A string, decoded.
    String(Arc<str>),
    /// An array.
    Array(Arc<[Json]>),
    /// An object.
    Object(Object),
}

/// The JSON types, named as JSON Schema names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// The name JSON Schema gives the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The members of an object in the order they were written, duplicates included; the last duplicate is the one looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object(Arc<[(Arc<str>, Json)]>);

impl Object {
    /// The value of the last member called `name`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(key, _)| &**key == name).map(|(_, value)| value)
    }

    /// All members as written.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> + ExactSizeIterator {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The names of all members as written.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.0.iter().map(|(key, _)| &**key)
    }

    /// Number of members as written, duplicates counted.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True where there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<Arc<str>>, V: Into<Json>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self(members.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl Json {
    /// Reads one JSON text under the default limits. Errors as [`Raw::parse`] does.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        Ok(Raw::parse(text)?.to_json())
    }

    /// The type.
    pub const fn kind(&self) -> JsonKind {
        match self {
            Self::Null => JsonKind::Null,
            Self::Bool(_) => JsonKind::Boolean,
            Self::Number(_) => JsonKind::Number,
            Self::String(_) => JsonKind::String,
            Self::Array(_) => JsonKind::Array,
            Self::Object(_) => JsonKind::Object,
        }
    }

    /// An object of these members, in this order.
    pub fn object<K: Into<Arc<str>>, V: Into<Self>>(members: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Object(members.into_iter().collect())
    }

    /// An array of these elements.
    pub fn array<V: Into<Self>>(elements: impl IntoIterator<Item = V>) -> Self {
        elements.into_iter().collect()
    }

    /// The member called `name` (the last, if several) where this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The element at `index`, from 0, where this is an array that has it.
    pub fn index(&self, index: usize) -> Option<&Self> {
        self.as_array()?.get(index)
    }

    /// The text where this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value where this is a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number where this is one.
    pub const fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The elements where this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members where this is an object.
    pub const fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value as JSON text without white space.
    pub fn compact(&self) -> String {
        let mut out = String::new();
        self.write_compact(&mut out);
        out
    }

    /// Appends the value as JSON text without white space.
    pub fn write_compact(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.as_str()),
            Self::String(text) => write_string(text, out),
            Self::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    element.write_compact(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write_compact(out);
                }
                out.push('}');
            }
        }
    }

    /// The value as JSON text, two spaces per level.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write_pretty(1, &mut out);
        out
    }

    fn write_pretty(&self, depth: usize, out: &mut String) {
        match self {
            Self::Array(elements) if !elements.is_empty() => {
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at == 0 { "[" } else { "," });
                    new_line(depth, out);
                    element.write_pretty(depth + 1, out);
                }
                new_line(depth - 1, out);
                out.push(']');
            }
            Self::Object(members) if !members.is_empty() => {
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push_str(if at == 0 { "{" } else { "," });
                    new_line(depth, out);
                    write_string(key, out);
                    out.push_str(": ");
                    value.write_pretty(depth + 1, out);
                }
                new_line(depth - 1, out);
                out.push('}');
            }
            _ => self.write_compact(out),
        }
    }

    /// The value as text in a script: a string as itself, anything else compact.
    pub fn render(&self) -> Cow<'_, str> {
        match self {
            Self::String(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.compact()),
        }
    }
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Compact JSON text.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.compact())
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn json(text: &str) -> Json {
        Json::parse(text).expect(text)
    }

    #[test]
    fn numbers_order_and_duplicates_survive() {
        let text = r#"{"b":1.10,"a":9007199254740993,"b":1E5,"":[{},[]]}"#;
        let value = json(text);
        assert_eq!(value.compact(), text);
        assert_eq!(value.get("b").map(Json::compact).as_deref(), Some("1E5"));
        assert_eq!(value.to_serde().to_string(), r#"{"b":1E5,"a":9007199254740993,"":[{},[]]}"#);
        assert_eq!(
            Json::from_serde(&json("[1E5,1.10,\"x\",null,true,{\"a\":1}]").to_serde()),
            json("[1E5,1.10,\"x\",null,true,{\"a\":1}]")
        );
    }

    #[test]
    fn the_private_keys_of_serde_json_are_only_names() {
        let text = r#"{"$serde_json::private::Number":"1.5"}"#;
        assert_eq!(json(text).compact(), text);
        assert_eq!(Json::from_serde(&json(text).to_serde()).compact(), text);
    }

    #[test]
    fn pretty_text_has_two_spaces_a_level() {
        assert_eq!(
            json(r#"{"a":[1,{"b":[]}],"c":{}}"#).pretty(),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}"
        );
    }

    #[test]
    fn strings_render_as_themselves() {
        assert_eq!(Json::from("a \"b\"").render(), "a \"b\"");
        assert_eq!(json("[1.0, \"x\"]").render(), "[1.0,\"x\"]");
        assert_eq!(Json::object([("n", 1), ("m", -2)]).render(), r#"{"n":1,"m":-2}"#);
    }
}
