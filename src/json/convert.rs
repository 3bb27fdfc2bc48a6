//! From Rust values and `serde_json` to [`Json`], and back.
//!
//! Owns: these conversions. May use: nothing of ours outside this folder. Must not: change a number's text.

use std::sync::Arc;

use super::number::Number;
use super::raw::Raw;
use super::value::{Json, Object};

impl Json {
    /// The same value for crates that want `serde_json`; number text survives, of duplicate members only the last.
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => serde_json::Value::Bool(*value),
            Self::Number(number) => {
                serde_json::Value::Number(serde_json::Number::from_string_unchecked(number.as_str().to_owned()))
            }
            Self::String(text) => serde_json::Value::String(text.to_string()),
            Self::Array(elements) => elements.iter().map(Self::to_serde).collect(),
            Self::Object(members) => members
                .iter()
                .map(|(key, value)| (key.to_owned(), value.to_serde()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// Takes over a `serde_json` value.
    pub fn from_serde(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Number(Number::checked(number.as_str())),
            serde_json::Value::String(text) => Self::from(text.as_str()),
            serde_json::Value::Array(elements) => elements.iter().map(Self::from_serde).collect(),
            serde_json::Value::Object(members) => {
                Self::object(members.iter().map(|(key, value)| (key.as_str(), Self::from_serde(value))))
            }
        }
    }
}

impl<V: Into<Self>> FromIterator<V> for Json {
    fn from_iter<I: IntoIterator<Item = V>>(elements: I) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Arc<str>> for Json {
    fn from(text: Arc<str>) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Self::Number(i64::from(value).into())
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Self::Number(u64::from(value).into())
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Self::Number((value as u64).into())
    }
}

impl From<Object> for Json {
    fn from(members: Object) -> Self {
        Self::Object(members)
    }
}

impl From<&Raw> for Json {
    fn from(raw: &Raw) -> Self {
        raw.to_json()
    }
}
