//! A child process as the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_script::transport::Transport;
use mcp_script::transport::stdio::{Stdio, StdioOptions};
use serde_json::json;

use crate::fault::fault_server;
use crate::recorder::{Arrival, LIMIT, Recorder, echo, notification, raw, request};
use crate::within;

fn start(mode: &str) -> (Arc<Stdio>, Arc<Recorder>) {
    start_with(&[mode], |_| {})
}

fn start_with(args: &[&str], change: impl FnOnce(&mut StdioOptions)) -> (Arc<Stdio>, Arc<Recorder>) {
    let inbox = Recorder::new();
    let mut options = StdioOptions::new(fault_server().to_string_lossy(), args.iter().copied());
    change(&mut options);
    let stdio = Stdio::spawn(&options, inbox.clone()).expect("the fault server starts");
    (stdio, inbox)
}

async fn open(stdio: &Stdio, inbox: &Recorder) {
    stdio
        .send(request(1, "initialize", &json!({ "protocolVersion": "2025-11-25" })))
        .await
        .expect("initialize is sent");
    inbox.response(1).await;
    stdio.send(notification("notifications/initialized")).await.expect("initialized is sent");
}

async fn close(stdio: &Stdio, grace: u64) -> mcp_script::transport::Ending {
    stdio.close(Duration::from_millis(grace), Vec::new()).await
}

/// The processes of a group that still run, zombies left out.
#[cfg(target_os = "linux")]
fn members(group: u32) -> Vec<String> {
    let mut members = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc can be read").filter_map(Result::ok) {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        if fields[0] != "Z" && fields[2] == group.to_string() {
            members.push(stat);
        }
    }
    members
}

#[cfg(not(target_os = "linux"))]
fn members(_group: u32) -> Vec<String> {
    Vec::new()
}

#[test]
fn a_sane_server_is_asked_and_closed() {
    within(async {
        let (stdio, inbox) = start("sane");
        open(&stdio, &inbox).await;
        stdio.send(echo(2, "hello")).await.unwrap();
        assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "hello");
        let ending = close(&stdio, 2000).await;
        assert_eq!(ending.how, "exit code 0 after stdin was closed");
        assert!(!ending.killed);
        let closed = inbox.closed().await;
        assert_eq!((closed.cause.as_str(), closed.code), ("exit code 0", Some(0)));
        assert_eq!(inbox.sent().len(), 3);
        assert!(inbox.sent()[2].starts_with("{\"jsonrpc\":\"2.0\",\"id\":2"));
        assert!(inbox.sent().iter().all(|text| !text.ends_with('\n')));
        assert!(inbox.remarks().is_empty());
        let error = stdio.send(echo(3, "late")).await.unwrap_err();
        assert_eq!(error.to_string(), "the server's stdin was closed by us");
    });
}

#[test]
fn an_exit_is_reported_after_everything_that_was_said() {
    within(async {
        let (stdio, inbox) = start("exit-3");
        let closed = inbox.closed().await;
        assert_eq!((closed.cause.as_str(), closed.code), ("exit code 3", Some(3)));
        assert_eq!(closed.stderr.last().map(String::as_str), Some("RuntimeError: no configuration"));
        assert!(matches!(inbox.all().last(), Some(Arrival::Closed(_))));
        assert_eq!(stdio.stderr_tail().len(), 3);
        let error = stdio.send(echo(1, "x")).await.unwrap_err();
        assert_eq!(error.to_string(), "the server has ended (exit code 3)");
        let ending = close(&stdio, 2000).await;
        assert_eq!(ending.how, "exit code 3 (it had ended before)");
    });
}

#[test]
fn death_in_a_call_names_code_or_signal() {
    within(async {
        for (mode, cause, code) in [("die-in-call", "exit code 7", Some(7)), ("abort-in-call", "signal 6 (ABRT", None)]
        {
            let (stdio, inbox) = start(mode);
            open(&stdio, &inbox).await;
            stdio.send(echo(2, "x")).await.unwrap();
            let closed = inbox.closed().await;
            assert!(closed.cause.starts_with(cause), "{closed:?}");
            assert_eq!(closed.code, code);
        }
    });
}

