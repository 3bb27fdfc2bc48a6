//! The report for people: one line a test, failures in full, a short summary. Turns events into text; writes nothing.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use super::mask::DiagnosticMasker;
use super::record::{Counts, StderrTail};
use super::text_parts::{Findings, Servers, Skips, cut_lines, plural};
use crate::diagnostic::{self, Diagnostic, MAX_DRAWN, Severity, escape, escape_lines};
use crate::duration::show;
use crate::event::{Direction, Event, Frame, Status, Step, StepResult};
use crate::sensitive::Masker;

/// Lines of an answer that `-v` shows; `-vv` shows all.
const ANSWER_LINES: usize = 20;

/// Lines of stderr that are shown where a test failed; `-v` shows all.
const STDERR_LINES: usize = 5;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 2_000;

/// Characters of a message on the wire that are shown.
const LONGEST_FRAME: usize = 20_000;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DOUBT: Style = AnsiColor::Yellow.on_default();
const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

/// How much is shown, and how.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// With ANSI colours.
    pub color: bool,
    /// Columns that pictures of a source may take.
    pub width: usize,
    /// 0, 1 (`-v`: commands and answers) or 2 (`-vv`: messages too).
    pub verbosity: u8,
    /// Several scripts run: tests are grouped under their file.
    pub many: bool,
}

/// Turns events into text.
#[derive(Debug)]
pub struct Text {
    look: Look,
    masker: Arc<Masker>,
    diagnostics: DiagnosticMasker,
    file: Arc<str>,
    /// The file's name was printed.
    headed: bool,
    /// The running test is the whole script.
    implicit: bool,
    counts: Counts,
    tests: Counts,
    scripts: usize,
    named_tests: bool,
    refused: usize,
    drawn: usize,
    warnings: usize,
    skips: Skips,
    stderr: StderrTail,
    /// A failure of this test quoted stderr already.
    stderr_told: bool,
    findings: Findings,
    servers: Servers,
    interrupted: Option<String>,
}

impl Text {
    /// Starts a report.
    pub fn new(look: Look, masker: Arc<Masker>) -> Self {
        Self {
            look,
            masker,
            diagnostics: DiagnosticMasker::default(),
            file: "".into(),
            headed: false,
            implicit: false,
            counts: Counts::default(),
            tests: Counts::default(),
            scripts: 0,
            named_tests: false,
            refused: 0,
            drawn: 0,
            warnings: 0,
            skips: Skips::default(),
            stderr: StderrTail::default(),
            stderr_told: false,
            findings: Findings::default(),
            servers: Servers::default(),
            interrupted: None,
        }
    }

    /// Says that several scripts will run.
    pub const fn many(&mut self) {
        self.look.many = true;
    }

    /// Number of warnings, and of MUST rules that a server broke.
    pub fn doubts(&self) -> usize {
        self.warnings + self.findings.broken()
    }

    /// The text for an event; mostly none.
    pub fn event(&mut self, event: &Event) -> String {
        let mut out = String::new();
        match event {
            Event::ScriptStarted { file, .. } => {
                self.scripts += 1;
                (self.file, self.headed) = (file.clone(), false);
            }
            Event::ScriptRefused { file, problems } => self.script_refused(&mut out, file, problems),
            Event::Warnings { problems, .. } => {
                self.warnings += problems.len();
                problems.iter().for_each(|problem| self.draw(&mut out, problem));
            }
            Event::Connected(connected) => {
                let line = self.servers.add(connected, |text| self.masker.mask(text).into_owned());
                if self.look.verbosity > 0 {
                    self.line(&mut out, FAINT, &line);
                }
            }
            Event::TestStarted { origin, .. } => {
                self.stderr.clear();
                self.stderr_told = false;
                self.implicit = origin.is_none();
                self.named_tests |= origin.is_some();
                if !self.implicit {
                    self.head(&mut out);
                }
            }
            Event::StepStarted(step) if self.look.verbosity > 1 => self.step_started(&mut out, step),
            Event::StepFinished(result) => self.step_finished(&mut out, result),
            Event::Output { text } => {
                self.head(&mut out);
                out.push_str(&self.clean(text.reveal()));
                out.push('\n');
            }
            Event::TestFinished { name, status, duration } => self.test_finished(&mut out, name, *status, *duration),
            Event::ScriptFinished { .. } => self.flush_skips(&mut out),
            Event::Finding(finding) => {
                let message = self.masker.mask(finding.message.reveal());
                if self.look.verbosity > 0 {
                    self.line(&mut out, DOUBT, &format!("! {}: {message}", finding.id));
                }
                self.findings.add(finding, &message);
            }
            Event::Frame(frame) if self.look.verbosity > 1 => self.frame(&mut out, frame),
            Event::Stderr { line, .. } if self.look.verbosity > 0 => {
                self.line(&mut out, FAINT, &format!("      stderr: {}", self.masker.mask(line.reveal())));
            }
            Event::Stderr { line, .. } => self.stderr.add(&self.masker.mask(line.reveal())),
            Event::Interrupted { why } => self.interrupted = Some(why.clone()),
            Event::StepStarted(_) | Event::ToolsListed { .. } | Event::Progress { .. } | Event::Frame(_) => {}
        }
        out
    }

