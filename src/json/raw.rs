//! Checked JSON text and finding one's way in it without building a tree.
//!
//! Owns: [`Raw`] and navigation by skipping. May use: nothing of ours outside this folder.
//! Must not: hand out text that was not checked, or copy what it can share.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::bytes::{skip_space, skip_string, skip_value};
use super::number::Number;
use super::read::{Limits, ReadError, Remark, fail};
use super::scan::{Checked, scan};
use super::text::decode;
use super::value::{Json, JsonKind};

/// One JSON value as text that was checked, byte for byte as it came, without white space around it.
///
/// Cloning and slicing share the text: a slice keeps the whole message it was cut from alive.
#[derive(Clone)]
pub struct Raw {
    text: Arc<String>,
    start: usize,
    end: usize,
}

impl Raw {
    /// Checks `bytes` in one scan and keeps them; a `Vec<u8>` or `String` is taken over, a slice or `Bytes` is copied where shared.
    ///
    /// Errors with the byte offset: what RFC 8259 forbids, invalid UTF-8, a byte order mark, and whatever exceeds `limits`.
    /// What is allowed but odd comes back as at most 100 remarks.
    pub fn check(bytes: impl Into<Vec<u8>>, limits: &Limits) -> Result<(Self, Vec<Remark>), ReadError> {
        Self::check_or_return(bytes, limits).map_err(|(error, _)| error)
    }

    /// As [`Raw::check`], but gives the bytes back with the error, so that a message can show them.
    pub fn check_or_return(
        bytes: impl Into<Vec<u8>>,
        limits: &Limits,
    ) -> Result<(Self, Vec<Remark>), (ReadError, Vec<u8>)> {
        let text = match String::from_utf8(bytes.into()) {
            Ok(text) => text,
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                return Err((fail("invalid UTF-8", offset), error.into_bytes()));
            }
        };
        match scan(&text, limits) {
            Ok(Checked { start, end, remarks }) => Ok((Self { text: Arc::new(text), start, end }, remarks)),
            Err(error) => Err((error, text.into_bytes())),
        }
    }

    /// Checks `text` under the default limits and drops the remarks. Errors as [`Raw::check`] does.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        Ok(Self::check(text, &Limits::default())?.0)
    }

    /// The value's text as it came.
    pub fn as_str(&self) -> &str {
        &self.text[self.start..self.end]
    }

    /// Offset of the value in the text that was checked, for matching remarks and errors to parts.
    pub const fn offset(&self) -> usize {
        self.start
    }

    /// Bytes of the text that this value keeps alive: the whole message it was cut from.
    pub fn held(&self) -> usize {
        self.text.len()
    }

    /// The value's type.
    pub fn kind(&self) -> JsonKind {
        kind(self.as_str())
    }

    fn slice(&self, start: usize, end: usize) -> Self {
        Self { text: self.text.clone(), start, end }
    }

    /// The member called `name` where this is an object that has it; of several the last.
    pub fn get(&self, name: &str) -> Option<Self> {
        let mut found = None;
        for (key, start, end) in self.member_spans() {
            let same = if key.contains('\\') { decode(key) == name } else { key == name };
            if same {
                found = Some((start, end));
            }
        }
        found.map(|(start, end)| self.slice(start, end))
    }

    /// The element at `index`, from 0, where this is an array that has it.
    pub fn at(&self, index: usize) -> Option<Self> {
        self.element_spans().nth(index).map(|(start, end)| self.slice(start, end))
    }

    /// The members in the order of the text, duplicates included; none where this is no object.
    pub fn members(&self) -> impl Iterator<Item = (Cow<'_, str>, Self)> {
        self.member_spans().map(|(key, start, end)| (decode(key), self.slice(start, end)))
    }

    /// The elements; none where this is no array.
    pub fn elements(&self) -> impl Iterator<Item = Self> {
        self.element_spans().map(|(start, end)| self.slice(start, end))
    }

    /// Number of elements, or of members as written; 0 for anything else.
    pub fn len(&self) -> usize {
        self.element_spans().count() + self.member_spans().count()
    }

    /// True where there are neither elements nor members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True for `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// Builds the tree of this value.
    pub fn to_json(&self) -> Json {
        Tree { text: self.as_str(), at: 0 }.value()
    }

    /// The decoded text where this is a string.
    pub fn string(&self) -> Option<Cow<'_, str>> {
        let inner = self.as_str().strip_prefix('"')?.strip_suffix('"')?;
        Some(decode(inner))
    }

    /// The value where this is a boolean.
    pub fn bool(&self) -> Option<bool> {
        match self.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number where this is one.
    pub fn number(&self) -> Option<Number> {
        (self.kind() == JsonKind::Number).then(|| Number::checked(self.as_str()))
    }

    /// The value where this is a number that is an integer and fits; `1.0` is 1.
    pub fn i64(&self) -> Option<i64> {
        self.as_str().parse().ok().or_else(|| self.number()?.as_i64())
    }

    /// The value where this is a number that is an integer, fits, and is not negative.
    pub fn u64(&self) -> Option<u64> {
        self.as_str().parse().ok().or_else(|| self.number()?.as_u64())
    }

    /// The value where it is neither array nor object.
    pub(super) fn to_json_unless_nested(&self) -> Option<Json> {
        (!matches!(self.kind(), JsonKind::Array | JsonKind::Object)).then(|| self.to_json())
    }

    /// The members with their names as written between the quotes, and the offset of the opening quote.
    pub(super) fn placed_members(&self) -> impl Iterator<Item = (&str, usize, Self)> {
        Steps::new(self, b'{')
            .map(|(name, start, end)| (&self.text[name.0..name.1], name.0 - 1, self.slice(start, end)))
    }

    fn member_spans(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        Steps::new(self, b'{').map(|(name, start, end)| (&self.text[name.0..name.1], start, end))
    }

    fn element_spans(&self) -> impl Iterator<Item = (usize, usize)> {
        Steps::new(self, b'[').map(|(_, start, end)| (start, end))
    }
}

