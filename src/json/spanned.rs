//! JSON files that people write: a tree that knows where each part stands.
//!
//! Owns: [`Spanned`]. May use: `source`. Must not: accept what a person cannot have meant, such as two members of one name.

use std::collections::HashSet;
use std::sync::Arc;

use super::number::Number;
use super::raw::Raw;
use super::read::{Limits, ReadError, fail};
use super::text::decode;
use super::value::{Json, JsonKind};
use crate::source::Span;

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The bytes of the value, quotes and brackets included.
    pub span: Span,
    /// What stands there.
    pub node: Node,
}

/// A value whose parts know their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(Number),
    /// A string, decoded.
    String(Arc<str>),
    /// An array.
    Array(Vec<Spanned>),
    /// An object; no two members have the same name.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name, decoded.
    pub name: Arc<str>,
    /// The bytes of the name, quotes included.
    pub name_span: Span,
    /// The value.
    pub value: Spanned,
}

/// Reads a file's text into a tree with places.
///
/// Errors as [`Raw::parse`] does, and at the second of two members of the same name.
pub fn parse_spanned(text: &str) -> Result<Spanned, ReadError> {
    spanned(&Raw::check(text, &Limits::default())?.0)
}

fn spanned(raw: &Raw) -> Result<Spanned, ReadError> {
    let node = match raw.to_json_unless_nested() {
        Some(Json::Bool(value)) => Node::Bool(value),
        Some(Json::Number(number)) => Node::Number(number),
        Some(Json::String(text)) => Node::String(text),
        Some(_) => Node::Null,
        None if raw.kind() == JsonKind::Array => {
            Node::Array(raw.elements().map(|element| spanned(&element)).collect::<Result<_, _>>()?)
        }
        None => {
            let mut names = HashSet::new();
            let mut members = Vec::new();
            for (name, at, value) in raw.placed_members() {
                let name_span = span(at, name.len() + 2);
                let name: Arc<str> = decode(name).into();
                if !names.insert(name.clone()) {
                    return Err(fail(
                        format!("there is a member `{}` in this object already", name.escape_debug()),
                        at,
                    ));
                }
                members.push(Member { name, name_span, value: spanned(&value)? });
            }
            Node::Object(members)
        }
    };
    Ok(Spanned { span: span(raw.offset(), raw.as_str().len()), node })
}

/// The check refuses texts whose offsets do not fit.
fn span(start: usize, len: usize) -> Span {
    let fit = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Span::new(fit(start), fit(start + len))
}

impl Spanned {
    /// The type.
    pub const fn kind(&self) -> JsonKind {
        match self.node {
            Node::Null => JsonKind::Null,
            Node::Bool(_) => JsonKind::Boolean,
            Node::Number(_) => JsonKind::Number,
            Node::String(_) => JsonKind::String,
            Node::Array(_) => JsonKind::Array,
            Node::Object(_) => JsonKind::Object,
        }
    }

    /// The members; none where this is no object.
    pub fn members(&self) -> &[Member] {
        match &self.node {
            Node::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements; none where this is no array.
    pub fn elements(&self) -> &[Self] {
        match &self.node {
            Node::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The member called `name`, with the place of its name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().find(|member| &*member.name == name)
    }

    /// The value of the member called `name`.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.member(name).map(|member| &member.value)
    }

    /// The text where this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.node {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value where this is a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self.node {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number where this is one.
    pub const fn as_number(&self) -> Option<&Number> {
        match &self.node {
            Node::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The value without places.
    pub fn to_json(&self) -> Json {
        match &self.node {
            Node::Null => Json::Null,
            Node::Bool(value) => Json::Bool(*value),
            Node::Number(number) => Json::Number(number.clone()),
            Node::String(text) => Json::String(text.clone()),
            Node::Array(elements) => elements.iter().map(Self::to_json).collect(),
            Node::Object(members) => {
                Json::object(members.iter().map(|member| (member.name.clone(), member.value.to_json())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Spanned, parse_spanned};
    use crate::json::Json;
    use crate::source::{Source, Span};

    const TEXT: &str = "{ \"version\": 2,\n  \"stéps\" : [ {\"send\":\"x\\n\"}, null, true ] }\n";

    fn check(source: &Source, value: &Spanned) {
        let text = source.slice(value.span);
        assert_eq!(Json::parse(text).expect(text), value.to_json());
        value.elements().iter().for_each(|element| check(source, element));
        for member in value.members() {
            let name = source.slice(member.name_span);
            assert_eq!(Json::parse(name).expect(name).as_str(), Some(&*member.name));
            check(source, &member.value);
        }
    }

    #[test]
    fn every_part_knows_its_bytes() {
        let tree = parse_spanned(TEXT).expect("JSON");
        let source = Source::new("suite.json", TEXT);
        check(&source, &tree);
        let steps = tree.member("stéps").expect("a member");
        assert_eq!(source.position(steps.name_span.start).line, 2);
        assert_eq!(steps.value.elements()[0].get("send").and_then(Spanned::as_str), Some("x\n"));
        assert_eq!(tree.get("version").map(|version| version.span), Some(Span::new(13, 14)));
    }

    #[test]
    fn a_second_member_of_one_name_is_refused_where_it_stands() {
        let error = parse_spanned(r#"{"a":{"b":1,"\u0062":2}}"#).expect_err("duplicate");
        assert_eq!((error.offset, error.message.as_str()), (12, "there is a member `b` in this object already"));
        assert_eq!(parse_spanned("{\"a\":01}").expect_err("not JSON").offset, 5);
    }
}
