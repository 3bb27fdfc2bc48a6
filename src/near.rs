//! Which of some names was probably meant.
//!
//! Owns: the one measure of likeness. May use: nothing of ours. Must not: word messages.

/// Longest name that is compared, in bytes: longer ones are no names.
const MAX_NAME: usize = 80;

/// Number of edits between two names, ignoring case, `_` and `-`; none where they are not alike.
pub fn distance(one: &str, two: &str) -> Option<usize> {
    if one.len() > MAX_NAME || two.len() > MAX_NAME {
        return None;
    }
    let fold = |name: &str| -> Vec<char> {
        name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    let (one, two) = (fold(one), fold(two));
    let allowed = one.len().max(two.len()) / 3;
    if one.len().abs_diff(two.len()) > allowed {
        return None;
    }
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (at, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in two.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().filter(|distance| *distance <= allowed)
}

/// The name most like `name`, where one is alike; of equals the first.
pub fn suggest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .filter_map(|known| distance(name, known).map(|edits| (edits, known)))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["call_tool", "call_tool_raw", "echo", "assert_equals"];
        assert_eq!(suggest("cal_tol", names), Some("call_tool"));
        assert_eq!(suggest("CallTool", names), Some("call_tool"));
        assert_eq!(suggest("assert_equal", names), Some("assert_equals"));
        assert_eq!(suggest("completely_different", names), None);
        assert_eq!(suggest("", names), None);
    }
}
