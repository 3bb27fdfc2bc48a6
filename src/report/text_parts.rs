//! What the report for people gathers until the end: skipped lines, findings, servers.

use crate::event::{Connected, Finding};

/// Servers and findings that are listed one by one.
const MOST_LISTED: usize = 10;

/// Skipped lines that follow each other for one reason.
#[derive(Debug, Default)]
pub(super) struct Skips {
    reason: String,
    first: u32,
    last: u32,
    count: usize,
}

impl Skips {
    /// Takes one more line; gives the text for those before it where the reason changed.
    pub fn add(&mut self, line: u32, reason: &str) -> Option<String> {
        let done = if self.count > 0 && self.reason != reason { self.flush() } else { None };
        if self.count == 0 {
            (self.reason, self.first) = (reason.to_owned(), line);
        }
        (self.last, self.count) = (line, self.count + 1);
        done
    }

    /// The text for what was gathered.
    pub fn flush(&mut self) -> Option<String> {
        let skips = std::mem::take(self);
        let reason = skips.reason.strip_prefix("skipped: ").unwrap_or(&skips.reason);
        match skips.count {
            0 => None,
            1 => Some(format!("○ line {} skipped: {reason}", skips.first)),
            count => Some(format!("○ {count} commands, lines {} to {}, skipped: {reason}", skips.first, skips.last)),
        }
    }
}

/// Findings, one line a rule.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Group>);

#[derive(Debug)]
struct Group {
    id: &'static str,
    must: bool,
    first: String,
    times: usize,
}

impl Findings {
    /// Takes one more; `message` is masked.
    pub fn add(&mut self, finding: &Finding, message: &str) {
        match self.0.iter_mut().find(|group| group.id == finding.id) {
            Some(group) => group.times += 1,
            None => self.0.push(Group { id: finding.id, must: finding.must, first: message.to_owned(), times: 1 }),
        }
    }

    /// Number of MUST rules that were broken.
    pub fn broken(&self) -> usize {
        self.0.iter().filter(|group| group.must).count()
    }

    /// One line for each rule, broken MUSTs first.
    pub fn lines(&mut self) -> Vec<String> {
        self.0.sort_by_key(|group| !group.must);
        let line = |group: &Group| {
            let word = if group.must { "MUST" } else { "note" };
            let times =
                if group.times > 1 { format!(" ({} times; this is the first)", group.times) } else { String::new() };
            format!("! {word} {}: {}{times}", group.id, group.first)
        };
        let mut lines: Vec<_> = self.0.iter().take(MOST_LISTED).map(line).collect();
        if let Some(more) = self.0.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
            lines.push(format!("! {} more; --format json lists all findings", plural(more, "rule", "rules")));
        }
        lines
    }
}

/// Servers that were talked to, equal ones once.
#[derive(Debug, Default)]
pub(super) struct Servers(Vec<(String, usize)>);

impl Servers {
    /// Takes one more and gives its line.
    pub fn add(&mut self, connected: &Connected, mask: impl Fn(&str) -> String) -> String {
        let name = connected.server_name.as_deref().map_or_else(|| "a server without a name".to_owned(), &mask);
        let version =
            connected.server_version.as_deref().map_or_else(String::new, |version| format!(" {}", mask(version)));
        let line = format!(
            "{name}{version} over {}, protocol {}: {}",
            connected.transport,
            connected.protocol,
            mask(&connected.why)
        );
        match self.0.iter_mut().find(|(known, _)| *known == line) {
            Some((_, times)) => *times += 1,
            None => self.0.push((line.clone(), 1)),
        }
        line
    }

    /// One line each.
    pub fn lines(&self) -> Vec<String> {
        let line = |(line, times): &(String, usize)| match times {
            1 => line.clone(),
            times => format!("{line} ({times} sessions)"),
        };
        let mut lines: Vec<_> = self.0.iter().take(MOST_LISTED).map(line).collect();
        if let Some(more) = self.0.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
            lines.push(format!("and {}", plural(more, "more server", "more servers")));
        }
        lines
    }
}

/// `1 test`, `2 tests`.
pub(super) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first lines, and how many were left out; a last line end counts for nothing.
pub(super) fn cut_lines(text: &str, most: usize) -> (Vec<&str>, usize) {
    let mut lines = text.lines();
    let shown: Vec<_> = lines.by_ref().take(most).collect();
    (shown, lines.count())
}

#[cfg(test)]
mod tests {
    use super::{Skips, cut_lines};

    #[test]
    fn skips_for_one_reason_are_one_line() {
        let mut skips = Skips::default();
        assert_eq!(skips.add(3, "skipped: a"), None);
        assert_eq!(skips.add(5, "skipped: a"), None);
        assert_eq!(skips.add(6, "b").as_deref(), Some("○ 2 commands, lines 3 to 5, skipped: a"));
        assert_eq!(skips.flush().as_deref(), Some("○ line 6 skipped: b"));
        assert_eq!(skips.flush(), None);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(cut_lines("a\nb\nc\n", 2), (vec!["a", "b"], 1));
        assert_eq!(cut_lines("", 2), (vec![], 0));
    }
}
