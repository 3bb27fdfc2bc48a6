//! `mcp-tester commands [NAME]`: the language reference in the terminal.

use super::exit::Exit;
use super::refuse;
use super::world::Env;
use crate::commands::{reference, registry};
use crate::diagnostic::{Diagnostic, suggest};
use crate::report::out::Out;

/// Prints all commands in one line each, or one with everything.
pub fn run(name: Option<&str>, env: &Env) -> Exit {
    let Some(name) = name else {
        Out::stdout().write(&reference::overview(registry()));
        return Exit::Good;
    };
    match registry().get(name) {
        Some(spec) => {
            Out::stdout().write(&reference::plain(spec));
            Exit::Good
        }
        None => {
            let near = suggest(name, registry().iter().map(|spec| spec.name));
            let help = near.map_or_else(
                || "`mcp-tester commands` lists them".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            refuse(
                &[],
                env,
                &Diagnostic::error("mcp::usage::command", format!("there is no command `{name}`")).help(help),
                None,
            )
        }
    }
}
