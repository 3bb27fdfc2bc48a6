//! Assigning expected array elements to actual ones.
//!
//! Owns: the one-to-one assignment of unordered inclusion. May use: nothing of ours outside this folder.
//! Must not: go on when the comparison's budget is spent.

use std::collections::HashMap;

use super::compare::{Comparison, Members};
use super::value::Json;

/// An expected element for which no actual one is left.
pub(super) struct Unmatched {
    /// Its index.
    pub expected: usize,
    /// Index of the actual element that is most like it, where any is.
    pub nearest: Option<usize>,
}

/// Gives each element of `expected` an element of `actual` of its own that includes it, or names one that gets none.
pub(super) fn assign(run: &mut Comparison, expected: &[Json], actual: &[Json]) -> Result<(), Unmatched> {
    assign_scalars(expected, actual)?;
    assign_containers(run, expected, actual)
}

/// Equal scalars are interchangeable, so counting them decides.
fn assign_scalars(expected: &[Json], actual: &[Json]) -> Result<(), Unmatched> {
    if !expected.iter().any(|element| Scalar::of(element).is_some()) {
        return Ok(());
    }
    let mut left: HashMap<Scalar<'_>, usize> = HashMap::new();
    for scalar in actual.iter().filter_map(Scalar::of) {
        *left.entry(scalar).or_default() += 1;
    }
    for (index, element) in expected.iter().enumerate() {
        let Some(scalar) = Scalar::of(element) else {
            continue;
        };
        match left.get_mut(&scalar) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(Unmatched { expected: index, nearest: None }),
        }
    }
    Ok(())
}

/// A scalar in a form in which equal values are equal.
#[derive(PartialEq, Eq, Hash)]
enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(String),
    String(&'a str),
}

impl<'a> Scalar<'a> {
    fn of(value: &'a Json) -> Option<Self> {
        match value {
            Json::Null => Some(Self::Null),
            Json::Bool(value) => Some(Self::Bool(*value)),
            Json::Number(number) => Some(Self::Number(number.canonical())),
            Json::String(text) => Some(Self::String(text)),
            Json::Array(_) | Json::Object(_) => None,
        }
    }
}

/// Searches a bipartite matching by augmenting paths; pairs are compared once and only when looked at.
fn assign_containers(run: &mut Comparison, expected: &[Json], actual: &[Json]) -> Result<(), Unmatched> {
    let containers = |elements: &[Json]| -> Vec<usize> {
        (0..elements.len()).filter(|index| Scalar::of(&elements[*index]).is_none()).collect()
    };
    let (rows, columns) = (containers(expected), containers(actual));
    let index = Index::of(actual, &columns, rows.len());
    let mut search = Search {
        known: HashMap::new(),
        owner: vec![None; columns.len()],
        has: vec![None; rows.len()],
        reached: vec![(usize::MAX, 0); columns.len()],
        choices: rows.iter().map(|row| index.choices(&expected[*row])).collect(),
        pair: |run: &mut Comparison, row: usize, column: usize| {
            run.matches(&expected[rows[row]], &actual[columns[column]])
        },
    };
    for row in 0..rows.len() {
        if !search.place(run, row) {
            let wanted = &expected[rows[row]];
            let free =
                (0..columns.len()).filter(|column| search.owner[*column].is_none()).map(|column| columns[column]);
            return Err(Unmatched { expected: rows[row], nearest: nearest(run, wanted, actual, free) });
        }
    }
    Ok(())
}

/// Rows up to which every pair is tried without an index.
const FEW: usize = 8;

/// Which columns hold an object with a certain scalar member: in long lists of objects with ids, that leaves next to no pairs.
struct Index<'a> {
    by_member: Option<HashMap<(&'a str, Scalar<'a>), Vec<usize>>>,
    all: Vec<usize>,
}

impl<'a> Index<'a> {
    fn of(actual: &'a [Json], columns: &[usize], rows: usize) -> Self {
        let by_member = (rows > FEW).then(|| {
            let mut by_member: HashMap<_, Vec<usize>> = HashMap::new();
            for (column, index) in columns.iter().enumerate() {
                for (name, scalar) in scalar_members(&actual[*index]) {
                    by_member.entry((name, scalar)).or_default().push(column);
                }
            }
            by_member
        });
        Self { by_member, all: (0..columns.len()).collect() }
    }

    /// Columns that could include `wanted`.
    fn choices(&self, wanted: &'a Json) -> &[usize] {
        let Some(by_member) = &self.by_member else {
            return &self.all;
        };
        scalar_members(wanted)
            .map(|member| by_member.get(&member).map_or(&[][..], Vec::as_slice))
            .min_by_key(|columns| columns.len())
            .unwrap_or(&self.all)
    }
}

fn scalar_members(value: &Json) -> impl Iterator<Item = (&str, Scalar<'_>)> {
    value.as_object().into_iter().flat_map(|object| {
        Members::of(object).iter().filter_map(|(name, value)| Some((name, Scalar::of(value)?))).collect::<Vec<_>>()
    })
}

struct Search<'a, F> {
    /// Pairs compared so far.
    known: HashMap<(usize, usize), bool>,
    /// Which row has each column.
    owner: Vec<Option<usize>>,
    /// Which column each row has.
    has: Vec<Option<usize>>,
    /// For which row a column was reached last, and from which other one.
    reached: Vec<(usize, usize)>,
    /// The columns worth trying, for each row.
    choices: Vec<&'a [usize]>,
    pair: F,
}

