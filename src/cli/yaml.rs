//! YAML as a tree with the place of each value, so that every complaint about a configuration file can point at it.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use crate::diagnostic::Diagnostic;
use crate::json::{Json, Number};
use crate::source::{Source, Span};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its bytes in the source; for a mapping or list at least its beginning.
    pub span: Span,
}

/// A YAML value.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`; `yes`, `on` and the like are text.
    Bool(bool),
    /// A number that is not quoted, as written.
    Number(Number),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order written. Duplicate keys are refused when reading.
    Map(Vec<(Key, Node)>),
}

/// The key of a mapping.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its text.
    pub name: String,
    /// Its bytes in the source.
    pub span: Span,
}

impl Node {
    /// What kind of value it is, for messages.
    pub const fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The text of a scalar as written, quotes left out; none for nothing, lists and mappings.
    pub fn text(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.as_str().to_owned()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// As JSON, each text changed by `text` first.
    ///
    /// # Errors
    /// What `text` refuses, with the place.
    pub fn to_json<E>(&self, text: &impl Fn(&str) -> Result<String, E>) -> Result<Json, (E, Span)> {
        Ok(match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::from(*value),
            Value::Number(number) => Json::from(number.clone()),
            Value::Text(value) => Json::from(text(value).map_err(|error| (error, self.span))?),
            Value::List(items) => {
                Json::array(items.iter().map(|item| item.to_json(text)).collect::<Result<Vec<_>, _>>()?)
            }
            Value::Map(members) => {
                let member = |(key, value): &(Key, Self)| Ok((key.name.clone(), value.to_json(text)?));
                Json::object(members.iter().map(member).collect::<Result<Vec<_>, (E, Span)>>()?)
            }
        })
    }
}

/// Reads one YAML document. An empty one is [`Value::Null`].
///
/// # Errors
/// What is no YAML, a duplicate key among it, with its place.
pub fn parse(source: &Arc<Source>) -> Result<Node, Box<Diagnostic>> {
    let options = serde_saphyr::options! { strict_booleans: true };
    let mut node =
        serde_saphyr::from_str_with_options::<Spanned<Node>>(source.text(), options).map(place).map_err(|error| {
            let refused = Diagnostic::error("mcp::config::yaml", error.without_snippet().to_string());
            Box::new(match error.location() {
                Some(location) => refused.at(source, span_of(source, location), ""),
                None => refused.at(source, Span::default(), ""),
            })
        })?;
    keep_number_texts(&mut node, source);
    Ok(node)
}

fn place(spanned: Spanned<Node>) -> Node {
    Node { span: bytes_of(spanned.referenced), ..spanned.value }
}

fn bytes_of(location: Location) -> Span {
    let span = location.span();
    let start = span.byte_offset().and_then(|at| u32::try_from(at).ok()).unwrap_or(0);
    let length = span.byte_len().and_then(|length| u32::try_from(length).ok()).unwrap_or(0);
    Span::new(start, start.saturating_add(length))
}

/// As [`bytes_of`]; errors know only line and column sometimes.
fn span_of(source: &Source, location: Location) -> Span {
    if location.span().byte_offset().is_some() {
        return bytes_of(location);
    }
    let line = source.line_span(u32::try_from(location.line()).unwrap_or(0));
    let column = usize::try_from(location.column()).unwrap_or(1).saturating_sub(1);
    let text = source.slice(line);
    let at = text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
    Span::new(line.start + at as u32, line.end)
}

/// Numbers come through a float or an integer; the text in the file is the exact one.
fn keep_number_texts(node: &mut Node, source: &Source) {
    match &mut node.value {
        Value::Number(number) => {
            if let Some(exact) = Number::parse(source.slice(node.span).trim()) {
                *number = exact;
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| keep_number_texts(item, source)),
        Value::Map(members) => members.iter_mut().for_each(|(_, value)| keep_number_texts(value, source)),
        Value::Null | Value::Bool(_) | Value::Text(_) => {}
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor).map(|value| Self { value, span: Span::default() })
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(number(&value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(number(&value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(number(&value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(number(&value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(&value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Node>>()? {
            list.push(place(item));
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = members.next_key::<Spanned<String>>()? {
            let value = members.next_value::<Spanned<Node>>()?;
            map.push((Key { name: key.value, span: bytes_of(key.referenced) }, place(value)));
        }
        Ok(Value::Map(map))
    }
}

/// A number; what JSON cannot write (`.inf`) stays text.
fn number(text: &str) -> Value {
    Number::parse(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{Value, parse};
    use crate::source::Source;

    fn json(text: &str) -> String {
        let node = parse(&Source::new("t.yml", text)).expect("YAML");
        node.to_json(&|text| Ok::<_, Infallible>(text.to_owned())).expect("infallible").compact()
    }

    #[test]
    fn values_keep_their_text() {
        let text = "a: 1.10\nb: 9007199254740993\nc: yes\nd: true\ne: '5'\nf: [1, x, ~]\ng: {h: 0x10}\ni: 123456789012345678901234567890\n";
        assert_eq!(
            json(text),
            r#"{"a":1.10,"b":9007199254740993,"c":"yes","d":true,"e":"5","f":[1,"x",null],"g":{"h":16},"i":123456789012345678901234567890}"#
        );
        assert_eq!(json(""), "null");
    }

    #[test]
    fn places_are_those_of_the_words() {
        let source = Source::new("t.yml", "ä: 1\nprofiles:\n  demo:\n    url: \"http://x\"\n");
        let node = parse(&source).expect("YAML");
        let Value::Map(top) = &node.value else { panic!("a mapping") };
        assert_eq!(source.slice(top[1].0.span), "profiles");
        let Value::Map(profiles) = &top[1].1.value else { panic!("a mapping") };
        let Value::Map(demo) = &profiles[0].1.value else { panic!("a mapping") };
        assert_eq!(source.slice(demo[0].1.span), "\"http://x\"");
    }

    #[test]
    fn errors_have_a_place() {
        for (text, line) in [("a: 1\na: 2\n", 2), ("a: [1\nb: 2\n", 2), ("a: 'x\n", 1)] {
            let error = parse(&Source::new("t.yml", text)).expect_err(text);
            let (file, place) = error.place().expect("a place");
            assert_eq!(file, "t.yml");
            assert!(place.line >= line, "{text:?}: {error:?}");
        }
    }
}
