//! What to say where a path leads nowhere.
//!
//! Owns: [`Missing`]. May use: nothing of ours outside this folder. Must not: repeat more of a hostile value than fits a message.

use std::fmt;

use super::raw::Raw;
use super::value::JsonKind;
use crate::near::distance;

/// Names listed in a message.
const MAX_KEYS: usize = 20;

/// Names looked at for a suggestion.
const MAX_CANDIDATES: usize = 1000;

/// Longest name listed or compared, in bytes.
const MAX_NAME: usize = 80;

/// How far a path got, and what is there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The part of the path that exists; empty where not even its first step does.
    pub reached: String,
    /// The type of the value there.
    pub at: JsonKind,
    /// The step that is not there: a name, an index, or the rest of a query.
    pub wanted: String,
    /// Where the value is an object: its first names, at most 20, each at most 80 bytes.
    pub keys: Vec<String>,
    /// Number of members or elements there.
    pub len: usize,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
}

impl Missing {
    /// Describes that `value`, at the end of the path `reached`, has nothing called `wanted`.
    pub(super) fn new(reached: &str, value: &Raw, wanted: &str) -> Self {
        let mut keys = Vec::new();
        let mut best: Option<(usize, String)> = None;
        let mut len = 0;
        for (name, _) in value.members() {
            len += 1;
            if len > MAX_CANDIDATES {
                continue;
            }
            if len <= MAX_KEYS {
                keys.push(shorten(&name));
            }
            if let Some(distance) = distance(wanted, &name)
                && best.as_ref().is_none_or(|(least, _)| distance < *least)
            {
                best = Some((distance, name.into_owned()));
            }
        }
        Self {
            reached: reached.to_owned(),
            at: value.kind(),
            wanted: wanted.to_owned(),
            keys,
            len: len + value.elements().count(),
            suggestion: best.map(|(_, name)| name),
        }
    }

    /// The same, seen from further up: `start` leads to where the path began.
    pub(super) fn behind(mut self, start: &str) -> Self {
        self.reached = if self.reached.is_empty() { start.to_owned() } else { format!("{start}.{}", self.reached) };
        self
    }

    /// Length of what exists, to tell which of two tries got further.
    pub(super) fn depth(&self) -> usize {
        self.reached.len()
    }
}

/// One sentence without its first capital and full stop.
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reached, wanted, len, .. } = self;
        if reached.is_empty() {
            f.write_str("the value")?;
        } else {
            write!(f, "`{reached}`")?;
        }
        match self.at {
            JsonKind::Array if wanted.starts_with(['[', '.']) => {
                write!(f, " is an array of {len}, and nothing in it matches `{wanted}`")
            }
            JsonKind::Array => write!(f, " is an array of {len}, without an element `{wanted}`"),
            JsonKind::Object if wanted.starts_with(['[', '.']) => write!(f, " holds nothing that matches `{wanted}`"),
            JsonKind::Object if *len == 0 => write!(f, " has no `{wanted}`; it is an empty object"),
            JsonKind::Object => {
                write!(f, " has no `{wanted}`")?;
                if let Some(suggestion) = &self.suggestion {
                    write!(f, "; did you mean `{suggestion}`?")?;
                }
                let more = if *len > self.keys.len() { ", …" } else { "" };
                write!(f, " (there are {}{more})", self.keys.join(", "))
            }
            JsonKind::Null => f.write_str(" is null, so nothing is in it"),
            kind => write!(f, " is a {kind}, so nothing is in it"),
        }
    }
}

fn shorten(name: &str) -> String {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    if end < name.len() { format!("{}…", &name[..end]) } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Missing, distance};
    use crate::json::Raw;

    #[test]
    fn names_are_alike_up_to_a_third_of_their_length() {
        assert_eq!(distance("user_id", "userId"), Some(0));
        assert_eq!(distance("itms", "items"), Some(1));
        assert_eq!(distance("a", "b"), None);
        assert_eq!(distance("total", "values"), None);
    }

    #[test]
    fn a_hostile_object_gives_a_short_message() {
        let members: Vec<String> = (0..50_000).map(|n| format!("\"{}{n}\":1", "k".repeat(90))).collect();
        let raw = Raw::parse(&format!("{{{}}}", members.join(","))).expect("JSON");
        let missing = Missing::new("", &raw, "x");
        assert_eq!((missing.keys.len(), missing.len), (20, 50_000));
        assert!(missing.to_string().len() < 2000);
    }
}
