//! Heredocs: reading an opener, finding where a body ends, and what of a body is its text.

use memchr::memchr;

use super::parts;

/// What stands behind `<<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opener<'s> {
    /// The mark, quotes left out.
    pub mark: &'s str,
    /// `<<-`: the common indentation is removed.
    pub dedent: bool,
    /// `<<'MARK'`: nothing is replaced in the body.
    pub verbatim: bool,
    /// Length of the whole opener in bytes.
    pub length: usize,
}

impl<'s> Opener<'s> {
    /// Reads an opener at the start of `text`; `None` where there is none or the word goes on behind it.
    pub(super) fn read(text: &'s str) -> Option<Self> {
        let after = text.strip_prefix("<<")?;
        let (dedent, after) = after.strip_prefix('-').map_or((false, after), |rest| (true, rest));
        let quote = after.chars().next().filter(|first| matches!(first, '"' | '\''));
        let after = quote.map_or(after, |_| &after[1..]);
        let (mark, after) = after.split_at(parts::identifier(after.as_bytes()));
        if mark.is_empty() {
            return None;
        }
        let after = quote.map_or(Some(after), |quote| after.strip_prefix(quote))?;
        let goes_on = !(after.is_empty() || after.starts_with([' ', '\t', '\n', '\r']));
        (!goes_on).then_some(Self { mark, dedent, verbatim: quote == Some('\''), length: text.len() - after.len() })
    }
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Length of the body in bytes, the line end of its last line included.
    pub body: usize,
    /// Length of the end line without its line end; `None` where there is none.
    pub end: Option<usize>,
    /// The end line only resembles the mark.
    pub near: bool,
}

/// Finds the end of a heredoc in `text`, which starts at the first line of its body. Without an end line the body
/// runs up to the first line that resembles the mark, else (and where `near` is false) to the end of the text.
pub(super) fn extent(text: &str, mark: &str, near: bool) -> Extent {
    if let Some((start, line)) = find_line(text, |line| line == mark) {
        return Extent { body: start, end: Some(line), near: false };
    }
    if near && let Some((start, line)) = find_line(text, |line| resembles(line, mark)) {
        return Extent { body: start, end: Some(line), near: true };
    }
    Extent { body: text.len(), end: None, near: false }
}

/// Offset and length of the first line whose text without surrounding white space fits.
fn find_line(text: &str, fits: impl Fn(&str) -> bool) -> Option<(usize, usize)> {
    let mut start = 0;
    while start < text.len() {
        let next = memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at + 1);
        let line = text[start..next].trim_end_matches('\n');
        let line = line.strip_suffix('\r').unwrap_or(line);
        if fits(trim_blank(line)) {
            return Some((start, line.len()));
        }
        start = next;
    }
    None
}

/// A line without the blanks around it.
fn trim_blank(line: &str) -> &str {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if is_blank(line.as_bytes().first()) || is_blank(line.as_bytes().last()) {
        return line.trim_matches([' ', '\t']);
    }
    line
}

/// A line people write when they mean the mark: other case, or punctuation and quotes around it.
fn resembles(line: &str, mark: &str) -> bool {
    line.trim_matches(|c: char| c.is_ascii_punctuation() && c != '_' || c.is_whitespace()).eq_ignore_ascii_case(mark)
}

/// The longest white-space prefix that all non-blank lines of `body` share.
pub(super) fn common_indent(body: &str) -> &str {
    let mut common: Option<&str> = None;
    for line in body.lines().filter(|line| !trim_blank(line).is_empty()) {
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        common = Some(common.map_or(indent, |common| &indent[..shared(common, indent)]));
    }
    common.unwrap_or_default()
}

/// Number of bytes two strings of spaces and tabs share at their start.
pub(super) fn shared(left: &str, right: &str) -> usize {
    left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::{Extent, Opener, common_indent, extent};

    #[test]
    fn openers_are_read_whole_or_not_at_all() {
        for (text, mark, dedent, verbatim, length) in [
            ("<<EOF", "EOF", false, false, 5),
            ("<<-EOF rest", "EOF", true, false, 6),
            ("<<'E_1'\n", "E_1", false, true, 7),
            ("<<\"EOF\"\r\n", "EOF", false, false, 7),
            ("<<-'x'\t", "x", true, true, 6),
        ] {
            assert_eq!(Opener::read(text), Some(Opener { mark, dedent, verbatim, length }), "{text}");
        }
        for text in ["<<", "<< EOF", "<<1", "<<EOF;", "<<'EOF", "<<'EOF\"", "<<EOF#x", "<<-", "<<'a'b", "<<é"] {
            assert_eq!(Opener::read(text), None, "{text}");
        }
    }

    #[test]
    fn bodies_end_at_the_mark_alone_on_a_line() {
        let found = |body, end, near| Extent { body, end, near };
        assert_eq!(extent("a\nEOF\nb", "EOF", true), found(2, Some(3), false));
        assert_eq!(extent("a\r\n \tEOF \r\nb", "EOF", true), found(3, Some(6), false));
        assert_eq!(extent("EOF", "EOF", true), found(0, Some(3), false));
        assert_eq!(extent("EOFx\nEOF;\n", "EOF", true), found(5, Some(4), true));
        assert_eq!(extent("a\neof\n", "EOF", true), found(2, Some(3), true));
        assert_eq!(extent("a\neof\n", "EOF", false), found(6, None, false));
        assert_eq!(extent("", "EOF", true), found(0, None, false));
    }

    #[test]
    fn the_common_indentation_skips_blank_lines() {
        assert_eq!(common_indent("  a\n\n    b\n"), "  ");
        assert_eq!(common_indent("\t a\n\t  b\n \n"), "\t ");
        assert_eq!(common_indent(" a\n\tb\n"), "");
        assert_eq!(common_indent("\n \n"), "");
    }
}
