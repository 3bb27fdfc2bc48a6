//! Paths as scripts write them.
//!
//! Owns: telling `rawResponse`, pointers, dot paths, `$` paths and JSONPath apart, and following them. May use: nothing of ours
//! outside this folder. Must not: build a tree larger than the part a JSONPath query needs.

use serde_json_path::JsonPath;
use thiserror::Error;

use super::missing::Missing;
use super::pointer::{Pointer, array_index};
use super::raw::Raw;
use super::value::{Json, JsonKind};

/// The name of the path to the whole result as sent.
const RAW_RESPONSE: &str = "rawResponse";

/// A path, decided once and followed often.
#[derive(Clone, Debug)]
pub struct Path {
    text: String,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// `rawResponse`, perhaps with a dot path behind it.
    RawResponse(Option<String>),
    Pointer(Pointer),
    Dotted(String),
    /// `$` or `$.a.b`: the text behind `$.`.
    Dollar(Option<String>),
    Query(Query),
}

/// A JSONPath query, cut into a dot path that needs no tree and the rest.
#[derive(Clone, Debug)]
struct Query {
    /// Began with `$`, so structuredContent comes first.
    dollar: bool,
    prefix: Option<String>,
    rest: JsonPath,
    rest_text: String,
    /// The same text read as a dot path, for names that hold brackets.
    literal: Option<String>,
}

/// Why a text is no path.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct PathError {
    /// What is wrong.
    pub message: String,
    /// Byte offset in the path near which it is wrong.
    pub offset: usize,
}

/// Where a path starts.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a> {
    /// The value a command stored, where it stores one.
    pub stored: Option<&'a Raw>,
    /// The result as sent, or the error object.
    pub result: &'a Raw,
}

impl<'a> Root<'a> {
    /// A root without a stored value.
    pub const fn of(result: &'a Raw) -> Self {
        Self { stored: None, result }
    }

    fn start(&self) -> &'a Raw {
        self.stored.unwrap_or(self.result)
    }
}

/// What a path led to: a part of the text, or a value that a query put together.
enum Found {
    Part(Raw),
    Made(Json),
}

impl Path {
    /// Decides which form `text` has: `rawResponse`, a JSON Pointer when it starts with `/`, JSONPath when it has brackets or
    /// filters, else a dot path, with `$` for structuredContent before the root. Errors where that form is broken.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Ok(Self { text: text.to_owned(), form: form(text)? })
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Follows the path. `null` is a value; errors where nothing is there.
    pub fn resolve(&self, root: &Root<'_>) -> Result<Json, Missing> {
        Ok(match self.find(root)? {
            Found::Part(part) => part.to_json(),
            Found::Made(value) => value,
        })
    }

    /// Follows the path without building a tree where the path leads to one part of the text. Errors as [`Path::resolve`] does.
    pub fn resolve_raw(&self, root: &Root<'_>) -> Result<Raw, Missing> {
        Ok(match self.find(root)? {
            Found::Part(part) => part,
            Found::Made(value) => value.into(),
        })
    }

