//! JSON Schema.
//!
//! Owns: compiling schemas offline and listing violations with their pointers. May use: nothing of ours outside this folder.
//! Must not: fetch a reference, judge by a pattern that cannot be compiled, or print a hostile value at length.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Registry, ValidationError};
use serde_json::Value;
use thiserror::Error;

use super::effort::Effort;
use super::patterns::{self, Unjudged};
use super::pointer::Pointer;
use super::raw::Raw;
use super::value::{Json, JsonKind};

/// Violations listed at most.
const MAX_VIOLATIONS: usize = 50;

/// Longest message about one violation, in bytes.
const MAX_MESSAGE: usize = 400;

/// Steps a pattern with look-around or back-references may take on one string before it counts as not judged.
const BACKTRACK_LIMIT: usize = 100_000;

/// A compiled schema. Build it once per schema: compiling costs a hundred times what checking costs.
#[derive(Debug)]
pub struct Validator {
    judged: jsonschema::Validator,
    /// Where patterns could not be compiled: the same schema with these patterns matching nothing.
    opposite: Option<Box<jsonschema::Validator>>,
    effort: Option<Effort>,
    notes: Vec<String>,
}

/// One way in which a value breaks a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value.
    pub instance_pointer: Pointer,
    /// Which keyword of the schema.
    pub schema_pointer: Pointer,
    /// What is wrong, one sentence without full stop, at most 400 bytes.
    pub message: String,
}

/// Both places and what is wrong, in one line.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instance_pointer.is_root() {
            true => f.write_str("the value")?,
            false => write!(f, "{}", self.instance_pointer)?,
        }
        write!(f, ": {} (schema {})", self.message, self.schema_pointer)
    }
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}{}", at(pointer))]
pub struct SchemaError {
    /// What is wrong.
    pub message: String,
    /// Where in the schema, as far as known.
    pub pointer: Pointer,
}

fn at(pointer: &Pointer) -> String {
    if pointer.is_root() { String::new() } else { format!(" (at {pointer} in the schema)") }
}

/// What can be turned into the validator's own tree: [`Json`] and [`Raw`].
pub trait Document {
    /// The value with number text kept; of duplicate members the last.
    fn document(&self) -> Value;
}

impl Document for Json {
    fn document(&self) -> Value {
        self.to_serde()
    }
}

impl Document for Raw {
    fn document(&self) -> Value {
        match self.kind() {
            JsonKind::Array => self.elements().map(|element| element.document()).collect(),
            JsonKind::Object => self
                .members()
                .map(|(name, value)| (name.into_owned(), value.document()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            _ => self.to_json().to_serde(),
        }
    }
}

impl Document for Value {
    fn document(&self) -> Value {
        self.clone()
    }
}

impl Validator {
    /// Compiles a schema: 2020-12 unless its `$schema` names another published draft; formats are checked; nothing is fetched.
    ///
    /// Errors where the schema breaks its metaschema or refers to something that is not in it. Patterns that cannot be compiled and
    /// unknown dialects are no errors: see [`Validator::notes`].
    pub fn compile(schema: &impl Document) -> Result<Self, SchemaError> {
        let mut schema = schema.document();
        let mut notes = Vec::new();
        patterns::drop_unknown_dialect(&mut schema, &mut notes);
        let schema = Arc::new(schema);
        let effort = Effort::of(&schema, vec![String::new()]);
        let first = match build(&schema, None) {
            Ok(judged) => return Ok(Self { judged, opposite: None, effort, notes }),
            Err(error) => error,
        };
        let Unjudged { ignoring, refusing } = patterns::without_broken(&schema, &mut notes).ok_or(first)?;
        let opposite = Some(Box::new(build(&refusing, None)?));
        Ok(Self { judged: build(&ignoring, None)?, opposite, effort, notes })
    }

    /// Compiles a schema that refers to a document of which there are one or two readings; none where that is not possible.
    pub(super) fn referring(schema: &Value, readings: &[Registry<'_>], effort: Option<Effort>) -> Option<Self> {
        let judged = build(schema, Some(readings.first()?)).ok()?;
        let opposite = match readings.get(1) {
            Some(reading) => Some(Box::new(build(schema, Some(reading)).ok()?)),
            None => None,
        };
        Some(Self { judged, opposite, effort, notes: Vec::new() })
    }

    /// Lists what is wrong with `value`, at most 50 violations; empty where it is valid.
    ///
    /// A schema that branches and refers to itself can make one value a matter of hours; then that is the only violation.
    pub fn validate(&self, value: &impl Document) -> Vec<Violation> {
        let value = value.document();
        if self.effort.as_ref().is_some_and(|effort| effort.is_too_much(&value)) {
            let message = "the schema branches too often to be checked against this value".to_owned();
            return vec![Violation { instance_pointer: Pointer::root(), schema_pointer: Pointer::root(), message }];
        }
        let violations = list(&self.judged, &value);
        // What holds whichever way the patterns would have decided is the only thing that can be blamed on the value.
        if violations.is_empty() || self.opposite.as_ref().is_some_and(|opposite| opposite.is_valid(&value)) {
            return Vec::new();
        }
        violations
    }

    /// True where [`Validator::validate`] finds nothing, but faster.
    pub fn is_valid(&self, value: &impl Document) -> bool {
        let value = value.document();
        if self.effort.as_ref().is_some_and(|effort| effort.is_too_much(&value)) {
            return false;
        }
        if self.judged.is_valid(&value) || self.opposite.as_ref().is_some_and(|opposite| opposite.is_valid(&value)) {
            return true;
        }
        // A pattern that gave up on a string makes the value invalid for the crate, but is not judged here.
        list(&self.judged, &value).is_empty()
    }

    /// What was not judged, such as patterns that cannot be compiled; one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// The options every schema is compiled with.
fn options<'a>(registry: Option<&'a Registry<'a>>) -> jsonschema::ValidationOptions<'a> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT));
    match registry {
        Some(registry) => options.with_registry(registry),
        None => options,
    }
}

fn build(schema: &Value, registry: Option<&Registry<'_>>) -> Result<jsonschema::Validator, SchemaError> {
    options(registry).build(schema).map_err(|error| schema_error(&error))
}

/// True where a schema with nothing but this pattern compiles.
pub(super) fn compiles(pattern: &str) -> bool {
    let schema = Value::Object([("pattern".to_owned(), Value::String(pattern.to_owned()))].into_iter().collect());
    options(None).build(&schema).is_ok()
}

fn list(validator: &jsonschema::Validator, value: &Value) -> Vec<Violation> {
    validator
        .iter_errors(value)
        .filter(|error| {
            !matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. }
            )
        })
        .take(MAX_VIOLATIONS)
        .map(|error| Violation {
            instance_pointer: pointer(error.instance_path().as_str()),
            schema_pointer: pointer(error.schema_path().as_str()),
            message: short(&error),
        })
        .collect()
}

