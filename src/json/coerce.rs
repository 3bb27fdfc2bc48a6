//! From words to JSON values, by the schema of a tool.
//!
//! Owns: [`ToolSchema`], [`Word`]. May use: nothing of ours outside this folder. Must not: refuse a value: rejecting it is the
//! server's job, and what a negative test wants.

use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::raw::Raw;
use super::schema::Validator;
use super::types::Types;
use super::value::Json;

/// Schemas are followed this deep.
const MAX_DEPTH: usize = 32;
/// Subschemas looked at in one tool's schema.
const MAX_NODES: usize = 10_000;
/// Keywords that say nothing about which values are accepted.
const ANNOTATIONS: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "x-mcp-header",
];
/// Keywords whose value is data: a `$ref` in there is no reference.
const DATA: &[&str] = &["const", "enum", "default", "examples"];

/// A value as it stands in a line, before the schema decides its type.
#[derive(Clone, Copy, Debug)]
pub enum Word<'a> {
    /// Text without quotes: prefers to be JSON.
    Bare(&'a str),
    /// Text with quotes: prefers to be a string.
    Quoted(&'a str),
    /// The value of a variable: its own type, then its text, then its text as JSON.
    Value(&'a Json),
}

/// A tool's `inputSchema`, read once.
#[derive(Debug)]
pub struct ToolSchema {
    root: Json,
    names: Vec<String>,
    properties: BTreeMap<String, Property>,
    patterns: Vec<(Regex, Json)>,
    further: Vec<Json>,
    open: bool,
}

/// What a schema says about one property.
#[derive(Debug, Default)]
struct Property {
    schemas: Vec<Json>,
    rule: OnceLock<Rule>,
}

/// Which values a property accepts.
#[derive(Debug)]
struct Rule {
    types: Types,
    /// None where the types say everything.
    validators: Option<Vec<Validator>>,
}

impl Rule {
    fn accepts(&self, value: &Json) -> bool {
        self.types.allow(value)
            && self
                .validators
                .as_ref()
                .is_none_or(|all| all.is_empty() || all.iter().any(|validator| validator.is_valid(value)))
    }
}

impl ToolSchema {
    /// Reads an `inputSchema`. What is no schema at all allows everything.
    pub fn new(schema: &Json) -> Self {
        let mut found = Self {
            root: schema.clone(),
            names: Vec::new(),
            properties: BTreeMap::new(),
            patterns: Vec::new(),
            further: Vec::new(),
            open: false,
        };
        let mut walk = Walk { seen: HashSet::new(), nodes: 0 };
        found.collect(schema, &mut walk, 0);
        found.names = found.properties.keys().cloned().collect();
        found.open |= found.names.is_empty() && found.patterns.is_empty();
        found
    }

    /// The declared properties, in alphabetical order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True where an argument of this name makes sense: it is declared, a pattern matches it, or further names are allowed.
    pub fn allows(&self, name: &str) -> bool {
        self.open
            || self.properties.contains_key(name)
            || self.patterns.iter().any(|(pattern, _)| pattern.is_match(name))
    }

    /// The declared properties without those named, in alphabetical order: what values alone fill.
    pub fn positional_names_excluding(&self, named: &[&str]) -> Vec<&str> {
        self.names.iter().map(String::as_str).filter(|name| !named.contains(name)).collect()
    }

    /// The value that is sent for a word.
    pub fn coerce(&self, name: &str, word: Word<'_>) -> Json {
        match self.properties.get(name) {
            Some(property) => choose(property.rule.get_or_init(|| self.rule(&property.schemas)), word),
            None => {
                let matching: Vec<Json> = self
                    .patterns
                    .iter()
                    .filter(|(pattern, _)| pattern.is_match(name))
                    .map(|(_, schema)| schema.clone())
                    .collect();
                let schemas = if matching.is_empty() { &self.further } else { &matching };
                choose(&self.rule(schemas), word)
            }
        }
    }

    fn rule(&self, schemas: &[Json]) -> Rule {
        let types = schemas.iter().map(|schema| Types::of(schema, &self.root)).reduce(Types::or).unwrap_or(Types::ALL);
        let plain = schemas.iter().all(|schema| match schema {
            Json::Object(members) => members.keys().all(|key| ANNOTATIONS.contains(&key)),
            Json::Bool(true) => true,
            _ => false,
        });
        if plain {
            return Rule { types, validators: None };
        }
        // A schema that cannot be compiled judges nothing: then the types decide alone.
        let compiled: Option<Vec<Validator>> =
            schemas.iter().map(|schema| Validator::compile(&self.alone(schema)).ok()).collect();
        Rule { types, validators: compiled }
    }

    /// A property's schema on its own: the root travels along under `$defs`, and references into it are turned there.
    fn alone(&self, schema: &Json) -> Value {
        let mut root = self.root.to_serde();
        let mut own = schema.to_serde();
        let dialect = root.get("$schema").cloned();
        if let Some(members) = root.as_object_mut() {
            members.remove("$schema");
            members.remove("$id");
        }
        redirect(&mut root, 0);
        redirect(&mut own, 0);
        let mut defs = Map::new();
        defs.insert("root".into(), root);
        let mut whole = Map::new();
        if let Some(dialect) = dialect {
            whole.insert("$schema".into(), dialect);
        }
        whole.insert("$defs".into(), Value::Object(defs));
        whole.insert("allOf".into(), Value::Array(vec![own]));
        Value::Object(whole)
    }

    fn collect(&mut self, schema: &Json, walk: &mut Walk, depth: usize) {
        walk.nodes += 1;
        let Json::Object(members) = schema else { return };
        if depth > MAX_DEPTH || walk.nodes > MAX_NODES {
            return;
        }
        for (keyword, value) in members.iter() {
            match (keyword, value) {
                ("properties", Json::Object(properties)) => {
                    for (name, schema) in properties.iter() {
                        self.properties.entry(name.to_owned()).or_default().schemas.push(schema.clone());
                    }
                }
                ("patternProperties", Json::Object(patterns)) => {
                    for (pattern, schema) in patterns.iter() {
                        match Regex::new(pattern) {
                            Ok(pattern) => self.patterns.push((pattern, schema.clone())),
                            // A pattern we cannot judge may allow any name.
                            Err(_) => self.open = true,
                        }
                    }
                }
                ("additionalProperties" | "unevaluatedProperties", Json::Bool(true)) => self.open = true,
                ("additionalProperties" | "unevaluatedProperties", Json::Object(_)) => {
                    self.open = true;
                    self.further.push(value.clone());
                }
                ("allOf" | "anyOf" | "oneOf", Json::Array(branches)) => {
                    for branch in branches.iter() {
                        self.collect(branch, walk, depth + 1);
                    }
                }
                ("if" | "then" | "else", branch) => self.collect(branch, walk, depth + 1),
                ("dependentSchemas", Json::Object(branches)) => {
                    for (_, branch) in branches.iter() {
                        self.collect(branch, walk, depth + 1);
                    }
                }
                ("$ref", Json::String(reference)) if walk.seen.insert(reference.to_string()) => {
                    if let Some(target) = resolve(&self.root.clone(), reference) {
                        self.collect(&target, walk, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

struct Walk {
    seen: HashSet<String>,
    nodes: usize,
}

/// The subschema a local reference leads to.
pub(super) fn resolve(root: &Json, reference: &str) -> Option<Json> {
    let pointer = reference.strip_prefix('#')?;
    let mut at = root.clone();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%24", "$");
        at = match &at {
            Json::Object(_) => at.get(&token)?.clone(),
            Json::Array(_) => at.index(token.parse().ok()?)?.clone(),
            _ => return None,
        };
    }
    (pointer.is_empty() || pointer.starts_with('/')).then_some(at)
}

/// Turns local references to where the root stands now.
fn redirect(schema: &mut Value, depth: usize) {
    if depth > MAX_DEPTH * 4 {
        return;
    }
    match schema {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if let ("$ref" | "$dynamicRef", Value::String(reference)) = (key.as_str(), &mut *value) {
                    if let Some(rest) =
                        reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
                    {
                        *reference = format!("#/$defs/root{rest}");
                    }
                } else if !DATA.contains(&key.as_str()) {
                    redirect(value, depth + 1);
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| redirect(element, depth + 1)),
        _ => {}
    }
}

fn choose(rule: &Rule, word: Word<'_>) -> Json {
    let parsed = |text: &str| Raw::parse(text).ok().map(|raw| raw.to_json());
    let candidates: Vec<Json> = match word {
        Word::Bare(text) => parsed(text).into_iter().chain([Json::from(text)]).collect(),
        Word::Quoted(text) => [Json::from(text)].into_iter().chain(parsed(text)).collect(),
        Word::Value(value) => {
            let text = value.render();
            [value.clone(), Json::from(&*text)].into_iter().chain(parsed(&text)).collect()
        }
    };
    let accepted = candidates.iter().find(|candidate| rule.accepts(candidate));
    let typed = || candidates.iter().find(|candidate| rule.types.allow(candidate));
    // A first candidate always exists: it is what the word prefers to be.
    accepted.or_else(typed).or_else(|| candidates.first()).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ToolSchema, Word};
    use crate::json::Json;

    fn schema(text: &str) -> ToolSchema {
        ToolSchema::new(&Json::parse(text).unwrap())
    }

    fn sent(property: &str, word: Word<'_>) -> String {
        schema(&format!(r##"{{"type":"object","properties":{{"v":{property}}},"$defs":{{"pos":{{"type":"integer","minimum":1}}}}}}"##))
            .coerce("v", word)
            .compact()
    }

    #[test]
    fn the_candidate_that_the_schema_accepts_wins() {
        for (property, word, expected) in [
            (r#"{"type":"integer"}"#, Word::Bare("5"), "5"),
            (r#"{"type":"integer"}"#, Word::Quoted("5"), "5"),
            (r#"{"type":"string"}"#, Word::Bare("5"), r#""5""#),
            (r#"{"type":"string"}"#, Word::Bare("null"), r#""null""#),
            (r#"{"type":["string","null"]}"#, Word::Bare("null"), "null"),
            (r#"{"type":["string","null"]}"#, Word::Quoted("null"), r#""null""#),
            ("{}", Word::Bare("true"), "true"),
            ("{}", Word::Quoted("true"), r#""true""#),
            (r#"{"enum":["1",2]}"#, Word::Bare("1"), r#""1""#),
            (r#"{"enum":["1",2]}"#, Word::Quoted("2"), "2"),
            (r#"{"const":7}"#, Word::Quoted("7"), "7"),
            (r#"{"anyOf":[{"type":"array"},{"type":"null"}]}"#, Word::Quoted("[1]"), "[1]"),
            (r##"{"$ref":"#/$defs/pos"}"##, Word::Quoted("3"), "3"),
            (r#"{"type":"array","items":{"type":"string"}}"#, Word::Quoted(r#"["a"]"#), r#"["a"]"#),
            (r#"{"type":"integer"}"#, Word::Bare("123456789012345678901234567890"), "123456789012345678901234567890"),
        ] {
            assert_eq!(sent(property, word), expected, "{property} {word:?}");
        }
    }

    #[test]
    fn what_is_not_accepted_is_sent_all_the_same() {
        assert_eq!(sent(r#"{"type":"integer","maximum":100}"#, Word::Bare("101")), "101");
        assert_eq!(sent(r#"{"type":"integer"}"#, Word::Quoted("not_a_number")), r#""not_a_number""#);
        assert_eq!(sent(r#"{"type":"integer"}"#, Word::Bare("true")), "true");
        assert_eq!(sent(r##"{"$ref":"#/$defs/pos"}"##, Word::Bare("0")), "0");
        assert_eq!(sent(r#"{"type":"string","maxLength":1}"#, Word::Bare("12")), r#""12""#);
    }

    #[test]
    fn variables_try_their_own_type_first() {
        let number = Json::parse("5").unwrap();
        assert_eq!(sent(r#"{"type":"integer"}"#, Word::Value(&number)), "5");
        assert_eq!(sent(r#"{"type":"string"}"#, Word::Value(&number)), r#""5""#);
        let text = Json::from("[1]");
        assert_eq!(sent(r#"{"type":"array"}"#, Word::Value(&text)), "[1]");
    }

    #[test]
    fn names_are_found_behind_branches_and_references() {
        let found = schema(
            r##"{"properties":{"b":{}},"allOf":[{"properties":{"a":{}}}],"$ref":"#/$defs/x","$defs":{"x":{"properties":{"c":{}},"$ref":"#"}},"then":{"properties":{"d":{}}}}"##,
        );
        assert_eq!(found.names(), ["a", "b", "c", "d"]);
        assert!(!found.allows("e"));
        assert_eq!(found.positional_names_excluding(&["b"]), ["a", "c", "d"]);
        assert!(schema(r#"{"type":"object"}"#).allows("anything"));
        assert!(schema(r#"{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}"#).allows("z"));
        assert!(schema(r#"{"properties":{"a":{}},"patternProperties":{"^x-":{}}}"#).allows("x-1"));
        assert!(!schema(r#"{"properties":{"a":{}},"patternProperties":{"^x-":{}}}"#).allows("y"));
    }
}