/// The type of the checked value that `text` starts with.
fn kind(text: &str) -> JsonKind {
    match text.as_bytes().first() {
        Some(b'{') => JsonKind::Object,
        Some(b'[') => JsonKind::Array,
        Some(b'"') => JsonKind::String,
        Some(b't' | b'f') => JsonKind::Boolean,
        Some(b'n') | None => JsonKind::Null,
        Some(_) => JsonKind::Number,
    }
}

/// Steps over the parts of one array or object; positions are in the whole text.
struct Steps<'a> {
    bytes: &'a [u8],
    at: usize,
    named: bool,
}

impl<'a> Steps<'a> {
    fn new(raw: &'a Raw, opener: u8) -> Self {
        let bytes = &raw.text.as_bytes()[..raw.end];
        let at = if bytes.get(raw.start) == Some(&opener) { raw.start + 1 } else { raw.end };
        Self { bytes, at, named: opener == b'{' }
    }
}

impl Iterator for Steps<'_> {
    /// The name's inner range (empty in arrays), start and end of the value.
    type Item = ((usize, usize), usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let mut at = skip_space(self.bytes, self.at);
        let mut name = (0, 0);
        if self.named {
            if self.bytes.get(at) != Some(&b'"') {
                return None;
            }
            let end = skip_string(self.bytes, at);
            name = (at + 1, end - 1);
            at = skip_space(self.bytes, skip_space(self.bytes, end) + 1);
        }
        let end = skip_value(self.bytes, at);
        if end == at {
            return None;
        }
        // Behind the comma, or behind the closing bracket, where nothing more is found.
        self.at = skip_space(self.bytes, end) + 1;
        Some((name, at, end))
    }
}

/// Builds a tree from checked text; its depth was limited by the check.
struct Tree<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tree<'a> {
    fn space(&mut self) -> Option<u8> {
        self.at = skip_space(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }

    fn string(&mut self) -> Cow<'a, str> {
        let start = self.at + 1;
        self.at = skip_string(self.text.as_bytes(), self.at);
        decode(self.text.get(start..self.at.saturating_sub(1)).unwrap_or_default())
    }

    fn value(&mut self) -> Json {
        let start = self.at;
        match self.text.as_bytes().get(start) {
            Some(b'"') => Json::String(self.string().into()),
            Some(b'[') => {
                let mut elements = Vec::new();
                while self.more(b']') {
                    elements.push(self.value());
                }
                Json::Array(elements.into())
            }
            Some(b'{') => {
                let mut members = Vec::new();
                while self.more(b'}') {
                    let name: Arc<str> = self.string().into();
                    self.space();
                    self.at += 1;
                    self.space();
                    members.push((name, self.value()));
                }
                Json::object(members)
            }
            _ => {
                self.at = skip_value(self.text.as_bytes(), start);
                match &self.text[start..self.at] {
                    "null" | "" => Json::Null,
                    "true" => Json::Bool(true),
                    "false" => Json::Bool(false),
                    number => Json::Number(Number::checked(number)),
                }
            }
        }
    }

    /// Steps from an opening bracket or a part's end to the next part; false at the closing bracket, which it steps over.
    fn more(&mut self, close: u8) -> bool {
        // The opening bracket or the comma.
        let between = self.space();
        if between != Some(close) {
            self.at += 1;
        }
        match self.space() {
            Some(byte) if byte == close => {
                self.at += 1;
                false
            }
            Some(_) => true,
            None => false,
        }
    }
}

