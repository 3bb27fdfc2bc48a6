//! `mcp-tester test`: runs scripts.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::args::{RunArgs, TestArgs, VarArgs};
use super::exit::Exit;
use super::load::{self, Loaded, Ready};
use super::output;
use super::profile::Refusal;
use super::scripts::{self, Input};
use super::setup::{self, Given, Outside, is_url, usage};
use super::signals::{Arrived, Signals};
use super::world::{Disk, Env, NoPerson, Person};
use crate::diagnostic::Diagnostic;
use crate::engine::cx::{Filter, Settings, Stop};
use crate::engine::plan::{Item, Plan};
use crate::engine::run::{ScriptEnd, run as run_plan};
use crate::event::{Event, Sink, Status};
use crate::report::Reporter;
use crate::sensitive::Masker;

/// Longest time for one script where `--max-time` says nothing.
const MAX_TIME: Duration = Duration::from_secs(600);

/// Runs the scripts and reports them.
pub fn run(args: &TestArgs, env: &Env) -> Exit {
    let masker = Arc::new(Masker::new());
    let reporter = output::reporter(args.output, env, masker.clone());
    let exit = prepare(args, env, &masker).map_or_else(
        |refusal| {
            reporter.problem(&refusal);
            Exit::Invalid
        },
        |run| run.carry_out(&reporter, masker.clone()),
    );
    reporter.finish(exit.code());
    exit
}

/// A run that is ready to start.
struct Prepared<'a> {
    args: &'a TestArgs,
    env: &'a Env,
    inputs: Vec<Input>,
    loaded: Loaded,
}

fn prepare<'a>(args: &'a TestArgs, env: &'a Env, masker: &Masker) -> Result<Prepared<'a>, Refusal> {
    let outside: Outside = setup::outside(&args.vars, env, masker)?;
    let (urls, paths): (Vec<String>, Vec<String>) = args.paths.iter().cloned().partition(|path| is_url(path));
    let named = setup::named(&args.connect, &args.server, &urls)?;
    let inputs = scripts::gather(&[args.scripts.clone(), paths].concat(), &args.lines)?;
    if inputs.is_empty() {
        return Err(usage("there is nothing to run", "name scripts or folders, or give lines with -e 'ping'"));
    }
    let given = Given { connect: &args.connect, named: named.as_ref(), hidden: &outside.hidden, env, masker };
    let loaded = load::load(&inputs, &given, &outside)?;
    Ok(Prepared { args, env, inputs, loaded })
}

/// What became of the scripts that ran.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    executed: usize,
    failed: bool,
    interrupted: Option<Exit>,
    left_out: usize,
}

impl Prepared<'_> {
    fn carry_out(mut self, reporter: &Arc<Reporter>, masker: Arc<Masker>) -> Exit {
        if self.inputs.len() > 1 {
            reporter.many();
        }
        self.loaded.warnings.iter().for_each(|warning| reporter.problem(warning));
        self.loaded.refused.iter().for_each(|refused| reporter.emit(refused));
        let mut exit = if self.loaded.refused.is_empty() { Exit::Good } else { Exit::Invalid };
        if self.args.run.list {
            reporter
                .say(&self.loaded.ready.iter().map(|ready| listed(&ready.plan, &self.args.run)).collect::<String>());
            return exit;
        }
        let ready = std::mem::take(&mut self.loaded.ready);
        if ready.is_empty() {
            return exit;
        }
        let settings = self.settings(reporter, masker);
        let tally = match run_all(ready, settings, reporter) {
            Ok(tally) => tally,
            Err(refusal) => {
                reporter.problem(&refusal);
                return Exit::Invalid;
            }
        };
        if tally.failed {
            exit = exit.worse(Exit::Failed);
        }
        if tally.left_out > 0 {
            reporter.say(&format!("--fail-fast: {} not run any more\n", plural(tally.left_out, "script")));
        }
        if self.args.run.strict && reporter.doubts() > 0 {
            reporter.problem(&Diagnostic::error(
                "mcp::run::strict",
                "--strict: there are warnings or broken MUST rules of the protocol",
            ));
            exit = exit.worse(Exit::Failed);
        }
        if let Some(interrupted) = tally.interrupted {
            return exit.worse(interrupted);
        }
        if tally.executed == 0 && !self.args.run.allow_none && exit == Exit::Good {
            reporter.problem(&nothing_ran(&self.args.run));
            exit = Exit::Invalid;
        }
        exit
    }

    fn settings(&self, reporter: &Arc<Reporter>, masker: Arc<Masker>) -> Settings {
        let run = &self.args.run;
        let absent = absent(&self.args.vars, self.env, &self.inputs);
        Settings {
            target: None,
            presets: Vec::new(),
            masker,
            sink: reporter.clone(),
            files: Arc::new(Disk),
            environment: Arc::new(self.env.clone()),
            prompt: Arc::new(Person::new(reporter.clone(), absent)),
            fail_fast: run.fail_fast,
            strict: run.strict,
            max_time: run.max_time.unwrap_or(MAX_TIME),
            answers: self.args.output.verbose > 0,
            frames: self.args.output.verbose > 1,
            filter: filter(run),
            stop: Stop::default(),
        }
    }
}

/// Why `input_var` cannot ask, if it cannot.
fn absent(args: &VarArgs, env: &Env, inputs: &[Input]) -> Option<NoPerson> {
    if inputs.contains(&Input::Stdin) {
        Some(NoPerson::StdinTaken)
    } else if args.no_input || (args.input.is_none() && env.get("CI").is_some_and(|ci| !ci.is_empty() && ci != "false"))
    {
        Some(NoPerson::Off)
    } else {
        None
    }
}

