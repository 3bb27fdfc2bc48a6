//! What a run tells the outside: plain facts, in order. Evaluation emits them; every report reads them.
//!
//! Owns: [`Event`] and [`Sink`]. May use: `source`, `sensitive`, `diagnostic`. Must not: know who listens.

use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::sensitive::Sensitive;
use crate::source::Origin;

/// Receives events as they happen. Must return quickly and never fail the run.
pub trait Sink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: &Event);
}

/// How a step, a test or a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what was expected.
    Passed,
    /// The server or an assertion said no.
    Failed,
    /// The script itself is wrong; found while running.
    Broken,
    /// It did not run, for a reason that is given.
    Skipped,
}

/// One fact of a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// A script begins; `steps` counts its command lines.
    ScriptStarted {
        /// The file name, `-` or `-e`.
        file: Arc<str>,
        /// Number of commands it holds.
        steps: usize,
    },
    /// A script could not be run at all (syntax, unknown command, unreadable). Its diagnostics come with it.
    ScriptRefused {
        /// The file name.
        file: Arc<str>,
        /// Everything that is wrong with it.
        problems: Vec<Diagnostic>,
    },
    /// Doubtful places in a script that runs all the same.
    Warnings {
        /// The file name.
        file: Arc<str>,
        /// The warnings.
        problems: Vec<Diagnostic>,
    },
    /// A session was opened.
    Connected(Connected),
    /// Tools were listed; names in the server's order.
    ToolsListed {
        /// The session's name; the first is `main`.
        session: Arc<str>,
        /// The tool names.
        names: Vec<String>,
    },
    /// A `test` begins.
    TestStarted {
        /// Its name.
        name: Arc<str>,
        /// Its tags.
        tags: Vec<String>,
        /// Its `test` line; none for a script without `test`.
        origin: Option<Origin>,
    },
    /// A command begins.
    StepStarted(Arc<Step>),
    /// Text a command prints: `echo` and the like.
    Output {
        /// The text, unescaped.
        text: Sensitive<String>,
    },
    /// A question for the person at the terminal was answered or a wait goes on.
    Progress {
        /// What is going on, in a few words, from the server or from us.
        text: Sensitive<String>,
        /// Share done, 0 to 1, where the server says so.
        share: Option<f64>,
    },
    /// A command ended.
    StepFinished(StepResult),
    /// A `test` ended.
    TestFinished {
        /// Its name.
        name: Arc<str>,
        /// How.
        status: Status,
        /// Wall time.
        duration: Duration,
    },
    /// A script ended.
    ScriptFinished {
        /// The file name.
        file: Arc<str>,
        /// How.
        status: Status,
        /// Wall time.
        duration: Duration,
    },
    /// Something about the server or the script that is worth knowing and is no failure by itself.
    Finding(Finding),
    /// A message on the wire.
    Frame(Frame),
    /// A line the server wrote to stderr.
    Stderr {
        /// The session's name.
        session: Arc<str>,
        /// The line, unescaped.
        line: Sensitive<String>,
    },
    /// The run was interrupted (Ctrl-C, TERM) or hit `--max-time`.
    Interrupted {
        /// Why, such as `SIGINT` or `--max-time 10m`.
        why: String,
    },
}

/// A session that was opened, and how.
#[derive(Clone, Debug)]
pub struct Connected {
    /// The session's name; the first is `main`.
    pub session: Arc<str>,
    /// `stdio`, `http` or `memory`.
    pub transport: &'static str,
    /// The revision, such as `2025-11-25`.
    pub protocol: &'static str,
    /// Why this revision: forced, answered the probe, fell back.
    pub why: String,
    /// The server's name, as it says.
    pub server_name: Option<String>,
    /// The server's version, as it says.
    pub server_version: Option<String>,
    /// Time from the spawn or first request to an open session.
    pub duration: Duration,
}

/// A command that begins.
#[derive(Clone, Debug)]
pub struct Step {
    /// Counts from 0 through the script.
    pub index: usize,
    /// Where it stands.
    pub origin: Origin,
    /// The command's name.
    pub command: &'static str,
    /// The line as written.
    pub line: Sensitive<String>,
}

/// A command that ended.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// The step it belongs to.
    pub step: Arc<Step>,
    /// How.
    pub status: Status,
    /// Wall time.
    pub duration: Duration,
    /// What went wrong; for a skipped step the reason.
    pub problem: Option<Diagnostic>,
    /// JSON path an assertion looked at.
    pub path: Option<String>,
    /// The answer in short, for `-v`: what the server said, unescaped.
    pub answer: Option<Sensitive<String>>,
}

/// Something noticed.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Stable id, such as `stdio-stdout-clean`.
    pub id: &'static str,
    /// True where a MUST of the protocol is broken.
    pub must: bool,
    /// One line, unescaped; it may quote the server.
    pub message: Sensitive<String>,
    /// The session it belongs to.
    pub session: Arc<str>,
    /// The line that ran at the time.
    pub origin: Option<Origin>,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From us to the server.
    Sent,
    /// From the server to us.
    Received,
}

/// A message on the wire, exactly as it went.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The session's name.
    pub session: Arc<str>,
    /// Which way.
    pub direction: Direction,
    /// The bytes as text (invalid UTF-8 replaced), unescaped.
    pub text: Sensitive<String>,
}