/// The text as it came.
impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Byte-wise: `1` and `1.0` differ, and so does white space.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw {}

impl From<Json> for Raw {
    fn from(value: Json) -> Self {
        Self::from(&value)
    }
}

impl From<&Json> for Raw {
    fn from(value: &Json) -> Self {
        let text = value.compact();
        let end = text.len();
        Self { text: Arc::new(text), start: 0, end }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Raw};
    use crate::json::{Json, JsonKind};

    fn raw(text: &str) -> Raw {
        Raw::parse(text).expect(text)
    }

    #[test]
    fn navigation_finds_parts_as_they_were_written() {
        let message = raw(" {\"id\" : 1.0 ,\"r\":{ \"a\\u0062\" : [ 1 , \"]}\\\"\" ,{ } ] },\"id\":2,\"e\":[ ]}\n");
        assert_eq!(message.offset(), 1);
        assert_eq!(message.kind(), JsonKind::Object);
        assert_eq!(message.get("id").and_then(|id| id.i64()), Some(2), "the last duplicate wins");
        assert_eq!(message.len(), 4);
        let list = message.get("r").and_then(|r| r.get("ab")).expect("names compare decoded");
        assert_eq!(list.as_str(), "[ 1 , \"]}\\\"\" ,{ } ]");
        assert_eq!(list.len(), 3);
        assert_eq!(list.at(1).and_then(|text| text.string().map(String::from)).as_deref(), Some("]}\""));
        assert_eq!(list.at(2).map(|empty| empty.is_empty()), Some(true));
        assert_eq!(list.at(3), None);
        assert_eq!(list.get("x"), None);
        let escaped = raw(r#"{"\"":1,"\\\"":2}"#);
        assert_eq!(escaped.get("\"").and_then(|value| value.i64()), Some(1));
        assert_eq!(escaped.get("\\\"").and_then(|value| value.i64()), Some(2), "escapes are no part of a name");
        assert_eq!(message.at(0), None);
        let names: Vec<_> = message.members().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(names[0], "id=1.0");
        assert_eq!(names[3], "e=[ ]");
        assert!(message.get("e").is_some_and(|empty| empty.elements().next().is_none()));
    }

    #[test]
    fn scalars_convert_only_when_they_are_of_the_type() {
        assert_eq!(raw("1.0").i64(), Some(1));
        assert_eq!(raw("\"1\"").i64(), None);
        assert_eq!(raw("-1").u64(), None);
        assert_eq!(raw("true").bool(), Some(true));
        assert_eq!(raw("null").bool(), None);
        assert!(raw("null").is_null());
        assert_eq!(raw("\"\\ud800\"").string().as_deref(), Some("\u{fffd}"));
        assert_eq!(raw("\"a\"").number(), None);
    }

    #[test]
    fn trees_and_texts_agree() {
        for text in ["null", "[]", "{}", r#"{"a":[1,{"b":"\\\"x"},[]],"c":{},"c":-0.0}"#, "[[[]],[],{}]"] {
            assert_eq!(raw(text).to_json().compact(), text);
            assert_eq!(Raw::from(raw(text).to_json()).as_str(), text);
        }
        assert_eq!(raw(" [ 1 , { \"a\" : [ ] , \"b\" : 2 } ] ").to_json().compact(), r#"[1,{"a":[],"b":2}]"#);
        assert_eq!(raw("\"x\"").to_json(), Json::from("x"));
    }

    #[test]
    fn bytes_come_back_with_the_error() {
        let (error, bytes) = Raw::check_or_return(b"[\"\xff\"]".to_vec(), &Limits::default()).expect_err("not UTF-8");
        assert_eq!((error.offset, bytes.len()), (2, 5));
        let (error, bytes) = Raw::check_or_return("starting...", &Limits::default()).expect_err("not JSON");
        assert_eq!(
            (error.to_string().as_str(), bytes.as_slice()),
            ("expected a value, found `s` at byte 0", &b"starting..."[..])
        );
    }
}
