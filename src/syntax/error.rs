//! Every error of the syntax: its code, its words, the exact place, and what to do.

use std::sync::Arc;

use memchr::memchr;

use super::heredoc::Opener;
use super::version::LANGUAGE_VERSION;
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

/// The rest of the line from byte `from` on, without its line end.
fn rest_of_line(source: &Source, from: u32) -> &str {
    let rest = &source.text()[from as usize..];
    let line = &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
    line.strip_suffix('\r').unwrap_or(line)
}

/// Text for a message: not longer than a line can show.
fn short(text: &str) -> String {
    const LIMIT: usize = 80;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A word in quotes that keep it as it is.
fn quoted(text: &str) -> String {
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `token` is the quote with the rest of its line; `is_glued` where a letter stands before it.
pub(super) fn open_quote(source: &Arc<Source>, token: Span, is_glued: bool) -> Diagnostic {
    let text = source.slice(token).trim_end();
    let quote = if text.starts_with('"') { '"' } else { '\'' };
    let help = if quote == '\'' && is_glued {
        let line = source.line_span(source.position(token.start).line);
        let before = source.slice(Span::new(line.start, token.start));
        let start = before.rfind([' ', '\t']).map_or(0, |at| at + 1);
        let after = &text[..text.find([' ', '\t']).unwrap_or(text.len())];
        format!(
            "an apostrophe in a bare word opens a quote: write \"{}{}\" in double quotes",
            &before[start..],
            short(after)
        )
    } else if quote == '"' && text.len() > 1 && text.ends_with("\\\"") {
        "\\\" is a quote inside the text, not its end: close it with one more \", or write \\\\ for a backslash at the end".into()
    } else {
        format!("close it with {quote} on this line; text of several lines is a heredoc: <<EOF … EOF")
    };
    Diagnostic::error("mcp::syntax::open_quote", "a quote is left open")
        .at(source, Span::new(token.start, token.start + 1), "opened here and not closed on this line")
        .help(help)
}

/// `near` is a line that resembles the mark.
pub(super) fn open_heredoc(source: &Arc<Source>, opener: Span, read: &Opener<'_>, near: Option<Span>) -> Diagnostic {
    let mark = read.mark;
    let error =
        Diagnostic::error("mcp::syntax::open_heredoc", format!("the heredoc has no end: no line holds only {mark}"))
            .at(source, opener, "opened here");
    match near {
        Some(near) => error
            .and(source, near, format!("is this the end? it must be {mark} and nothing else"))
            .help(format!("write {mark} alone on that line")),
        None => error.help(format!("put {mark} alone on a line behind the text")),
    }
}

/// `word` starts with `<<` but does not open a heredoc.
pub(super) fn heredoc_mark(source: &Arc<Source>, word: Span) -> Diagnostic {
    let text = source.slice(word);
    let spaced = text == "<<" || text == "<<-";
    let help = if spaced {
        format!("glue the mark to it: {text}EOF; to pass the text itself quote it: {}", quoted(text))
    } else {
        format!(
            "a mark is ASCII letters, digits and _, and ends the word: <<EOF; to pass the text itself quote it: {}",
            quoted(&short(text))
        )
    };
    Diagnostic::error("mcp::syntax::heredoc_mark", "<< without a mark opens no heredoc")
        .at(source, word, "a heredoc is <<MARK")
        .help(help)
}

/// `json` is the JSON as far as it goes on its line.
pub(super) fn bare_json(source: &Arc<Source>, json: Span) -> Diagnostic {
    let text = source.slice(json);
    let help = if text.contains('\'') {
        "it holds a single quote, so pass it as a heredoc: <<EOF, the JSON on its own lines, EOF".into()
    } else {
        format!("put single quotes around it: '{}'", short(text))
    };
    Diagnostic::error("mcp::syntax::bare_json", "JSON needs single quotes around it")
        .at(source, json, "these quotes are taken for the script's and would be lost")
        .help(help)
}

/// The code point of the first character under `span`, as `U+0007`.
fn code_point(source: &Source, span: Span) -> String {
    source.slice(span).chars().next().map_or_else(String::new, |c| format!("U+{:04X}", u32::from(c)))
}

/// The first character under `span`.
fn first_char(source: &Source, span: Span) -> Span {
    let length = source.slice(span).chars().next().map_or(0, char::len_utf8);
    Span::new(span.start, span.start + length as u32)
}

/// A control character outside quotes and heredocs.
pub(super) fn control(source: &Arc<Source>, span: Span) -> Diagnostic {
    let code = code_point(source, span);
    Diagnostic::error("mcp::syntax::control_character", format!("control character {code} outside quotes"))
        .at(source, first_char(source, span), "")
        .help("remove it; inside quotes and heredocs it is allowed")
}

/// A character that has no place in a comment.
pub(super) fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// A control character in a comment.
pub(super) fn control_in_comment(source: &Arc<Source>, comment: Span) -> Diagnostic {
    let text = source.slice(comment);
    let at = text.find(is_control).unwrap_or(0) as u32;
    let span = first_char(source, Span::new(comment.start + at, comment.end));
    if source.slice(span) == "\r" {
        return lone_cr(source, span);
    }
    control(source, span).help("remove it from the comment")
}

/// A carriage return that no line feed follows.
pub(super) fn lone_cr(source: &Arc<Source>, span: Span) -> Diagnostic {
    Diagnostic::error("mcp::syntax::lone_cr", "a carriage return without a line feed")
        .at(source, span, "does not end the line")
        .help("save the file with line ends LF or CRLF")
}

/// White space that does not separate words.
pub(super) fn wide_space(source: &Arc<Source>, span: Span) -> Diagnostic {
    let code = code_point(source, span);
    Diagnostic::error("mcp::syntax::wide_space", format!("{code} looks like a space but does not separate words"))
        .at(source, span, "not a space")
        .help("write a space here; inside quotes it is kept")
}

/// A quote of a word processor.
pub(super) fn curly_quote(source: &Arc<Source>, span: Span) -> Diagnostic {
    let quote = source.slice(span);
    let is_single = quote.chars().all(|c| matches!(c, '\u{2018}'..='\u{201B}'));
    let plain = if is_single { "'" } else { "\"" };
    // Show the quoted text where its other end is on the line too.
    let rest = &rest_of_line(source, span.start)[quote.len()..];
    let closing = rest.find(|c| matches!(c, '\u{2018}'..='\u{201F}'));
    let (whole, text) = match closing {
        Some(at) => {
            let end = rest[at..].chars().next().map_or(0, char::len_utf8);
            (Span::new(span.start, span.end + (at + end) as u32), &rest[..at])
        }
        None => (span, ""),
    };
    let help = if closing.is_some() && !is_single {
        format!("write {plain}{}{plain} with plain quotes", short(text))
    } else {
        format!(
            "write {plain}{}, or put the word in double quotes to keep the character",
            if is_single { " inside double quotes" } else { "" }
        )
    };
    let code = code_point(source, span);
    Diagnostic::error("mcp::syntax::typographic_quote", format!("typographic quote {code} does not quote anything"))
        .at(source, whole, "not a quote of the script")
        .help(help)
}

/// A character nobody sees.
pub(super) fn invisible(source: &Arc<Source>, span: Span) -> Diagnostic {
    let code = code_point(source, span);
    Diagnostic::error("mcp::syntax::invisible_character", format!("invisible character {code} outside quotes"))
        .at(source, first_char(source, span), "")
        .help("remove it; inside quotes and heredocs it is allowed")
}

/// A `# mcp-tester: N` line with another number than ours.
pub(super) fn unknown_version(source: &Arc<Source>, number: Span) -> Diagnostic {
    let text = source.slice(number);
    Diagnostic::error("mcp::syntax::unknown_version", format!("language version {text} is not known"))
        .at(source, number, "")
        .help(format!("this mcp-tester reads version {LANGUAGE_VERSION}; use a newer one, or write # mcp-tester: {LANGUAGE_VERSION}"))
}

/// A second version line.
pub(super) fn version_twice(source: &Arc<Source>, number: Span, first: Span) -> Diagnostic {
    Diagnostic::error("mcp::syntax::version_twice", "the language version is given twice")
        .at(source, number, "given again")
        .and(source, first, "first given here")
        .help("keep one of the two lines")
}

/// More errors than are kept.
pub(super) fn too_many(name: &str, more: usize) -> Diagnostic {
    Diagnostic::error("mcp::syntax::too_many_errors", format!("{name}: {more} more errors are not shown"))
        .help("is this an .mcp script?")
}

/// More text than spans can address.
pub(super) fn too_large(name: &str) -> Diagnostic {
    Diagnostic::error("mcp::syntax::too_large", format!("{name} is larger than 4 GiB"))
        .help("split it into several scripts")
}

#[cfg(test)]
mod tests;