impl<F: FnMut(&mut Comparison, usize, usize) -> bool> Search<'_, F> {
    fn fits(&mut self, run: &mut Comparison, row: usize, column: usize) -> bool {
        if let Some(known) = self.known.get(&(row, column)) {
            return *known && run.spend(1);
        }
        let fits = (self.pair)(run, row, column);
        self.known.insert((row, column), fits);
        fits
    }

    /// Finds a column for `row`, moving others where that helps: breadth first, so no recursion.
    fn place(&mut self, run: &mut Comparison, row: usize) -> bool {
        // The common case, in order: the column of the same number.
        if self.owner.get(row) == Some(&None) && self.fits(run, row, row) {
            self.give(row, row);
            return true;
        }
        let mut queue = vec![row];
        let mut next = 0;
        while let Some(&from) = queue.get(next) {
            next += 1;
            for &column in self.choices[from] {
                if self.reached[column].0 == row || !self.fits(run, from, column) {
                    continue;
                }
                self.reached[column] = (row, from);
                match self.owner[column] {
                    Some(other) => queue.push(other),
                    None => {
                        self.shift(column, row);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Hands columns over along the path that reached `column`, back to the row it began with.
    fn shift(&mut self, mut column: usize, first: usize) {
        loop {
            let (_, row) = self.reached[column];
            let before = self.has[row];
            self.give(column, row);
            match before {
                Some(before) if row != first => column = before,
                _ => return,
            }
        }
    }

    fn give(&mut self, column: usize, row: usize) {
        self.owner[column] = Some(row);
        self.has[row] = Some(column);
    }
}

/// The free element that shares most members with `wanted`.
fn nearest(run: &mut Comparison, wanted: &Json, actual: &[Json], free: impl Iterator<Item = usize>) -> Option<usize> {
    let wanted = Members::of(wanted.as_object()?);
    let mut best: Option<(usize, usize)> = None;
    for index in free {
        let Some(members) = actual[index].as_object().map(Members::of) else {
            continue;
        };
        let shared = wanted
            .iter()
            .filter(|(name, value)| members.get(name).is_some_and(|other| run.matches(value, other)))
            .count();
        if shared > 0 && best.is_none_or(|(most, _)| shared > most) {
            best = Some((shared, index));
        }
    }
    best.map(|(_, index)| index)
}

#[cfg(test)]
mod tests {
    use crate::json::Json;
    use crate::json::compare::{Arrays, Reason, includes};

    fn json(text: &str) -> Json {
        Json::parse(text).expect(text)
    }

    fn fits(expected: &str, actual: &str) -> bool {
        includes(&json(expected), &json(actual), Arrays::Unordered).is_ok()
    }

    #[test]
    fn an_assignment_is_found_where_the_first_choice_was_wrong() {
        // {"a":1} fits both, so taking the first leaves nothing for the second.
        assert!(fits(r#"[{"a":1},{"a":1,"b":2}]"#, r#"[{"a":1,"b":2},{"a":1}]"#));
        assert!(fits(r#"[{"a":1},{"b":1},{"c":1}]"#, r#"[{"c":1,"a":1},{"a":1,"b":1},{"b":1,"c":1}]"#));
        assert!(fits("[{},{},{\"x\":1}]", "[{\"x\":1},{},{}]"));
        assert!(fits("[[1],[1,2]]", "[[2,1],[1,3]]"));
    }

    #[test]
    fn each_actual_element_is_used_once() {
        assert!(!fits(r#"[{"a":1},{"a":1}]"#, r#"[{"a":1},{"b":1}]"#));
        assert!(!fits("[1,1]", "[1,2,3]"));
        assert!(fits("[1,1.0]", "[1e0,\"1\",1]"));
        assert!(!fits("[\"1\"]", "[1]"));
        assert!(fits("[]", "[1]"));
        assert!(fits("[null,true,[],{}]", "[{\"x\":1},[0],true,null,5]"));
    }

    #[test]
    fn the_nearest_element_is_explained() {
        let tools = json(r#"{"tools":[{"name":"add","kind":1},{"name":"search","kind":2}]}"#);
        let expected = json(r#"{"tools":[{"name":"search","kind":3}]}"#);
        let difference = includes(&expected, &tools, Arrays::Unordered).expect_err("kinds differ");
        assert_eq!((difference.pointer.as_str(), difference.reason), ("/tools", Reason::NoElement));
        assert_eq!(
            difference.to_string(),
            "at /tools: no element is left that matches {\"name\":\"search\",\"kind\":3}; the nearest differs at \
             /tools/1/kind: expected 3, found 2"
        );
    }

    #[test]
    fn large_arrays_end_in_time() {
        let numbers = |range: &mut dyn Iterator<Item = usize>| -> Json { range.collect() };
        let (up, down) = (numbers(&mut (0..50_000)), numbers(&mut (0..50_000).rev()));
        assert_eq!(includes(&up, &down, Arrays::Unordered), Ok(()));
        let objects = |n: usize| -> Json { (0..n).map(|at| Json::object([("a", at % 2)])).collect() };
        assert_eq!(includes(&objects(500), &objects(1000), Arrays::Unordered), Ok(()));
        let other: Json = (0..20_000usize).map(|_| Json::object([("b", 1)])).collect();
        let difference = includes(&objects(20_000), &other, Arrays::Unordered).expect_err("nothing fits");
        assert_eq!(difference.reason, Reason::NoElement);
        let ids: Json = (0..20_000usize).map(|at| Json::object([("id", at)])).collect();
        let reversed: Json = (0..20_000usize).rev().map(|at| Json::object([("id", at)])).collect();
        assert_eq!(includes(&ids, &reversed, Arrays::Unordered), Ok(()));
        let nested: Json = (0..1000usize).map(|at| Json::array([at])).collect();
        let reversed: Json = (0..1000usize).rev().map(|at| Json::array([at])).collect();
        let difference = includes(&nested, &reversed, Arrays::Unordered).expect_err("too many pairs");
        assert_eq!(difference.reason, Reason::Undecided);
    }
}
