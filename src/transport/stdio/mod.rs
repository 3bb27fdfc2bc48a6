//! A server as a child process that speaks over its standard streams, one JSON-RPC message a line.
//!
//! Owns: the child from start to end, its three streams, its process group. May use: `rpc`, `sensitive`.
//! Must not: look into a message. Framing and shutdown: 2025-11-25 and 2026-07-28, "Transports", "stdio".

mod group;
mod lines;
mod spawn;
mod tail;
mod writer;

use std::borrow::Cow;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::rpc::Id;
use crate::sensitive::Sensitive;

use super::{BoxFuture, Closed, Ending, Inbox, Incoming, Outgoing, SendError, Transport};
use group::Group;
use lines::Lines;
pub use spawn::{SpawnError, StdioOptions};
use tail::Tail;
use writer::{WriteFault, Writer};

/// How long stdout may be silent after the child's end before it counts as read to its end: somebody else holds it.
const DRAIN: Duration = Duration::from_millis(250);
/// How long the last words on stderr may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How long a child may live on after it closed stdout before that alone is reported.
const AFTER_STDOUT: Duration = Duration::from_millis(500);
/// How long processes that outlive the child may take to end by themselves, and once more after TERM.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// How long a kill may take to show.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// The connection to a child process. Dropping it kills the child and what the child started.
#[derive(Debug)]
pub struct Stdio {
    shared: Arc<Shared>,
    writer: Writer,
}

struct Shared {
    inbox: Arc<dyn Inbox>,
    group: Mutex<Group>,
    tail: Mutex<Tail>,
    /// Reads from stdout so far: tells silence from a slow drain.
    reads: AtomicU64,
    life: watch::Sender<Life>,
}

/// What is known about the child's end.
#[derive(Debug, Clone, Default)]
struct Life {
    exit: Option<Exit>,
    /// The child was waited for and nothing of its group is left.
    over: bool,
    /// Processes that the child left behind had to be ended.
    leftovers: bool,
}

#[derive(Debug, Clone)]
struct Exit {
    words: String,
    code: Option<i32>,
}

impl Stdio {
    /// Starts the child and the tasks that read its streams; must be called inside a tokio runtime with IO and time.
    ///
    /// # Errors
    /// Where the program cannot be started; the error says why and what may help.
    pub fn spawn(options: &StdioOptions, inbox: Arc<dyn Inbox>) -> Result<Arc<Self>, SpawnError> {
        let mut child = spawn::spawn(options)?;
        let stdin = child.stdin().take();
        let stdout = child.stdout().take();
        let stderr = child.stderr().take();
        let shared = Arc::new(Shared {
            inbox,
            group: Mutex::new(Group::new(child)),
            tail: Mutex::new(Tail::default()),
            reads: AtomicU64::new(0),
            life: watch::Sender::new(Life::default()),
        });
        let stdout = tokio::spawn(read_stdout(Arc::clone(&shared), stdout, options.max_message));
        let stderr = tokio::spawn(read_stderr(Arc::clone(&shared), stderr));
        tokio::spawn(supervise(Arc::clone(&shared), stdout, stderr));
        Ok(Arc::new(Self { shared, writer: Writer::new(stdin) }))
    }

    /// The child's process id, which is its process group's too; none once it was waited for.
    pub fn pid(&self) -> Option<u32> {
        self.shared.group().pid()
    }

    async fn broken(&self, error: &io::Error) -> SendError {
        let mut life = self.shared.life.subscribe();
        let exit = match timeout(AFTER_STDOUT, life.wait_for(|life| life.exit.is_some())).await {
            Ok(Ok(life)) => life.exit.clone(),
            _ => None,
        };
        SendError(match exit {
            Some(exit) => format!("the server has ended ({})", exit.words),
            None => format!("the server closed its stdin ({error})"),
        })
    }

    async fn over_within(&self, limit: Duration) -> bool {
        let mut life = self.shared.life.subscribe();
        timeout(limit, life.wait_for(|life| life.over)).await.is_ok()
    }

    async fn exited_within(&self, limit: Duration) -> bool {
        let mut life = self.shared.life.subscribe();
        timeout(limit, life.wait_for(|life| life.exit.is_some())).await.is_ok()
    }

    async fn shut_down(&self, grace: Duration) -> Ending {
        let already = self.shared.life.borrow().exit.is_some();
        self.writer.close();
        let mut killed = false;
        let mut how = if already {
            "it had ended before"
        } else if self.exited_within(grace).await {
            "after stdin was closed"
        } else if self.shared.group().terminate() && self.exited_within(grace).await {
            "after TERM (it ignored a closed stdin)"
        } else {
            self.shared.group().kill();
            killed = true;
            "killed (it ignored a closed stdin and TERM)"
        }
        .to_owned();
        if !self.over_within(AFTER_KILL).await {
            self.shared.group().kill();
            killed = true;
        }
        let life = self.shared.life.borrow().clone();
        match (&life.exit, killed) {
            (Some(exit), false) if already => how = format!("{} ({how})", exit.words),
            (Some(exit), false) => how = format!("{} {how}", exit.words),
            (Some(_), true) => {}
            (None, _) => how.push_str(", and has not ended yet"),
        }
        if life.leftovers {
            how.push_str("; processes that it left behind were ended");
        }
        Ending { how, killed }
    }
}

