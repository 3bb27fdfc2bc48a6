//! From words to JSON values, by the schema of a tool.
//!
//! Owns: [`ToolSchema`], [`Word`]. May use: nothing of ours outside this folder. Must not: refuse a value: rejecting it is the
//! server's job, and what a negative test wants.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use jsonschema::Registry;
use serde_json::Value;

use super::effort::Effort;
use super::patterns;
use super::pointer::Pointer;
pub use super::properties::{Properties, SchemaRef};
use super::raw::Raw;
use super::references::fragment;
use super::schema::Validator;
use super::types::Types;
use super::value::Json;

/// The name under which property validators know the whole schema.
const ROOT_URI: &str = "urn:mcp-tester:schema";

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

impl Word<'_> {
    /// What the word could mean, best first; never empty.
    fn candidates(self) -> Vec<Json> {
        let parsed = |text: &str| Raw::parse(text).ok().map(|raw| raw.to_json());
        match self {
            Word::Bare(text) => parsed(text).into_iter().chain([Json::from(text)]).collect(),
            Word::Quoted(text) => [Json::from(text)].into_iter().chain(parsed(text)).collect(),
            Word::Value(value) => {
                let text = value.render();
                [value.clone(), Json::from(&*text)].into_iter().chain(parsed(&text)).collect()
            }
        }
    }
}

/// The value a word stands for where no schema is known: bare words as JSON where they parse, others as they are.
pub fn untyped(word: Word<'_>) -> Json {
    word.candidates().into_iter().next().unwrap_or_default()
}

/// The value that is sent for a word under one property's schema; `root` is where its references lead.
///
/// For more than one word use a [`ToolSchema`], which compiles what it needs once.
pub fn coerce(word: Word<'_>, schema: &Json, root: &Json) -> Json {
    const NAME: &str = "\u{1}word";
    let properties = root.get("properties").and_then(Json::as_object).cloned().unwrap_or_default();
    let properties = properties.iter().chain([(NAME, schema)]).map(|(name, value)| (name, value.clone()));
    let properties = Json::object(properties);
    let members = root.as_object().cloned().unwrap_or_default();
    let members = members.iter().filter(|(name, _)| *name != "properties").map(|(name, value)| (name, value.clone()));
    ToolSchema::new(&Json::object(members.chain([("properties", properties)]))).coerce(NAME, word)
}

/// A tool's `inputSchema`, read once.
#[derive(Debug)]
pub struct ToolSchema {
    root: Json,
    properties: Properties,
    rules: BTreeMap<String, OnceLock<Rule>>,
    documents: OnceLock<Documents>,
}

/// What decides about one property.
#[derive(Debug)]
struct Rule {
    types: Types,
    schemas: SchemaRef,
    nullable: bool,
    /// Compiled when two candidates have allowed types; none where it cannot be compiled.
    validator: OnceLock<Option<Validator>>,
}

/// The whole schema for property validators to refer to.
#[derive(Debug)]
struct Documents {
    root: Arc<Value>,
    /// One, or two where patterns cannot be compiled: read as matching and as not matching.
    readings: Vec<Registry<'static>>,
}

impl ToolSchema {
    /// Reads an `inputSchema`. What is no schema at all allows everything.
    pub fn new(schema: &Json) -> Self {
        let properties = Properties::of(schema);
        let rules = properties.names().iter().map(|name| (name.clone(), OnceLock::new())).collect();
        Self { root: schema.clone(), properties, rules, documents: OnceLock::new() }
    }

    /// The declared properties, in alphabetical order.
    pub fn names(&self) -> &[String] {
        self.properties.names()
    }

    /// True where an argument of this name makes sense, as [`Properties::allows`] has it.
    pub fn allows(&self, name: &str) -> bool {
        self.properties.allows(name)
    }

    /// The declared properties without those named, in alphabetical order: what values alone fill.
    pub fn positional_names_excluding(&self, named: &[&str]) -> Vec<&str> {
        self.names().iter().map(String::as_str).filter(|name| !named.contains(name)).collect()
    }

