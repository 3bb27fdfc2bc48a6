//! How a command ends: it passed, the server or an assertion said no, or the script itself is wrong.

use crate::source::Span;

/// The end of a command that could be carried out.
#[derive(Debug)]
pub enum Outcome {
    /// It did what it should.
    Passed,
    /// The server or an assertion said no.
    Failed(Box<Failure>),
    /// It did not run; the reason is given.
    Skipped(String),
    /// It ends the test (or script) it stands in without failing it: `skip`, an unmet `require`.
    Leave(String),
}

/// Why a command failed. `expect_error` and `not` decide by the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A tool result with `isError: true`.
    Tool,
    /// A JSON-RPC error.
    Protocol,
    /// A result that breaks the tool's `outputSchema`, or an answer that is no valid one.
    Output,
    /// A request for input without a prepared answer.
    Input,
    /// Nothing came in time.
    Timeout,
    /// The connection is gone, could not be made, or carried no MCP.
    Closed,
    /// An assertion did not hold.
    Assertion,
    /// An assertion could not be judged: its path leads nowhere, there is no response.
    Missing,
    /// A prefix was not satisfied: an error was expected and none came.
    Unmet,
}

impl FailureKind {
    /// In words, for messages.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Tool => "a tool error",
            Self::Protocol => "a JSON-RPC error",
            Self::Output => "an invalid result",
            Self::Input => "an unanswered request for input",
            Self::Timeout => "a timeout",
            Self::Closed => "a lost connection",
            Self::Assertion => "a failed assertion",
            Self::Missing => "an assertion that could not be judged",
            Self::Unmet => "an expectation that was not met",
        }
    }
}

/// A failure with everything its message needs but the line, which the runner knows.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// Stable code for the diagnostic.
    pub code: &'static str,
    /// One line.
    pub title: String,
    /// The word it is about; the whole line where none.
    pub span: Option<Span>,
    /// Words under the underline.
    pub label: String,
    /// Longer text: expected and actual, the server's words.
    pub detail: Option<String>,
    /// What to do next.
    pub help: Option<String>,
    /// The JSON path an assertion looked at.
    pub path: Option<String>,
}

impl Failure {
    /// A failure that is about the whole line.
    pub fn new(kind: FailureKind, code: &'static str, title: impl Into<String>) -> Self {
        Self { kind, code, title: title.into(), span: None, label: String::new(), detail: None, help: None, path: None }
    }

    /// A failed assertion.
    pub fn assertion(code: &'static str, title: impl Into<String>) -> Self {
        Self::new(FailureKind::Assertion, code, title)
    }

    /// Points at a word.
    #[must_use]
    pub fn at(mut self, span: Option<Span>, label: impl Into<String>) -> Self {
        self.span = span;
        self.label = label.into();
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds longer text.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Names the JSON path that was looked at.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// The script is wrong, and only running it could show: no prefix swallows this.
#[derive(Clone, Debug)]
pub enum Fault {
    /// What is wrong.
    Script(Box<Failure>),
    /// A variable the line uses was not set, because the line that should have set it failed or was skipped.
    Unset {
        /// The variable.
        name: String,
        /// The line that should have set it.
        line: u32,
    },
}

impl Fault {
    /// What is wrong with the script, about the whole line until it is pointed elsewhere.
    pub fn script(code: &'static str, title: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Missing, code, title)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Script(Box::new(failure))
    }
}