    /// The last lines: counts, the server, findings.
    pub fn summary(&mut self, duration: Duration) -> String {
        let mut out = String::new();
        self.flush_skips(&mut out);
        if self.drawn > MAX_DRAWN {
            let more = plural(self.drawn - MAX_DRAWN, "more problem is", "more problems are");
            self.line(&mut out, BAD, &format!("{more} not shown"));
        }
        if self.scripts + self.refused > 0 {
            out.push('\n');
            self.counted(&mut out, duration);
        }
        for line in self.servers.lines() {
            self.line(&mut out, FAINT, &line);
        }
        for line in self.findings.lines() {
            self.line(&mut out, DOUBT, &line);
        }
        if let Some(why) = &self.interrupted {
            self.line(&mut out, BAD, &format!("interrupted: {}", self.masker.mask(why)));
        }
        out
    }

    /// A problem in full, with the source line.
    pub fn drawn(&mut self, problem: &Diagnostic, color: bool) -> String {
        let masked = self.diagnostics.mask(problem, &self.masker);
        let style = diagnostic::Style { color, width: self.look.width };
        let picture = diagnostic::render(std::slice::from_ref(&*masked), &style);
        format!("{}\n\n", picture.trim_end())
    }

    /// As [`Text::drawn`]; after the first 50 problems they are only counted.
    fn draw(&mut self, out: &mut String, problem: &Diagnostic) {
        self.drawn += 1;
        if self.drawn <= MAX_DRAWN {
            out.push_str(&self.drawn(problem, self.look.color));
        }
    }