    /// The subschemas that speak about a property, for showing what it takes.
    pub fn schemas_of(&self, name: &str) -> Vec<Json> {
        let places = self.properties.schema_of(name).unwrap_or_default();
        places.all.iter().chain(&places.any).filter_map(|pointer| pointer.resolve_json(&self.root)).cloned().collect()
    }

    /// The value that is sent for a word: the candidate that the schema accepts, else the one of an allowed type, else what
    /// the word prefers to be.
    pub fn coerce(&self, name: &str, word: Word<'_>) -> Json {
        match self.rules.get(name) {
            Some(rule) => self.choose(rule.get_or_init(|| self.rule(name)), word),
            None => self.choose(&self.rule(name), word),
        }
    }

    fn rule(&self, name: &str) -> Rule {
        let schemas = self.properties.schema_of(name).unwrap_or_default();
        let of = |pointer: &Pointer| pointer.resolve_json(&self.root).map_or(Types::ALL, |s| Types::of(s, &self.root));
        let mut types = schemas.all.iter().map(of).fold(Types::ALL, Types::and);
        if let Some(any) = schemas.any.iter().map(of).reduce(Types::or) {
            types = types.and(any);
        }
        let nullable = schemas
            .all
            .iter()
            .chain(&schemas.any)
            .filter_map(|pointer| pointer.resolve_json(&self.root))
            .any(|schema| schema.get("nullable") == Some(&Json::Bool(true)));
        Rule { types, schemas, nullable, validator: OnceLock::new() }
    }

    fn choose(&self, rule: &Rule, word: Word<'_>) -> Json {
        let mut candidates = word.candidates();
        let first = candidates.first().cloned().unwrap_or_default();
        candidates.retain(|candidate| rule.types.allow(candidate));
        // What has no allowed type is not accepted, so with one candidate left there is nothing to ask the validator.
        if candidates.len() > 1
            && candidates[0] != candidates[1]
            && let Some(validator) = rule.validator.get_or_init(|| self.validator(&rule.schemas))
        {
            let accepted = |value: &Json| (rule.nullable && *value == Json::Null) || validator.is_valid(value);
            if let Some(at) = candidates.iter().position(accepted) {
                return candidates.swap_remove(at);
            }
        }
        candidates.into_iter().next().unwrap_or(first)
    }

    fn validator(&self, schemas: &SchemaRef) -> Option<Validator> {
        if schemas.is_empty() {
            return None;
        }
        let documents = self.documents.get_or_init(|| Documents::of(&self.root));
        let starts = schemas.all.iter().chain(&schemas.any).map(|pointer| pointer.as_str().to_owned()).collect();
        let effort = Effort::of(&documents.root, starts);
        let refer = |pointer: &Pointer| {
            let reference = format!("{ROOT_URI}#{}", fragment(pointer));
            Value::Object([("$ref".to_owned(), Value::String(reference))].into_iter().collect())
        };
        let mut all: Vec<Value> = schemas.all.iter().map(refer).collect();
        if !schemas.any.is_empty() {
            let any = schemas.any.iter().map(refer).collect();
            all.push(Value::Object([("anyOf".to_owned(), any)].into_iter().collect()));
        }
        let dialect = documents.root.get("$schema").map(|dialect| ("$schema".to_owned(), dialect.clone()));
        let schema = dialect.into_iter().chain([("allOf".to_owned(), Value::Array(all))]).collect();
        Validator::referring(&Value::Object(schema), &documents.readings, effort)
    }
}

