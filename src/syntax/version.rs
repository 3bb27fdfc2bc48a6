//! The line `# mcp-tester: N` that fixes the language version.

use std::sync::Arc;

use super::error;
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

/// The one version there is.
pub const LANGUAGE_VERSION: u32 = 1;

/// What the comments before the first statement have said so far.
#[derive(Debug, Default)]
pub(super) struct Line {
    found: Option<Span>,
}

impl Line {
    /// Looks at a comment; anything that does not read as a version line is only a comment.
    pub(super) fn read(&mut self, source: &Arc<Source>, comment: Span) -> Option<Diagnostic> {
        let at = number(source.slice(comment))?;
        let number = Span::new(comment.start + at.start as u32, comment.start + at.end as u32);
        if let Some(first) = self.found {
            return Some(error::version_twice(source, number, first));
        }
        self.found = Some(number);
        let is_known = source.slice(number).parse() == Ok(LANGUAGE_VERSION);
        (!is_known).then(|| error::unknown_version(source, number))
    }

    /// The version the script is written in.
    pub(super) const fn number(&self) -> u32 {
        LANGUAGE_VERSION
    }
}

/// Where the version stands in a comment of the form `# mcp-tester: 1`.
fn number(comment: &str) -> Option<std::ops::Range<usize>> {
    let text = comment.trim_start_matches(['#', '/']).trim_start();
    let value = text.strip_prefix("mcp-tester")?.trim_start().strip_prefix(':')?.trim();
    let digits = value.strip_prefix('v').unwrap_or(value);
    let is_version = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_version {
        return None;
    }
    let start = comment.trim_end().len() - value.len();
    Some(start..start + value.len())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn only_numbers_make_a_version_line() {
        assert_eq!(number("# mcp-tester: 1"), Some(14..15));
        assert_eq!(number("#mcp-tester:2.0  "), Some(12..15));
        assert_eq!(number("# mcp-tester: v3"), Some(14..16));
        for text in
            ["# mcp-tester: checks the login", "#!/usr/bin/env mcp-tester", "# mcp-tester", "# x", "# mcp-tester:"]
        {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
