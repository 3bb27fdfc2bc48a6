//! The properties an object schema knows.
//!
//! Owns: finding them behind branches and references, and telling which names are allowed. May use: nothing of ours outside
//! this folder. Must not: judge values, or walk a schema without end.

use std::collections::{BTreeMap, HashSet};

use regex::Regex;

use super::pointer::Pointer;
use super::references::target;
use super::value::{Json, Object};

/// Schemas are followed this deep.
const MAX_DEPTH: usize = 64;

/// Subschemas looked at in one schema.
const MAX_SCHEMAS: usize = 5_000;

/// Keywords whose branches need not all apply.
const BRANCHES: [&str; 2] = ["anyOf", "oneOf"];

/// What a schema says about the members of an object.
#[derive(Debug, Default)]
pub struct Properties {
    names: Vec<String>,
    declared: BTreeMap<String, SchemaRef>,
    patterns: Vec<(Regex, Place)>,
    further: SchemaRef,
    open: bool,
}

/// The subschemas that speak about one property, as pointers into the schema they were found in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaRef {
    /// Those that always apply.
    pub all: Vec<Pointer>,
    /// Those in branches, of which at least one applies.
    pub any: Vec<Pointer>,
}

impl SchemaRef {
    fn add(&mut self, place: Place) {
        let list = if place.always { &mut self.all } else { &mut self.any };
        if !list.contains(&place.pointer) {
            list.push(place.pointer);
        }
    }

    /// True where no subschema says anything.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.any.is_empty()
    }
}

/// Where a subschema stands, and whether it applies whatever branch is taken.
#[derive(Clone, Debug)]
struct Place {
    pointer: Pointer,
    always: bool,
}

impl Place {
    fn member(&self, name: &str) -> Self {
        let mut pointer = self.pointer.clone();
        pointer.push(name);
        Self { pointer, always: self.always }
    }

    fn maybe(self) -> Self {
        Self { always: false, ..self }
    }
}

impl Properties {
    /// Collects the properties reached through `properties`, `allOf`, `anyOf`, `oneOf`, local `$ref`, `then`, `else` and
    /// `dependentSchemas`. What is no object schema allows every name.
    pub fn of(schema: &Json) -> Self {
        let mut walk = Walk { root: schema, seen: HashSet::new(), found: Self::default() };
        walk.schema(schema, &Place { pointer: Pointer::root(), always: true }, 0);
        let mut found = walk.found;
        found.names = found.declared.keys().cloned().collect();
        found.open |= found.names.is_empty() && found.patterns.is_empty();
        found
    }

    /// The declared names in alphabetical order (by code point).
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True where a member of this name makes sense: it is declared, a pattern matches it, or the schema is open: `true` or a
    /// schema for additional properties, no property at all, or something that cannot be looked into.
    pub fn allows(&self, name: &str) -> bool {
        self.open || self.declared.contains_key(name) || self.patterns.iter().any(|(pattern, _)| pattern.is_match(name))
    }

    /// The subschemas for `name`; none where none speaks about it.
    pub fn schema_of(&self, name: &str) -> Option<SchemaRef> {
        let mut found = self.declared.get(name).cloned().unwrap_or_default();
        for (_, place) in self.patterns.iter().filter(|(pattern, _)| pattern.is_match(name)) {
            found.add(place.clone());
        }
        let found = if found.is_empty() { self.further.clone() } else { found };
        (!found.is_empty()).then_some(found)
    }
}