impl Documents {
    fn of(root: &Json) -> Self {
        let mut root = root.to_serde();
        let mut notes = Vec::new();
        patterns::drop_unknown_dialect(&mut root, &mut notes);
        let readings = match patterns::without_broken(&root, &mut notes) {
            None => vec![root.clone()],
            Some(unjudged) => vec![unjudged.ignoring, unjudged.refusing],
        };
        let registry = |root: Value| Registry::new().add(ROOT_URI, root).and_then(|builder| builder.prepare()).ok();
        Self { root: Arc::new(root), readings: readings.into_iter().filter_map(registry).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::{ToolSchema, Word, coerce, untyped};
    use crate::json::Json;

    fn schema(text: &str) -> ToolSchema {
        ToolSchema::new(&Json::parse(text).expect(text))
    }

    fn sent(property: &str, word: Word<'_>) -> String {
        let root = format!(
            r##"{{"type":"object","properties":{{"v":{property}}},"$defs":{{"pos":{{"type":"integer","minimum":1}},
            "a b":{{"type":["integer","string"],"maximum":9}}}}}}"##
        );
        let by_tool = schema(&root).coerce("v", word).compact();
        let alone = coerce(word, &Json::parse(property).expect(property), &Json::parse(&root).expect("JSON")).compact();
        assert_eq!(by_tool, alone, "{property} {word:?}");
        by_tool
    }

    #[test]
    fn the_candidate_that_the_schema_accepts_wins() {
        for (property, word, expected) in [
            (r#"{"type":"integer"}"#, Word::Bare("5"), "5"),
            (r#"{"type":"integer"}"#, Word::Quoted("5"), "5"),
            (r#"{"type":"integer"}"#, Word::Bare("1.0"), "1.0"),
            (r#"{"type":"string"}"#, Word::Bare("5"), r#""5""#),
            (r#"{"type":"string"}"#, Word::Bare("null"), r#""null""#),
            (r#"{"type":["string","null"]}"#, Word::Bare("null"), "null"),
            (r#"{"type":["string","null"]}"#, Word::Quoted("null"), r#""null""#),
            (r#"{"type":"string","nullable":true}"#, Word::Bare("null"), "null"),
            (r#"{"type":"string","nullable":true}"#, Word::Quoted("null"), r#""null""#),
            ("{}", Word::Bare("true"), "true"),
            ("{}", Word::Quoted("true"), r#""true""#),
            (r#"{"enum":["1",2]}"#, Word::Bare("1"), r#""1""#),
            (r#"{"enum":["1",2]}"#, Word::Quoted("2"), "2"),
            (r#"{"const":7}"#, Word::Quoted("7"), "7"),
            (
                r#"{"enum":[9007199254740993,"9007199254740992"]}"#,
                Word::Bare("9007199254740992"),
                r#""9007199254740992""#,
            ),
            (r#"{"anyOf":[{"type":"array"},{"type":"null"}]}"#, Word::Quoted("[1]"), "[1]"),
            (r#"{"anyOf":[{"type":"integer","maximum":3},{"type":"string"}]}"#, Word::Bare("4"), r#""4""#),
            (r##"{"$ref":"#/$defs/pos"}"##, Word::Quoted("3"), "3"),
            (r##"{"$ref":"#/$defs/a%20b"}"##, Word::Bare("10"), r#""10""#),
            (r##"{"$ref":"#/$defs/a%20b"}"##, Word::Bare("9"), "9"),
            (r#"{"type":["string","number"],"pattern":"^[a-z]+$","minimum":5}"#, Word::Bare("7"), "7"),
            (r#"{"type":["string","number"],"pattern":"(","minimum":5}"#, Word::Bare("4"), r#""4""#),
            (r#"{"type":"array","items":{"type":"string"}}"#, Word::Quoted(r#"["a"]"#), r#"["a"]"#),
            (r#"{"type":["array","string"],"items":{"type":"string"}}"#, Word::Bare("[1]"), r#""[1]""#),
            (r#"{"type":"object"}"#, Word::Quoted(" {\"b\":1,\"a\":1.10} "), r#"{"b":1,"a":1.10}"#),
            (r#"{"type":"integer"}"#, Word::Bare("123456789012345678901234567890"), "123456789012345678901234567890"),
            ("true", Word::Bare("x"), r#""x""#),
            (r##"{"$ref":"#/$defs/none"}"##, Word::Bare("1"), "1"),
        ] {
            assert_eq!(sent(property, word), expected, "{property} {word:?}");
        }
    }

    #[test]
    fn what_is_not_accepted_is_sent_all_the_same() {
        assert_eq!(sent(r#"{"type":"integer","maximum":100}"#, Word::Bare("101")), "101");
        assert_eq!(sent(r#"{"type":"integer"}"#, Word::Quoted("not_a_number")), r#""not_a_number""#);
        assert_eq!(sent(r#"{"type":"integer"}"#, Word::Bare("true")), "true");
        assert_eq!(sent(r#"{"type":"boolean"}"#, Word::Quoted("5")), r#""5""#);
        assert_eq!(sent(r##"{"$ref":"#/$defs/pos"}"##, Word::Bare("0")), "0");
        assert_eq!(sent(r#"{"type":"string","maxLength":1}"#, Word::Bare("12")), r#""12""#);
        assert_eq!(sent("false", Word::Bare("12")), "12");
    }

    #[test]
    fn variables_try_their_own_type_first() {
        let number = Json::parse("5").expect("JSON");
        assert_eq!(sent(r#"{"type":"integer"}"#, Word::Value(&number)), "5");
        assert_eq!(sent(r#"{"type":"string"}"#, Word::Value(&number)), r#""5""#);
        assert_eq!(sent("{}", Word::Value(&number)), "5");
        assert_eq!(sent(r#"{"type":"array"}"#, Word::Value(&number)), "5");
        let text = Json::from("[1]");
        assert_eq!(sent(r#"{"type":"array"}"#, Word::Value(&text)), "[1]");
        assert_eq!(sent("{}", Word::Value(&text)), r#""[1]""#);
    }

    #[test]
    fn properties_in_branches_and_behind_patterns_have_schemas_too() {
        let tool = schema(
            r#"{"properties":{"kind":{"type":"string"}},"oneOf":[{"properties":{"id":{"type":"integer","maximum":5}}},
            {"properties":{"id":{"type":"string","pattern":"^[0-9]{3}$"}}}],"patternProperties":{"^s_":{"type":"string"}},
            "additionalProperties":{"type":"number"}}"#,
        );
        assert_eq!(tool.names(), ["id", "kind"]);
        assert_eq!(tool.coerce("id", Word::Quoted("4")).compact(), "4");
        assert_eq!(tool.coerce("id", Word::Bare("123")).compact(), r#""123""#);
        assert_eq!(tool.coerce("s_x", Word::Bare("1")).compact(), r#""1""#);
        assert_eq!(tool.coerce("more", Word::Quoted("1")).compact(), "1");
        assert_eq!(tool.schemas_of("id").len(), 2);
        assert_eq!(tool.positional_names_excluding(&["id"]), ["kind"]);
        assert_eq!(schema("true").coerce("x", Word::Bare("1")).compact(), "1");
    }

    #[test]
    fn without_a_schema_bare_words_are_json_where_they_parse() {
        assert_eq!(untyped(Word::Bare("1.50")).compact(), "1.50");
        assert_eq!(untyped(Word::Bare("a b")).compact(), r#""a b""#);
        assert_eq!(untyped(Word::Quoted("1")).compact(), r#""1""#);
    }

    #[test]
    fn draft_7_schemas_coerce_by_their_own_draft() {
        let tool = schema(
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"t":{"$ref":"#/definitions/t"}},
            "definitions":{"t":{"type":["array","string"],"items":[{"type":"integer"}]}}}"##,
        );
        assert_eq!(tool.coerce("t", Word::Bare("[1,\"x\"]")).compact(), r#"[1,"x"]"#);
        assert_eq!(tool.coerce("t", Word::Bare("[\"x\"]")).compact(), r#""[\"x\"]""#);
    }
}
