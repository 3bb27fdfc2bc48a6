//! The last lines of a child's stderr.
//!
//! Owns: cutting stderr into lines and forgetting old ones. May use: nothing of ours. Must not: read or wait.

use std::collections::VecDeque;

/// Lines kept.
const LINES: usize = 64;
/// Bytes kept, over all lines.
const BYTES: usize = 64 * 1024;
/// Bytes kept of one line; the rest is cut off.
const LINE: usize = 4 * 1024;

/// A bounded ring of lines, and the line that is still being written.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    bytes: usize,
    partial: Vec<u8>,
    cut: bool,
}

impl Tail {
    /// Takes what was read; emits each complete line.
    pub(super) fn push(&mut self, mut chunk: &[u8], emit: &mut impl FnMut(&str)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            self.add(&chunk[..end]);
            chunk = &chunk[end + 1..];
            self.end_line(emit);
        }
        self.add(chunk);
    }

    /// At the end of the stream: a last line without its end counts.
    pub(super) fn finish(&mut self, emit: &mut impl FnMut(&str)) {
        if !self.partial.is_empty() {
            self.end_line(emit);
        }
    }

    /// The lines, oldest first, with the unfinished one.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.lines.iter().cloned().collect();
        if !self.partial.is_empty() {
            lines.push(self.text());
        }
        lines
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = LINE - self.partial.len();
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.cut |= bytes.len() > room;
    }

    fn text(&self) -> String {
        let bytes = self.partial.strip_suffix(b"\r").unwrap_or(&self.partial);
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        if self.cut {
            text.push('…');
        }
        text
    }

    fn end_line(&mut self, emit: &mut impl FnMut(&str)) {
        let line = self.text();
        self.partial.clear();
        self.cut = false;
        emit(&line);
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > LINES || self.bytes > BYTES {
            match self.lines.pop_front() {
                Some(old) => self.bytes -= old.len(),
                None => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES, LINE, LINES, Tail};

    fn tail(chunks: &[&[u8]]) -> (Vec<String>, Vec<String>) {
        let mut tail = Tail::default();
        let mut seen = Vec::new();
        for chunk in chunks {
            tail.push(chunk, &mut |line: &str| seen.push(line.to_owned()));
        }
        (tail.lines(), seen)
    }

    #[test]
    fn lines_are_joined_across_reads_and_the_unfinished_one_is_shown() {
        let (lines, seen) = tail(&[b"one\r\ntw", b"o\nthr"]);
        assert_eq!(lines, ["one", "two", "thr"]);
        assert_eq!(seen, ["one", "two"]);
    }

    #[test]
    fn old_lines_are_forgotten() {
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let (lines, seen) = tail(&[text.as_bytes()]);
        assert_eq!(seen.len(), 100);
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[0], "line 36");
    }

    #[test]
    fn long_lines_are_cut_and_the_whole_is_bounded() {
        let mut text = vec![b'x'; 1 << 20];
        text.push(b'\n');
        let many: Vec<&[u8]> = (0..40).map(|_| text.as_slice()).collect();
        let (lines, _) = tail(&many);
        assert!(lines[0].len() <= LINE + '…'.len_utf8());
        assert!(lines[0].ends_with('…'));
        assert!(lines.iter().map(String::len).sum::<usize>() <= BYTES);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_hurt() {
        let (lines, _) = tail(&[b"caf\xE9\n"]);
        assert_eq!(lines, ["caf\u{FFFD}"]);
    }
}
