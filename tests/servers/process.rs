//! Owns processes: each is the head of a group that ends with it, whatever happens to the test. May use the standard
//! library and tokio's signals. Must not know what runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

/// An environment variable that every process of a trial inherits, so that one left behind can be found.
const MARK: &str = "MCP_TESTER_TRIAL_MARK";

static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
static TRIALS: AtomicU32 = AtomicU32::new(0);

/// A running process with everything that it started; dropping it ends them all.
pub struct Group {
    child: Child,
    mark: String,
}

impl Group {
    /// Starts a command as the head of a new process group. Its output goes to the two files.
    pub fn start(command: &mut Command, stdout: &Path, stderr: &Path) -> Result<Group, String> {
        let file = |path: &Path| File::create(path).map_err(|why| format!("{}: {why}", path.display()));
        let mark = format!("{}-{}", std::process::id(), TRIALS.fetch_add(1, Ordering::Relaxed));
        command.stdin(Stdio::null()).stdout(file(stdout)?).stderr(file(stderr)?);
        let child = command.process_group(0).env(MARK, &mark).spawn();
        let child = child.map_err(|why| format!("{}: {why}", command.get_program().display()))?;
        groups().insert(child.id());
        Ok(Group { child, mark })
    }

    /// Waits for the process to end by itself; none if it did not within the limit.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>, String> {
        let end = Instant::now() + limit;
        let mut pause = Duration::from_millis(1);
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < end => sleep(pause),
                Ok(status) => return Ok(status),
                Err(why) => return Err(why.to_string()),
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Processes that carry this trial's mark and still run, by their command lines. Empty where there is no `/proc`.
    pub fn left_behind(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.mark).into_bytes();
        let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
        let mut found = Vec::new();
        for entry in all.flatten() {
            // A process that ended has an empty environment; one of another user cannot be read.
            let Ok(env) = std::fs::read(entry.path().join("environ")) else { continue };
            if env.split(|byte| *byte == 0).any(|variable| variable == wanted) {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push(String::from_utf8_lossy(&words).replace('\0', " "));
            }
        }
        found
    }

    /// Ends the group at once.
    pub fn end(&mut self) {
        kill(self.child.id());
        // The error would be that it is gone already.
        self.child.wait().ok();
        groups().remove(&self.child.id());
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

fn groups() -> std::sync::MutexGuard<'static, BTreeSet<u32>> {
    GROUPS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn kill(group: u32) {
    let words = ["-s", "KILL", "--", &format!("-{group}")];
    Command::new("kill").args(words).stderr(Stdio::null()).status().ok();
}

/// Ends all groups and the test program on Ctrl-C and on SIGTERM: groups of their own do not get the terminal's.
pub fn end_groups_on_signals() {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let code = runtime.block_on(async {
            let mut interrupt = signal(SignalKind::interrupt()).expect("a handler");
            let mut terminate = signal(SignalKind::terminate()).expect("a handler");
            tokio::select! { _ = interrupt.recv() => 130, _ = terminate.recv() => 143 }
        });
        groups().iter().for_each(|group| kill(*group));
        std::process::exit(code);
    });
}

/// A port that was free a moment ago.
pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|why| why.to_string())
}

/// Waits until the server listens; the error says why it never will.
pub fn wait_for_port(server: &mut Group, port: u16, limit: Duration) -> Result<(), String> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(());
        }
        if let Some(status) = server.wait(Duration::from_millis(30))? {
            return Err(format!("the server ended ({status}) before it listened on port {port}"));
        }
    }
    Err(format!("the server did not listen on port {port} within {limit:?}"))
}