    fn find(&self, root: &Root<'_>) -> Result<Found, Missing> {
        let part = match &self.form {
            Form::RawResponse(None) => Ok(root.result.clone()),
            Form::RawResponse(Some(rest)) => match dotted(root.start(), &self.text) {
                Ok(literal) => Ok(literal),
                Err(_) => dotted(root.result, rest).map_err(|missing| missing.behind(RAW_RESPONSE)),
            },
            Form::Pointer(pointer) => follow(root.start(), pointer),
            Form::Dotted(path) => dotted(root.start(), path),
            Form::Dollar(path) => {
                return twice(root, |start| match path {
                    None => Ok(Found::Part(start.clone())),
                    Some(path) => dotted(start, path).map(Found::Part),
                });
            }
            Form::Query(query) if query.dollar => return twice(root, |start| query.run(start)),
            Form::Query(query) => return query.run(root.start()),
        };
        part.map(Found::Part)
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn form(text: &str) -> Result<Form, PathError> {
    if text.is_empty() {
        return Err(PathError { message: "a path may not be empty; `$` is everything".to_owned(), offset: 0 });
    }
    if text.starts_with('/') {
        return Pointer::parse(text)
            .map(Form::Pointer)
            .map_err(|error| PathError { message: error.message.to_owned(), offset: error.offset });
    }
    if let Some(rest) = text.strip_prefix(RAW_RESPONSE) {
        match rest.strip_prefix('.') {
            None if rest.is_empty() => return Ok(Form::RawResponse(None)),
            Some(rest) if !rest.contains('[') => return Ok(Form::RawResponse(Some(rest.to_owned()))),
            _ => {}
        }
    }
    let Some(rest) = text.strip_prefix('$') else {
        if !text.contains('[') {
            return Ok(Form::Dotted(text.to_owned()));
        }
        let dot = if text.starts_with('[') { "" } else { "." };
        return query(&format!("{dot}{text}"), false, dot.len() + 1, Some(text.to_owned()));
    };
    if rest.is_empty() {
        return Ok(Form::Dollar(None));
    }
    if rest.contains('[') || rest.starts_with("..") || rest.split('.').any(|name| name == "*") {
        return query(rest, true, 0, None);
    }
    match rest.strip_prefix('.') {
        Some(path) if !path.is_empty() => Ok(Form::Dollar(Some(path.to_owned()))),
        _ => Err(PathError { message: "after `$` comes `.name` or `[`".to_owned(), offset: 1 }),
    }
}

/// Compiles the query whose text is `$` and `rest`; `added` bytes of that were not written by the script's author.
fn query(rest: &str, dollar: bool, added: usize, literal: Option<String>) -> Result<Form, PathError> {
    // A filter that refers to the root needs the whole value.
    let cut = if rest.contains('$') { 0 } else { prefix_end(rest) };
    let prefix = rest[..cut].strip_prefix('.').filter(|prefix| !prefix.is_empty()).map(str::to_owned);
    let cut = if prefix.is_some() { cut } else { 0 };
    let compile = |rest: &str| JsonPath::parse(&format!("${rest}"));
    let compiled = compile(&rest[cut..]).map_err(|error| PathError {
        message: "this is no JSONPath (RFC 9535)".to_owned(),
        offset: (error.position().saturating_sub(1) + cut).saturating_sub(added),
    })?;
    Ok(Form::Query(Query { dollar, prefix, rest: compiled, rest_text: rest[cut..].to_owned(), literal }))
}

/// Length of the part of a query that is plain names with dots.
fn prefix_end(rest: &str) -> usize {
    let special = rest.find('[').unwrap_or(rest.len());
    let deep = rest.find("..").unwrap_or(rest.len());
    let any = rest.find(".*").unwrap_or(rest.len());
    special.min(deep).min(any)
}

impl Query {
    fn run(&self, start: &Raw) -> Result<Found, Missing> {
        if let Some(Ok(part)) = self.literal.as_deref().map(|path| dotted(start, path)) {
            return Ok(Found::Part(part));
        }
        let part = match &self.prefix {
            Some(path) => dotted(start, path)?,
            None => start.clone(),
        };
        let value = part.to_json().to_serde();
        let nodes = self.rest.query(&value).all();
        match nodes.as_slice() {
            [] => Err(Missing::new(self.prefix.as_deref().unwrap_or_default(), &part, &self.rest_text)),
            [one] => Ok(Found::Made(Json::from_serde(one))),
            several => Ok(Found::Made(several.iter().map(|node| Json::from_serde(node)).collect())),
        }
    }
}

/// Tries structuredContent, then the root; of two failures the one that got further.
fn twice(root: &Root<'_>, find: impl Fn(&Raw) -> Result<Found, Missing>) -> Result<Found, Missing> {
    const STRUCTURED: &str = "structuredContent";
    let Some(structured) = root.result.get(STRUCTURED).filter(|content| !content.is_null()) else {
        return find(root.start());
    };
    find(&structured).or_else(|first| {
        find(root.start())
            .map_err(|second| if second.depth() > first.depth() { second } else { first.behind(STRUCTURED) })
    })
}

fn follow(start: &Raw, pointer: &Pointer) -> Result<Raw, Missing> {
    let mut reached = Pointer::root();
    let mut value = start.clone();
    for token in pointer.tokens() {
        value = step(&value, &token).ok_or_else(|| Missing::new(reached.as_str(), &value, &token))?;
        reached.push(&token);
    }
    Ok(value)
}

fn step(value: &Raw, name: &str) -> Option<Raw> {
    match value.kind() {
        JsonKind::Object => value.get(name),
        JsonKind::Array => value.at(array_index(name)?),
        _ => None,
    }
}

/// Follows names with dots between them; where that leads nowhere, names that hold dots themselves are tried.
fn dotted(start: &Raw, path: &str) -> Result<Raw, Missing> {
    let mut furthest: Option<(usize, Missing)> = None;
    if let Some(found) = dotted_from(start, path, 0, &mut furthest) {
        return Ok(found);
    }
    Err(furthest.map_or_else(|| Missing::new("", start, path), |(_, missing)| missing))
}

fn dotted_from(value: &Raw, path: &str, at: usize, furthest: &mut Option<(usize, Missing)>) -> Option<Raw> {
    let rest = &path[at..];
    for end in rest.match_indices('.').map(|(dot, _)| dot).chain([rest.len()]) {
        let Some(part) = step(value, &rest[..end]) else {
            continue;
        };
        if end == rest.len() {
            return Some(part);
        }
        if let Some(found) = dotted_from(&part, path, at + end + 1, furthest) {
            return Some(found);
        }
    }
    if furthest.as_ref().is_none_or(|(best, _)| *best < at) {
        let wanted = rest.split('.').next().unwrap_or(rest);
        *furthest = Some((at, Missing::new(path[..at].trim_end_matches('.'), value, wanted)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Path, Root};
    use crate::json::Raw;

    const RESULT: &str = r#"{"content":[{"type":"text","text":"hi"}],"isError":false,"_meta":{"io.x/y.z":{"n":1}},
        "structuredContent":{"id":9007199254740993,"a.b":{"c":1},"a":{"b":{"d":2}},"items":[
            {"id":1.10,"ok":true},{"id":2,"ok":false},{"id":3,"ok":true}],"none":null,"x[0]":7,"content":"mine"}}"#;

    fn find(path: &str) -> String {
        let result = Raw::parse(RESULT).expect("JSON");
        match Path::parse(path).expect(path).resolve(&Root::of(&result)) {
            Ok(value) => value.compact(),
            Err(missing) => format!("! {missing}"),
        }
    }

    #[test]
    fn every_form_of_path_finds_its_value() {
        for (path, expected) in [
            ("rawResponse.isError", "false"),
            ("content.0.text", r#""hi""#),
            ("structuredContent.items.2.id", "3"),
            ("/structuredContent/items/0/id", "1.10"),
            ("/_meta/io.x~1y.z/n", "1"),
            ("_meta.io.x/y.z.n", "1"),
            ("$.id", "9007199254740993"),
            ("$.content", r#""mine""#),
            ("$.isError", "false"),
            ("$.none", "null"),
            ("$.a.b.c", "1"),
            ("$.a.b.d", "2"),
            ("$.items[?@.ok == true].id", "[1.10,3]"),
            ("$.items[?@.ok].id", "[1.10,2,3]"),
            ("$.items[1].id", "2"),
            ("$.items[?@.id==$.items[1].id].ok", "false"),
            ("$.items.0['id']", "1.10"),
            ("$..text", r#""hi""#),
            ("$.items.*.ok", "[true,false,true]"),
            ("content[0].type", r#""text""#),
            ("structuredContent.items[?@.id > 1.5].id", "[2,3]"),
            ("structuredContent.x[0]", "7"),
            ("['isError']", "false"),
        ] {
            assert_eq!(find(path), expected, "{path}");
        }
        let whole = Raw::parse(RESULT).expect("JSON");
        let path = Path::parse("rawResponse").expect("path");
        assert_eq!(path.resolve_raw(&Root::of(&whole)).expect("there").as_str(), RESULT);
    }

    #[test]
    fn a_stored_value_comes_before_the_result_but_after_structured_content() {
        let (stored, result) = (Raw::parse(r#"{"total":2}"#), Raw::parse(r#"{"completion":{"values":[]}}"#));
        let (stored, result) = (stored.expect("JSON"), result.expect("JSON"));
        let root = Root { stored: Some(&stored), result: &result };
        let find = |path: &str| Path::parse(path).expect(path).resolve(&root).map(|value| value.compact());
        assert_eq!(find("total").as_deref(), Ok("2"));
        assert_eq!(find("$.total").as_deref(), Ok("2"));
        assert_eq!(find("/total").as_deref(), Ok("2"));
        assert_eq!(find("$").as_deref(), Ok(r#"{"total":2}"#));
        assert_eq!(find("rawResponse.completion.values").as_deref(), Ok("[]"));
        assert!(find("completion").is_err());
    }

    #[test]
    fn a_missing_path_says_how_far_it_got() {
        for (path, part) in [
            ("structuredContent.itms", "`structuredContent` has no `itms`; did you mean `items`?"),
            ("structuredContent.items.3", "`structuredContent.items` is an array of 3"),
            ("structuredContent.id.x", "`structuredContent.id` is a number"),
            ("$.nope", "`structuredContent` has no `nope`"),
            ("$.content.0.txt", "`content.0` has no `txt`; did you mean `text`?"),
            ("/content/0/txt", "`/content/0` has no `txt`"),
            (
                "$.items[?@.id > 9]",
                "`structuredContent.items` is an array of 3, and nothing in it matches `[?@.id > 9]`",
            ),
            ("Content", "no `Content`; did you mean `content`?"),
            ("_meta.io.x", "`_meta` has no `io`"),
        ] {
            assert!(find(path).contains(part), "{path}: {}", find(path));
        }
    }

    #[test]
    fn broken_paths_name_the_place() {
        for (path, offset) in [("", 0), ("$x", 1), ("$.", 1), ("/a~", 2), ("$.a[?", 4), ("a[", 0)] {
            let error = Path::parse(path).expect_err(path);
            assert_eq!(error.offset, offset, "{path}: {error}");
        }
    }
}
