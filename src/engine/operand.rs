//! Words with their `$names`, and the one function that fills them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use super::outcome::Fault;
use super::vars::Vars;
use crate::json::Json;
use crate::source::Span;

/// One word of a line, ready to be filled.
#[derive(Debug)]
pub struct Template {
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// True where no piece was quoted.
    pub bare: bool,
    /// The word as written.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug)]
pub enum Piece {
    /// Text as it is.
    Text(Arc<str>),
    /// A variable.
    Variable {
        /// Its name.
        name: Arc<str>,
        /// How its value goes in.
        insert: Insert,
    },
}

/// How a variable's value goes into a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// As text: a string as itself, anything else as compact JSON.
    Text,
    /// As text inside a JSON string: escaped.
    InString,
    /// As a JSON value.
    AsJson,
}

/// A filled word.
#[derive(Debug)]
pub enum Filled<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// A word that is exactly one variable keeps its value.
    Value(&'a Json),
}

impl Template {
    /// The text, where the word holds no variable.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [Piece::Text(text)] => Some(Cow::Borrowed(text)),
            pieces => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => Some(&**text),
                    Piece::Variable { .. } => None,
                })
                .collect::<Option<String>>()
                .map(Cow::Owned),
        }
    }

    /// Puts the variables' values in. A value is never split or expanded again.
    ///
    /// # Errors
    /// Where a variable has no value because the line that should have set it failed or was skipped.
    pub fn fill<'a>(&'a self, vars: &'a Vars) -> Result<Filled<'a>, Fault> {
        match self.pieces.as_slice() {
            [] => return Ok(Filled::Text(Cow::Borrowed(""))),
            [Piece::Text(text)] => return Ok(Filled::Text(Cow::Borrowed(text))),
            [Piece::Variable { name, .. }] if self.bare => {
                return value(vars, name).map(Filled::Value);
            }
            _ => {}
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Variable { name, insert } => insert_value(&mut text, value(vars, name)?, *insert),
            }
        }
        Ok(Filled::Text(Cow::Owned(text)))
    }
}

fn value<'a>(vars: &'a Vars, name: &str) -> Result<&'a Json, Fault> {
    vars.get(name).ok_or_else(|| Fault::Unset { name: name.to_owned(), line: vars.unset_by(name).unwrap_or(0) })
}

fn insert_value(text: &mut String, value: &Json, insert: Insert) {
    match insert {
        Insert::Text => text.push_str(&value.render()),
        Insert::AsJson => value.write_compact(text),
        Insert::InString => escape_into(text, &value.render()),
    }
}

/// Appends `value` as the inside of a JSON string.
pub fn escape_into(text: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{:04x}", c as u32);
            }
            c => text.push(c),
        }
    }
}

/// A text as a JSON string.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    escape_into(&mut quoted, text);
    quoted.push('"');
    quoted
}

/// A place in JSON text while it is scanned from left to right: decides how a variable that stands there goes in.
#[derive(Debug, Default)]
pub struct JsonPlace {
    in_string: bool,
    escaped: bool,
    is_name: bool,
    /// One entry for each open bracket: true for an object that waits for a member's name.
    open: Vec<Option<bool>>,
}

impl JsonPlace {
    /// Reads on over literal text.
    pub fn advance(&mut self, text: &str) {
        for c in text.chars() {
            if self.in_string {
                match c {
                    _ if self.escaped => self.escaped = false,
                    '\\' => self.escaped = true,
                    '"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match c {
                '"' => {
                    self.in_string = true;
                    self.is_name = self.open.last() == Some(&Some(true));
                }
                '{' => self.open.push(Some(true)),
                '[' => self.open.push(None),
                '}' | ']' => {
                    self.open.pop();
                }
                ':' => self.expect_name(false),
                ',' => self.expect_name(true),
                _ => {}
            }
        }
    }

    fn expect_name(&mut self, expect: bool) {
        if let Some(Some(waits)) = self.open.last_mut() {
            *waits = expect;
        }
    }

    /// How a variable goes in here; none inside a member's name, which is never touched.
    pub fn insert(&self) -> Option<Insert> {
        match (self.in_string, self.is_name) {
            (true, true) => None,
            (true, false) => Some(Insert::InString),
            (false, _) => Some(Insert::AsJson),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Insert, JsonPlace};

    #[test]
    fn places_in_json_text() {
        let place = |text: &str| {
            let mut place = JsonPlace::default();
            place.advance(text);
            place.insert()
        };
        assert_eq!(place(r#"{"a": "#), Some(Insert::AsJson));
        assert_eq!(place(r#"{"a": ""#), Some(Insert::InString));
        assert_eq!(place(r#"{""#), None);
        assert_eq!(place(r#"{"a": 1, ""#), None);
        assert_eq!(place(r#"{"a": ["x", ""#), Some(Insert::InString));
        assert_eq!(place(r#"{"a\"": "\" "#), Some(Insert::InString));
        assert_eq!(place(r#"{"a": {"b": 1}, ""#), None);
        assert_eq!(place(r#"[{"a": 1}, ""#), Some(Insert::InString));
    }
}
