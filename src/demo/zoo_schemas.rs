//! The input schemas of the zoo, written by hand because a derive cannot express most of them.

use serde_json::{Value, json};

/// Every simple kind of property. None is required and others are refused.
pub(super) fn simple() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "any": {"description": "No type at all."},
            "array": {"type": "array"},
            "boolean": {"type": "boolean"},
            "constant": {"const": "fixed"},
            "constant_number": {"const": 7},
            "enum_integers": {"type": "integer", "enum": [1, 2, 3]},
            "enum_mixed": {"enum": ["auto", "1", 1, true, null]},
            "enum_strings": {"type": "string", "enum": ["low", "medium", "high"]},
            "integer": {"type": "integer"},
            "list_of_integers": {"type": "array", "items": {"type": "integer"}},
            "list_of_objects": {"type": "array", "items": {"type": "object", "required": ["id"],
                "properties": {"id": {"type": "integer"}, "label": {"type": "string"}}}},
            "list_of_strings": {"type": "array", "items": {"type": "string"}},
            "nested": {"type": "object", "required": ["owner"], "properties": {
                "owner": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
                "tags": {"type": "array", "items": {"type": "string"}},
                "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}}},
            "nothing": {"type": "null"},
            "nullable_array": {"type": ["null", "array"], "items": {"type": "string"}},
            "nullable_integer": {"type": ["integer", "null"]},
            "nullable_object": {"type": ["object", "null"]},
            "nullable_string": {"type": ["string", "null"]},
            "number": {"type": "number"},
            "object": {"type": "object"},
            "string": {"type": "string"}
        }
    })
}

/// Schemas made of other schemas.
pub(super) fn union() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "all_of": {"allOf": [{"type": "integer"}, {"minimum": 0}, {"maximum": 100}]},
            "any_of": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "any_of_null": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "many_types": {"type": ["integer", "boolean", "string"]},
            "not_string": {"not": {"type": "string"}},
            "one_of": {"oneOf": [{"type": "boolean"}, {"type": "number"}]},
            "shape": {"oneOf": [
                {"type": "object", "required": ["kind", "radius"], "additionalProperties": false,
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}}},
                {"type": "object", "required": ["kind", "side"], "additionalProperties": false,
                    "properties": {"kind": {"const": "square"}, "side": {"type": "number", "exclusiveMinimum": 0}}}]}
        }
    })
}

/// References within the schema: to `$defs`, to a property, to the root, in a cycle.
pub(super) fn refs() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "$defs": {
            "color": {"type": "string", "enum": ["red", "green", "blue"]},
            "count": {"$ref": "#/$defs/natural"},
            "natural": {"type": "integer", "minimum": 0},
            "node": {"type": "object", "required": ["value"], "additionalProperties": false, "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
            "odd/name": {"type": "boolean"}
        },
        "properties": {
            "again": {"$ref": "#"},
            "color": {"$ref": "#/$defs/color"},
            "colors": {"type": "array", "items": {"$ref": "#/$defs/color"}},
            "count": {"$ref": "#/$defs/count", "maximum": 10, "description": "A reference to a reference."},
            "escaped": {"$ref": "#/$defs/odd~1name"},
            "like_count": {"$ref": "#/properties/count"},
            "tree": {"$ref": "#/$defs/node"}
        }
    })
}

/// Objects whose members have no fixed names.
pub(super) fn maps() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "patternProperties": {"^x_": {"type": "string"}},
        "properties": {
            "closed": {"type": "object", "additionalProperties": false, "properties": {"a": {"type": "integer"}}},
            "counted": {"type": "object", "minProperties": 1, "maxProperties": 2},
            "numbers": {"type": "object", "additionalProperties": {"type": "integer"}},
            "pairs": {"type": "object", "patternProperties": {"^i_": {"type": "integer"}, "^s_": {"type": "string"}},
                "additionalProperties": false},
            "short_names": {"type": "object", "propertyNames": {"maxLength": 3}}
        }
    })
}

/// Lists of all kinds.
pub(super) fn arrays() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "bounded": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
            "containing": {"type": "array", "contains": {"const": "needle"}},
            "of_any_of": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "of_arrays": {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
            "tuple": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
            "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
        }
    })
}

/// Limits on text. Formats are notes for people and generators: the server does not check them.
pub(super) fn strings() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2,4}$", "examples": ["ABC-123"]},
            "date_time": {"type": "string", "format": "date-time"},
            "email": {"type": "string", "format": "email"},
            "empty": {"type": "string", "maxLength": 0},
            "short": {"type": "string", "minLength": 2, "maxLength": 5},
            "uri": {"type": "string", "format": "uri"},
            "with_default": {"type": "string", "default": "standard"}
        }
    })
}

/// Limits on numbers; the large ones do not fit into a floating point number.
pub(super) fn numbers() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "beyond_double": {"type": "integer", "minimum": 9_007_199_254_740_993_u64},
            "huge": {"type": "integer", "description": "As many digits as you like."},
            "negative": {"type": "integer", "maximum": -1},
            "percent": {"type": "number", "minimum": 0, "maximum": 100},
            "port": {"type": "integer", "minimum": 1, "maximum": 65535},
            "positive": {"type": "number", "exclusiveMinimum": 0},
            "step": {"type": "integer", "multipleOf": 5}
        }
    })
}

/// Names that collide with quoting, with `name:value`, with `$name` or with a keyboard.
pub(super) fn names() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "$price": {"type": "number"},
            "Größe": {"type": "integer"},
            "UPPER": {"type": "string"},
            "dash-name": {"type": "string"},
            "dotted.name": {"type": "string"},
            "odd name": {"type": "string"},
            "quo\"te": {"type": "string"},
            "with/slash~tilde": {"type": "string"},
            "with:colon": {"type": "string"}
        }
    })
}

/// Required members and conditions between members.
pub(super) fn required() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "count"],
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "dry_run": {"type": "boolean", "default": true},
            "name": {"type": "string", "minLength": 1},
            "reason": {"type": "string"}
        },
        "if": {"properties": {"dry_run": {"const": false}}, "required": ["dry_run"]},
        "then": {"required": ["reason"]}
    })
}

/// The dialect of 2018: `definitions`, `items` as a list, `dependencies`.
pub(super) fn draft7() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": false,
        "definitions": {"level": {"type": "integer", "minimum": 1, "maximum": 5}},
        "dependencies": {"card": ["address"]},
        "properties": {
            "address": {"type": "string"},
            "card": {"type": "string"},
            "level": {"$ref": "#/definitions/level"},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false}
        }
    })
}