    fn counted(&self, out: &mut String, duration: Duration) {
        let mut parts = Vec::new();
        if self.refused > 0 {
            parts.push(self.paint(BAD, &format!("{} not run", plural(self.refused, "script", "scripts"))));
        }
        if self.named_tests || self.scripts > 1 {
            let total = self.tests.executed + self.tests.skipped;
            let (one, many) = if self.named_tests { ("test", "tests") } else { ("script", "scripts") };
            parts.push(self.share(self.tests, total, one, many));
        }
        if self.scripts > 0 {
            parts.push(self.share(self.counts, self.counts.executed + self.counts.skipped, "command", "commands"));
        }
        parts.push(show(Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))));
        out.push_str(&parts.join(&self.paint(FAINT, " · ")));
        out.push('\n');
    }

    /// `14 commands passed`, or `14 commands: 12 passed, 1 failed, 1 skipped`.
    fn share(&self, counts: Counts, total: usize, one: &str, many: &str) -> String {
        let what = plural(total, one, many);
        if total == 0 {
            return self.paint(DOUBT, &format!("no {many}"));
        }
        if counts.passed == total {
            return self.paint(GOOD, &format!("{what} passed"));
        }
        let mut parts = Vec::new();
        for (count, style, word) in
            [(counts.passed, GOOD, "passed"), (counts.failed, BAD, "failed"), (counts.skipped, DOUBT, "skipped")]
        {
            if count > 0 {
                parts.push(self.paint(style, &format!("{count} {word}")));
            }
        }
        format!("{what}: {}", parts.join(", "))
    }

    fn script_refused(&mut self, out: &mut String, file: &str, problems: &[Diagnostic]) {
        self.refused += 1;
        problems.iter().for_each(|problem| self.draw(out, problem));
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        let line = format!("{} not run: {}", self.clean(file), plural(errors, "error", "errors"));
        let _ = writeln!(out, "{} {line}", self.paint(BAD, "✗"));
    }

    fn head(&mut self, out: &mut String) {
        if self.look.many && !self.headed {
            self.headed = true;
            let file = self.clean(&self.file);
            let _ = writeln!(out, "{}", self.paint(STRONG, &file));
        }
    }

    fn step_started(&mut self, out: &mut String, step: &Step) {
        let text = self.first_line(step.line.reveal());
        let _ = writeln!(out, "{} {text}", self.paint(FAINT, &format!("{:>5}", step.origin.position().line)));
    }

    fn step_finished(&mut self, out: &mut String, result: &StepResult) {
        self.counts.add(result.status);
        let verbose = self.look.verbosity > 0;
        if result.status != Status::Skipped {
            self.flush_skips(out);
        }
        if verbose && result.status != Status::Skipped {
            let duration = self.paint(FAINT, &show(result.duration));
            if self.look.verbosity == 1 {
                let line = self.paint(FAINT, &format!("{:>5}", result.step.origin.position().line));
                let text = self.first_line(result.step.line.reveal());
                let _ = writeln!(out, "{line} {text}  {duration}");
            }
            if let Some(answer) = &result.answer {
                self.answer(out, answer.reveal());
            }
            if self.look.verbosity > 1 {
                let (style, word) = mark(result.status);
                let _ = writeln!(out, "      {} {duration}", self.paint(style, word));
            }
        }
        match result.status {
            Status::Passed => {}
            Status::Skipped => {
                let reason = result.problem.as_ref().map_or("skipped", |problem| problem.title.as_str());
                if let Some(done) = self.skips.add(result.step.origin.position().line, &self.masker.mask(reason)) {
                    self.line(out, FAINT, &done);
                }
            }
            Status::Failed | Status::Broken => match &result.problem {
                Some(problem) => {
                    self.stderr_told |= problem.detail.as_ref().is_some_and(|detail| detail.contains("stderr"));
                    self.draw(out, problem);
                }
                None => self.draw(
                    out,
                    &Diagnostic::error("mcp::run::failed", "this command failed").at_origin(&result.step.origin, ""),
                ),
            },
        }
    }

    fn answer(&self, out: &mut String, answer: &str) {
        let most = if self.look.verbosity > 1 { usize::MAX } else { ANSWER_LINES };
        let (lines, more) = cut_lines(answer, most);
        for line in lines {
            let _ = writeln!(out, "      {}", self.clip(line, LONGEST_LINE));
        }
        if more > 0 {
            self.line(out, FAINT, &format!("      … {}; -vv shows all", plural(more, "more line", "more lines")));
        }
    }

    fn test_finished(&mut self, out: &mut String, name: &str, status: Status, duration: Duration) {
        self.flush_skips(out);
        self.tests.add(status);
        let label = if self.implicit { self.clean(&self.file) } else { self.clean(name) };
        if matches!(status, Status::Failed | Status::Broken) && !self.stderr_told {
            let lines: Vec<_> = self.stderr.lines().collect();
            for line in lines.iter().skip(lines.len().saturating_sub(STDERR_LINES)) {
                self.line(out, FAINT, &format!("stderr: {line}"));
            }
        }
        let (style, word) = mark(status);
        let indent = if self.look.many && !self.implicit { "  " } else { "" };
        let time = if status == Status::Skipped { "skipped".to_owned() } else { show(duration) };
        let _ = writeln!(out, "{indent}{} {label}  {}", self.paint(style, word), self.paint(FAINT, &time));
    }

    fn frame(&self, out: &mut String, frame: &Frame) {
        let arrow = match frame.direction {
            Direction::Sent => "→",
            Direction::Received => "←",
        };
        let session = if &*frame.session == "main" { String::new() } else { format!("{} ", frame.session) };
        let text = self.clip(frame.text.reveal(), LONGEST_FRAME);
        let _ = writeln!(out, "{}", self.paint(FAINT, &format!("      {session}{arrow} {text}")));
    }

    fn flush_skips(&mut self, out: &mut String) {
        if let Some(line) = self.skips.flush() {
            self.line(out, FAINT, &line);
        }
    }

    /// One line, escaped; masked by the caller.
    fn line(&self, out: &mut String, style: Style, text: &str) {
        let _ = writeln!(out, "{}", self.paint(style, &escape(text)));
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.look.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Masked and escaped; line ends and tabs stay.
    fn clean(&self, text: &str) -> String {
        escape_lines(&self.masker.mask(text)).into_owned()
    }

    fn first_line(&self, text: &str) -> String {
        let masked = self.masker.mask(text);
        let line = masked.lines().next().unwrap_or_default();
        format!(
            "{}{}",
            escape(&self.clip(line, LONGEST_LINE)),
            if line.len() < masked.trim_end().len() { " …" } else { "" }
        )
    }

    /// Masked, cut and escaped, in this order: half a secret is not recognised.
    fn clip(&self, text: &str, most: usize) -> String {
        let masked = self.masker.mask(text);
        match masked.char_indices().nth(most) {
            Some((end, _)) => {
                let more = masked[end..].chars().count();
                format!("{} … {}", escape(&masked[..end]), plural(more, "more character", "more characters"))
            }
            None => escape(&masked).into_owned(),
        }
    }
}

