//! The JSON types that a schema lets through.

use super::coerce::resolve;
use super::value::Json;

/// Schemas are followed this deep.
const MAX_DEPTH: usize = 16;

/// A set of JSON types, `integer` apart from `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const FRACTION: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;

impl Types {
    /// Every type.
    pub const ALL: Self = Self(127);

    /// What either lets through.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True where the value's type is in the set.
    pub fn allow(self, value: &Json) -> bool {
        self.0 & of_value(value) != 0
    }

    /// The types a schema lets through; `root` is where its references lead.
    pub fn of(schema: &Json, root: &Json) -> Self {
        of_schema(schema, root, 0)
    }
}

fn of_value(value: &Json) -> u8 {
    match value {
        Json::Null => NULL,
        Json::Bool(_) => BOOLEAN,
        Json::Number(number) if number.is_integer() => INTEGER,
        Json::Number(_) => FRACTION,
        Json::String(_) => STRING,
        Json::Array(_) => ARRAY,
        Json::Object(_) => OBJECT,
    }
}

fn named(name: &Json) -> u8 {
    match name.as_str() {
        Some("null") => NULL,
        Some("boolean") => BOOLEAN,
        Some("integer") => INTEGER,
        Some("number") => INTEGER | FRACTION,
        Some("string") => STRING,
        Some("array") => ARRAY,
        Some("object") => OBJECT,
        _ => 0,
    }
}

fn of_schema(schema: &Json, root: &Json, depth: usize) -> Types {
    let Json::Object(members) = schema else {
        return if matches!(schema, Json::Bool(false)) { Types(0) } else { Types::ALL };
    };
    if depth > MAX_DEPTH {
        return Types::ALL;
    }
    let mut types = Types::ALL;
    for (keyword, value) in members.iter() {
        let inner = |schema: &Json| of_schema(schema, root, depth + 1);
        types = types.and(match (keyword, value) {
            ("type", Json::String(_)) => Types(named(value)),
            ("type", Json::Array(names)) => Types(names.iter().map(named).fold(0, |all, one| all | one)),
            ("const", value) => Types(of_value(value)),
            ("enum", Json::Array(values)) => Types(values.iter().map(of_value).fold(0, |all, one| all | one)),
            ("anyOf" | "oneOf", Json::Array(branches)) => branches.iter().map(inner).fold(Types(0), Types::or),
            ("allOf", Json::Array(branches)) => branches.iter().map(inner).fold(Types::ALL, Types::and),
            ("$ref", Json::String(reference)) => resolve(root, reference).map_or(Types::ALL, |target| inner(&target)),
            _ => Types::ALL,
        });
    }
    types
}
