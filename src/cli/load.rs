//! Reads scripts and lowers them, each under its profile, before anything runs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::profile::{self, Profile, Profiles, Refusal};
use super::scripts::{self, Input};
use super::setup::{self, Given, Outside};
use super::world::{Disk, Env, read_stdin};
use crate::commands;
use crate::diagnostic::{Diagnostic, Severity};
use crate::engine::cx::Files;
use crate::engine::lower::{LowerCx, lower_source};
use crate::engine::plan::Plan;
use crate::engine::vars::Preset;
use crate::event::Event;
use crate::session::target::Target;
use crate::source::Source;

/// A script that can run.
#[derive(Debug)]
pub struct Ready {
    /// What it means.
    pub plan: Plan,
    /// Doubtful places.
    pub warnings: Vec<Diagnostic>,
    /// What it connects to.
    pub target: Option<Target>,
    /// Its variables from outside.
    pub presets: Vec<Preset>,
}

/// The scripts of a run.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Those that can run, in order.
    pub ready: Vec<Ready>,
    /// Those that cannot, as events.
    pub refused: Vec<Event>,
    /// Doubtful places in configuration files.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and lowers all scripts.
///
/// # Errors
/// A configuration that cannot be used; nothing may run then.
pub fn load(inputs: &[Input], given: &Given<'_>, outside: &Outside) -> Result<Loaded, Refusal> {
    let mut loaded = Loaded::default();
    let mut configs = Configs { given, wanted: given.connect.profile.as_deref(), files: HashMap::new() };
    for input in inputs {
        let profile = configs.profile(input, &mut loaded.warnings)?;
        let target = given.target(profile.as_ref())?;
        let presets = outside.with(profile.as_ref());
        let file: Arc<str> = input.name().into();
        match read(input) {
            Err(problem) => loaded.refused.push(Event::ScriptRefused { file, problems: vec![problem] }),
            Ok(source) => {
                let path = if let Input::File(path) = input { Some(path.clone()) } else { None };
                let names = presets.iter().map(|preset| preset.name.as_str().into()).collect();
                let cx = LowerCx { registry: commands::registry(), files: &Disk, presets: names, path };
                let lowered = lower_source(&source, &cx);
                let broken = lowered.problems.iter().any(|problem| problem.severity == Severity::Error);
                match lowered.plan {
                    Some(plan) if !broken && plan.steps().next().is_some() => {
                        loaded.ready.push(Ready { plan, warnings: lowered.problems, target, presets });
                    }
                    Some(_) if !broken => {
                        let problems = vec![empty(&source)];
                        loaded.refused.push(Event::ScriptRefused { file, problems });
                    }
                    _ => loaded.refused.push(Event::ScriptRefused { file, problems: lowered.problems }),
                }
            }
        }
    }
    Ok(loaded)
}

fn read(input: &Input) -> Result<Arc<Source>, Diagnostic> {
    let name = input.name();
    let text = match input {
        Input::Lines(lines) => Ok(lines.clone()),
        Input::Stdin => read_stdin(),
        Input::File(path) => Disk.read_text(path),
    };
    text.map(|text| Source::new(name.as_str(), text)).map_err(|why| {
        let title = if matches!(input, Input::Stdin) {
            format!("cannot read stdin: {why}")
        } else {
            format!("cannot read {name}: {why}")
        };
        let refused = Diagnostic::error("mcp::run::unreadable", title);
        let near = if let Input::File(path) = input { scripts::near(path).filter(|_| !path.exists()) } else { None };
        match near {
            Some(near) => refused.help(format!("did you mean {near}?")),
            None => refused,
        }
    })
}

fn empty(source: &Source) -> Diagnostic {
    Diagnostic::error("mcp::run::empty", format!("{} holds no command", source.name()))
        .help("write one command per line, such as `call_tool add a:1 b:2`")
}

/// Configuration files that were looked at.
struct Configs<'a> {
    given: &'a Given<'a>,
    wanted: Option<&'a str>,
    files: HashMap<PathBuf, Option<Profile>>,
}

impl Configs<'_> {
    /// The profile for a script: the one that `--profile` names, or the default one where no server is named.
    fn profile(&mut self, input: &Input, warnings: &mut Vec<Diagnostic>) -> Result<Option<Profile>, Refusal> {
        if self.wanted.is_none() && self.given.named.is_some() {
            return Ok(None);
        }
        let Some(file) = config_for(input) else {
            return match self.wanted {
                None => Ok(None),
                Some(wanted) => Err(Box::new(
                    Diagnostic::error(
                        "mcp::config::missing",
                        format!("--profile {wanted}: there is no mcp-tester.yml"),
                    )
                    .help("it is searched upward from the script, then from the working directory"),
                )),
            };
        };
        if let Some(known) = self.files.get(&file) {
            return Ok(known.clone());
        }
        let profiles: Profiles = setup::read_config(&file)?;
        let env: &Env = self.given.env;
        let lookup = |name: &str| env.get(name).map(str::to_owned);
        let profile = match self.wanted {
            Some(wanted) => Some(profiles.get(wanted, &lookup)?),
            None => profiles.default_profile(&lookup)?,
        };
        warnings.extend(profiles.warnings);
        self.files.insert(file, profile.clone());
        Ok(profile)
    }
}

/// `mcp-tester.yml` upward from the script, then from the working directory.
fn config_for(input: &Input) -> Option<PathBuf> {
    let beside = match input {
        Input::File(path) => std::path::absolute(path).ok().and_then(|path| profile::find(path.parent()?)),
        Input::Stdin | Input::Lines(_) => None,
    };
    beside.or_else(|| profile::find(&std::env::current_dir().ok()?))
}
