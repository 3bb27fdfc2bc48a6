//! The product: the same work as lines of a script.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_script::commands::registry;
use mcp_script::engine::cx::{Environment, Files, Prompt, Settings, Stop};
use mcp_script::engine::lower::{LowerCx, lower_source};
use mcp_script::engine::plan::Plan;
use mcp_script::engine::run::run;
use mcp_script::event::{Event, Sink, Status};
use mcp_script::sensitive::Masker;
use mcp_script::session::target::{Endpoint, HttpFlavor, ProtocolChoice, Target};
use mcp_script::session::version::Revision;
use mcp_script::source::Source;
use mcp_script::syntax::parse;

/// A script of `calls` calls, each with two assertions; its first line opens the session.
pub fn script(calls: usize) -> String {
    let mut text = String::from("ping\n");
    for at in 0..calls {
        let _ = writeln!(
            text,
            "call_tool add a:{at} b:1\nassert_contains \"Result\"\nassert_equals \"Result: {}\"",
            at + 1
        );
    }
    text
}

/// A sink that counts, as the reports do, and notes when the first line was done.
#[derive(Default)]
struct Counter {
    opened: Mutex<Option<Instant>>,
    failed: Mutex<Option<String>>,
}

impl Sink for Counter {
    fn emit(&self, event: &Event) {
        if let Event::StepFinished(result) = event {
            if result.step.index == 0 {
                *self.opened.lock().expect("the clock") = Some(Instant::now());
            }
            if result.status != Status::Passed {
                self.failed.lock().expect("the failure").get_or_insert_with(|| format!("{:?}", result.problem));
            }
        }
    }
}

struct Nothing;

impl Files for Nothing {
    fn read(&self, _path: &Path) -> Result<Vec<u8>, String> {
        Err("no files here".into())
    }
    fn read_text(&self, _path: &Path) -> Result<String, String> {
        Err("no files here".into())
    }
    fn exists(&self, _path: &Path) -> bool {
        false
    }
    fn canonical(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }
}

impl Environment for Nothing {
    fn var(&self, _name: &str) -> Option<String> {
        None
    }
}

impl Prompt for Nothing {
    fn ask(&self, _prompt: &str, _variable: &str) -> Result<String, String> {
        Err("nobody is here".into())
    }
}

fn lower(text: &str) -> Plan {
    let source = Source::new("bench.mcp", text);
    let cx = LowerCx { registry: registry(), files: &Nothing, presets: Vec::new(), path: None };
    lower_source(&source, &cx).plan.expect("a good script")
}

fn measure(endpoint: Endpoint, script: &str) -> Duration {
    let plan = lower(script);
    let counter = Arc::new(Counter::default());
    let nothing = Arc::new(Nothing);
    let settings = Settings {
        target: Some(Target { protocol: ProtocolChoice::Exact(Revision::LATEST_LEGACY), ..Target::new(endpoint) }),
        presets: Vec::new(),
        masker: Arc::new(Masker::default()),
        sink: counter.clone(),
        files: nothing.clone(),
        environment: nothing.clone(),
        prompt: nothing,
        fail_fast: false,
        strict: false,
        max_time: Duration::from_secs(600),
        answers: false,
        frames: false,
        filter: None,
        stop: Stop::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let end = run(&plan, &settings).await;
        let now = Instant::now();
        let failed = counter.failed.lock().expect("the failure").take();
        assert!(end.status == Status::Passed, "{failed:?}");
        let opened = counter.opened.lock().expect("the clock").take().expect("the first line");
        now - opened
    })
}

/// The script over stdio, without the start of the server.
pub fn stdio(script: &str) -> Duration {
    let me = std::env::current_exe().expect("our own path");
    let endpoint = Endpoint::Command {
        program: me.to_string_lossy().into_owned(),
        args: vec!["--serve-stdio".into()],
        env: Vec::new(),
        env_clear: false,
        env_remove: Vec::new(),
        cwd: None,
    };
    measure(endpoint, script)
}

/// The script over HTTP.
pub fn http(url: &str, script: &str) -> Duration {
    let endpoint = Endpoint::Http {
        url: url.parse().expect("a URL"),
        headers: Vec::new(),
        flavor: HttpFlavor::Streamable,
        insecure: false,
        cacert: None,
        proxy: None,
    };
    measure(endpoint, script)
}

/// Parsing and lowering, in MB/s.
pub fn throughput() {
    let text = script(50_000);
    let best = |work: &dyn Fn()| {
        (0..7)
            .map(|_| {
                let started = Instant::now();
                work();
                started.elapsed()
            })
            .min()
            .unwrap_or_default()
    };
    let source = Source::new("bench.mcp", text.as_str());
    let parsing = best(&|| assert!(parse(&source).errors.is_empty()));
    let lowering = best(&|| assert!(lower(&text).steps().count() > 100_000));
    let speed = |time: Duration| text.len() as f64 / 1e6 / time.as_secs_f64();
    let lines = text.lines().count();
    println!("parse          {:>8.0} MB/s   ({lines} lines in {:.1} ms)", speed(parsing), parsing.as_secs_f64() * 1e3);
    println!(
        "parse and lower {:>7.0} MB/s   ({lines} lines in {:.1} ms)",
        speed(lowering),
        lowering.as_secs_f64() * 1e3
    );
}

/// Start-up of the binary beside that of a program that does nothing.
pub fn start_up(rounds: usize) {
    let spawn = |program: &str, argument: &str| {
        let started = Instant::now();
        let status = Command::new(program)
            .arg(argument)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("it starts");
        assert!(status.success());
        started.elapsed()
    };
    let name = "start-up: --version against `true`";
    super::compare(
        name,
        rounds.max(11) * 9,
        || spawn("true", "--version"),
        || spawn(env!("CARGO_BIN_EXE_mcp-tester"), "--version"),
    );
}
