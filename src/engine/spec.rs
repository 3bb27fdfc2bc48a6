//! How a command is declared: name, documentation, forms, and what runs it.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;

use super::args::{Args, Argument, FromDatum};
use super::cx::Cx;
use super::datum::{JsonOrFile, Place};
use super::outcome::{Fault, Outcome};
use crate::json::{Json, Number, Raw};

/// What a command's function returns while it waits for the server.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Fault>> + 'a>>;

/// One command: the only place where its name, signature and documentation stand.
#[derive(Debug)]
pub struct CommandSpec {
    /// The word that starts the line.
    pub name: &'static str,
    /// Chapter of the reference.
    pub group: Group,
    /// One sentence, present tense.
    pub summary: &'static str,
    /// More, in plain sentences; may be empty.
    pub details: &'static str,
    /// The shapes it takes; chosen by the number of words, then by what the words look like.
    pub forms: &'static [Form],
    /// A line or a few that run against the demo server.
    pub example: &'static str,
    /// What it does.
    pub role: Role,
}

/// Chapters of the reference, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Printing.
    Output,
    /// Calling tools.
    Tools,
    /// Lists, resources, prompts.
    Lists,
    /// The protocol itself.
    Protocol,
    /// Variables.
    Variables,
    /// Words in front of another command.
    Prefixes,
    /// Assertions.
    Assertions,
    /// Test cases, files, conditions.
    Structure,
}

impl Group {
    /// The chapter's heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Output => "Output",
            Self::Tools => "Tools",
            Self::Lists => "Resources, prompts and lists",
            Self::Protocol => "The protocol itself",
            Self::Variables => "Variables",
            Self::Prefixes => "Prefixes",
            Self::Assertions => "Assertions",
            Self::Structure => "Structure",
        }
    }
}

/// What a command does when its line is reached.
pub enum Role {
    /// Talks to the server: it replaces the last response.
    Request(for<'a> fn(&'a mut Cx, &'a Args<'a>) -> Running<'a>),
    /// Waits, but asks the server nothing.
    Wait(for<'a> fn(&'a mut Cx, &'a Args<'a>) -> Running<'a>),
    /// Does something at once.
    Act(fn(&mut Cx, &Args<'_>) -> Result<Outcome, Fault>),
    /// Checks something at once; `not` and `retry` know it.
    Assert(fn(&mut Cx, &Args<'_>) -> Result<Outcome, Fault>),
    /// Takes a value out of the last response; `retry` knows it.
    Store(fn(&mut Cx, &Args<'_>) -> Result<Outcome, Fault>),
    /// Stands in front of another command.
    Prefix(PrefixKind),
    /// Shapes the script while it is lowered.
    Structure(StructureKind),
}

impl std::fmt::Debug for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Request(_) => "Request",
            Self::Wait(_) => "Wait",
            Self::Act(_) => "Act",
            Self::Assert(_) => "Assert",
            Self::Store(_) => "Store",
            Self::Prefix(_) => "Prefix",
            Self::Structure(_) => "Structure",
        })
    }
}

/// The prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixKind {
    /// Turns an expected failure into success.
    ExpectError,
    /// Turns an assertion around.
    Not,
    /// Limits a request.
    Timeout,
    /// Tries again.
    Retry,
    /// Runs several times.
    Repeat,
    /// Adds or removes an HTTP header.
    Header,
}

/// The words that shape a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructureKind {
    /// Starts a test case.
    Test,
    /// What follows always runs.
    Finally,
    /// Ends a test case.
    End,
    /// Brings in another file.
    Include,
}

/// One shape of a command.
#[derive(Debug)]
pub struct Form {
    /// Its parameters, in order; named ones anywhere.
    pub slots: &'static [Slot],
    /// True where it looks at the last response: it is skipped after a request that failed unexpectedly.
    pub reads_last: bool,
}

impl Form {
    /// A form that stands on its own.
    pub const fn new(slots: &'static [Slot]) -> Self {
        Self { slots, reads_last: false }
    }

    /// A form that looks at the last response.
    pub const fn on_last(slots: &'static [Slot]) -> Self {
        Self { slots, reads_last: true }
    }

    /// True where words of the shape `name:value` mean named arguments.
    pub fn takes_names(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.arity, Arity::Named) || slot.kind == Kind::Argument)
    }

    /// How the form is written, such as `assert_equals <left> <right>`.
    pub fn signature(&self, command: &str) -> String {
        let mut text = command.to_owned();
        for slot in self.slots {
            text.push(' ');
            text.push_str(&match (slot.kind, slot.arity) {
                (Kind::Command, _) => "<command>".to_owned(),
                (Kind::Argument, _) => "[value | name:value]...".to_owned(),
                (_, Arity::Required) => format!("<{}>", slot.name),
                (_, Arity::Optional) => format!("[{}]", slot.name),
                (_, Arity::Rest) => format!("[{}]...", slot.name),
                (_, Arity::Named) => format!("[{}:<value>]", slot.name),
            });
        }
        text
    }
}

/// One parameter of a form.
#[derive(Debug)]
pub struct Slot {
    /// Its name.
    pub name: &'static str,
    /// What it means, units and default included.
    pub doc: &'static str,
    /// What words it takes.
    pub kind: Kind,
    /// How often it stands there.
    pub arity: Arity,
}

/// How often a parameter stands in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Once.
    Required,
    /// Once or not at all.
    Optional,
    /// All words that are left.
    Rest,
    /// Anywhere, as `name:value`.
    Named,
}

