//! Values in messages: cut to a readable length, with the difference in view.

use similar::{ChangeTag, TextDiff};

/// Longest text shown in full.
const SHOWN: usize = 600;
/// Longest text in a title.
const BRIEF: usize = 160;
/// Longest text that is compared word by word.
const COMPARED: usize = 20_000;

/// A text cut in the middle where it is long.
pub fn cut(text: &str) -> String {
    let length = text.chars().count();
    if length <= SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN * 2 / 3).collect();
    let tail: String = text.chars().skip(length - SHOWN / 3).collect();
    format!("{head} … {} characters left out … {tail}", length - SHOWN * 2 / 3 - SHOWN / 3)
}

/// A short one-line form for titles.
pub fn brief(text: &str) -> String {
    let line: String = text.chars().map(|c| if c == '\n' { ' ' } else { c }).take(BRIEF).collect();
    if text.chars().count() > BRIEF { format!("{line}…") } else { line }
}

/// Expected and actual text under each other, and what differs, word by word.
pub fn difference(expected: &str, actual: &str) -> String {
    let (near_expected, near_actual) = around_difference(expected, actual);
    let mut text = format!("expected: {}\n  actual: {}", cut(&near_expected), cut(&near_actual));
    if near_expected.len() + near_actual.len() <= COMPARED && !near_expected.is_empty() && !near_actual.is_empty() {
        let diff = TextDiff::from_words(near_expected.as_str(), near_actual.as_str());
        if diff.ratio() > 0.2 {
            text.push_str("\n    diff: ");
            let mut marked = String::new();
            for change in diff.iter_all_changes() {
                match change.tag() {
                    ChangeTag::Equal => marked.push_str(change.value()),
                    ChangeTag::Delete => marked.push_str(&format!("[-{}-]", change.value())),
                    ChangeTag::Insert => marked.push_str(&format!("{{+{}+}}", change.value())),
                }
            }
            text.push_str(&cut(&marked));
        }
    }
    text
}

/// Long texts cut to the place where they begin to differ.
fn around_difference(expected: &str, actual: &str) -> (String, String) {
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let start = same.saturating_sub(SHOWN / 3);
    let window = |text: &str| {
        let length = text.chars().count();
        if length <= SHOWN {
            return text.to_owned();
        }
        let middle: String = text.chars().skip(start).take(SHOWN * 2 / 3).collect();
        let before = if start > 0 { "… " } else { "" };
        let after = if start + SHOWN * 2 / 3 < length { " …" } else { "" };
        format!("{before}{middle}{after}")
    };
    (window(expected), window(actual))
}

#[cfg(test)]
mod tests {
    use super::{cut, difference};

    #[test]
    fn the_difference_stays_in_view() {
        let common = "x".repeat(5000);
        let shown = difference(&format!("{common} left {common}"), &format!("{common} right {common}"));
        assert!(shown.contains("left") && shown.contains("right"), "{shown}");
        assert!(shown.len() < 4000);
        assert!(cut(&common).contains("4400 characters left out"), "{}", cut(&common));
        assert!(difference("Result: 31", "Result: 30").contains("[-31-]{+30+}"));
    }
}
