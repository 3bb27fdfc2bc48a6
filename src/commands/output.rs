//! Printing.

use std::sync::Arc;

use crate::engine::args::Args;
use crate::engine::cx::Cx;
use crate::engine::outcome::{Fault, Outcome};
use crate::engine::spec::{CommandSpec, Form, Group, Param, Role};

const TEXT: Param<Arc<str>> = Param::text("text", "what to print; several words are joined by a space");

fn echo(cx: &mut Cx, args: &Args<'_>) -> Result<Outcome, Fault> {
    cx.print(args.all(&TEXT).join(" "));
    Ok(Outcome::Passed)
}

/// Commands that print.
pub static FAMILY: &[CommandSpec] = &[CommandSpec {
    name: "echo",
    group: Group::Output,
    summary: "Prints a message.",
    details: "Useful for section headers in longer scripts.",
    forms: &[Form::new(&[TEXT.rest()])],
    example: "echo \"--- Testing user creation ---\"",
    role: Role::Act(echo),
}];
