//! The command line: from words to an exit code, one file per verb.
//!
//! Owns: options, profiles, variables from outside, the ports to files, environment and terminal, signals, exit codes.
//! May use: everything. Must not: be used by anything below it.

pub mod args;
mod argv;
mod commands;
#[cfg(feature = "demo")]
mod demo;
pub mod exit;
mod interpolate;
mod load;
mod output;
pub mod profile;
mod scripts;
pub mod setup;
mod signals;
mod test;
mod vars;
mod words;
pub mod world;
mod yaml;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, Format, OutputArgs};
use argv::UnknownVerb;
use exit::Exit;
use world::Env;

use crate::diagnostic::Diagnostic;
use crate::report::out::Out;
use crate::sensitive::Masker;

/// Does what the command line says.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let env = Env::read();
    let mut words = Vec::new();
    for arg in args {
        match arg.into_string() {
            Ok(word) => words.push(word),
            Err(arg) => {
                let title = format!("the argument `{}` is not valid UTF-8", arg.to_string_lossy());
                return refuse(&words, &env, &Diagnostic::error("mcp::usage::utf8", title), None);
            }
        }
    }
    let json = wants_json(&words);
    let words = match argv::normalise(words, &Cli::command(), |path| path.exists()) {
        Ok(words) => words,
        Err(unknown) => return refuse_as(json, &env, &unknown_verb(&unknown), None),
    };
    match Cli::try_parse_from(&words) {
        Ok(cli) => match cli.command {
            Command::Test(args) => test::run(&args, &env),
            #[cfg(feature = "demo")]
            Command::DemoServer(args) => demo::run(&args),
            Command::Commands(args) => commands::run(args.name.as_deref(), &env),
        },
        Err(error) if !error.use_stderr() => {
            let help = error.render();
            let colored = io::stdout().is_terminal() && env.get("NO_COLOR").is_none();
            Out::stdout().write(&if colored { help.ansi().to_string() } else { help.to_string() });
            Exit::Good
        }
        Err(error) => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            let title = first.strip_prefix("error: ").unwrap_or(first);
            let tip = text.lines().find_map(|line| line.trim_start().strip_prefix("tip: "));
            let problem = Diagnostic::error("mcp::usage::options", title).help(tip.unwrap_or("see --help"));
            refuse_as(json, &env, &problem, Some(&error))
        }
    }
}

/// True where `--format json` was asked for, as far as that can be seen without understanding the rest.
fn wants_json(words: &[String]) -> bool {
    let ours: Vec<&str> = words.iter().map(String::as_str).take_while(|word| *word != "--").collect();
    ours.contains(&"--format=json") || ours.windows(2).any(|pair| pair == ["--format", "json"])
}

fn refuse(words: &[String], env: &Env, problem: &Diagnostic, shown: Option<&clap::Error>) -> Exit {
    refuse_as(wants_json(words), env, problem, shown)
}

/// Ends with a usage error: on stderr for people, and as a document where one was asked for.
fn refuse_as(json: bool, env: &Env, problem: &Diagnostic, shown: Option<&clap::Error>) -> Exit {
    let format = if json { Format::Json } else { Format::Text };
    let args = OutputArgs { format, verbose: 0, color: clap::ColorChoice::Auto };
    let reporter = output::reporter(args, env, Arc::new(Masker::new()));
    match shown {
        Some(error) => {
            let colored = io::stderr().is_terminal() && env.get("NO_COLOR").is_none();
            let text = error.render();
            Out::stderr().write(&if colored { text.ansi().to_string() } else { text.to_string() });
            reporter.note(problem);
        }
        None => reporter.problem(problem),
    }
    reporter.finish(Exit::Invalid.code());
    Exit::Invalid
}

fn unknown_verb(unknown: &UnknownVerb) -> Diagnostic {
    let verbs = unknown.verbs.join(", ");
    let help = match &unknown.near {
        Some(near) => format!("did you mean `{near}`? The commands are {verbs}; a script is named by its file"),
        None => format!("the commands are {verbs}; a script is named by its file"),
    };
    Diagnostic::error("mcp::usage::command", format!("`{}` is no command, file or URL", unknown.word)).help(help)
}
