//! How much work a schema makes of a value.
//!
//! Owns: telling harmless schemas from those that branch and refer to themselves, and counting what such a schema would do.
//! May use: nothing of ours outside this folder. Must not: count further than its limit, or recurse deeper than values nest.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

/// Subschemas in a schema with all references written out, up to which it is harmless.
const HARMLESS: usize = 20_000;

/// Steps of one check at most, besides those for each part of the value: less than a second.
const MAX_STEPS: usize = 200_000;

/// Steps for each part of the value, which any schema may take.
const STEPS_PER_PART: usize = 32;

/// Nesting of subschemas followed at most.
const MAX_DEPTH: usize = 1_000;

/// Keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords that apply one schema to the same value.
const SAME_ONE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords that apply a list or map of schemas to the same value.
const SAME_MANY: [&str; 5] = ["allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"];

/// Keywords that apply one schema, or a list of them, to every member or element.
const EACH: [&str; 7] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];

/// Keywords that apply some of their schemas to each member or element.
const SOME: [&str; 3] = ["properties", "patternProperties", "prefixItems"];

/// A schema whose checks have to be counted before they are made.
#[derive(Debug)]
pub(super) struct Effort {
    root: Arc<Value>,
    /// Pointers to the subschemas that are checked.
    starts: Vec<String>,
}

impl Effort {
    /// Looks at the subschemas of `root` at `starts`; none where no value can make them expensive.
    pub(super) fn of(root: &Arc<Value>, starts: Vec<String>) -> Option<Self> {
        let targets = Targets::of(root);
        let mut unfolded = Unfolded { targets: &targets, sizes: HashMap::new() };
        let total = starts
            .iter()
            .filter_map(|start| root.pointer(start))
            .try_fold(0usize, |total, schema| Some(total.saturating_add(unfolded.size(schema, 0)?)));
        match total {
            Some(total) if total <= HARMLESS => None,
            _ => Some(Self { root: root.clone(), starts }),
        }
    }

    /// True where checking `value` takes more steps than anyone should wait for.
    pub(super) fn is_too_much(&self, value: &Value) -> bool {
        let targets = Targets::of(&self.root);
        let mut count = Count { targets: &targets, left: MAX_STEPS + STEPS_PER_PART * parts(value) };
        for schema in self.starts.iter().filter_map(|start| self.root.pointer(start)) {
            count.visit(schema, value, 0);
        }
        count.left == 0
    }
}

/// Number of values in `value`, itself included.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(elements) => elements.iter().map(parts).sum::<usize>() + 1,
        Value::Object(members) => members.values().map(parts).sum::<usize>() + 1,
        _ => 1,
    }
}

/// Where references lead.
struct Targets<'a> {
    root: &'a Value,
    /// Subschemas by `$id`, `$anchor` and `$dynamicAnchor`.
    named: HashMap<&'a str, &'a Value>,
}

impl<'a> Targets<'a> {
    fn of(root: &'a Value) -> Self {
        let mut named = HashMap::new();
        let mut open = vec![root];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(parts) => open.extend(parts),
                Value::Object(members) => {
                    for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(name)) = members.get(keyword) {
                            named.insert(name.as_str(), value);
                        }
                    }
                    open.extend(members.values());
                }
                _ => {}
            }
        }
        Self { root, named }
    }

    /// The subschema a reference means; the root where that is not clear, so that the count errs on the high side.
    fn follow(&self, reference: &str) -> &'a Value {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let start = self.named.get(base).copied().unwrap_or(self.root);
        if fragment.is_empty() {
            return start;
        }
        let found = match fragment.starts_with('/') {
            true => start.pointer(fragment),
            false => self.named.get(fragment).copied(),
        };
        found.unwrap_or(self.root)
    }

    fn references(&self, members: &'a Map<String, Value>) -> impl Iterator<Item = &'a Value> {
        REFERENCES
            .into_iter()
            .filter_map(|keyword| members.get(keyword)?.as_str())
            .map(|reference| self.follow(reference))
    }
}

/// The schemas in a keyword's value: itself, its elements, or its members' values.
fn schemas(value: &Value, many: bool) -> Vec<&Value> {
    match value {
        Value::Array(parts) => parts.iter().collect(),
        Value::Object(named) if many => named.values().collect(),
        one => vec![one],
    }
}

