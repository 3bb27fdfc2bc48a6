//! One tool for each kind of input schema; every one returns its arguments untouched.

use serde_json::Value;

use super::tool::Entry;
use super::tools_basic::echo_arguments;
use super::zoo_schemas;

pub(super) fn tools() -> Vec<Entry> {
    let zoo: [(&'static str, &'static str, Value); 10] = [
        ("schema_zoo", "One property of every simple schema; returns its arguments.", zoo_schemas::simple()),
        ("zoo_union", "Properties with anyOf, oneOf, allOf, not and lists of types.", zoo_schemas::union()),
        ("zoo_refs", "Properties that refer to $defs, to each other and to themselves.", zoo_schemas::refs()),
        ("zoo_maps", "Objects with patterned, counted and typed members; nothing else is let in.", zoo_schemas::maps()),
        ("zoo_arrays", "Tuples, bounded and unique lists, lists of lists.", zoo_schemas::arrays()),
        ("zoo_strings", "Lengths, patterns and formats.", zoo_schemas::strings()),
        ("zoo_numbers", "Bounds, steps and very large whole numbers.", zoo_schemas::numbers()),
        ("zoo_names", "Property names that are hard to type.", zoo_schemas::names()),
        ("zoo_required", "Two required properties, one with a default, conditions.", zoo_schemas::required()),
        ("zoo_draft7", "A schema in the older draft 7 dialect.", zoo_schemas::draft7()),
    ];
    zoo.into_iter().map(|(name, about, schema)| Entry::now(name, about, schema, echo_arguments).read_only()).collect()
}
