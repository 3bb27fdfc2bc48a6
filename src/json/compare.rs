//! Comparing values.
//!
//! Owns: equality by value, inclusion, and saying where two values differ first. May use: nothing of ours outside this folder.
//! Must not: compare numbers as text or as `f64`, or search longer than its budget on hostile values.

use std::collections::HashMap;
use std::fmt;

use super::matching::assign;
use super::pointer::Pointer;
use super::value::{Json, JsonKind, Object};

/// How [`includes`] treats arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrays {
    /// Same length, same order; each element includes its counterpart.
    Ordered,
    /// Each expected element has an actual element of its own that includes it, in any order; more may be there.
    Unordered,
}

/// The first place where two values differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where, in the actual value; for something missing, where it would be.
    pub pointer: Pointer,
    /// What was expected there, where anything was.
    pub expected: Option<Json>,
    /// What is there, where anything is.
    pub actual: Option<Json>,
    /// In which way they differ.
    pub reason: Reason,
    /// Where no array element matches: how the likeliest one differs.
    pub nearest: Option<Box<Difference>>,
}

/// The ways in which two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Same type, other value.
    Value,
    /// Another type.
    Kind(JsonKind, JsonKind),
    /// Expected, but not there.
    Missing,
    /// There, but not expected.
    Unexpected,
    /// The array is shorter than expected: expected and actual length.
    TooShort(usize, usize),
    /// No element of the array is left that includes the expected one.
    NoElement,
    /// The arrays are too large to decide without order.
    Undecided,
}

/// Compares two values: numbers by value, objects without order, arrays with it. The error is the first difference.
pub fn equal(expected: &Json, actual: &Json) -> Result<(), Difference> {
    Comparison { mode: Mode::Equal, budget: u64::MAX }.run(expected, actual)
}

/// Checks that `actual` holds at least `expected`: objects may have more members, arrays as `arrays` says, anything else is equal.
///
/// The error is the first difference. [`Arrays::Unordered`] finds a one-to-one assignment where one exists.
pub fn includes(expected: &Json, actual: &Json, arrays: Arrays) -> Result<(), Difference> {
    let mode = match arrays {
        Arrays::Ordered => Mode::Ordered,
        Arrays::Unordered => Mode::Unordered,
    };
    Comparison { mode, budget: BUDGET }.run(expected, actual)
}

/// Values compared at most while assigning array elements: about half a second.
const BUDGET: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Equal,
    Ordered,
    Unordered,
}

/// One comparison under way.
pub(super) struct Comparison {
    mode: Mode,
    budget: u64,
}

impl Comparison {
    fn run(mut self, expected: &Json, actual: &Json) -> Result<(), Difference> {
        self.compare(expected, actual, &mut Pointer::root())
    }

