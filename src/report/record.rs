//! A run as a tree, folded from its events. Every report but the terminal's is a pure function of it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Severity};
use crate::event::{Connected, Event, Finding, Status, StepResult};
use crate::sensitive::{Masker, Sensitive};
use crate::source::Origin;

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// What made the run impossible before any script: usage, configuration.
    pub problems: Vec<Diagnostic>,
    /// The scripts, in the order they were reported.
    pub scripts: Vec<ScriptRecord>,
    /// Why it was interrupted, if it was.
    pub interrupted: Option<String>,
}

/// A script.
#[derive(Clone, Debug)]
pub struct ScriptRecord {
    /// Its file name, `-` or `-e`.
    pub file: Arc<str>,
    /// How it ended; [`Status::Broken`] where it was refused or never ended.
    pub status: Status,
    /// Wall time.
    pub duration: Duration,
    /// Why it was not run; empty for a script that was.
    pub refused: Vec<Diagnostic>,
    /// Doubtful places.
    pub warnings: Vec<Diagnostic>,
    /// Its sessions, in order.
    pub sessions: Vec<Connected>,
    /// The tools its main session listed, in the server's order.
    pub tools: Vec<String>,
    /// Steps outside tests: set-up and the file's `finally`.
    pub steps: Vec<StepResult>,
    /// Its tests.
    pub tests: Vec<TestRecord>,
    /// What was noticed.
    pub findings: Vec<Finding>,
}

/// A test.
#[derive(Clone, Debug)]
pub struct TestRecord {
    /// Its name.
    pub name: Arc<str>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its `test` line; none for a script without `test`.
    pub origin: Option<Origin>,
    /// How it ended; none while it runs.
    pub status: Option<Status>,
    /// Wall time.
    pub duration: Duration,
    /// Its steps.
    pub steps: Vec<StepResult>,
    /// The last lines that servers wrote to stderr while it ran, oldest first.
    pub stderr: StderrTail,
}

/// Lines of stderr that are kept for a test.
const STDERR_KEPT: usize = 20;

/// Characters of such a line that are kept.
const STDERR_LINE: usize = 500;

/// The last lines of a stream; bounded.
#[derive(Clone, Debug, Default)]
pub struct StderrTail(VecDeque<Sensitive<String>>);

impl StderrTail {
    /// Takes one more line, already masked.
    pub fn add(&mut self, line: &str) {
        if self.0.len() == STDERR_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Sensitive::new(line.chars().take(STDERR_LINE).collect()));
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|line| line.reveal().as_str())
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Counts of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Carried out.
    pub executed: usize,
    /// Did what was expected.
    pub passed: usize,
    /// Did not.
    pub failed: usize,
    /// Not carried out.
    pub skipped: usize,
}

impl Counts {
    /// Counts one more command.
    pub const fn add(&mut self, status: Status) {
        match status {
            Status::Passed => self.passed += 1,
            Status::Failed | Status::Broken => self.failed += 1,
            Status::Skipped => self.skipped += 1,
        }
        if !matches!(status, Status::Skipped) {
            self.executed += 1;
        }
    }
}

impl Record {
    /// Takes one event. What is kept only in part is masked first: half a secret is not recognised later.
    pub fn fold(&mut self, event: &Event, masker: &Masker) {
        match event {
            Event::ScriptStarted { file, .. } => self.scripts.push(ScriptRecord::new(file)),
            Event::ScriptRefused { file, problems } => {
                let (refused, warnings) = split(problems);
                self.scripts.push(ScriptRecord { refused, warnings, ..ScriptRecord::new(file) });
            }
            Event::Interrupted { why } => self.interrupted = Some(why.clone()),
            Event::Warnings { .. }
            | Event::Connected(_)
            | Event::ToolsListed { .. }
            | Event::TestStarted { .. }
            | Event::StepFinished(_)
            | Event::TestFinished { .. }
            | Event::ScriptFinished { .. }
            | Event::Finding(_) => {
                if let Some(script) = self.scripts.last_mut() {
                    script.fold(event);
                }
            }
            Event::Stderr { line, .. } => {
                let test = self.scripts.last_mut().and_then(|script| script.tests.last_mut());
                if let Some(test) = test.filter(|test| test.status.is_none()) {
                    test.stderr.add(&masker.mask(line.reveal()));
                }
            }
            Event::StepStarted(_) | Event::Output { .. } | Event::Progress { .. } | Event::Frame(_) => {}
        }
    }

    /// Counts of all commands.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.scripts.iter().flat_map(ScriptRecord::all_steps).for_each(|step| counts.add(step.status));
        counts
    }
}

impl ScriptRecord {
    fn new(file: &Arc<str>) -> Self {
        Self {
            file: file.clone(),
            status: Status::Broken,
            duration: Duration::ZERO,
            refused: Vec::new(),
            warnings: Vec::new(),
            sessions: Vec::new(),
            tools: Vec::new(),
            steps: Vec::new(),
            tests: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Every step: those of tests and those outside.
    pub fn all_steps(&self) -> impl Iterator<Item = &StepResult> {
        self.tests.iter().flat_map(|test| &test.steps).chain(&self.steps)
    }

    fn fold(&mut self, event: &Event) {
        let running = self.tests.last_mut().filter(|test| test.status.is_none());
        match event {
            Event::Warnings { problems, .. } => self.warnings.extend(problems.iter().cloned()),
            Event::Connected(connected) => self.sessions.push(connected.clone()),
            Event::ToolsListed { session, names } if &**session == "main" || self.tools.is_empty() => {
                self.tools.clone_from(names);
            }
            Event::TestStarted { name, tags, origin } => self.tests.push(TestRecord {
                name: name.clone(),
                tags: tags.clone(),
                origin: origin.clone(),
                status: None,
                duration: Duration::ZERO,
                steps: Vec::new(),
                stderr: StderrTail::default(),
            }),
            Event::StepFinished(result) => running.map_or(&mut self.steps, |test| &mut test.steps).push(result.clone()),
            Event::TestFinished { status, duration, .. } => {
                if let Some(test) = running {
                    (test.status, test.duration) = (Some(*status), *duration);
                }
            }
            Event::ScriptFinished { status, duration, .. } => (self.status, self.duration) = (*status, *duration),
            Event::Finding(finding) => self.findings.push(finding.clone()),
            _ => {}
        }
    }
}

/// Errors, and warnings.
pub(super) fn split(problems: &[Diagnostic]) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    problems.iter().cloned().partition(|problem| problem.severity == Severity::Error)
}
