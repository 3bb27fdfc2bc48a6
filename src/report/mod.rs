//! Reports of a run: text for people, JSON for programs.
//!
//! Owns: stdout and stderr while scripts run, [`record::Record`], and every report made of it. May use: `event`,
//! `diagnostic`, `source`, `sensitive`, `json`. Must not: know the engine or a session, or decide what happened.

pub mod json;
mod mask;
pub mod out;
mod progress;
pub mod record;
pub mod text;
mod text_parts;

#[cfg(test)]
mod sample;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use out::Out;
use progress::Progress;
use record::Record;
use text::{Look, Text};

use crate::diagnostic::Diagnostic;
use crate::event::{Event, Sink};
use crate::sensitive::Masker;

/// What is reported, and where it goes.
#[derive(Debug)]
pub struct Setup {
    /// The text for people.
    pub look: Look,
    /// Colour usage and configuration errors.
    pub errors_color: bool,
    /// Takes it: stdout, or stderr where stdout carries a document.
    pub talk: Out,
    /// Takes usage and configuration errors.
    pub errors: Out,
    /// Takes the JSON document, where one is wanted.
    pub json: Option<Out>,
    /// Shows what runs, on stderr; only right for a terminal.
    pub live: bool,
}

/// Takes the events of a run and reports them. Everything that leaves is masked.
#[derive(Debug)]
pub struct Reporter {
    masker: Arc<Masker>,
    started: Instant,
    progress: Option<Progress>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    text: Text,
    talk: Out,
    errors: Out,
    errors_color: bool,
    json: Option<(Record, Out)>,
}

impl Reporter {
    /// Starts reporting.
    pub fn new(setup: Setup, masker: Arc<Masker>) -> Self {
        Self {
            started: Instant::now(),
            progress: setup.live.then(|| Progress::start(masker.clone())),
            inner: Mutex::new(Inner {
                text: Text::new(setup.look, masker.clone()),
                talk: setup.talk,
                errors: setup.errors,
                errors_color: setup.errors_color,
                json: setup.json.map(|out| (Record::default(), out)),
            }),
            masker,
        }
    }

    /// Says that several scripts will run.
    pub fn many(&self) {
        self.inner().text.many();
    }

    /// Reports a problem that belongs to no script: usage or configuration.
    pub fn problem(&self, problem: &Diagnostic) {
        self.note(problem);
        let mut inner = self.inner();
        let color = inner.errors_color;
        let picture = inner.text.drawn(problem, color);
        let masked = self.masker.mask(&picture);
        self.clear();
        inner.errors.write(&masked);
    }

    /// Takes a problem that was shown already into the document.
    pub fn note(&self, problem: &Diagnostic) {
        if let Some((record, _)) = &mut self.inner().json {
            record.problems.push(problem.clone());
        }
    }

    /// Writes text that is neither a test's nor a command's, such as a list of tests, as it is but masked.
    pub fn say(&self, text: &str) {
        let masked = self.masker.mask(text);
        self.clear();
        self.inner().talk.write(&masked);
    }

    /// Runs `work`, which talks to the person at the terminal, undisturbed.
    pub fn pause<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.progress {
            Some(progress) => progress.pause(work),
            None => work(),
        }
    }

    /// Number of warnings and of broken MUST rules so far.
    pub fn doubts(&self) -> usize {
        self.inner().text.doubts()
    }

    /// Ends the report of a run that exits with `exit_code`.
    pub fn finish(&self, exit_code: u8) {
        let duration = self.started.elapsed();
        let mut inner = self.inner();
        self.clear();
        let summary = inner.text.summary(duration);
        let masked = self.masker.mask(&summary);
        inner.talk.write(&masked);
        if let Some((record, out)) = &mut inner.json {
            out.write(&json::document(record, exit_code, duration, &self.masker));
        }
    }

    fn clear(&self) {
        if let Some(progress) = &self.progress {
            progress.clear();
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Reporter {
    fn emit(&self, event: &Event) {
        let mut inner = self.inner();
        if let Some((record, _)) = &mut inner.json {
            record.fold(event, &self.masker);
        }
        let text = inner.text.event(event);
        if let Some(progress) = &self.progress {
            progress.observe(event);
        }
        if !text.is_empty() {
            let masked = self.masker.mask(&text);
            self.clear();
            inner.talk.write(&masked);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, PoisonError};

    use super::out::Out;
    use super::text::Look;
    use super::{Reporter, Setup, sample};
    use crate::diagnostic::Diagnostic;
    use crate::event::Sink;
    use crate::sensitive::Masker;

    #[test]
    fn stdout_carries_one_document_and_the_rest_goes_elsewhere() {
        let (talk, talked) = Out::memory();
        let (errors, complained) = Out::memory();
        let (json, document) = Out::memory();
        let look = Look { color: false, width: 100, verbosity: 2, many: false };
        let masker = Arc::new(Masker::new());
        masker.add("Hello, Bob").expect("long enough");
        let reporter =
            Reporter::new(Setup { look, talk, errors, errors_color: false, json: Some(json), live: false }, masker);
        reporter.problem(&Diagnostic::warning("mcp::config::unknown_key", "`x` is no key"));
        sample::run().iter().for_each(|event| reporter.emit(event));
        assert_eq!(reporter.doubts(), 1);
        reporter.finish(1);
        let text = |memory: &std::sync::Mutex<String>| memory.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let document: serde_json::Value = serde_json::from_str(&text(&document)).expect("one document");
        assert_eq!((&document["executed"], &document["failed"], &document["noise"]), (&6.into(), &1.into(), &2.into()));
        assert_eq!(document["warnings"][0]["error"], "`x` is no key");
        assert!(text(&talked).contains("✓ adds") && text(&complained).contains("`x` is no key"));
        assert!(!text(&talked).contains("Hello, Bob") && !document.to_string().contains("Hello, Bob"));
    }
}
