//! Owns the list of trials: scripts times servers times transports times revisions. May use all the others.
//! Must not run anything itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::catalog::{How, Installed, Known, SERVERS, Start, folder};
use crate::harness::{Job, Report, Verdict};
use crate::hint::Hint;
use crate::trial::{Listening, Server, Trial, run};

/// The one script that runs unchanged against servers on every SDK.
const ANY_SERVER: &str = "examples/any_server.mcp";
/// Those that have what it asks for.
const LAB: &str = "# servers: ts2 ts2-modern py1 py1-json py2 fastmcp3 fastmcp4 rmcp go go-sessions";

/// Scripts whose commands are not in the language yet.
const WAITING: &[&str] = &["completion", "elicitation", "sampling_roots", "subscribe", "tasks"];

struct Script {
    path: PathBuf,
    name: String,
    hint: Hint,
    /// Whether it runs in every revision and once more with the revision left open, or only once in each era.
    everywhere: bool,
}

/// All trials, grouped so that each server which listens is started once.
pub fn jobs() -> Vec<Job> {
    let installed = Installed::read(&folder());
    let scripts = scripts();
    let mut jobs = vec![catalog_job(&installed, &scripts)];
    let installed = installed.unwrap_or_default();
    for server in SERVERS {
        for how in server.how {
            jobs.extend(row(server, *how, &installed, &scripts));
        }
    }
    // The slowest to start come first, so that none of them is left alone at the end.
    jobs.retain(|job| !job.tests.is_empty());
    jobs.sort_by_key(|job| !["fastmcp", "py"].iter().any(|slow| job.tests[0].starts_with(slow)));
    jobs
}

/// The jobs of one server over one transport.
fn row(server: &'static Known, how: How, installed: &Installed, scripts: &[Result<Script, String>]) -> Vec<Job> {
    let ready = scripts.iter().flatten().filter(|script| how != How::Sse && !WAITING.contains(&script.name.as_str()));
    let trials: Vec<Trial> = ready.flat_map(|script| trials(server, how, script)).collect();
    if trials.is_empty() {
        return Vec::new();
    }
    match (installed.start(server, how), how) {
        (Err(why), _) => vec![missing(trials, why)],
        (Ok(start), How::Stdio) => trials.into_iter().map(|trial| child(trial, start.clone())).collect(),
        (Ok(start), how) => vec![listener(format!("{}::{}", server.name, how.word()), how, start, trials)],
    }
}

/// A trial whose server mcp-tester starts itself.
fn child(trial: Trial, start: Start) -> Job {
    let tests = vec![trial.name.clone()];
    let work = move |_: &[String], report: Report<'_>| {
        report(&trial.name, verdict(run(&trial, &Server::Command(&start))));
    };
    Job { tests, work: Box::new(work) }
}

/// The trials of a server that listens: it is started once for all of them.
fn listener(row: String, how: How, start: Start, trials: Vec<Trial>) -> Job {
    let ended = format!("{row}::ends");
    let tests = trials.iter().map(|trial| trial.name.clone()).chain([ended.clone()]).collect();
    let work = move |wanted: &[String], report: Report<'_>| {
        let listening = Listening::start(&start, how);
        for trial in trials.iter().filter(|trial| wanted.contains(&trial.name)) {
            let done = listening.as_ref().map_err(Clone::clone).and_then(|it| run(trial, &it.server()));
            report(&trial.name, verdict(done));
        }
        let end = listening.and_then(Listening::end);
        if wanted.contains(&ended) {
            report(&ended, verdict(end));
        }
    };
    Job { tests, work: Box::new(work) }
}

/// The trials of a server that is not there.
fn missing(trials: Vec<Trial>, why: String) -> Job {
    let work = move |wanted: &[String], report: Report<'_>| {
        for test in wanted {
            report(test, absent(&why));
        }
    };
    Job { tests: trials.into_iter().map(|trial| trial.name).collect(), work: Box::new(work) }
}

/// Not there is no failure on a developer's machine, but on the one that has to have everything it is.
fn absent(why: &str) -> Verdict {
    match std::env::var_os("CI") {
        Some(ci) if !ci.is_empty() => Verdict::Failed(format!("{why}; CI is set, so nothing may be missing")),
        _ => Verdict::Ignored(format!("{why} (scripts/install-servers)")),
    }
}

fn verdict(done: Result<(), String>) -> Verdict {
    done.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// One script on one server over one transport, in each revision that both are for.
fn trials(server: &'static Known, how: How, script: &Script) -> Vec<Trial> {
    let trial = |ask: &'static str, spoken: Option<&'static str>| Trial {
        name: format!("{}::{}::{ask}::{}", server.name, how.word(), script.name),
        script: script.path.clone(),
        ask,
        spoken,
        exit: script.hint.exit,
        says: script.hint.says.clone(),
    };
    let all = server.revisions(how);
    let asked = if script.everywhere { all.clone() } else { server.eras(how) };
    let mut trials: Vec<Trial> = asked
        .into_iter()
        .filter(|revision| script.hint.admits(server.name, how, revision))
        .map(|revision| trial(revision, Some(revision)))
        .collect();
    let newest = all.last().copied();
    // A server that speaks nothing cannot be asked for a revision.
    if script.hint.admits(server.name, how, newest.unwrap_or("")) && (script.everywhere || newest.is_none()) {
        trials.push(trial("auto", newest));
    }
    trials
}

/// The scripts, or what is wrong with one of them.
fn scripts() -> Vec<Result<Script, String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let any = Hint::parse(LAB).map(|hint| Script { everywhere: true, ..script(root.join(ANY_SERVER), hint) });
    let folder = std::fs::read_dir(root.join("tests/servers/scripts")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.path()).collect();
    paths.sort();
    let hinted = paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        let hint = Hint::parse(text.lines().next().unwrap_or(""));
        hint.map_err(|why| format!("{}: {why}", path.display())).map(|hint| script(path, hint))
    });
    [any].into_iter().chain(hinted).collect()
}

fn script(path: PathBuf, hint: Hint) -> Script {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Script { path, name, hint, everywhere: false }
}

/// One test of the tables themselves: a server or a script that no trial reaches would be silence, not success.
fn catalog_job(installed: &Result<Installed, String>, scripts: &[Result<Script, String>]) -> Job {
    let mut wrong: Vec<String> = scripts.iter().filter_map(|script| script.as_ref().err().cloned()).collect();
    match installed {
        Ok(installed) => {
            wrong.extend(installed.unknown().iter().map(|row| format!("a row that the catalog lacks: {row}")))
        }
        Err(why) => wrong.push(format!("install-servers --list: {why}")),
    }
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    for script in scripts.iter().flatten() {
        for name in script.hint.servers() {
            let Some(server) = SERVERS.iter().find(|server| server.name == name) else {
                wrong.push(format!("{} names {name}, which no server is called", script.name));
                continue;
            };
            if server.how.iter().all(|how| trials(server, *how, script).is_empty()) {
                wrong.push(format!("{} never runs against {name}", script.name));
            }
            reached.insert(server.name);
        }
    }
    let silent = SERVERS.iter().filter(|server| !reached.contains(server.name));
    wrong.extend(silent.map(|server| format!("no script runs against {}", server.name)));
    let done = if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) };
    let work = move |wanted: &[String], report: Report<'_>| report(&wanted[0], verdict(done));
    Job { tests: vec!["catalog".to_owned()], work: Box::new(work) }
}
