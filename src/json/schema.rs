//! Checking values against JSON Schema, with the `jsonschema` crate: nothing is fetched, formats are checked, numbers keep
//! every digit.
//!
//! Owns: [`Validator`], [`Violation`]. May use: nothing of ours outside this folder. Must not: fetch anything, or fail a value
//! for a pattern that no engine here can judge.

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::raw::Raw;
use super::value::Json;

/// Most violations that are reported for one value.
const MAX_VIOLATIONS: usize = 50;
/// Most patterns that are set aside in one schema.
const MAX_UNJUDGED: usize = 100;
/// Longest message of one violation, in characters: it may quote the value.
const MAX_MESSAGE: usize = 300;

/// A compiled schema. 2020-12 unless its `$schema` names another draft.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
    notes: Vec<String>,
}

/// A place where a value breaks a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer into the value; empty for the whole value.
    pub instance_pointer: String,
    /// JSON Pointer into the schema, to the keyword that is broken.
    pub schema_pointer: String,
    /// What is wrong.
    pub message: String,
}

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SchemaError {
    /// What is wrong, with its place.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.instance_pointer.is_empty() { "the value" } else { &self.instance_pointer };
        write!(f, "{place}: {} (schema {})", self.message, self.schema_pointer)
    }
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Where it is no valid schema, or refers to something outside itself.
    pub fn compile(schema: &Raw) -> Result<Self, SchemaError> {
        Self::compile_value(schema.to_json().to_serde())
    }

    /// Compiles a schema that is already a tree of serde's.
    pub(super) fn compile_value(mut schema: Value) -> Result<Self, SchemaError> {
        let mut notes = Vec::new();
        loop {
            let built = jsonschema::options().offline().should_validate_formats(true).build(&schema);
            let error = match built {
                Ok(compiled) => return Ok(Self { compiled, notes }),
                Err(error) => error,
            };
            let places = [error.instance_path().to_string(), error.schema_path().to_string()];
            let set_aside = places.iter().find_map(|place| take_pattern(&mut schema, place));
            match set_aside {
                Some(note) if notes.len() < MAX_UNJUDGED => notes.push(note),
                _ => {
                    let place = if places[0].is_empty() { String::new() } else { format!("{}: ", places[0]) };
                    return Err(SchemaError { message: cut(&format!("{place}{error}")) });
                }
            }
        }
    }

    /// All violations of a value, the first 50 at most.
    pub fn validate(&self, value: &Raw) -> Vec<Violation> {
        let value = value.to_json().to_serde();
        self.compiled
            .iter_errors(&value)
            .filter(|error| !matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }))
            .take(MAX_VIOLATIONS)
            .map(|error| Violation {
                instance_pointer: error.instance_path().to_string(),
                schema_pointer: error.schema_path().to_string(),
                message: cut(&error.to_string()),
            })
            .collect()
    }

    /// True where a value satisfies the schema.
    pub fn accepts(&self, value: &Json) -> bool {
        let value = value.to_serde();
        self.compiled.is_valid(&value)
            || self
                .compiled
                .iter_errors(&value)
                .all(|error| matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }))
    }

    /// What of the schema is not judged: patterns that no engine here can compile.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Removes the pattern at a pointer out of the schema, and says so; none where no pattern stands there.
fn take_pattern(schema: &mut Value, pointer: &str) -> Option<String> {
    let (parent, last) = pointer.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let holder = schema.pointer_mut(parent)?.as_object_mut()?;
    if last == "pattern" || parent.ends_with("/patternProperties") {
        let removed = holder.remove(&last)?;
        let pattern = if last == "pattern" { removed.as_str()?.to_owned() } else { last };
        return Some(format!("{pointer}: the pattern `{}` is not judged", cut(&pattern)));
    }
    if last == "patternProperties" {
        holder.remove(&last)?;
        return Some(format!("{pointer}: these patterns are not judged"));
    }
    None
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_MESSAGE {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MAX_MESSAGE).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::Validator;
    use crate::json::Raw;

    fn violations(schema: &str, value: &str) -> Vec<String> {
        let validator = Validator::compile(&Raw::parse(schema).unwrap()).unwrap();
        validator.validate(&Raw::parse(value).unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn violations_name_their_places() {
        let schema = r#"{"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}}"#;
        assert!(violations(schema, r#"{"sum":3}"#).is_empty());
        assert!(violations(schema, r#"{"sum":3.0}"#).is_empty());
        let wrong = violations(schema, r#"{"sum":"3"}"#);
        assert!(
            wrong.len() == 1 && wrong[0].starts_with("/sum: ") && wrong[0].contains("/properties/sum/type"),
            "{wrong:?}"
        );
    }

    #[test]
    fn numbers_keep_every_digit() {
        let schema = r#"{"const":123456789012345678901234567890}"#;
        assert!(violations(schema, "123456789012345678901234567890").is_empty());
        assert_eq!(violations(schema, "123456789012345678901234567891").len(), 1);
    }

    #[test]
    fn patterns_that_cannot_be_compiled_are_not_judged() {
        let schema = Raw::parse(r#"{"properties":{"a":{"type":"string","pattern":"("}}}"#).unwrap();
        let validator = Validator::compile(&schema).unwrap();
        assert!(validator.notes()[0].contains("not judged"), "{:?}", validator.notes());
        assert_eq!(validator.validate(&Raw::parse(r#"{"a":1}"#).unwrap()).len(), 1);
    }

    #[test]
    fn nothing_outside_is_fetched() {
        let schema = Raw::parse(r#"{"$ref":"https://example.com/schema.json"}"#).unwrap();
        assert!(Validator::compile(&schema).is_err());
        assert!(Validator::compile(&Raw::parse(r#"{"type":"no such type"}"#).unwrap()).is_err());
    }
}