    /// True while values may be compared; uses the budget up by `cost`.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        self.budget = self.budget.saturating_sub(cost as u64);
        self.budget > 0
    }

    /// Compares without saying where: cheap enough to try many pairs.
    pub(super) fn matches(&mut self, expected: &Json, actual: &Json) -> bool {
        if !self.spend(1) {
            return false;
        }
        match (expected, actual) {
            (Json::Array(expected), Json::Array(actual)) => match self.mode {
                Mode::Unordered => {
                    self.spend(4 + expected.len() + actual.len()) && assign(self, expected, actual).is_ok()
                }
                _ => expected.len() == actual.len() && expected.iter().zip(&**actual).all(|(e, a)| self.matches(e, a)),
            },
            (Json::Object(expected), Json::Object(actual)) => {
                let (expected, actual) = (Members::of(expected), Members::of(actual));
                (self.mode != Mode::Equal || expected.len() == actual.len())
                    && expected
                        .iter()
                        .all(|(name, value)| actual.get(name).is_some_and(|other| self.matches(value, other)))
            }
            _ => same_scalar(expected, actual),
        }
    }

    fn compare(&mut self, expected: &Json, actual: &Json, at: &mut Pointer) -> Result<(), Difference> {
        match (expected, actual) {
            (Json::Array(expected), Json::Array(actual)) if self.mode == Mode::Unordered => {
                self.compare_unordered(expected, actual, at)
            }
            (Json::Array(expected), Json::Array(actual)) => self.compare_ordered(expected, actual, at),
            (Json::Object(expected), Json::Object(actual)) => self.compare_objects(expected, actual, at),
            _ if same_scalar(expected, actual) => Ok(()),
            _ => {
                let (wanted, found) = (expected.kind(), actual.kind());
                let reason = if wanted == found { Reason::Value } else { Reason::Kind(wanted, found) };
                Err(difference(at, Some(expected), Some(actual), reason))
            }
        }
    }

    fn compare_ordered(&mut self, expected: &[Json], actual: &[Json], at: &mut Pointer) -> Result<(), Difference> {
        for index in 0..expected.len().max(actual.len()) {
            at.push_index(index);
            match (expected.get(index), actual.get(index)) {
                (Some(expected), Some(actual)) => self.compare(expected, actual, at)?,
                (expected, None) => return Err(difference(at, expected, None, Reason::Missing)),
                (None, actual) => return Err(difference(at, None, actual, Reason::Unexpected)),
            }
            at.pop();
        }
        Ok(())
    }

    fn compare_unordered(&mut self, expected: &[Json], actual: &[Json], at: &mut Pointer) -> Result<(), Difference> {
        let Err(unmatched) = assign(self, expected, actual) else {
            return Ok(());
        };
        let wanted = expected.get(unmatched.expected);
        if self.budget == 0 {
            return Err(difference(at, wanted, None, Reason::Undecided));
        }
        if expected.len() > actual.len() {
            return Err(difference(at, wanted, None, Reason::TooShort(expected.len(), actual.len())));
        }
        let nearest = wanted.zip(unmatched.nearest).and_then(|(wanted, index)| {
            let mut at = at.clone();
            at.push_index(index);
            self.compare(wanted, actual.get(index)?, &mut at).err().map(Box::new)
        });
        Err(Difference { nearest, ..difference(at, wanted, None, Reason::NoElement) })
    }

    fn compare_objects(&mut self, expected: &Object, actual: &Object, at: &mut Pointer) -> Result<(), Difference> {
        let (expected, actual) = (Members::of(expected), Members::of(actual));
        for (name, value) in expected.iter() {
            at.push(name);
            match actual.get(name) {
                Some(other) => self.compare(value, other, at)?,
                None => return Err(difference(at, Some(value), None, Reason::Missing)),
            }
            at.pop();
        }
        if self.mode == Mode::Equal
            && let Some((name, value)) = actual.iter().find(|(name, _)| expected.get(name).is_none())
        {
            at.push(name);
            return Err(difference(at, None, Some(value), Reason::Unexpected));
        }
        Ok(())
    }
}

/// True for two equal values that are neither arrays nor objects.
fn same_scalar(one: &Json, two: &Json) -> bool {
    match (one, two) {
        (Json::Number(one), Json::Number(two)) => one.same_value(two),
        (Json::Array(_) | Json::Object(_), _) => false,
        _ => one == two,
    }
}

fn difference(at: &Pointer, expected: Option<&Json>, actual: Option<&Json>, reason: Reason) -> Difference {
    Difference { pointer: at.clone(), expected: expected.cloned(), actual: actual.cloned(), reason, nearest: None }
}

/// The members that count: of duplicates the last, at the place of the first.
pub(super) enum Members<'a> {
    Few(Vec<(&'a str, &'a Json)>),
    Many(Vec<(&'a str, &'a Json)>, HashMap<&'a str, usize>),
}

impl<'a> Members<'a> {
    pub(super) fn of(object: &'a Object) -> Self {
        let mut list: Vec<(&str, &Json)> = Vec::with_capacity(object.len());
        if object.len() <= 8 {
            for (name, value) in object.iter() {
                match list.iter_mut().find(|(known, _)| *known == name) {
                    Some(known) => known.1 = value,
                    None => list.push((name, value)),
                }
            }
            return Self::Few(list);
        }
        let mut places = HashMap::with_capacity(object.len());
        for (name, value) in object.iter() {
            let place = *places.entry(name).or_insert(list.len());
            match list.get_mut(place) {
                Some(known) => known.1 = value,
                None => list.push((name, value)),
            }
        }
        Self::Many(list, places)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a Json)> {
        let (Self::Few(list) | Self::Many(list, _)) = self;
        list.iter().copied()
    }

