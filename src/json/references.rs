//! Local references in schemas.
//!
//! Owns: following `$ref` inside one document. May use: nothing of ours outside this folder.
//! Must not: guess where a reference to another document leads.

use super::pointer::Pointer;
use super::value::Json;

/// Values looked at while searching for an anchor.
const MAX_SEARCHED: usize = 20_000;

/// The pointer that a reference means, where it stays inside `root`: `#`, `#/pointer`, `#anchor`, also behind the root's own `$id`.
pub(super) fn target(root: &Json, reference: &str) -> Option<Pointer> {
    let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    if !base.is_empty() && root.get("$id").and_then(Json::as_str).map(|id| id.trim_end_matches('#')) != Some(base) {
        return None;
    }
    let fragment = percent_decoded(fragment)?;
    let pointer = match fragment.is_empty() || fragment.starts_with('/') {
        true => Pointer::parse(&fragment).ok()?,
        false => anchor(root, &fragment)?,
    };
    pointer.resolve_json(root).map(|_| pointer)
}

/// The place of the subschema that calls itself `name`.
fn anchor(root: &Json, name: &str) -> Option<Pointer> {
    let mut open = vec![(Pointer::root(), root)];
    let mut searched = 0;
    while let Some((pointer, value)) = open.pop() {
        searched += 1;
        if searched > MAX_SEARCHED {
            return None;
        }
        let named = |keyword: &str| value.get(keyword).and_then(Json::as_str) == Some(name);
        if named("$anchor") || named("$dynamicAnchor") {
            return Some(pointer);
        }
        match value {
            Json::Object(members) => open.extend(members.iter().map(|(name, part)| {
                let mut pointer = pointer.clone();
                pointer.push(name);
                (pointer, part)
            })),
            Json::Array(elements) => open.extend(elements.iter().enumerate().map(|(index, part)| {
                let mut pointer = pointer.clone();
                pointer.push_index(index);
                (pointer, part)
            })),
            _ => {}
        }
    }
    None
}

/// The text of a URI fragment; none where an escape is broken.
fn percent_decoded(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.first_chunk::<2>()?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        bytes.push((digit(0)? * 16 + digit(1)?) as u8);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// A pointer as a URI fragment, without the `#`.
pub(super) fn fragment(pointer: &Pointer) -> String {
    let mut out = String::with_capacity(pointer.as_str().len());
    for byte in pointer.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{fragment, target};
    use crate::json::{Json, Pointer};

    #[test]
    fn references_stay_in_the_document() {
        let root = Json::parse(r##"{"$id":"https://x.y/z","$defs":{"a b/ü%":{"$anchor":"here"}},"type":"object"}"##)
            .expect("JSON");
        let found = |reference: &str| target(&root, reference).map(|pointer| pointer.to_string());
        assert_eq!(found("#").as_deref(), Some(""));
        assert_eq!(found("#/type").as_deref(), Some("/type"));
        assert_eq!(found("#/$defs/a%20b~1%C3%BC%25").as_deref(), Some("/$defs/a b~1ü%"));
        assert_eq!(found("#here").as_deref(), Some("/$defs/a b~1ü%"));
        assert_eq!(found("https://x.y/z#/type").as_deref(), Some("/type"));
        for nowhere in ["#/no", "#no", "https://x.y/other", "other.json#/type", "#/%", "#/%zz", "#/%ff"] {
            assert_eq!(found(nowhere), None, "{nowhere}");
        }
        let odd = Pointer::parse("/$defs/a b~1ü%").expect("pointer");
        assert_eq!(target(&root, &format!("#{}", fragment(&odd))), Some(odd));
    }
}
