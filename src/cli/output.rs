//! Where a verb's output goes: made from `--format`, `--verbose`, `--color` and what the streams are.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use anstream::{AutoStream, ColorChoice};

use super::args::{Format, OutputArgs};
use super::world::Env;
use crate::report::out::Out;
use crate::report::text::Look;
use crate::report::{Reporter, Setup};
use crate::sensitive::Masker;

/// Columns that pictures of a source may take: what reviews and CI logs show without wrapping.
const WIDTH: usize = 100;

/// Starts the report of a run.
pub fn reporter(args: OutputArgs, env: &Env, masker: Arc<Masker>) -> Arc<Reporter> {
    match args.color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
    let json = args.format == Format::Json;
    let colored = |choice: ColorChoice| choice != ColorChoice::Never;
    let talk_colored = if json { AutoStream::choice(&io::stderr()) } else { AutoStream::choice(&io::stdout()) };
    let look = Look { color: colored(talk_colored), width: WIDTH, verbosity: args.verbose, many: false };
    let setup = Setup {
        look,
        errors_color: colored(AutoStream::choice(&io::stderr())),
        talk: if json { Out::stderr() } else { Out::stdout() },
        errors: Out::stderr(),
        json: json.then(Out::stdout),
        live: io::stderr().is_terminal() && env.get("TERM") != Some("dumb"),
    };
    Arc::new(Reporter::new(setup, masker))
}
