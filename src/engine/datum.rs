//! Values of words, and the one reader for each kind of word.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;

use super::args::{Argument, FromDatum};
use super::operand::Filled;
use super::spec::Kind;
use crate::diagnostic::suggest;
use crate::duration;
use crate::json::path::Path;
use crate::json::{Json, Number, Raw};

/// The value of a word, read by its kind.
#[derive(Clone, Debug)]
pub enum Datum {
    /// Text.
    Text(Arc<str>),
    /// A JSON value.
    Value(Json),
    /// JSON text.
    Json(Raw),
    /// A decimal.
    Number(Number),
    /// A whole number.
    Count(u64),
    /// A duration.
    Duration(Duration),
    /// A path.
    Path(Arc<Path>),
    /// A regular expression.
    Regex(Arc<Regex>),
    /// An argument of a tool or prompt.
    Argument(Argument),
}

/// A place in the last response, or a variable's value in its stead.
#[derive(Clone, Debug)]
pub enum Place {
    /// A path to follow.
    Path(Arc<Path>),
    /// The value itself: the word was exactly one variable.
    Value(Json),
}

impl FromDatum for Place {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Path(path) => Some(Self::Path(path.clone())),
            Datum::Value(value) => Some(Self::Value(value.clone())),
            _ => None,
        }
    }
}

/// JSON, or the path of a file that holds it.
#[derive(Clone, Debug)]
pub enum JsonOrFile {
    /// The JSON itself.
    Json(Raw),
    /// A path, from the script's folder.
    File(Arc<str>),
}

impl FromDatum for JsonOrFile {
    fn from_datum(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Json(raw) => Some(Self::Json(raw.clone())),
            Datum::Text(path) => Some(Self::File(path.clone())),
            _ => None,
        }
    }
}

/// A word that is not what its kind asks for.
#[derive(Debug)]
pub struct ReadProblem {
    /// Stable code.
    pub code: &'static str,
    /// One line.
    pub title: String,
    /// Words under the underline.
    pub label: String,
    /// What to do next.
    pub help: String,
}

fn problem(code: &'static str, title: String, label: impl Into<String>, help: impl Into<String>) -> ReadProblem {
    ReadProblem { code, title, label: label.into(), help: help.into() }
}

/// Reads a filled word by its kind. `bare` says that no piece of it was quoted.
///
/// # Errors
/// Where the word is not what the kind asks for.
pub fn read(kind: Kind, filled: Filled<'_>, bare: bool) -> Result<Datum, ReadProblem> {
    if kind == Kind::Value {
        return Ok(Datum::Value(match filled {
            Filled::Value(value) => value.clone(),
            Filled::Text(text) => value_of(&text, bare),
        }));
    }
    if let (Kind::Path, Filled::Value(value)) = (kind, &filled) {
        return Ok(Datum::Value((*value).clone()));
    }
    if let (Kind::Json | Kind::JsonOrFile, Filled::Value(value)) = (kind, &filled) {
        let is_path = kind == Kind::JsonOrFile && matches!(value, Json::String(_));
        return Ok(if is_path {
            Datum::Text(value.render().as_ref().into())
        } else {
            Datum::Json(Raw::from((*value).clone()))
        });
    }
    let text: Cow<'_, str> = match filled {
        Filled::Text(text) => text,
        Filled::Value(value) => value.render().into_owned().into(),
    };
    read_text(kind, &text)
}

/// A JSON value out of text: bare text that reads as JSON is it; quoted text only where it is an object or array.
pub fn value_of(text: &str, bare: bool) -> Json {
    let looks = text.trim_start().starts_with(['{', '[']);
    if bare || looks {
        Raw::parse(text).map_or_else(|_| Json::from(text), |raw| raw.to_json())
    } else {
        Json::from(text)
    }
}

fn read_text(kind: Kind, text: &str) -> Result<Datum, ReadProblem> {
    match kind {
        Kind::Json => Raw::parse(text).map(Datum::Json).map_err(|error| {
            problem(
                "mcp::word::not_json",
                "this is not JSON".into(),
                format!("{error}"),
                "write it in single quotes, such as '{\"key\": \"value\"}'; a text needs its own double quotes: '\"text\"'",
            )
        }),
        Kind::JsonOrFile => Ok(match Raw::parse(text) {
            Ok(raw) => Datum::Json(raw),
            Err(_) => Datum::Text(text.into()),
        }),
        Kind::Number => Number::parse(text).map(Datum::Number).ok_or_else(|| {
            problem("mcp::word::not_number", format!("`{text}` is not a number"), "a number is needed here", "write it as in JSON: 5, -1, 2.50, 1e6")
        }),
        Kind::Count => text.parse().map(Datum::Count).map_err(|_| {
            problem("mcp::word::not_count", format!("`{text}` is not a whole number"), "a whole number from 0 is needed here", "write digits only, such as 3")
        }),
        Kind::Duration => duration::parse(text).map(Datum::Duration).map_err(|error| {
            problem("mcp::word::not_duration", format!("`{text}` is not a duration"), error.to_string(), "write 500ms, 2s, 1m30s or 1h; a bare number is milliseconds")
        }),
        Kind::Path => Path::parse(text).map(|path| Datum::Path(Arc::new(path))).map_err(|error| {
            problem("mcp::word::not_path", format!("`{text}` is not a path"), error.to_string(), "paths look like $.user.id, content.0.text, /user/id or $.items[?@.ok].id")
        }),
        Kind::Regex => Regex::new(text).map(|regex| Datum::Regex(Arc::new(regex))).map_err(|error| regex_problem(text, &error)),
        Kind::Choice(words) => {
            if words.contains(&text) {
                return Ok(Datum::Text(text.into()));
            }
            let near = suggest(text, words.iter().copied()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            Err(problem("mcp::word::not_listed", format!("`{text}` is not known here"), "not one of the words that may stand here", format!("{near}it takes {}", words.join(", "))))
        }
        Kind::NewVariable | Kind::Variable => {
            if is_variable_name(text) {
                Ok(Datum::Text(text.into()))
            } else {
                Err(problem(
                    "mcp::word::not_name",
                    format!("`{text}` cannot be a variable's name"),
                    "a name is needed here",
                    format!("names are letters, digits and _, and do not start with a digit; write the name without $: {}", text.trim_start_matches('$')),
                ))
            }
        }
        _ => Ok(Datum::Text(text.into())),
    }
}

fn regex_problem(text: &str, error: &regex::Error) -> ReadProblem {
    let around = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| text.contains(look));
    let label = error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let help = if around {
        "look-around is not supported; match the text around it, or use `not assert_matches`"
    } else {
        "use single quotes so that backslashes stay as they are, such as '^id-\\d+$'"
    };
    problem("mcp::word::not_regex", "this is not a regular expression".into(), label, help)
}

/// True where `text` matches `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_variable_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