impl Transport for Stdio {
    fn label(&self) -> &'static str {
        "stdio"
    }

    fn send<'a>(&'a self, message: Outgoing) -> BoxFuture<'a, Result<(), SendError>> {
        Box::pin(async move {
            let mut line = message.body;
            line.push('\n');
            let announce = |line: &str| self.shared.inbox.sent(line.strip_suffix('\n').unwrap_or(line));
            match self.writer.send(line, announce).await {
                Ok(()) => Ok(()),
                Err(WriteFault::Closed) => Err(SendError("the server's stdin was closed by us".to_owned())),
                Err(WriteFault::Broken(error)) => Err(self.broken(&error).await),
            }
        })
    }

    fn abandon(&self, _id: &Id) {}

    fn listen(&self, _headers: Vec<(Cow<'static, str>, Sensitive<String>)>) {}

    fn close_stdin<'a>(&'a self) -> BoxFuture<'a, ()> {
        self.writer.close();
        Box::pin(std::future::ready(()))
    }

    fn stderr_tail(&self) -> Vec<String> {
        self.shared.tail().lines()
    }

    fn close<'a>(
        &'a self,
        grace: Duration,
        _headers: Vec<(Cow<'static, str>, Sensitive<String>)>,
    ) -> BoxFuture<'a, Ending> {
        Box::pin(self.shut_down(grace))
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.writer.close();
        self.shared.group().kill();
    }
}

impl Shared {
    fn group(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("life", &*self.life.borrow()).finish_non_exhaustive()
    }
}

async fn read_stdout(shared: Arc<Shared>, stdout: Option<ChildStdout>, limit: usize) {
    let Some(mut stdout) = stdout else { return };
    let mut lines = Lines::new(limit);
    let mut emit = |incoming: Incoming| shared.inbox.deliver(incoming);
    loop {
        match stdout.read_buf(lines.room()).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                shared.reads.fetch_add(1, Ordering::Relaxed);
                lines.split(&mut emit);
            }
        }
    }
    lines.finish(&mut emit);
}

async fn read_stderr(shared: Arc<Shared>, stderr: Option<impl AsyncRead + Unpin>) {
    let Some(mut stderr) = stderr else { return };
    let mut buffer = vec![0; 16 * 1024];
    let mut complete = Vec::new();
    loop {
        let count = stderr.read(&mut buffer).await.unwrap_or(0);
        let mut keep = |line: &str| complete.push(line.to_owned());
        match count {
            0 => shared.tail().finish(&mut keep),
            count => shared.tail().push(&buffer[..count], &mut keep),
        }
        for line in complete.drain(..) {
            shared.inbox.deliver(Incoming::Stderr(line));
        }
        if count == 0 {
            return;
        }
    }
}

/// Waits for the child's end and says so once everything that it wrote has been delivered.
async fn supervise(shared: Arc<Shared>, mut stdout: JoinHandle<()>, mut stderr: JoinHandle<()>) {
    let mut exit = pin!(poll_fn(|cx| shared.group().poll_exit(cx)));
    let status = tokio::select! {
        status = &mut exit => Some(status),
        _ = &mut stdout => timeout(AFTER_STDOUT, &mut exit).await.ok(),
    };
    let known = status.is_some();
    if let Some(status) = status {
        record(&shared, status);
        drain(&shared, &mut stdout).await;
    }
    if timeout(LAST_WORDS, &mut stderr).await.is_err() && known {
        stderr.abort();
        let _ = stderr.await;
    }
    let exit_known = shared.life.borrow().exit.clone();
    let (cause, code) = match exit_known {
        Some(exit) => (exit.words, exit.code),
        None => ("stdout closed, though the process still runs".to_owned(), None),
    };
    let stderr = shared.tail().lines();
    shared.inbox.deliver(Incoming::Closed(Closed { cause, code, stderr }));
    if !known {
        let status = exit.await;
        record(&shared, status);
    }
    let leftovers = end_leftovers(&shared).await;
    shared.life.send_modify(|life| {
        life.over = true;
        life.leftovers = leftovers;
    });
}

fn record(shared: &Shared, status: io::Result<ExitStatus>) {
    let (words, code) = match status {
        Ok(status) => group::describe(status),
        Err(error) => (format!("ended, but its exit status is not known ({error})"), None),
    };
    shared.life.send_modify(|life| life.exit = Some(Exit { words, code }));
}

/// Lets the reader finish; a process left behind that still holds stdout does not keep it.
async fn drain(shared: &Shared, stdout: &mut JoinHandle<()>) {
    let mut seen = shared.reads.load(Ordering::Relaxed);
    while !stdout.is_finished() {
        if timeout(DRAIN, &mut *stdout).await.is_ok() {
            return;
        }
        let reads = shared.reads.load(Ordering::Relaxed);
        if reads == seen {
            stdout.abort();
            let _ = stdout.await;
            return;
        }
        seen = reads;
    }
}

/// Ends what the child left behind in its group; true where there was something.
async fn end_leftovers(shared: &Shared) -> bool {
    let left = !empty_within(shared, LEFTOVERS).await;
    if left && shared.group().terminate() {
        empty_within(shared, LEFTOVERS).await;
    }
    let mut group = shared.group();
    // Where the group is known to be empty this does nothing; a job object cannot be asked and is always ended.
    group.kill();
    group.forget();
    drop(group);
    left
}

async fn empty_within(shared: &Shared, limit: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    while shared.group().has_members() {
        if waited >= limit {
            return false;
        }
        sleep(STEP).await;
        waited += STEP;
    }
    true
}
