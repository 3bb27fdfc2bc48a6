//! Which of some names was probably meant.
//!
//! Owns: the one measure of likeness. May use: nothing of ours. Must not: word messages.

/// Longest name that is compared, in bytes: longer ones are no names.
const MAX_NAME: usize = 80;

/// Number of slips between two names (a wrong, missing or extra character, or two neighbours swapped), ignoring case,
/// `_`, `-` and `.`; none where they are not alike: more than one slip for three characters.
pub fn distance(one: &str, two: &str) -> Option<usize> {
    if one.len() > MAX_NAME || two.len() > MAX_NAME {
        return None;
    }
    slips(&folded(one), &folded(two))
}

fn folded(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
}

fn slips(one: &[char], two: &[char]) -> Option<usize> {
    let allowed = one.len().max(two.len()) / 3;
    if one.len().abs_diff(two.len()) > allowed {
        return None;
    }
    let width = two.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    let mut row: Vec<usize> = vec![0; width];
    for (i, a) in one.iter().enumerate() {
        row[0] = i + 1;
        for (j, b) in two.iter().enumerate() {
            let mut least = (above[j] + usize::from(a != b)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == two[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    Some(above[width - 1]).filter(|slips| *slips <= allowed)
}

/// The name most like `name`, where one is alike; of equals the first.
pub fn suggest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .filter_map(|known| distance(name, known).map(|slips| (slips, known)))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, known)| known)
}

/// The names, those like `name` first and closest of them first, the others in their own order.
pub fn closest_first<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_cached_key(|known| distance(name, known).unwrap_or(usize::MAX));
    names
}

#[cfg(test)]
mod tests {
    use super::{closest_first, suggest};

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["call_tool", "call_tool_raw", "call_task", "assert_equals", "echo", "let"];
        for (wrong, right) in [
            ("cal_tol", "call_tool"),
            ("CallTool", "call_tool"),
            ("clal_tool", "call_tool"),
            ("call_tool2", "call_tool"),
            ("call.tool-raw", "call_tool_raw"),
            ("assert_equal", "assert_equals"),
            ("ehco", "echo"),
            ("lte", "let"),
        ] {
            assert_eq!(suggest(wrong, names), Some(right), "{wrong}");
        }
        for wrong in ["", "x", "banana", "assert", "completely_different", &"call_tool".repeat(40)] {
            assert_eq!(suggest(wrong, names), None, "{wrong}");
        }
    }

    #[test]
    fn the_closest_comes_first_and_equals_keep_their_order() {
        assert_eq!(suggest("abcd", ["abce", "abcf"]), Some("abce"));
        assert_eq!(suggest("user_i", ["user_ids", "user_id"]), Some("user_id"));
        assert_eq!(closest_first("nmae", ["age", "size", "name"]), ["name", "age", "size"]);
        assert_eq!(closest_first(&"x".repeat(1000), ["b", "a"]), ["b", "a"]);
    }

    #[test]
    fn names_that_are_no_names_cost_nothing() {
        let long = "a".repeat(1_000_000);
        assert_eq!(suggest("name", std::iter::repeat_n(long.as_str(), 100_000)), None);
    }
}