    fn len(&self) -> usize {
        let (Self::Few(list) | Self::Many(list, _)) = self;
        list.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Json> {
        match self {
            Self::Few(list) => list.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
            Self::Many(list, places) => Some(list.get(*places.get(name)?)?.1),
        }
    }
}

/// Longest value shown in a message, in characters.
const SHOWN: usize = 120;

/// One sentence without its first capital and full stop; long values are cut.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_root() {
            write!(f, "at {}: ", self.pointer)?;
        }
        let (expected, actual) = (shown(self.expected.as_ref()), shown(self.actual.as_ref()));
        match self.reason {
            Reason::Value => write!(f, "expected {expected}, found {actual}"),
            Reason::Kind(wanted, found) => {
                write!(f, "expected {} {wanted}, found {} {found}: {actual}", article(wanted), article(found))
            }
            Reason::Missing => write!(f, "expected {expected}, which is missing"),
            Reason::Unexpected => write!(f, "{actual} was not expected"),
            Reason::TooShort(wanted, found) => write!(f, "expected at least {wanted} elements, found {found}"),
            Reason::NoElement => write!(f, "no element is left that matches {expected}"),
            Reason::Undecided => f.write_str("the arrays are too large to be compared without order"),
        }?;
        match &self.nearest {
            Some(nearest) => write!(f, "; the nearest differs {nearest}"),
            None => Ok(()),
        }
    }
}

fn article(kind: JsonKind) -> &'static str {
    match kind {
        JsonKind::Array | JsonKind::Object => "an",
        _ => "a",
    }
}

fn shown(value: Option<&Json>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.compact();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrays, Difference, Reason, equal, includes};
    use crate::json::Json;

    fn json(text: &str) -> Json {
        Json::parse(text).expect(text)
    }

    fn differs(result: Result<(), Difference>) -> (String, Reason) {
        let difference = result.expect_err("they differ");
        (difference.pointer.to_string(), difference.reason)
    }

    #[test]
    fn equality_is_by_value_and_without_the_order_of_members() {
        for (one, two) in [
            (r#"{"a":1.0,"b":[1e2]}"#, r#"{"b":[100],"a":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            ("\"\\u00e4\"", "\"ä\""),
        ] {
            assert_eq!(equal(&json(one), &json(two)), Ok(()));
        }
        for (one, two, pointer) in [
            ("9007199254740993", "9007199254740992", ""),
            (r#"{"a":{"b/c":[1,2]}}"#, r#"{"a":{"b/c":[1,3]}}"#, "/a/b~1c/1"),
            ("[1]", "[1,2]", "/1"),
            ("[1,2]", "[1]", "/1"),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#, "/b"),
            (r#"{"a":1,"b":null}"#, r#"{"a":1}"#, "/b"),
            ("null", "false", ""),
            ("[]", "{}", ""),
        ] {
            assert_eq!(differs(equal(&json(one), &json(two))).0, pointer, "{one} {two}");
        }
    }

    #[test]
    fn large_objects_compare_like_small_ones() {
        let members = |n: usize| -> Json { Json::object((0..n).map(|at| (format!("k{at}"), at))) };
        assert_eq!(equal(&members(5000), &members(5000)), Ok(()));
        assert_eq!(differs(equal(&members(4999), &members(5000))), ("/k4999".to_owned(), Reason::Unexpected));
        assert_eq!(includes(&members(4999), &members(5000), Arrays::Ordered), Ok(()));
    }

    #[test]
    fn inclusion_allows_more_members_but_not_more_ordered_elements() {
        let actual = json(r#"{"a":[{"x":1,"y":2},3],"b":0}"#);
        assert_eq!(includes(&json(r#"{"a":[{"x":1.0},3]}"#), &actual, Arrays::Ordered), Ok(()));
        assert_eq!(differs(includes(&json(r#"{"a":[{"x":1}]}"#), &actual, Arrays::Ordered)).0, "/a/1");
        assert_eq!(differs(includes(&json(r#"{"a":[3,{"x":1}]}"#), &actual, Arrays::Ordered)).0, "/a/0");
        assert_eq!(includes(&json(r#"{"a":[3,{"x":1}]}"#), &actual, Arrays::Unordered), Ok(()));
    }

    #[test]
    fn messages_show_both_sides() {
        let message = |one: &str, two: &str| equal(&json(one), &json(two)).expect_err("they differ").to_string();
        assert_eq!(message(r#"{"a":1}"#, r#"{"a":2}"#), "at /a: expected 1, found 2");
        assert_eq!(message("[]", "\"x\""), "expected an array, found a string: \"x\"");
        assert_eq!(message("[1]", "[]"), "at /0: expected 1, which is missing");
        assert!(message("1", &format!("[{}1]", "1,".repeat(500))).len() < 200);
    }
}