const fn mark(status: Status) -> (Style, &'static str) {
    match status {
        Status::Passed => (GOOD, "✓"),
        Status::Failed | Status::Broken => (BAD, "✗"),
        Status::Skipped => (DOUBT, "○"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Look, Text};
    use crate::diagnostic::MAX_DRAWN;
    use crate::event::Event;
    use crate::report::sample;
    use crate::sensitive::{Masker, Sensitive};

    fn report(events: &[Event], look: Look, masker: Masker) -> String {
        let mut text = Text::new(look, Arc::new(masker));
        let mut out: String = events.iter().map(|event| text.event(event)).collect();
        out.push_str(&text.summary(Duration::from_millis(420)));
        out
    }

    fn look(verbosity: u8) -> Look {
        Look { color: false, width: 100, verbosity, many: false }
    }

    #[test]
    fn a_run_in_short() {
        insta::assert_snapshot!(report(&sample::run(), look(0), Masker::new()));
    }

    #[test]
    fn a_run_at_length() {
        insta::assert_snapshot!(report(&sample::run(), look(1), Masker::new()));
        insta::assert_snapshot!(report(&sample::run(), look(2), Masker::new()));
    }

    #[test]
    fn several_scripts() {
        let events = [sample::refused(), sample::run(), sample::plain()].concat();
        insta::assert_snapshot!(report(&events, Look { many: true, ..look(0) }, Masker::new()));
    }

    #[test]
    fn colours_only_where_wanted() {
        let events = [sample::refused(), sample::run()].concat();
        assert!(!report(&events, look(2), Masker::new()).contains('\u{1b}'));
        assert!(report(&events, Look { color: true, ..look(0) }, Masker::new()).contains("\u{1b}[32m✓\u{1b}[0m"));
    }

    #[test]
    fn server_text_is_escaped_and_secrets_are_masked() {
        let masker = Masker::new();
        masker.add("sekret-1").expect("long enough");
        let events = [Event::Output { text: Sensitive::new("a\u{1b}[31m sekret-1\n\tb".into()) }];
        let text = report(&events, look(0), masker);
        assert!(!text.contains('\u{1b}') && text.contains("***\n\tb\n"), "{text:?}");
    }

    #[test]
    fn only_so_many_failures_are_drawn() {
        let failed = sample::run()
            .into_iter()
            .find(|event| matches!(event, Event::StepFinished(result) if result.problem.is_some()));
        let events: Vec<_> = std::iter::repeat_n(failed.expect("a failure"), MAX_DRAWN + 3).collect();
        let text = report(&events, look(0), Masker::new());
        assert!(text.contains("3 more problems are not shown"), "{text}");
    }
}
