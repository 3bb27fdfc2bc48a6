//! What a command may touch: the session, variables, the last response, and ports to the outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::last::Last;
use super::request::Current;
use super::vars::{Preset, Vars};
use crate::event::{Event, Sink};
use crate::sensitive::{Masker, Sensitive};
use crate::session::Session;
use crate::session::target::Target;

/// Reads and writes files for a script.
pub trait Files: Send + Sync {
    /// The bytes of a file.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String>;
    /// The text of a file.
    ///
    /// # Errors
    /// Why it cannot be read or is no UTF-8, in words.
    fn read_text(&self, path: &Path) -> Result<String, String>;
    /// True where a file or folder of that path exists.
    fn exists(&self, path: &Path) -> bool;
    /// The path that two names of one file share.
    fn canonical(&self, path: &Path) -> PathBuf;
}

/// The environment variables.
pub trait Environment: Send + Sync {
    /// The value of a variable, where it is set to UTF-8 text.
    fn var(&self, name: &str) -> Option<String>;
}

/// Asks the person who runs the script.
pub trait Prompt: Send + Sync {
    /// Shows `prompt` and reads one line for `variable`.
    ///
    /// # Errors
    /// Why nothing can be read, in words that name the option to add.
    fn ask(&self, prompt: &str, variable: &str) -> Result<String, String>;
}

/// Tells a run to stop; clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    set: AtomicBool,
    wake: Notify,
    why: std::sync::Mutex<Option<String>>,
}

impl Stop {
    /// Stops the run; the first reason is kept.
    pub fn stop(&self, why: &str) {
        if let Ok(mut reason) = self.0.why.lock() {
            reason.get_or_insert_with(|| why.to_owned());
        }
        self.0.set.store(true, Ordering::SeqCst);
        self.0.wake.notify_waiters();
    }

    /// Why the run was stopped, if it was.
    pub fn reason(&self) -> Option<String> {
        if !self.0.set.load(Ordering::SeqCst) {
            return None;
        }
        Some(self.0.why.lock().ok().and_then(|why| why.clone()).unwrap_or_else(|| "interrupted".into()))
    }

    /// Returns once the run was stopped.
    pub async fn stopped(&self) {
        loop {
            let woken = self.0.wake.notified();
            if self.0.set.load(Ordering::SeqCst) {
                return;
            }
            woken.await;
        }
    }
}

/// What a run is given.
#[derive(Clone)]
pub struct Settings {
    /// The server; none where the command line names none.
    pub target: Option<Target>,
    /// Variables from outside, weakest first.
    pub presets: Vec<Preset>,
    /// Masks secrets; `secret` adds to it.
    pub masker: Arc<Masker>,
    /// Takes events.
    pub sink: Arc<dyn Sink>,
    /// Reads files.
    pub files: Arc<dyn Files>,
    /// Reads the environment.
    pub environment: Arc<dyn Environment>,
    /// Asks the person.
    pub prompt: Arc<dyn Prompt>,
    /// Stop at the first failure.
    pub fail_fast: bool,
    /// Findings that break a MUST, and warnings, fail the run.
    pub strict: bool,
    /// Longest time for one script.
    pub max_time: Duration,
    /// Events carry answers (`-v`).
    pub answers: bool,
    /// Events carry every frame (`-vv`).
    pub frames: bool,
    /// Only tests it accepts run; all where none.
    pub filter: Option<Filter>,
    /// Stops the run.
    pub stop: Stop,
}

/// Says whether the test of this name with these tags runs.
pub type TestFilter = dyn Fn(&str, &[String]) -> bool + Send + Sync;

/// Chooses tests by name and tags.
#[derive(Clone)]
pub struct Filter(pub Arc<TestFilter>);

/// A request that failed, for `assert_error_code`.
#[derive(Clone, Debug)]
pub struct FailedRequest {
    /// The line that asked.
    pub line: u32,
    /// The JSON-RPC code, where the server sent one.
    pub code: Option<i64>,
    /// What failed, in words.
    pub what: String,
}

/// Options that prefixes set for the next request.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Longest silence.
    pub timeout: Option<Duration>,
    /// Headers to add; an empty value removes.
    pub headers: Vec<(String, Sensitive<String>)>,
}

/// What a command may touch.
pub struct Cx {
    /// What the run was given.
    pub settings: Settings,
    /// The variables.
    pub vars: Vars,
    /// The last response.
    pub last: Option<Last>,
    /// The last failed request of the session.
    pub failed: Option<FailedRequest>,
    /// Set by prefixes for the next request.
    pub call: CallOptions,
    /// The folder that paths in the script start from.
    pub folder: PathBuf,
    /// The line that runs.
    pub line: u32,
    /// What the line that runs looked at, for reports.
    pub path: Option<String>,
    /// True while the command stands behind `not`.
    pub negated: bool,
    pub(super) link: Link,
    pub(super) tools_told: bool,
    pub(super) current: Current,
}

/// The state of the connection.
#[derive(Default)]
pub(super) enum Link {
    /// Not needed yet.
    #[default]
    Closed,
    /// Open.
    Open(Arc<Session>),
    /// It could not be opened, or was lost, on this line.
    Lost {
        /// The line.
        line: u32,
        /// What happened, in a few words.
        what: &'static str,
        /// The session, where there was one: it still knows its findings and its stderr.
        session: Option<Arc<Session>>,
    },
}

impl Cx {
    /// A fresh context.
    pub fn new(settings: Settings, folder: PathBuf) -> Self {
        let vars = Vars::new(&settings.presets);
        Self {
            settings,
            vars,
            last: None,
            failed: None,
            call: CallOptions::default(),
            folder,
            line: 0,
            path: None,
            negated: false,
            link: Link::Closed,
            tools_told: false,
            current: Current::default(),
        }
    }

    /// Emits an event.
    pub fn emit(&self, event: &Event) {
        self.settings.sink.emit(event);
    }

    /// Prints text of the script.
    pub fn print(&self, text: impl Into<String>) {
        self.emit(&Event::Output { text: Sensitive::new(text.into()) });
    }

    /// The session, where one was opened, also after it was lost.
    pub fn session_if_open(&self) -> Option<Arc<Session>> {
        match &self.link {
            Link::Open(session) => Some(session.clone()),
            Link::Lost { session, .. } => session.clone(),
            Link::Closed => None,
        }
    }
}
