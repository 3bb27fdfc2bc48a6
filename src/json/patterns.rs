//! What a schema holds that cannot be judged.
//!
//! Owns: taking patterns that do not compile, and dialects nobody knows, out of a schema. May use: nothing of ours outside
//! this folder. Must not: touch values inside `enum`, `const`, `default` or `examples`.

use serde_json::{Map, Value};

use super::schema::compiles;

/// Notes kept per schema.
const MAX_NOTES: usize = 20;

/// Patterns compiled on their own at most, to find the broken ones.
const MAX_PATTERNS: usize = 1000;

/// A pattern that matches no string.
const NOTHING: &str = "[^\\s\\S]";

/// A schema with patterns that cannot be compiled, read in the two ways that decide between them.
pub(super) struct Unjudged {
    /// As if each of these patterns matched.
    pub ignoring: Value,
    /// As if none did.
    pub refusing: Value,
}

/// Takes `$schema` out where it names no published draft.
pub(super) fn drop_unknown_dialect(schema: &mut Value, notes: &mut Vec<String>) {
    let Some(Value::String(dialect)) = schema.get("$schema") else {
        return;
    };
    let plain = dialect.trim_end_matches('#').trim_start_matches("https://").trim_start_matches("http://");
    let known = ["draft/2020-12", "draft/2019-09", "draft-07", "draft-06", "draft-04"];
    if plain
        .strip_prefix("json-schema.org/")
        .and_then(|rest| rest.strip_suffix("/schema"))
        .is_some_and(|draft| known.contains(&draft))
    {
        return;
    }
    note(notes, format!("the dialect `{}` is unknown; the schema was judged as 2020-12", dialect.escape_debug()));
    if let Value::Object(members) = schema {
        members.shift_remove("$schema");
    }
}

/// The two readings of `schema` without its broken patterns; none where every pattern compiles.
pub(super) fn without_broken(schema: &Value, notes: &mut Vec<String>) -> Option<Unjudged> {
    let mut broken = Vec::new();
    let mut left = MAX_PATTERNS;
    find(schema, &mut |pattern| {
        left = left.saturating_sub(1);
        if left > 0 && !broken.iter().any(|known| known == pattern) && !compiles(pattern) {
            broken.push(pattern.to_owned());
        }
    });
    if broken.is_empty() {
        return None;
    }
    for pattern in &broken {
        note(notes, format!("the pattern `{}` cannot be compiled, so it was not judged", pattern.escape_debug()));
    }
    let (mut ignoring, mut refusing) = (schema.clone(), schema.clone());
    let names_too = broken_names(schema, &broken);
    edit(&mut ignoring, &mut |members| {
        if is_broken(members.get("pattern"), &broken) {
            members.shift_remove("pattern");
        }
        let named = remove_names(members, &broken);
        if named {
            members.shift_remove("additionalProperties");
        }
        if names_too {
            members.shift_remove("unevaluatedProperties");
        }
    });
    edit(&mut refusing, &mut |members| {
        if is_broken(members.get("pattern"), &broken) {
            members.insert("pattern".to_owned(), NOTHING.into());
        }
        remove_names(members, &broken);
    });
    Some(Unjudged { ignoring, refusing })
}

fn note(notes: &mut Vec<String>, mut text: String) {
    if notes.len() < MAX_NOTES {
        if let Some((end, _)) = text.char_indices().nth(300) {
            text.truncate(end);
            text.push('…');
        }
        notes.push(text);
    }
}

fn is_broken(pattern: Option<&Value>, broken: &[String]) -> bool {
    matches!(pattern, Some(Value::String(pattern)) if broken.contains(pattern))
}

/// Removes the broken patterns from `patternProperties`; true where there were any.
fn remove_names(members: &mut Map<String, Value>, broken: &[String]) -> bool {
    let Some(Value::Object(names)) = members.get_mut("patternProperties") else {
        return false;
    };
    let before = names.len();
    names.retain(|pattern, _| !broken.contains(pattern));
    names.len() < before
}

fn broken_names(schema: &Value, broken: &[String]) -> bool {
    let mut found = false;
    visit(schema, &mut |members| {
        if let Some(Value::Object(names)) = members.get("patternProperties") {
            found |= names.keys().any(|pattern| broken.contains(pattern));
        }
    });
    found
}

fn find(schema: &Value, each: &mut dyn FnMut(&str)) {
    visit(schema, &mut |members| {
        if let Some(Value::String(pattern)) = members.get("pattern") {
            each(pattern);
        }
        if let Some(Value::Object(names)) = members.get("patternProperties") {
            names.keys().for_each(|pattern| each(pattern));
        }
    });
}

/// Keywords whose values are data, not schemas.
fn is_data(keyword: &str) -> bool {
    matches!(keyword, "enum" | "const" | "default" | "examples" | "example")
}

/// Keywords whose values are maps from names to schemas, so that their names are no keywords.
fn is_map(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies"
    )
}

fn visit(schema: &Value, each: &mut dyn FnMut(&Map<String, Value>)) {
    match schema {
        Value::Array(parts) => parts.iter().for_each(|part| visit(part, each)),
        Value::Object(members) => {
            each(members);
            for (keyword, part) in members.iter().filter(|(keyword, _)| !is_data(keyword)) {
                match part {
                    Value::Object(named) if is_map(keyword) => named.values().for_each(|part| visit(part, each)),
                    part => visit(part, each),
                }
            }
        }
        _ => {}
    }
}

fn edit(schema: &mut Value, each: &mut dyn FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(|part| edit(part, each)),
        Value::Object(members) => {
            each(members);
            for (keyword, part) in members.iter_mut().filter(|(keyword, _)| !is_data(keyword)) {
                match part {
                    Value::Object(named) if is_map(keyword) => named.values_mut().for_each(|part| edit(part, each)),
                    part => edit(part, each),
                }
            }
        }
        _ => {}
    }
}