#[test]
fn half_a_line_before_the_end_is_delivered() {
    within(async {
        let (stdio, inbox) = start("half-line-exit");
        open(&stdio, &inbox).await;
        stdio.send(echo(2, "x")).await.unwrap();
        inbox.closed().await;
        assert_eq!(inbox.frames().last().map(String::as_str), Some("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"cont"));
    });
}

#[test]
fn odd_line_ends_are_accepted_and_remarked_once() {
    within(async {
        for (mode, remarks) in
            [("crlf", vec!["stdio-crlf"]), ("bom", vec!["stdio-bom"]), ("blank-lines", vec!["stdio-blank-line"])]
        {
            let (stdio, inbox) = start(mode);
            open(&stdio, &inbox).await;
            stdio.send(echo(2, "a\r\nb")).await.unwrap();
            assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "a\r\nb");
            close(&stdio, 2000).await;
            assert_eq!(inbox.remarks(), remarks);
        }
    });
}

#[test]
fn noise_on_stdout_is_delivered_as_it_is() {
    within(async {
        let (stdio, inbox) = start("banner");
        open(&stdio, &inbox).await;
        assert_eq!(inbox.frames()[1], "|  fault server  |");
        close(&stdio, 2000).await;
    });
}

#[test]
fn large_messages_pass_in_both_directions() {
    within(async {
        let (stdio, inbox) = start("sane");
        open(&stdio, &inbox).await;
        for (id, size) in [(2, 64 << 10), (3, 1 << 20), (4, 5 << 20)] {
            let text = "ö".repeat(size / 2);
            stdio.send(echo(id, &text)).await.unwrap();
            assert_eq!(inbox.response(id).await["result"]["content"][0]["text"], *text);
        }
        close(&stdio, 2000).await;
    });
}

#[test]
fn writing_never_waits_for_reading() {
    within(async {
        let (stdio, inbox) = start("flood-first");
        let text = "x".repeat(256 << 10);
        stdio.send(echo(1, &text)).await.unwrap();
        assert_eq!(inbox.response(1).await["result"]["content"][0]["text"], *text);
        close(&stdio, 2000).await;
    });
}

#[test]
fn a_full_stderr_does_not_stop_the_server() {
    within(async {
        let (stdio, inbox) = start("stderr-first");
        open(&stdio, &inbox).await;
        let lines =
            inbox.all().iter().filter(|arrival| matches!(arrival, Arrival::Stderr(line) if line.len() == 1023)).count();
        assert_eq!(lines, 1024);
        let tail = stdio.stderr_tail();
        assert!(tail.len() <= 64 && tail.iter().map(String::len).sum::<usize>() <= 64 << 10);
        close(&stdio, 2000).await;
    });
}

#[test]
fn a_server_that_stops_reading_cannot_hang_a_sender_or_cut_a_frame() {
    within(async {
        let (stdio, inbox) = start("stops-reading");
        open(&stdio, &inbox).await;
        let big = "x".repeat(1 << 20);
        let hung = tokio::time::timeout(Duration::from_millis(200), stdio.send(echo(2, &big))).await;
        assert!(hung.is_err());
        let waiting = Arc::clone(&stdio);
        let second = tokio::spawn(async move { waiting.send(echo(3, "small")).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let started = Instant::now();
        let ending = close(&stdio, 100).await;
        assert!(started.elapsed() < Duration::from_secs(3));
        assert!(ending.how.contains("after TERM"), "{ending:?}");
        assert!(second.await.unwrap().is_err());
    });
}

#[test]
fn a_frame_given_up_in_the_middle_is_finished_before_the_next() {
    within(async {
        let (stdio, inbox) = start_with(&["slow", "400"], |_| {});
        stdio.send(request(1, "ping", &json!({}))).await.unwrap();
        let big = "x".repeat(1 << 20);
        let given_up = tokio::time::timeout(Duration::from_millis(100), stdio.send(echo(2, &big))).await;
        assert!(given_up.is_err(), "the pipe holds less than the frame");
        stdio.send(echo(3, "next")).await.unwrap();
        assert_eq!(inbox.response(3).await["result"]["content"][0]["text"], "next");
        assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], *big);
        close(&stdio, 2000).await;
    });
}

#[test]
fn a_line_over_the_limit_is_dropped_and_said() {
    within(async {
        let (stdio, inbox) = start_with(&["huge-line", "3000000"], |options| options.max_message = 1 << 20);
        open(&stdio, &inbox).await;
        stdio.send(echo(2, "x")).await.unwrap();
        let cause = inbox
            .wait(|arrival| if let Arrival::Failed(None, cause) = arrival { Some(cause.clone()) } else { None })
            .await;
        assert!(cause.contains("longer than 1048576 bytes"), "{cause}");
        stdio.send(request(3, "ping", &json!({}))).await.unwrap();
        inbox.response(3).await;
        close(&stdio, 2000).await;
    });
}

#[test]
fn a_pending_answer_survives_a_closed_stdin() {
    within(async {
        let (stdio, inbox) = start("sane");
        open(&stdio, &inbox).await;
        stdio.send(request(2, "tools/call", &json!({ "name": "slow" }))).await.unwrap();
        stdio.close_stdin().await;
        assert_eq!(inbox.response(2).await["result"]["content"][0]["text"], "done");
        assert_eq!(inbox.closed().await.code, Some(0));
    });
}

#[test]
fn garbage_is_sent_as_it_is() {
    within(async {
        let (stdio, inbox) = start("sane");
        stdio.send(raw("{\"jsonrpc\":")).await.unwrap();
        stdio.send(request(1, "ping", &json!({}))).await.unwrap();
        inbox.response(1).await;
        assert!(inbox.frames()[0].contains("-32700"));
        close(&stdio, 2000).await;
    });
}

#[cfg(unix)]
#[test]
fn a_server_that_ignores_everything_is_killed() {
    within(async {
        let (stdio, inbox) = start("ignores-eof-and-term");
        open(&stdio, &inbox).await;
        let group = stdio.pid().expect("it runs");
        let started = Instant::now();
        let ending = close(&stdio, 200).await;
        assert!(ending.killed);
        assert_eq!(ending.how, "killed (it ignored a closed stdin and TERM)");
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(members(group), Vec::<String>::new());
        assert_eq!(inbox.closed().await.cause, "signal 9 (KILL)");
    });
}

#[test]
fn a_server_that_ignores_the_end_of_stdin_gets_term() {
    within(async {
        let (stdio, inbox) = start("ignores-eof");
        open(&stdio, &inbox).await;
        let ending = close(&stdio, 200).await;
        assert!(!ending.killed);
        assert_eq!(ending.how, "signal 15 (TERM) after TERM (it ignored a closed stdin)");
    });
}

#[test]
fn what_the_server_left_behind_ends_with_it() {
    within(async {
        for mode in ["grandchild", "grandchild-holds-stdout"] {
            let (stdio, inbox) = start(mode);
            open(&stdio, &inbox).await;
            let group = stdio.pid().expect("it runs");
            if cfg!(target_os = "linux") {
                assert_eq!(members(group).len(), 2, "server and grandchild");
            }
            let ending = close(&stdio, 2000).await;
            assert_eq!(
                ending.how, "exit code 0 after stdin was closed; processes that it left behind were ended",
                "{mode}"
            );
            assert_eq!(members(group), Vec::<String>::new());
            inbox.closed().await;
        }
    });
}

#[test]
fn a_dropped_transport_kills_the_group() {
    within(async {
        let (stdio, inbox) = start("grandchild");
        open(&stdio, &inbox).await;
        let group = stdio.pid().expect("it runs");
        drop(stdio);
        let gone = async {
            while !members(group).is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LIMIT, gone).await.expect("nothing of the group is left");
    });
}

#[test]
fn a_runtime_that_ends_kills_the_group() {
    let (group, stdio) = within(async {
        let (stdio, inbox) = start("grandchild");
        open(&stdio, &inbox).await;
        (stdio.pid().expect("it runs"), stdio)
    });
    drop(stdio);
    let started = Instant::now();
    while !members(group).is_empty() {
        assert!(started.elapsed() < LIMIT, "something of the group is left");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(unix)]
#[test]
fn a_closed_stdout_is_reported_though_the_process_runs() {
    within(async {
        let (stdio, inbox) = start("closes-stdout");
        let closed = inbox.closed().await;
        assert_eq!((closed.cause.as_str(), closed.code), ("stdout closed, though the process still runs", None));
        let ending = close(&stdio, 100).await;
        assert!(ending.how.contains("after TERM"), "{ending:?}");
    });
}