/// What a word must be. The kind's reader runs on literals while lowering and on substituted values at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A JSON value: a bare word that reads as JSON is it, quoted text is a string unless it is an object or array.
    Value,
    /// JSON text.
    Json,
    /// JSON text, or the path of a file that holds it.
    JsonOrFile,
    /// A decimal number.
    Number,
    /// A whole number from 0.
    Count,
    /// A duration such as `500ms`; a bare number is milliseconds.
    Duration,
    /// A place in a JSON value.
    Path,
    /// A regular expression.
    Regex,
    /// The name of a variable that this line sets.
    NewVariable,
    /// The name of a variable that exists.
    Variable,
    /// The name of an environment variable.
    EnvName,
    /// A tool's name.
    Tool,
    /// A prompt's name.
    Prompt,
    /// A resource's URI.
    Uri,
    /// A method of the protocol.
    Method,
    /// The path of a file, from the script's folder.
    File,
    /// One of a fixed list.
    Choice(&'static [&'static str]),
    /// An argument of a tool or prompt, by position or as `name:value`.
    Argument,
    /// The rest of the line: another command.
    Command,
}

impl Kind {
    /// What to call such a word in messages.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Value => "a value",
            Self::Json => "JSON",
            Self::JsonOrFile => "JSON or a file's path",
            Self::Number => "a number",
            Self::Count => "a whole number",
            Self::Duration => "a duration",
            Self::Path => "a path",
            Self::Regex => "a regular expression",
            Self::NewVariable | Self::Variable => "a variable's name",
            Self::EnvName => "an environment variable's name",
            Self::Tool => "a tool's name",
            Self::Prompt => "a prompt's name",
            Self::Uri => "a URI",
            Self::Method => "a method",
            Self::File => "a file's path",
            Self::Choice(_) => "one of the listed words",
            Self::Argument => "an argument",
            Self::Command => "a command",
        }
    }
}

/// A parameter tied to the Rust type its command reads it as, so that signature and use cannot disagree.
#[derive(Debug)]
pub struct Param<T> {
    /// Its name.
    pub name: &'static str,
    doc: &'static str,
    kind: Kind,
    reads: PhantomData<fn() -> T>,
}

impl<T: FromDatum> Param<T> {
    const fn of(kind: Kind, name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, kind, reads: PhantomData }
    }

    /// Must stand in the line.
    pub const fn required(&self) -> Slot {
        Slot { name: self.name, doc: self.doc, kind: self.kind, arity: Arity::Required }
    }

    /// May be left out.
    pub const fn optional(&self) -> Slot {
        Slot { name: self.name, doc: self.doc, kind: self.kind, arity: Arity::Optional }
    }

    /// Takes all words that are left.
    pub const fn rest(&self) -> Slot {
        Slot { name: self.name, doc: self.doc, kind: self.kind, arity: Arity::Rest }
    }

    /// Stands anywhere in the line, as `name:value`.
    pub const fn named(&self) -> Slot {
        Slot { name: self.name, doc: self.doc, kind: self.kind, arity: Arity::Named }
    }
}

impl Param<Arc<str>> {
    /// Any text.
    pub const fn text(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Text, name, doc)
    }

    /// Text of a kind that only completion and highlighting tell apart.
    pub const fn word(kind: Kind, name: &'static str, doc: &'static str) -> Self {
        Self::of(kind, name, doc)
    }
}

impl Param<Json> {
    /// A JSON value.
    pub const fn value(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Value, name, doc)
    }
}

impl Param<Raw> {
    /// JSON text.
    pub const fn json(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Json, name, doc)
    }
}

impl Param<JsonOrFile> {
    /// JSON text, or the path of a file that holds it.
    pub const fn json_or_file(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::JsonOrFile, name, doc)
    }
}

impl Param<Number> {
    /// A decimal number.
    pub const fn number(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Number, name, doc)
    }
}

impl Param<u64> {
    /// A whole number from 0.
    pub const fn count(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Count, name, doc)
    }
}

impl Param<Duration> {
    /// A duration.
    pub const fn duration(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Duration, name, doc)
    }
}

impl Param<Place> {
    /// A place in the last response.
    pub const fn place(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Path, name, doc)
    }
}

impl Param<Arc<Regex>> {
    /// A regular expression.
    pub const fn regex(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Regex, name, doc)
    }
}

impl Param<Argument> {
    /// Arguments of a tool or prompt.
    pub const fn arguments(name: &'static str, doc: &'static str) -> Self {
        Self::of(Kind::Argument, name, doc)
    }
}

/// All commands, by name.
#[derive(Debug)]
pub struct Registry {
    commands: Vec<&'static CommandSpec>,
}

impl Registry {
    /// Joins families of commands; the names must be unique, which a test checks.
    pub fn new(families: &[&'static [CommandSpec]]) -> Self {
        let mut commands: Vec<_> = families.iter().flat_map(|family| family.iter()).collect();
        commands.sort_by_key(|spec| spec.name);
        Self { commands }
    }

    /// The command of that name.
    pub fn get(&self, name: &str) -> Option<&'static CommandSpec> {
        self.commands.binary_search_by(|spec| spec.name.cmp(name)).ok().map(|at| self.commands[at])
    }

    /// All commands, by name.
    pub fn iter(&self) -> impl Iterator<Item = &'static CommandSpec> + '_ {
        self.commands.iter().copied()
    }
}
