//! Child processes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_script::session::{Call, CallError, ClientDeclares, Endpoint, ErrorKind, Session, Target};

/// A server of the handshake eras in a few lines of shell; `calls` says what it does when a tool is called.
fn shell(before: &str, calls: &str) -> Target {
    let script = format!(
        r#"
{before}
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"shell","version":"1"}}}}}}';;
    *'"server/discover"'*) echo 'Traceback of the probe' >&2; echo '{{"jsonrpc":"2.0","id":"probe-1","error":{{"code":-32601,"message":"Method not found"}}}}';;
    *'"tools/list"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}}}}]}}}}';;
    *'"tools/call"'*) {calls};;
  esac
done
"#
    );
    Target::new(Endpoint::Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), script],
        env: Vec::new(),
        env_clear: false,
        env_remove: Vec::new(),
        cwd: None,
    })
}

async fn open(target: &Target) -> Session {
    Session::open(target, ClientDeclares::default(), Arc::new(())).await.expect("opens")
}

#[tokio::test]
async fn a_child_process_is_opened_listed_and_ended() {
    let session = open(&shell("", ":")).await;
    let facts = session.facts();
    assert_eq!((facts.transport, facts.revision.as_str()), ("stdio", "2025-06-18"));
    assert_eq!(facts.server_name.as_deref(), Some("shell"));
    assert!(facts.why.contains("Method not found"), "{}", facts.why);
    let tools = session.tools().await.expect("tools");
    assert_eq!(tools.get("t").map(|tool| tool.name.as_str()), Some("t"));
    let ending = session.close().await;
    assert!(!ending.killed, "{}", ending.how);
}

#[tokio::test]
async fn noise_is_kept_and_harms_nothing() {
    let session = open(&shell("echo starting; echo '[1'; echo; echo '42'", ":")).await;
    session.tools().await.expect("tools");
    assert_eq!(session.noise(), ["starting", "[1", "42"]);
}

#[tokio::test]
async fn the_end_of_the_process_names_code_method_and_last_words() {
    let session = open(&shell("", "echo 'out of memory' >&2; exit 3")).await;
    let error = session.call(Call::new("tools/call")).await.expect_err("gone");
    assert_eq!(error.to_string(), "the connection closed while tools/call waited: exit code 3");
    assert_eq!(error.stderr(), ["out of memory"], "what the probe caused is no cause of this");
    assert_eq!(session.stderr_tail(), ["out of memory"]);
    let again = session.call(Call::new("ping")).await.expect_err("still gone");
    assert!(matches!(&again, CallError::Closed { method, .. } if method == "ping"), "{again:?}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let mut target = shell("", ":");
    if let Endpoint::Command { program, .. } = &mut target.endpoint {
        *program = "no-such-program-here".to_owned();
    }
    let error = Session::open(&target, ClientDeclares::default(), Arc::new(())).await.map(|_| ()).expect_err("nothing");
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.to_string().contains("no-such-program-here"), "{error}");
}

#[tokio::test]
async fn a_program_that_ends_at_once_shows_its_last_words() {
    let target = Target::new(Endpoint::Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), "echo 'ModuleNotFoundError: x' >&2; exit 1".to_owned()],
        env: Vec::new(),
        env_clear: false,
        env_remove: Vec::new(),
        cwd: None,
    });
    let error = Session::open(&target, ClientDeclares::default(), Arc::new(())).await.map(|_| ()).expect_err("nothing");
    assert_eq!(error.to_string(), "the connection closed while initialize waited: exit code 1");
    assert_eq!(error.stderr(), ["ModuleNotFoundError: x"]);
}

#[tokio::test]
async fn large_messages_pass_while_the_server_writes() {
    // It writes 256 KiB before it reads anything, and the argument is larger than a pipe.
    let flood = "i=0; while [ $i -lt 64 ]; do printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"t\":\"%04096d\"}}\\n' 0; i=$((i+1)); done";
    let session = open(&shell(flood, "printf '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\\n'")).await;
    let text = "x".repeat(256 * 1024);
    // The shell's sed finds no id in a line with two; the id is fixed above.
    let call =
        Call { params: Some(format!(r#"{{"name":"t","arguments":{{"a":"{text}"}}}}"#)), ..Call::new("tools/call") };
    let exchange = session.call(call).await.expect("an answer");
    assert!(exchange.request.len() > 256 * 1024 && exchange.outcome.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn dropping_a_session_ends_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("alive");
    let session = open(&shell(
        &format!(
            "trap '' TERM; (while [ -d {0} ]; do touch {1}; sleep 0.05; done) &",
            folder.path().display(),
            mark.display()
        ),
        ":",
    ))
    .await;
    while !mark.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(session);
    tokio::time::sleep(Duration::from_millis(200)).await;
    std::fs::remove_file(&mark).expect("the mark");
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(500) {
        assert!(!mark.exists(), "a process of the group is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