/// Runs the scripts one after the other on one current-thread runtime.
fn run_all(scripts: Vec<Ready>, settings: Settings, reporter: &Arc<Reporter>) -> Result<Tally, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|why| Box::new(Diagnostic::error("mcp::run::runtime", format!("cannot start: {why}"))))?;
    let tally = runtime.block_on(run_in_order(scripts, settings, reporter));
    // A thread that waits for an answer on stdin must not keep the program alive.
    runtime.shutdown_background();
    tally
}

async fn run_in_order(scripts: Vec<Ready>, settings: Settings, reporter: &Arc<Reporter>) -> Result<Tally, Refusal> {
    let mut signals = Signals::listen()
        .map_err(|why| Box::new(Diagnostic::error("mcp::run::signals", format!("cannot listen for Ctrl-C: {why}"))))?;
    let mut tally = Tally::default();
    let mut scripts = scripts.into_iter();
    for script in scripts.by_ref() {
        if !script.warnings.is_empty() {
            reporter.emit(&Event::Warnings { file: script.plan.file.clone(), problems: script.warnings });
        }
        let settings = Settings { target: script.target, presets: script.presets, ..settings.clone() };
        let (end, signal) = run_one(&script.plan, &settings, &mut signals, reporter).await;
        tally.failed |= end.is_none_or(|end| end.status != Status::Passed);
        tally.executed += end.map_or(0, |end| end.executed);
        tally.interrupted = tally.interrupted.or(signal.map(|signal| signal.exit));
        if tally.interrupted.is_some() || (settings.fail_fast && tally.failed) {
            break;
        }
    }
    tally.left_out = if tally.interrupted.is_some() { 0 } else { scripts.len() };
    Ok(tally)
}

/// Runs one script. The first signal asks it to stop: `finally` still runs. The second ends it, and its servers, at once.
async fn run_one(
    plan: &Plan,
    settings: &Settings,
    signals: &mut Signals,
    reporter: &Reporter,
) -> (Option<ScriptEnd>, Option<Arrived>) {
    let mut first = None;
    let mut running = pin!(run_plan(plan, settings));
    loop {
        tokio::select! {
            biased;
            signal = signals.next() => {
                if first.is_some() {
                    let (file, duration) = (plan.file.clone(), Duration::ZERO);
                    reporter.emit(&Event::ScriptFinished { file, status: Status::Failed, duration });
                    return (None, first);
                }
                first = Some(signal);
                settings.stop.stop(signal.name);
            }
            end = &mut running => return (Some(end), first),
        }
    }
}

fn filter(run: &RunArgs) -> Option<Filter> {
    if run.tags.is_empty() && run.filter.is_none() {
        return None;
    }
    let run = run.clone();
    Some(Filter(Arc::new(move |name: &str, tags: &[String]| wanted(&run, name, tags))))
}

fn wanted(run: &RunArgs, name: &str, tags: &[String]) -> bool {
    run.filter.as_ref().is_none_or(|part| name.contains(part.as_str()))
        && (run.tags.is_empty() || tags.iter().any(|tag| run.tags.contains(tag)))
}

/// The tests of a script, one a line: file, line, name, tags.
fn listed(plan: &Plan, run: &RunArgs) -> String {
    let tests = plan.items.iter().filter_map(|item| match item {
        Item::Test(test) => Some(test),
        Item::Step(_) => None,
    });
    let mut lines = String::new();
    for test in tests.filter(|test| wanted(run, &test.name, &test.tags)) {
        let tags: String = test.tags.iter().map(|tag| format!("  #{tag}")).collect();
        lines.push_str(&format!("{}:{}: {}{tags}\n", plan.file, test.origin.position().line, test.name));
    }
    if !plan.has_tests() {
        lines.push_str(&format!("{}\n", plan.file));
    }
    lines
}

fn nothing_ran(run: &RunArgs) -> Diagnostic {
    let chosen = run.filter.is_some() || !run.tags.is_empty();
    let help = if chosen {
        "no test has this name or tag: --list shows them all"
    } else {
        "--allow-none makes this a success"
    };
    Diagnostic::error("mcp::run::nothing", "no command was executed").help(help)
}

fn plural(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::super::args::{RunArgs, VarArgs};
    use super::super::scripts::Input;
    use super::super::world::{Env, NoPerson};
    use super::{absent, wanted};

    #[test]
    fn tests_are_chosen_by_name_and_tag() {
        let run = RunArgs { tags: vec!["a".into(), "b".into()], filter: Some("add".into()), ..RunArgs::default() };
        assert!(wanted(&run, "adds", &["b".into()]));
        assert!(!wanted(&run, "adds", &["c".into()]) && !wanted(&run, "greets", &["a".into()]));
        assert!(wanted(&RunArgs::default(), "x", &[]));
    }

    #[test]
    fn nobody_is_asked_in_ci() {
        let (none, off) = (VarArgs::default(), VarArgs { no_input: true, ..VarArgs::default() });
        let forced = VarArgs { input: Some("-".into()), ..VarArgs::default() };
        let (home, ci) = (Env::default(), Env::from([("CI", "true")]));
        let file = [Input::File("a.mcp".into())];
        assert_eq!(absent(&none, &home, &file), None);
        assert_eq!(absent(&off, &home, &file), Some(NoPerson::Off));
        assert_eq!(absent(&none, &ci, &file), Some(NoPerson::Off));
        assert_eq!(absent(&forced, &ci, &file), None);
        assert_eq!(absent(&forced, &ci, &[Input::Stdin]), Some(NoPerson::StdinTaken));
    }
}
