//! What a script means, ready to run. JSON suites lower to the same.

use std::path::PathBuf;
use std::sync::Arc;

use super::datum::Datum;
use super::operand::Template;
use super::spec::{CommandSpec, Form, Kind, PrefixKind, Slot};
use crate::event;
use crate::source::{Origin, Source, Span};

/// A script, lowered.
#[derive(Debug)]
pub struct Plan {
    /// The name it is reported under.
    pub file: Arc<str>,
    /// The folder that paths in it start from.
    pub folder: PathBuf,
    /// Its text.
    pub source: Arc<Source>,
    /// Loose steps and tests, in file order.
    pub items: Vec<Item>,
    /// Steps that run at the end, whatever happened.
    pub finally: Vec<Step>,
}

impl Plan {
    /// True where the script names test cases.
    pub fn has_tests(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Test(_)))
    }

    /// All steps, in file order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.items
            .iter()
            .flat_map(|item| match item {
                Item::Step(step) => std::slice::from_ref(step).iter().chain(&[]),
                Item::Test(test) => test.steps.iter().chain(&test.finally),
            })
            .chain(&self.finally)
    }
}

/// Part of a plan.
#[derive(Debug)]
pub enum Item {
    /// A step outside all tests: set-up, before the first one.
    Step(Step),
    /// A test case.
    Test(Test),
}

/// A test case.
#[derive(Debug)]
pub struct Test {
    /// Its name.
    pub name: Arc<str>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its `test` line.
    pub origin: Origin,
    /// Its steps.
    pub steps: Vec<Step>,
    /// Steps that run at its end, whatever happened.
    pub finally: Vec<Step>,
}

/// One line.
#[derive(Debug)]
pub struct Step {
    /// What reports say about it.
    pub info: Arc<event::Step>,
    /// Its line number, for messages.
    pub line: u32,
    /// What stands in front of the command, outermost first.
    pub prefixes: Vec<Prefix>,
    /// The command.
    pub op: Op,
}

/// A command with its words.
#[derive(Debug)]
pub struct Op {
    /// The command.
    pub spec: &'static CommandSpec,
    /// The form that fits the words.
    pub form: &'static Form,
    /// Its words.
    pub operands: Vec<Operand>,
    /// The command's name on the line.
    pub span: Span,
}

/// One word and the parameter it is for.
#[derive(Debug)]
pub struct Operand {
    /// The parameter.
    pub slot: &'static Slot,
    /// How the word is read.
    pub kind: Kind,
    /// The name of a named argument.
    pub name: Option<Arc<str>>,
    /// The word.
    pub template: Template,
    /// Its value, where it holds no variable.
    pub literal: Option<Datum>,
}

/// A word in front of a command, with its own words.
#[derive(Debug)]
pub struct Prefix {
    /// Which one.
    pub kind: PrefixKind,
    /// The prefix and its words.
    pub op: Op,
    /// For `expect_error`: which failures it accepts.
    pub accepts: Accepts,
    /// For `timeout`: it stands left of `retry` or `repeat` and limits all tries together.
    pub overall: bool,
}

/// What `expect_error` accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// No word: a tool error, a JSON-RPC error, invalid output, an unanswered request for input.
    Usual {
        /// The line limits the request itself, so a timeout is expected too.
        timeout: bool,
    },
    /// `tool`.
    Tool,
    /// `protocol`.
    Protocol,
    /// `timeout`.
    Timeout,
    /// `closed`.
    Closed,
    /// `any`.
    Any,
}
