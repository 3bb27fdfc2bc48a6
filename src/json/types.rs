//! The JSON types that a schema lets through.
//!
//! Owns: [`Types`]. May use: nothing of ours outside this folder. Must not: leave out a type that the schema accepts; where it
//! cannot know, every type is in the set.

use super::references::target;
use super::value::Json;

/// Schemas are followed this deep.
const MAX_DEPTH: usize = 32;

/// Subschemas looked at for one property.
const MAX_SCHEMAS: usize = 2_000;

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

    /// No type.
    const NONE: Self = Self(0);

    /// What either lets through.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both let through.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True where the value's type is in the set.
    pub fn allow(self, value: &Json) -> bool {
        self.0 & of_value(value) != 0
    }

    /// The types a schema lets through; `root` is where its references lead.
    pub fn of(schema: &Json, root: &Json) -> Self {
        Walk { root, left: MAX_SCHEMAS }.schema(schema, 0)
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

fn named(name: &Json) -> Types {
    Types(match name.as_str() {
        Some("null") => NULL,
        Some("boolean") => BOOLEAN,
        Some("integer") => INTEGER,
        Some("number") => INTEGER | FRACTION,
        Some("string") => STRING,
        Some("array") => ARRAY,
        Some("object") => OBJECT,
        // No JSON Schema name: the schema cannot be judged.
        _ => return Types::ALL,
    })
}

struct Walk<'a> {
    root: &'a Json,
    left: usize,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Json, depth: usize) -> Types {
        let Json::Object(members) = schema else {
            return if matches!(schema, Json::Bool(false)) { Types::NONE } else { Types::ALL };
        };
        if depth > MAX_DEPTH || self.left == 0 {
            return Types::ALL;
        }
        self.left -= 1;
        let mut types = Types::ALL;
        for (keyword, value) in members.iter() {
            types = types.and(match (keyword, value) {
                ("type", Json::String(_)) => named(value),
                ("type", Json::Array(names)) => names.iter().map(named).fold(Types::NONE, Types::or),
                ("const", value) => Types(of_value(value)),
                ("enum", Json::Array(values)) => Types(values.iter().map(of_value).fold(0, |all, one| all | one)),
                ("anyOf" | "oneOf", Json::Array(branches)) => {
                    branches.iter().fold(Types::NONE, |all, branch| all.or(self.schema(branch, depth + 1)))
                }
                ("allOf", Json::Array(branches)) => {
                    branches.iter().fold(Types::ALL, |all, branch| all.and(self.schema(branch, depth + 1)))
                }
                ("$ref", Json::String(reference)) => {
                    match target(self.root, reference).and_then(|pointer| pointer.resolve_json(self.root)) {
                        Some(schema) => self.schema(schema, depth + 1),
                        None => Types::ALL,
                    }
                }
                _ => Types::ALL,
            });
        }
        // The keyword of OpenAPI that many generators still write.
        if members.get("nullable") == Some(&Json::Bool(true)) { types.or(Types(NULL)) } else { types }
    }
}

#[cfg(test)]
mod tests {
    use super::Types;
    use crate::json::Json;

    #[test]
    fn the_set_holds_what_the_schema_accepts() {
        let root = Json::parse(
            r##"{"$defs":{"n":{"type":"integer"},"loop":{"anyOf":[{"$ref":"#/$defs/loop"},{"type":"null"}]}}}"##,
        )
        .expect("JSON");
        let values = ["null", "true", "1", "1.5", "\"x\"", "[]", "{}"];
        for (schema, allowed) in [
            ("{}", "null true 1 1.5 \"x\" [] {}"),
            ("false", ""),
            (r#"{"type":"number"}"#, "1 1.5"),
            (r#"{"type":["string","null"]}"#, "null \"x\""),
            (r#"{"type":"string","nullable":true}"#, "null \"x\""),
            (r#"{"enum":["a",2.0]}"#, "1 \"x\""),
            (r#"{"const":[]}"#, "[]"),
            (r##"{"anyOf":[{"$ref":"#/$defs/n"},{"type":"object"}]}"##, "1 {}"),
            (r#"{"allOf":[{"type":["string","array"]},{"type":["array","null"]}]}"#, "[]"),
            (r##"{"$ref":"#/$defs/nowhere"}"##, "null true 1 1.5 \"x\" [] {}"),
            (r#"{"type":"text"}"#, "null true 1 1.5 \"x\" [] {}"),
            (r##"{"$ref":"#/$defs/loop"}"##, "null true 1 1.5 \"x\" [] {}"),
        ] {
            let types = Types::of(&Json::parse(schema).expect(schema), &root);
            let found: Vec<&str> =
                values.into_iter().filter(|value| types.allow(&Json::parse(value).expect(value))).collect();
            assert_eq!(found.join(" "), allowed, "{schema}");
        }
    }
}
