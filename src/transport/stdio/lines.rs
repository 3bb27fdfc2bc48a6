//! Cuts a child's stdout into lines.
//!
//! Owns: framing and its tolerance (CRLF, byte order mark, blank lines, a last line without its end), the size limit.
//! May use: the transport's [`Incoming`]. Must not: read, wait, or look into a line.

use crate::transport::{Incoming, Via};

/// Room offered to one read; a pipe gives at most 64 KiB at once by default.
const READ_ROOM: usize = 64 * 1024;
/// Size of a fresh buffer.
const BUFFER: usize = 256 * 1024;
/// Lines from this size on are handed over with their buffer instead of being copied out of it.
const HAND_OVER: usize = 32 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The bytes read so far and what was noticed about them.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Where the line being read starts.
    start: usize,
    /// No line end before this point.
    scanned: usize,
    limit: usize,
    skipping: bool,
    seen_bom: bool,
    seen_crlf: bool,
    seen_blank: bool,
}

impl Lines {
    /// Lines longer than `limit` bytes are dropped with an [`Incoming::Failed`].
    pub(super) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            skipping: false,
            seen_bom: false,
            seen_crlf: false,
            seen_blank: false,
        }
    }

    /// The buffer to append to, with room for a read.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
            self.scanned = 0;
        }
        if self.buffer.capacity() - self.buffer.len() < READ_ROOM {
            if self.start > 0 {
                self.buffer.drain(..self.start);
                self.scanned -= self.start;
                self.start = 0;
            }
            if self.buffer.capacity() - self.buffer.len() < READ_ROOM {
                self.buffer.reserve(self.buffer.len().max(BUFFER));
            }
        }
        &mut self.buffer
    }

    /// Emits every complete line.
    pub(super) fn split(&mut self, emit: &mut impl FnMut(Incoming)) {
        while let Some(found) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
            let end = self.scanned + found;
            if self.skipping {
                self.skipping = false;
                self.start = end + 1;
                self.scanned = end + 1;
            } else if end - self.start > self.limit {
                self.too_long(emit);
                self.start = end + 1;
                self.scanned = end + 1;
            } else {
                self.line(end, end + 1, emit);
            }
        }
        self.scanned = self.buffer.len();
        if self.skipping {
            self.start = self.scanned;
        } else if self.scanned - self.start > self.limit {
            self.too_long(emit);
            self.skipping = true;
            self.buffer = Vec::new();
            self.start = 0;
            self.scanned = 0;
        }
    }

    /// Emits what is left at the end of the stream: a last line without its end.
    pub(super) fn finish(&mut self, emit: &mut impl FnMut(Incoming)) {
        let end = self.buffer.len();
        if !self.skipping && end > self.start {
            self.line(end, end, emit);
        }
    }

    fn too_long(&self, emit: &mut impl FnMut(Incoming)) {
        emit(Incoming::Failed {
            id: None,
            cause: format!("a line on stdout is longer than {} bytes and was dropped", self.limit),
        });
    }

    /// Emits the line that ends before `end`; the next one starts at `next`.
    fn line(&mut self, end: usize, next: usize, emit: &mut impl FnMut(Incoming)) {
        let mut from = self.start;
        let mut to = end;
        if self.buffer[from..to].ends_with(b"\r") {
            to -= 1;
            if !std::mem::replace(&mut self.seen_crlf, true) {
                emit(Incoming::Remark {
                    id: "stdio-crlf",
                    message: "stdout lines end in CR LF; accepted, but LF alone is the delimiter".to_owned(),
                });
            }
        }
        if self.buffer[from..to].starts_with(BOM) {
            from += BOM.len();
            if !std::mem::replace(&mut self.seen_bom, true) {
                emit(Incoming::Remark {
                    id: "stdio-bom",
                    message: "a stdout line starts with a byte order mark; it was stripped".to_owned(),
                });
            }
        }
        if self.buffer[from..to].iter().all(u8::is_ascii_whitespace) {
            if !std::mem::replace(&mut self.seen_blank, true) {
                emit(Incoming::Remark {
                    id: "stdio-blank-line",
                    message: "stdout holds a blank line; skipped".to_owned(),
                });
            }
            self.start = next;
            self.scanned = next;
            return;
        }
        let bytes = if to - from < HAND_OVER {
            let bytes = self.buffer[from..to].to_vec();
            self.start = next;
            self.scanned = next;
            bytes
        } else {
            self.hand_over(from, to, next)
        };
        emit(Incoming::Frame { bytes, via: Via::Pipe });
    }

    /// Gives the buffer itself away as the line; what follows it moves to a fresh buffer.
    fn hand_over(&mut self, from: usize, to: usize, next: usize) -> Vec<u8> {
        let rest = self.buffer.len() - next;
        let mut fresh = Vec::with_capacity(BUFFER.max(rest + READ_ROOM));
        fresh.extend_from_slice(&self.buffer[next..]);
        let mut line = std::mem::replace(&mut self.buffer, fresh);
        self.start = 0;
        self.scanned = 0;
        line.truncate(to);
        line.drain(..from);
        line.shrink_to_fit();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use crate::transport::Incoming;
    use proptest::prelude::{any, prop};
    use proptest::{prop_assert_eq, proptest};

    /// What came out, in short: `=text` for a frame, the id of a remark, `!` for a failure.
    fn run(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut out = Vec::new();
        let mut emit = |incoming: Incoming| {
            out.push(match incoming {
                Incoming::Frame { bytes, .. } => format!("={}", String::from_utf8_lossy(&bytes)),
                Incoming::Remark { id, .. } => id.to_owned(),
                Incoming::Failed { .. } => "!".to_owned(),
                other => panic!("unexpected {other:?}"),
            });
        };
        for chunk in chunks {
            lines.room().extend_from_slice(chunk);
            lines.split(&mut emit);
        }
        lines.finish(&mut emit);
        out
    }

    #[test]
    fn lines_are_cut_at_lf_wherever_the_reads_end() {
        assert_eq!(run(&[b"{\"a\":1}\n{\"b\"", b":2}\n", b"{}\n"], 100), ["={\"a\":1}", "={\"b\":2}", "={}"]);
    }

    #[test]
    fn crlf_bom_and_blank_lines_are_remarked_once_and_accepted() {
        assert_eq!(
            run(&[b"\xEF\xBB\xBF{}\r\n\r\n  \n\xEF\xBB\xBF[]\r\n"], 100),
            ["stdio-crlf", "stdio-bom", "={}", "stdio-blank-line", "=[]"]
        );
    }

    #[test]
    fn a_last_line_without_its_end_is_a_line() {
        assert_eq!(run(&[b"{}\n{\"half\":"], 100), ["={}", "={\"half\":"]);
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_and_the_next_one_is_read() {
        assert_eq!(run(&[b"0123456789", b"0123456789", b"01\n{}\n"], 8), ["!", "={}"]);
        assert_eq!(run(&[b"0123456789\n{}\n"], 8), ["!", "={}"]);
        assert_eq!(run(&[b"01234567\n"], 8), ["=01234567"]);
        assert_eq!(run(&[b"0123456789"], 8), ["!"]);
    }

    #[test]
    fn a_large_line_is_handed_over_whole() {
        let large = vec![b'x'; 300_000];
        let mut wire = b"{}\n".to_vec();
        wire.extend_from_slice(&large);
        wire.extend_from_slice(b"\r\n{}\n");
        let chunks: Vec<&[u8]> = wire.chunks(65_536).collect();
        let out = run(&chunks, 1 << 20);
        assert_eq!(out.len(), 4);
        assert_eq!(out[2].len(), large.len() + 1);
        assert_eq!(out[3], "={}");
    }

    proptest! {
        #[test]
        fn the_cut_does_not_depend_on_how_the_bytes_arrive(
            lines in prop::collection::vec("[a-z{}]{1,40}", 0..20), step in 1usize..50, crlf in any::<bool>()
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let wire: String = lines.iter().map(|line| format!("{line}{end}")).collect();
            let chunks: Vec<&[u8]> = wire.as_bytes().chunks(step).collect();
            let frames: Vec<String> = run(&chunks, 1000).into_iter().filter(|out| out.starts_with('=')).collect();
            let expected: Vec<String> = lines.iter().map(|line| format!("={line}")).collect();
            prop_assert_eq!(frames, expected);
        }
    }
}