fn schema_error(error: &ValidationError<'_>) -> SchemaError {
    SchemaError { message: short(error), pointer: pointer(error.instance_path().as_str()) }
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap_or_default()
}

/// The message, written only as far as it is shown: the crate puts whole values into it.
fn short(message: &impl fmt::Display) -> String {
    let mut out = Short(String::new());
    if write!(out, "{message}").is_err() {
        out.0.push('…');
    }
    out.0
}

struct Short(String);

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut end = text.len().min(MAX_MESSAGE.saturating_sub(self.0.len()));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.0.push_str(&text[..end]);
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Validator;
    use crate::json::{Json, Raw};

    fn compile(schema: &str) -> Validator {
        Validator::compile(&Json::parse(schema).expect(schema)).unwrap_or_else(|error| panic!("{schema}: {error}"))
    }

    fn valid(schema: &str, value: &str) -> bool {
        let (validator, raw) = (compile(schema), Raw::parse(value).expect(value));
        let violations = validator.validate(&raw);
        assert_eq!(violations.is_empty(), validator.is_valid(&raw.to_json()), "{schema} {value} {violations:?}");
        violations.is_empty()
    }

    #[test]
    fn violations_carry_both_pointers() {
        let schema = r##"{"type":"object","required":["id"],"properties":{"rows":{"items":{"$ref":"#/$defs/row"}}},
            "$defs":{"row":{"type":"object","properties":{"n":{"type":"integer"}}}}}"##;
        let violations = compile(schema).validate(&Raw::parse(r#"{"rows":[{"n":1.0},{"n":"x"}]}"#).expect("JSON"));
        let mut places: Vec<_> = violations.iter().map(|v| v.instance_pointer.as_str()).collect();
        places.sort_unstable();
        assert_eq!(places, ["", "/rows/1/n"]);
        let inner = violations.iter().find(|v| !v.instance_pointer.is_root()).expect("one in a row");
        assert_eq!(inner.schema_pointer.as_str(), "/$defs/row/properties/n/type");
        assert!(inner.message.contains("integer"), "{}", inner.message);
    }

    #[test]
    fn numbers_are_judged_exactly() {
        assert!(valid(r#"{"const":9007199254740993}"#, "9007199254740993"));
        assert!(!valid(r#"{"const":9007199254740993}"#, "9007199254740992"));
        assert!(!valid(r#"{"maximum":1e400}"#, "1.1e400"));
        assert!(valid(r#"{"enum":[1.0]}"#, "1"));
        assert!(valid(r#"{"multipleOf":0.1}"#, "1.1"));
    }

    #[test]
    fn drafts_and_formats() {
        let tuple = |draft: &str| format!(r#"{{{draft}"items":[{{"type":"string"}}],"format":"date"}}"#);
        assert!(!valid(&tuple(r#""$schema":"http://json-schema.org/draft-07/schema#","#), "[1]"));
        assert!(Validator::compile(&Json::parse(&tuple("")).expect("JSON")).is_err(), "2020-12 has no array here");
        assert!(!valid(r#"{"format":"date-time"}"#, "\"yesterday\""));
        assert!(valid(r#"{"format":"made-up"}"#, "\"x\""));
        let unknown = compile(r#"{"$schema":"https://example.com/mine","type":"string"}"#);
        assert!(!unknown.is_valid(&Json::from(1)));
        assert_eq!(unknown.notes().len(), 1, "{:?}", unknown.notes());
    }

    #[test]
    fn broken_schemas_are_errors_with_a_place() {
        for (schema, pointer) in [
            (r#"{"properties":{"a":{"type":"text"}}}"#, "/properties/a/type"),
            (r#"{"$ref":"https://example.com/x"}"#, ""),
            (r##"{"$ref":"#/$defs/none"}"##, ""),
            ("1", ""),
        ] {
            let error = Validator::compile(&Json::parse(schema).expect(schema)).expect_err(schema);
            assert_eq!(error.pointer.as_str(), pointer, "{schema}: {error}");
        }
        assert!(compile("true").is_valid(&Json::Null));
        assert!(!compile("false").is_valid(&Json::Null));
    }

    #[test]
    fn patterns_that_do_not_compile_are_not_judged() {
        let broken = r#""pattern":"(unclosed""#;
        assert!(valid(&format!("{{{broken}}}"), "\"x\""));
        assert!(!valid(&format!(r#"{{{broken},"type":"string"}}"#), "1"));
        assert!(valid(&format!(r#"{{"not":{{{broken}}}}}"#), "\"x\""));
        assert!(valid(&format!(r#"{{"oneOf":[{{"type":"string"}},{{{broken}}}]}}"#), "\"x\""));
        let names = r#"{"patternProperties":{"[":{"type":"string"}},"additionalProperties":false,"properties":{"a":{"type":"integer"}}}"#;
        assert!(valid(names, r#"{"x":"y","a":1}"#));
        assert!(!valid(names, r#"{"x":"y","a":"1"}"#));
        assert!(valid(r#"{"const":{"pattern":"("},"pattern":"("}"#, r#"{"pattern":"("}"#));
        assert!(compile(names).notes()[0].contains('['), "{:?}", compile(names).notes());
        assert!(!valid(r#"{"pattern":"^(?!x)"}"#, "\"x\""), "look-ahead is judged");
    }

    #[test]
    fn hostile_schemas_and_values_end_in_time() {
        let start = Instant::now();
        let long = "a".repeat(50_000);
        assert!(valid(r#"{"pattern":"^(a+)+$"}"#, &format!("\"{long}\"")));
        valid(r#"{"pattern":"^(?=(a+)+b)(a+)+$"}"#, &format!("\"{long}\""));
        for value in ["1e1000000000", "-1e-1000000000", "1e99999999999999999999"] {
            for schema in [r#"{"type":"integer"}"#, r#"{"maximum":5}"#, r#"{"multipleOf":7}"#, r#"{"const":3}"#] {
                valid(schema, value);
            }
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn schemas_that_branch_without_end_are_given_up() {
        let start = Instant::now();
        let mut members = String::new();
        for level in 0..40 {
            let next = format!("{{\"$ref\":\"#/$defs/d{}\"}}", level + 1);
            members.push_str(&format!("\"d{level}\":{{\"anyOf\":[{next},{next}]}},"));
        }
        let bomb = format!("{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{members}\"d40\":{{\"type\":\"integer\"}}}}}}");
        let violations = compile(&bomb).validate(&Json::from("x"));
        assert!(violations[0].message.contains("branches too often"), "{violations:?}");
        let deep =
            r##"{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}},"required":["b"]}]}"##;
        assert!(valid(deep, r#"{"a":{"a":{"a":1}}}"#));
        assert!(!valid(deep, &format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100))));
        let tree = r##"{"type":"object","properties":{"children":{"items":{"$ref":"#"}}},"required":["children"]}"##;
        let leaves = vec!["{\"children\":[]}"; 10_000].join(",");
        assert!(valid(tree, &format!("{{\"children\":[{leaves}]}}")));
        assert!(valid(r##"{"$ref":"#"}"##, "1"));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn messages_stay_short() {
        let long = Json::from("x".repeat(1_000_000));
        let violations = compile(r#"{"type":"integer"}"#).validate(&long);
        assert!(violations[0].message.len() < 500);
        let many = Json::array((0..1000).map(|_| "x"));
        assert_eq!(compile(r#"{"items":{"type":"integer"}}"#).validate(&many).len(), 50);
    }
}