/// Counts subschemas with references written out.
struct Unfolded<'t, 'a> {
    targets: &'t Targets<'a>,
    /// By address; none for those being counted.
    sizes: HashMap<usize, Option<usize>>,
}

impl<'a> Unfolded<'_, 'a> {
    /// None where the schema refers to itself or is nested too deep.
    fn size(&mut self, schema: &'a Value, depth: usize) -> Option<usize> {
        let Value::Object(members) = schema else {
            return Some(1);
        };
        if depth > MAX_DEPTH {
            return None;
        }
        let key = std::ptr::from_ref(schema) as usize;
        if let Some(known) = self.sizes.get(&key) {
            return *known;
        }
        self.sizes.insert(key, None);
        let parts: Vec<&Value> = members
            .iter()
            .flat_map(|(keyword, value)| {
                let keyword = keyword.as_str();
                let many = SAME_MANY.contains(&keyword) || SOME.contains(&keyword);
                let one = SAME_ONE.contains(&keyword) || EACH.contains(&keyword);
                if many || one { schemas(value, many) } else { Vec::new() }
            })
            .chain(self.targets.references(members))
            .collect();
        let mut size = 1usize;
        for part in parts {
            size = size.saturating_add(self.size(part, depth + 1)?);
        }
        self.sizes.insert(key, Some(size));
        Some(size)
    }
}

/// Walks schema and value together as a validator would, without judging.
struct Count<'t, 'a> {
    targets: &'t Targets<'a>,
    left: usize,
}

impl<'a> Count<'_, 'a> {
    fn visit(&mut self, schema: &'a Value, value: &Value, depth: usize) {
        self.left = self.left.saturating_sub(1);
        let Value::Object(members) = schema else {
            return;
        };
        if self.left == 0 || depth > MAX_DEPTH {
            return;
        }
        // Finding out what is unevaluated looks at the same subschemas once more.
        let rounds =
            1 + usize::from(members.contains_key("unevaluatedProperties") || members.contains_key("unevaluatedItems"));
        for _ in 0..rounds {
            for (keyword, part) in members {
                let keyword = keyword.as_str();
                if REFERENCES.contains(&keyword) {
                    if let Value::String(reference) = part {
                        self.visit(self.targets.follow(reference), value, depth + 1);
                    }
                } else if SAME_ONE.contains(&keyword) {
                    self.visit(part, value, depth + 1);
                } else if SAME_MANY.contains(&keyword) {
                    for schema in schemas(part, true) {
                        self.visit(schema, value, depth + 1);
                    }
                }
            }
        }
        match value {
            Value::Object(parts) => self.visit_members(members, parts, depth + 1),
            Value::Array(parts) => self.visit_elements(members, parts, depth + 1),
            _ => {}
        }
    }

    fn visit_members(&mut self, schema: &'a Map<String, Value>, members: &Map<String, Value>, depth: usize) {
        for (name, value) in members {
            if let Some(part) = schema.get("properties").and_then(|properties| properties.get(name)) {
                self.visit(part, value, depth);
            }
            for part in schema.get("patternProperties").map(|named| schemas(named, true)).unwrap_or_default() {
                self.visit(part, value, depth);
            }
            for keyword in ["additionalProperties", "unevaluatedProperties", "propertyNames"] {
                if let Some(part) = schema.get(keyword) {
                    self.visit(part, value, depth);
                }
            }
        }
    }

    fn visit_elements(&mut self, schema: &'a Map<String, Value>, elements: &[Value], depth: usize) {
        for (index, value) in elements.iter().enumerate() {
            for keyword in ["prefixItems", "items"] {
                if let Some(part) = schema.get(keyword).and_then(Value::as_array).and_then(|parts| parts.get(index)) {
                    self.visit(part, value, depth);
                }
            }
            for keyword in ["items", "additionalItems", "unevaluatedItems", "contains"] {
                if let Some(part) = schema.get(keyword).filter(|part| part.is_object()) {
                    self.visit(part, value, depth);
                }
            }
        }
    }
}
