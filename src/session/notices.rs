//! What a session keeps of what it was told: notifications, log messages, noise, stderr. All of it bounded.
//!
//! Owns: [`Log`] and [`Tail`]. May use: `json`. Must not: wait or interpret.

use std::collections::VecDeque;

use crate::json::Raw;

/// Notifications kept.
const KEPT_NOTICES: usize = 10_000;
/// Bytes kept alive by them, the newest aside.
const KEPT_BYTES: usize = 64 << 20;

/// Messages in the order they came, each with its number; the oldest go first where there are too many.
#[derive(Debug, Default)]
pub(super) struct Log {
    kept: VecDeque<Raw>,
    bytes: usize,
    dropped: u64,
}

impl Log {
    /// Keeps a message. True the first time that an older one had to go.
    pub fn push(&mut self, message: Raw) -> bool {
        self.bytes += message.held();
        self.kept.push_back(message);
        let before = self.dropped;
        while self.kept.len() > KEPT_NOTICES || (self.bytes > KEPT_BYTES && self.kept.len() > 1) {
            if let Some(old) = self.kept.pop_front() {
                self.bytes -= old.held();
                self.dropped += 1;
            }
        }
        before == 0 && self.dropped > 0
    }

    /// The number the next message gets.
    pub fn next(&self) -> u64 {
        self.dropped + self.kept.len() as u64
    }

    /// The messages from number `from` on that are still kept.
    pub fn since(&self, from: u64) -> Vec<Raw> {
        let skip = usize::try_from(from.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        self.kept.iter().skip(skip).cloned().collect()
    }
}

/// The last lines of a text stream.
#[derive(Debug)]
pub(super) struct Tail {
    kept: VecDeque<String>,
    limit: usize,
    seen: u64,
}

/// Bytes kept of one line.
const LINE: usize = 4096;

impl Tail {
    /// Keeps at most `limit` lines.
    pub const fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), limit, seen: 0 }
    }

    /// Keeps a line, cut to a readable length. True where an older one had to go for the first time.
    pub fn push(&mut self, line: &str) -> bool {
        self.seen += 1;
        self.kept.push_back(super::findings::preview(line, LINE));
        if self.kept.len() > self.limit {
            self.kept.pop_front();
        }
        self.seen == self.limit as u64 + 1
    }

    /// Lines seen.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// The lines kept, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.kept.iter().cloned().collect()
    }

    /// Forgets what was kept.
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_NOTICES, Log, Tail};
    use crate::json::Raw;

    #[test]
    fn the_oldest_messages_go_and_the_numbers_stay() {
        let mut log = Log::default();
        let told: usize =
            (0..KEPT_NOTICES + 5).filter(|n| log.push(Raw::parse(&n.to_string()).expect("number"))).count();
        assert_eq!(told, 1);
        assert_eq!(log.next(), KEPT_NOTICES as u64 + 5);
        assert_eq!(log.since(0).len(), KEPT_NOTICES);
        assert_eq!(log.since(0)[0].as_str(), "5");
        assert_eq!(log.since(log.next() - 1)[0].as_str(), (KEPT_NOTICES + 4).to_string());
        assert!(log.since(log.next()).is_empty() && log.since(u64::MAX).is_empty());
    }

    #[test]
    fn a_small_part_of_a_large_message_counts_as_what_it_keeps_alive() {
        let mut log = Log::default();
        for _ in 0..100 {
            let large = Raw::parse(&format!(r#"{{"x":"{}","params":{{}}}}"#, "x".repeat(1 << 20))).expect("json");
            log.push(large.get("params").expect("params"));
        }
        assert!((60..=64).contains(&log.since(0).len()), "{}", log.since(0).len());
    }

    #[test]
    fn a_tail_keeps_the_last_lines_cut() {
        let mut tail = Tail::new(2);
        assert_eq!(["a", "b", "c", "d"].map(|line| tail.push(line)), [false, false, true, false]);
        assert_eq!((tail.lines(), tail.seen()), (vec!["c".to_owned(), "d".to_owned()], 4));
        tail.push(&"x".repeat(10_000));
        assert!(tail.lines()[1].len() < 5_000);
    }
}