struct Walk<'a> {
    root: &'a Json,
    seen: HashSet<(Pointer, bool)>,
    found: Properties,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Json, place: &Place, depth: usize) {
        let Json::Object(members) = schema else {
            return;
        };
        if !self.seen.insert((place.pointer.clone(), place.always)) {
            return;
        }
        if depth > MAX_DEPTH || self.seen.len() > MAX_SCHEMAS {
            // What is not looked at may allow anything.
            self.found.open = true;
            return;
        }
        self.members(members, place);
        for (keyword, value) in members.iter() {
            let place = place.member(keyword);
            match (keyword, value) {
                ("allOf" | "anyOf" | "oneOf", Json::Array(branches)) => {
                    let place = if BRANCHES.contains(&keyword) { place.maybe() } else { place };
                    for (index, branch) in branches.iter().enumerate() {
                        self.schema(branch, &place.member(&index.to_string()), depth + 1);
                    }
                }
                ("then" | "else", branch) => self.schema(branch, &place.maybe(), depth + 1),
                ("dependentSchemas", Json::Object(branches)) => {
                    let place = place.maybe();
                    for (name, branch) in branches.iter() {
                        self.schema(branch, &place.member(name), depth + 1);
                    }
                }
                ("$ref" | "$dynamicRef", Json::String(reference)) => self.reference(reference, place.always, depth),
                _ => {}
            }
        }
    }

    fn reference(&mut self, reference: &str, always: bool, depth: usize) {
        match target(self.root, reference) {
            Some(pointer) => {
                if let Some(schema) = pointer.resolve_json(self.root) {
                    self.schema(schema, &Place { pointer, always }, depth + 1);
                }
            }
            None => self.found.open = true,
        }
    }

    fn members(&mut self, members: &Object, place: &Place) {
        if let Some(Json::Object(properties)) = members.get("properties") {
            let place = place.member("properties");
            for name in properties.keys() {
                self.found.declared.entry(name.to_owned()).or_default().add(place.member(name));
            }
        }
        if let Some(Json::Object(patterns)) = members.get("patternProperties") {
            let place = place.member("patternProperties");
            for name in patterns.keys() {
                match Regex::new(name) {
                    Ok(pattern) => self.found.patterns.push((pattern, place.member(name))),
                    // A pattern that cannot be judged may match anything.
                    Err(_) => self.found.open = true,
                }
            }
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            match members.get(keyword) {
                Some(Json::Bool(true)) => self.found.open = true,
                Some(Json::Object(_)) => {
                    self.found.open = true;
                    self.found.further.add(place.member(keyword));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Properties;
    use crate::json::Json;

    fn of(text: &str) -> Properties {
        Properties::of(&Json::parse(text).expect(text))
    }

    #[test]
    fn names_are_found_behind_branches_and_references() {
        let found = of(
            r##"{"properties":{"b":{}},"allOf":[{"properties":{"a":{}}}],"$ref":"#/$defs/x","then":{"properties":{"d":{}}},
            "if":{"properties":{"not-me":{}}},"not":{"properties":{"nor-me":{}}},"oneOf":[{"properties":{"b":{"type":"string"}}}],
            "$defs":{"x":{"properties":{"c":{}},"$ref":"#"},"unused":{"properties":{"nope":{}}}}}"##,
        );
        assert_eq!(found.names(), ["a", "b", "c", "d"]);
        assert!(!found.allows("not-me") && !found.allows("x"));
        let b = found.schema_of("b").expect("declared");
        assert_eq!(b.all.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["/properties/b"]);
        assert_eq!(b.any.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["/oneOf/0/properties/b"]);
        assert_eq!(found.schema_of("c").expect("declared").all[0].as_str(), "/$defs/x/properties/c");
    }

    #[test]
    fn further_names_are_allowed_where_the_schema_says_so() {
        for (schema, name, allowed) in [
            (r#"{"type":"object"}"#, "any", true),
            ("true", "any", true),
            (r#"{"properties":{"a":{}}}"#, "z", false),
            (r#"{"properties":{"a":{}},"additionalProperties":false}"#, "z", false),
            (r#"{"properties":{"a":{}},"additionalProperties":true}"#, "z", true),
            (r#"{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}"#, "z", true),
            (r#"{"properties":{"a":{}},"patternProperties":{"^x-":{}}}"#, "x-1", true),
            (r#"{"properties":{"a":{}},"patternProperties":{"^x-":{}}}"#, "y", false),
            (r#"{"properties":{"a":{}},"patternProperties":{"^(?!x)":{}}}"#, "x", true),
            (r#"{"properties":{"a":{}},"allOf":[{"$ref":"https://example.com/other"}]}"#, "z", true),
        ] {
            assert_eq!(of(schema).allows(name), allowed, "{schema} {name}");
        }
    }

    #[test]
    fn hostile_schemas_end() {
        let mut defs = String::new();
        for level in 0..60 {
            let next = format!("{{\"$ref\":\"#/$defs/d{}\"}}", level + 1);
            defs.push_str(&format!("\"d{level}\":{{\"anyOf\":[{next},{next}],\"allOf\":[{next}]}},"));
        }
        let bomb = format!("{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{defs}\"d60\":{{\"properties\":{{\"a\":{{}}}}}}}}}}");
        assert!(of(&bomb).allows("a"));
    }
}
