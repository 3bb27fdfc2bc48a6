//! JSON Pointers.
//!
//! Owns: RFC 6901 on texts and trees. May use: nothing of ours outside this folder.
//! Must not: follow a pointer in any other way than the RFC says (`-` and `01` are no array indexes).

use std::borrow::Cow;
use std::fmt;

use thiserror::Error;

use super::raw::Raw;
use super::value::Json;

/// A JSON Pointer (RFC 6901): empty for the whole value, else tokens with a `/` before each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer(String);

/// Why a text is no JSON Pointer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct PointerError {
    /// What is wrong.
    pub message: &'static str,
    /// Byte offset of the wrong character.
    pub offset: usize,
}

impl Pointer {
    /// The pointer to the whole value.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Reads a pointer. Errors where it does not start with `/` (unless empty) or where `~` stands before anything but 0 and 1.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(PointerError { message: "a JSON Pointer starts with `/`", offset: 0 });
        }
        for (offset, _) in text.match_indices('~') {
            if !matches!(text.as_bytes().get(offset + 1), Some(b'0' | b'1')) {
                return Err(PointerError {
                    message: "in a JSON Pointer `~` is written `~0`, and `/` in a name `~1`",
                    offset,
                });
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The text, escapes included.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for the pointer to the whole value.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes down to the member called `name`.
    pub fn push(&mut self, name: &str) {
        self.0.push('/');
        self.0.push_str(&escape(name));
    }

    /// Goes down to the element at `index`.
    pub fn push_index(&mut self, index: usize) {
        self.push(&index.to_string());
    }

    /// Goes up; stays where it is at the root.
    pub fn pop(&mut self) {
        self.0.truncate(self.0.rfind('/').unwrap_or(0));
    }

    /// The tokens, decoded.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescape)
    }

    /// The part of `value` pointed to.
    pub fn resolve(&self, value: &Raw) -> Option<Raw> {
        self.tokens().try_fold(value.clone(), |value, token| step(&value, &token))
    }

    /// The part of `value` pointed to.
    pub fn resolve_json<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        self.tokens().try_fold(value, |value, token| match value {
            Json::Array(elements) => elements.get(array_index(&token)?),
            other => other.get(&token),
        })
    }
}

/// The member or element of `value` that a token names.
pub(super) fn step(value: &Raw, token: &str) -> Option<Raw> {
    value.get(token).or_else(|| value.at(array_index(token)?))
}

/// Reads an array index as RFC 6901 section 4 has it: no sign, no leading zero.
pub(super) fn array_index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| token.parse().ok())?
}

/// A name as it stands in a pointer: `~` becomes `~0`, `/` becomes `~1`.
pub fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

/// The name that a pointer's token stands for.
pub fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Pointer;
    use crate::json::{Json, Raw};

    #[test]
    fn the_examples_of_the_rfc_resolve() {
        let text = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        let (raw, json) = (Raw::parse(text).expect("JSON"), Json::parse(text).expect("JSON"));
        for (pointer, expected) in [
            ("", text),
            ("/foo", r#"["bar","baz"]"#),
            ("/foo/0", "\"bar\""),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            let parsed = Pointer::parse(pointer).expect(pointer);
            assert_eq!(parsed.resolve(&raw).map(|part| part.to_string()).as_deref(), Some(expected), "{pointer}");
            assert_eq!(parsed.resolve_json(&json).map(Json::compact).as_deref(), Some(expected), "{pointer}");
        }
        for missing in
            ["/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/", "/x", "/foo/0/0", "//", "/foo/99999999999999999999"]
        {
            let parsed = Pointer::parse(missing).expect(missing);
            assert!(parsed.resolve(&raw).is_none() && parsed.resolve_json(&json).is_none(), "{missing}");
        }
    }

    #[test]
    fn wrong_pointers_name_the_place() {
        assert_eq!(Pointer::parse("a/b").expect_err("no slash").offset, 0);
        assert_eq!(Pointer::parse("/a~2").expect_err("tilde").offset, 2);
        assert_eq!(Pointer::parse("/a~").expect_err("tilde").offset, 2);
    }

    #[test]
    fn pushing_escapes_and_popping_undoes_it() {
        let mut pointer = Pointer::root();
        pointer.push("a/~");
        pointer.push_index(3);
        assert_eq!(pointer.to_string(), "/a~1~0/3");
        pointer.pop();
        assert_eq!(pointer.tokens().collect::<Vec<_>>(), ["a/~"]);
        pointer.pop();
        pointer.pop();
        assert!(pointer.is_root());
    }
}
