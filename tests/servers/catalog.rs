//! Owns what is known of the servers: which there are, what each speaks, and how `install-servers` says they start.
//! May use the standard library only. Must not start a server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The revisions of the handshake era, oldest first.
const OLD: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision without a handshake.
pub const NEW: &str = "2026-07-28";

/// How a server is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Stdio,
    Http,
    Sse,
}

impl How {
    pub fn parse(word: &str) -> Option<How> {
        [How::Stdio, How::Http, How::Sse].into_iter().find(|how| how.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            How::Stdio => "stdio",
            How::Http => "http",
            How::Sse => "sse",
        }
    }
}

/// A server as `README.md` beside this file describes it.
pub struct Known {
    pub name: &'static str,
    /// The part of `install-servers` that brings it.
    pub part: &'static str,
    pub how: &'static [How],
    /// Its newest revision of the handshake era, or none.
    newest_old: Option<&'static str>,
    /// Whether it speaks 2026-07-28 over stdio and Streamable HTTP; over HTTP+SSE no client asks for that.
    new: bool,
}

const ALL: &[How] = &[How::Stdio, How::Http, How::Sse];
const LATEST: Option<&str> = Some("2025-11-25");

const fn known(
    name: &'static str,
    part: &'static str,
    how: &'static [How],
    newest_old: Option<&'static str>,
    new: bool,
) -> Known {
    Known { name, part, how, newest_old, new }
}

/// Every server that `install-servers` installs for the tests.
pub const SERVERS: &[Known] = &[
    known("everything", "npm", ALL, LATEST, false),
    known("memory", "npm", &[How::Stdio], LATEST, false),
    known("filesystem", "npm", &[How::Stdio], LATEST, false),
    known("thinking", "npm", &[How::Stdio], LATEST, false),
    known("old-2024-11-05", "old", &[How::Stdio, How::Sse], Some("2024-11-05"), false),
    known("old-2025-03-26", "old", ALL, Some("2025-03-26"), false),
    known("old-2025-06-18", "old", ALL, Some("2025-06-18"), false),
    known("ts2", "ts2", &[How::Stdio, How::Http], LATEST, true),
    known("ts2-modern", "ts2", &[How::Stdio, How::Http], None, true),
    known("py1", "py", ALL, LATEST, false),
    known("py1-json", "py", &[How::Http], LATEST, false),
    known("py2", "py", ALL, LATEST, true),
    known("fastmcp3", "fastmcp", ALL, LATEST, false),
    known("fastmcp4", "fastmcp", ALL, LATEST, true),
    known("time", "pyservers", &[How::Stdio], LATEST, true),
    known("git", "pyservers", &[How::Stdio], LATEST, true),
    known("fetch", "pyservers", &[How::Stdio], LATEST, true),
    known("sqlite", "pyservers", &[How::Stdio], LATEST, false),
    known("broken", "pyservers", &[How::Stdio], None, false),
    known("rmcp", "rmcp", &[How::Stdio, How::Http], LATEST, true),
    known("go", "go", ALL, LATEST, true),
    known("go-sessions", "go", &[How::Http], LATEST, false),
];

impl Known {
    /// The revisions that it speaks over this transport, oldest first.
    pub fn revisions(&self, how: How) -> Vec<&'static str> {
        let old = OLD.into_iter().filter(|revision| self.newest_old.is_some_and(|newest| *revision <= newest));
        old.chain((self.new && how != How::Sse).then_some(NEW)).collect()
    }

    /// One revision of each era that it speaks: the newest.
    pub fn eras(&self, how: How) -> Vec<&'static str> {
        self.revisions(how)
            .into_iter()
            .filter(|revision| *revision == NEW || Some(*revision) == self.newest_old)
            .collect()
    }
}

/// How one server starts. Words may be `PORT`, and may hold `FOLDER`; so may the values of `env`.
#[derive(Clone)]
pub struct Start {
    pub env: Vec<(String, String)>,
    pub words: Vec<String>,
}

/// What `install-servers --list` printed.
#[derive(Default)]
pub struct Installed {
    rows: HashMap<(String, String), Start>,
    skipped: HashMap<String, String>,
}

impl Installed {
    /// Asks `install-servers` what is in the folder.
    pub fn read(folder: &Path) -> Result<Installed, String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/install-servers");
        let out = Command::new("bash").arg(script).arg(folder).arg("--list").output().map_err(|why| why.to_string())?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned());
        }
        let mut found = Installed::default();
        for line in String::from_utf8_lossy(&out.stdout).lines() {
            found.line(line)?;
        }
        Ok(found)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(skipped) = line.strip_prefix("# skipped ") {
            let (part, why) = skipped.split_once(": ").unwrap_or((skipped, "not installed"));
            self.skipped.insert(part.to_owned(), why.to_owned());
        } else if !line.starts_with('#') {
            let mut words = shell_words(line).into_iter();
            let (Some(name), Some(how)) = (words.next(), words.next()) else {
                return Err(format!("not a row: {line}"));
            };
            let mut words: Vec<String> = words.collect();
            let from = words.iter().position(|word| !word.contains('=')).unwrap_or(0);
            let env = words.drain(..from).filter_map(|word| word.split_once('=').map(|(k, v)| (k.into(), v.into())));
            let env = env.collect();
            self.rows.insert((name, how), Start { env, words });
        }
        Ok(())
    }

    /// How the server starts, or why it is not there.
    pub fn start(&self, server: &Known, how: How) -> Result<Start, String> {
        match self.rows.get(&(server.name.to_owned(), how.word().to_owned())) {
            Some(start) => Ok(start.clone()),
            None => Err(self.skipped.get(server.part).cloned().unwrap_or_else(|| "not installed".to_owned())),
        }
    }

    /// Rows that [`SERVERS`] says nothing about: they would never be tested.
    pub fn unknown(&self) -> Vec<String> {
        let listed = |(name, how): &(String, String)| {
            how == "tool"
                || SERVERS.iter().any(|s| s.name == name && How::parse(how).is_some_and(|how| s.how.contains(&how)))
        };
        self.rows.keys().filter(|row| !listed(row)).map(|(name, how)| format!("{name} {how}")).collect()
    }
}

/// Splits at white space; single quotes hold a word together.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The folder with the servers: `MCP_TESTER_SERVERS`, else `.servers` in the repository.
pub fn folder() -> PathBuf {
    match std::env::var_os("MCP_TESTER_SERVERS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".servers"),
    }
}
