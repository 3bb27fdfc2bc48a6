//! The tree of a script: statements, words, parts. Spans point into one source; text is owned only where an
//! escape changed it. No command names, no meaning.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::source::{Source, Span};

/// A parsed script. Statements, words and parts lie in flat vectors; a statement is a range of words, a word a
/// range of parts.
#[derive(Debug)]
pub struct Script {
    /// The text everything points into.
    pub source: Arc<Source>,
    /// The command lines, in order.
    pub statements: Vec<Statement>,
    /// All words of all statements.
    pub words: Vec<Word>,
    /// All parts of all words.
    pub parts: Vec<Part>,
    /// The texts that differ from the source, each with the byte its part starts at, in that order.
    pub owned: Vec<(u32, Box<str>)>,
    /// The comments, for the formatter; spans include the opener.
    pub comments: Vec<Span>,
    /// The language version a `# mcp-tester: N` line fixes; 1 where there is none.
    pub version: u32,
}

/// One command line.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its words, the command's name first; never empty.
    pub words: Range<u32>,
    /// From the first word to the last one on the line, heredoc bodies left out.
    pub span: Span,
}

/// A run of adjoining segments without white space between them.
#[derive(Clone, Debug)]
pub struct Word {
    /// Its parts. Where it `is_named` the first part is the name with its colon; [`Script::value_parts`] skips it.
    pub parts: Range<u32>,
    /// The word as written; for a heredoc the opener.
    pub span: Span,
    /// The word reads as `name:value`; only commands with named arguments look at it. [`Script::name`] gives the name.
    pub is_named: bool,
}

/// How a piece of text was quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// Not at all.
    Bare,
    /// `"…"`
    Double,
    /// `'…'`
    Single,
    /// A heredoc whose known `$names` are replaced.
    Heredoc,
    /// `<<'MARK'`: nothing is replaced.
    Verbatim,
}

/// A piece of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Text or variable.
    pub kind: PartKind,
    /// How it was quoted.
    pub quote: Quote,
    /// For `Text` the text itself (quotes left out); for `Var` the `$name`; for `Owned` the source it came from.
    pub span: Span,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The source under the span is the text.
    Text,
    /// The text differs from the source: an escape, a heredoc with its indentation or carriage returns removed. It is
    /// in [`Script::owned`].
    Owned,
    /// The source under the span is `$name`.
    Var,
}

impl Script {
    /// The words of a statement.
    pub fn words(&self, statement: &Statement) -> &[Word] {
        &self.words[statement.words.start as usize..statement.words.end as usize]
    }

    /// All parts of a word, the name of a named argument included.
    pub fn parts(&self, word: &Word) -> &[Part] {
        &self.parts[word.parts.start as usize..word.parts.end as usize]
    }

    /// The parts of a word's value: without the name of a named argument.
    pub fn value_parts(&self, word: &Word) -> &[Part] {
        let parts = self.parts(word);
        if word.is_named { &parts[1..] } else { parts }
    }

    /// The text of a part; for a variable the `$name` as written.
    pub fn text(&self, part: &Part) -> &str {
        match part.kind {
            PartKind::Owned => {
                let found = self.owned.binary_search_by_key(&part.span.start, |(start, _)| *start);
                found.map_or("", |index| &self.owned[index].1)
            }
            PartKind::Text | PartKind::Var => self.source.slice(part.span),
        }
    }

    /// The name of a word that reads as a named argument, its quotes and colon left out.
    pub fn name(&self, word: &Word) -> Option<&str> {
        let name = self.parts(word).first().filter(|_| word.is_named)?;
        self.text(name).strip_suffix(':')
    }
}

/// A script prints itself exactly as it was written.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source.text())
    }
}
