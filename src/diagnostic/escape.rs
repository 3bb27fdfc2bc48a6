//! Text of others, made safe for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes text safe to show on one line: control characters (ESC, line ends and tabs among them), characters that
/// change the direction of writing, and characters nobody sees become `\u{…}`. Everything else stays.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_but(text, |_| false)
}

/// The same, but line feeds and tabs stay.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_but(text, |c| matches!(c, '\n' | '\t'))
}

fn escape_but(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_bad = |c: char| is_unsafe(c) && !keep(c);
    let Some(first) = text.find(is_bad) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_bad(c) {
            push_escaped(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Writes one character as `\u{…}`.
pub(super) fn push_escaped(out: &mut String, c: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
}

/// Whether a character must not reach a terminal as it is.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Invisible fillers and separators.
            '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200D}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            // Direction of writing.
            | '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}'
            // Tags and the second block of variation selectors: text can hide in them.
            | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{escape, escape_lines};

    #[test]
    fn what_a_terminal_obeys_is_shown_instead() {
        assert_eq!(escape("a\u{1b}[31mb\r\n\tc"), "a\\u{1b}[31mb\\u{d}\\u{a}\\u{9}c");
        assert_eq!(escape_lines("a\r\n\tc\u{0}"), "a\\u{d}\n\tc\\u{0}");
        assert_eq!(escape("\u{202E}x\u{200B}\u{9b}\u{E0041}\u{2028}"), "\\u{202e}x\\u{200b}\\u{9b}\\u{e0041}\\u{2028}");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        for text in ["", "héllo wörld", "日本語 ✓ ❤\u{FE0F}", "\\u{1b}"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
