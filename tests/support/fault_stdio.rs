//! The faults over standard streams. See [`run`] for the modes.

use std::io::{BufRead, Read, Write};
use std::process::{Command, Stdio, exit};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fault_answers::{answer, error, log, modern_answer, result, text};

/// Serves until the end of stdin. False for an unknown mode.
///
/// Life: `sane`, `exit-at-once`, `exit-3`, `exit-3-after-handshake`, `die-in-call`, `abort-in-call`, `half-line-exit`,
/// `exit-on-eof-in-call`, `exit-on-garbage`, `ignores-eof`, `ignores-eof-and-term`, `grandchild`,
/// `grandchild-holds-stdout`, `closes-stdout`, `stops-reading`, `silent`, `silent-call`, `hang-after-two`, `slow`.
/// Streams: `banner`, `log-lines`, `stderr-first`, `flood-first`, `flood-in-call`, `bom`, `crlf`, `blank-lines`,
/// `pretty`, `huge-line`, `deep`, `invalid-json`, `invalid-utf8`, `duplicate-members`, `batch`.
/// Envelopes: `wrong-id`, `string-id`, `id-zero`, `id-null`, `result-and-error`, `neither`, `no-jsonrpc`, `jsonrpc-1`,
/// `error-code-string`, `scalar-result`, `twice`.
/// Requests of the server during a call: `asks-ping`, `asks-roots`, `asks-unknown`.
/// Lists: `repeated-cursor`, `endless-pages`. Eras: `modern-only`, `crash-on-probe`, `silent-probe`, `late-probe`.
pub(crate) fn run(mode: &str, number: Option<usize>) -> bool {
    match mode {
        "exit-at-once" => return true,
        "exit-3" => {
            eprintln!(
                "Traceback (most recent call last):\n  File \"server.py\", line 3\nRuntimeError: no configuration"
            );
            exit(3);
        }
        "sleep" => sleep(Duration::from_secs(1000)),
        "silent" => {
            // The answer to everything is nothing; the end of stdin ends it.
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            return true;
        }
        "ignores-eof-and-term" => return under_shell("trap '' TERM; exec \"$0\" ignores-eof"),
        "closes-stdout" => return under_shell("exec >&-; exec \"$0\" sleep"),
        "banner" => say("+----------------+\n|  fault server  |\n+----------------+\n"),
        "log-lines" => say("starting\n"),
        "flood-first" => {
            let line = format!("{}\n", log(&"x".repeat(900)));
            let count = (256 * 1024) / line.len() + 1;
            say(&line.repeat(number.unwrap_or(count)));
        }
        "stderr-first" => {
            let line = format!("{}\n", "e".repeat(1023));
            eprint!("{}", line.repeat(number.unwrap_or(1024)));
        }
        "grandchild" | "grandchild-holds-stdout" => leave_behind(mode == "grandchild-holds-stdout"),
        _ if !MODES.contains(&mode) => return false,
        _ => {}
    }
    let mut server = Server { mode: mode.to_owned(), number, calls: 0, pages: 0, held: None };
    serve(&mut server);
    if mode == "ignores-eof" {
        sleep(Duration::from_secs(1000));
    }
    true
}

/// The modes that are not decided before the first message.
const MODES: &[&str] = &[
    "sane",
    "exit-3-after-handshake",
    "die-in-call",
    "abort-in-call",
    "half-line-exit",
    "exit-on-eof-in-call",
    "exit-on-garbage",
    "ignores-eof",
    "stops-reading",
    "silent-call",
    "hang-after-two",
    "slow",
    "flood-in-call",
    "bom",
    "crlf",
    "blank-lines",
    "pretty",
    "huge-line",
    "deep",
    "invalid-json",
    "invalid-utf8",
    "duplicate-members",
    "batch",
    "wrong-id",
    "string-id",
    "id-zero",
    "id-null",
    "result-and-error",
    "neither",
    "no-jsonrpc",
    "jsonrpc-1",
    "error-code-string",
    "scalar-result",
    "twice",
    "asks-ping",
    "asks-roots",
    "asks-unknown",
    "repeated-cursor",
    "endless-pages",
    "modern-only",
    "crash-on-probe",
    "silent-probe",
    "late-probe",
];

struct Server {
    mode: String,
    number: Option<usize>,
    calls: usize,
    pages: usize,
    /// The probe that is answered late.
    held: Option<Value>,
}

fn serve(server: &mut Server) {
    if server.mode == "exit-on-eof-in-call" {
        return serve_and_exit_on_eof(server);
    }
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => handle(server, &message, &mut input),
            Err(_) if server.mode == "exit-on-garbage" => exit(1),
            Err(_) => send(server, &error(&Value::Null, -32700, "Parse error")),
        }
    }
}

/// Reads on while a call is worked on, and drops the call when stdin ends.
fn serve_and_exit_on_eof(server: &mut Server) {
    let (lines, queue) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
        exit(0);
    });
    for line in queue {
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            handle(server, &message, &mut std::io::empty());
        }
    }
}

fn handle(server: &mut Server, message: &Value, input: &mut impl BufRead) {
    let method = message["method"].as_str().unwrap_or_default();
    match (server.mode.as_str(), method) {
        ("modern-only", _) => return send_some(server, modern_answer(message)),
        ("crash-on-probe", "server/discover") => {
            eprintln!("unexpected method server/discover");
            exit(1);
        }
        ("silent-probe", "server/discover") => return,
        ("late-probe", "server/discover") => {
            server.held = modern_answer(message);
            return;
        }
        ("late-probe", _) => {
            if let Some(held) = server.held.take() {
                send(server, &held);
            }
            return send_some(server, modern_answer(message));
        }
        ("exit-3-after-handshake", "notifications/initialized") => {
            eprintln!("FATAL: cannot open database");
            exit(3);
        }
        ("stops-reading", "notifications/initialized") => sleep(Duration::from_secs(1000)),
        ("slow", _) => sleep(Duration::from_millis(server.number.unwrap_or(300) as u64)),
        ("log-lines", "tools/list" | "tools/call") => say("INFO handling a request\n"),
        (_, "tools/list") => return list(server, message),
        _ => {}
    }
    match method {
        "tools/call" => call(server, message, input),
        _ => send_some(server, answer(message)),
    }
}

fn list(server: &mut Server, message: &Value) {
    let Some(mut page) = answer(message) else { return };
    match server.mode.as_str() {
        "repeated-cursor" => page["result"]["nextCursor"] = json!("same"),
        "endless-pages" => {
            server.pages += 1;
            page["result"]["nextCursor"] = json!(format!("page-{}", server.pages));
        }
        _ => {}
    }
    send(server, &page);
}

fn call(server: &mut Server, message: &Value, input: &mut impl BufRead) {
    let id = &message["id"];
    server.calls += 1;
    match server.mode.as_str() {
        "die-in-call" => {
            eprintln!("panicked while working on the call");
            exit(7);
        }
        "abort-in-call" => std::process::abort(),
        "half-line-exit" => {
            say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"cont"));
            exit(0);
        }
        "silent-call" => return,
        "hang-after-two" if server.calls > 2 => return,
        "flood-in-call" => {
            for count in 0..server.number.unwrap_or(10_000) {
                say(&format!("{}\n", log(&format!("message {count}"))));
            }
        }
        "huge-line" => {
            let size = server.number.unwrap_or(1 << 20);
            return send(server, &result(id, text(&"x".repeat(size))));
        }
        "deep" => {
            let depth = server.number.unwrap_or(100_000);
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            return say(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"deep\":{nested}}}}}\n"
            ));
        }
        "asks-ping" => return ask(server, id, "ping", input),
        "asks-roots" => return ask(server, id, "roots/list", input),
        "asks-unknown" => return ask(server, id, "tester/unknown", input),
        _ => {}
    }
    send_some(server, answer(message));
}

/// Sends a request of its own and gives its answer back as the tool's text.
fn ask(server: &Server, id: &Value, method: &str, input: &mut impl BufRead) {
    send(server, &json!({ "jsonrpc": "2.0", "id": "fault-1", "method": method }));
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|count| count > 0) {
        if serde_json::from_str::<Value>(&line).is_ok_and(|message| message["id"] == "fault-1") {
            break;
        }
        line.clear();
    }
    send(server, &result(id, text(line.trim_end())));
}

fn send_some(server: &Server, message: Option<Value>) {
    if let Some(message) = message {
        send(server, &message);
    }
}

/// Writes one answer, with the mode's fault in it. The handshake is spared where a client would not get past it.
fn send(server: &Server, message: &Value) {
    let handshake = message["result"].get("protocolVersion").is_some();
    let whole = message.to_string();
    let mut message = message.clone();
    match server.mode.as_str() {
        "bom" => return say_bytes(format!("\u{FEFF}{whole}\n").as_bytes()),
        "crlf" => return say(&format!("{whole}\r\n")),
        "blank-lines" => return say(&format!("\n{whole}\n   \n")),
        "pretty" if !handshake => return say(&format!("{message:#}\n")),
        "twice" if !handshake => return say(&format!("{whole}\n{whole}\n")),
        "batch" if !handshake => return say(&format!("[{whole}]\n")),
        "invalid-json" if !handshake => return say(&format!("{}\n", &whole[..whole.len() - 2])),
        "invalid-utf8" if !handshake => {
            let mut bytes = whole.replace("\"jsonrpc\"", "\"note\":\"caf#\",\"jsonrpc\"").into_bytes();
            bytes.iter_mut().filter(|byte| **byte == b'#').for_each(|byte| *byte = 0xE9);
            bytes.push(b'\n');
            return say_bytes(&bytes);
        }
        "duplicate-members" if !handshake => {
            return say(&format!("{}\n", whole.replacen("\"jsonrpc\"", "\"jsonrpc\":\"1.0\",\"jsonrpc\"", 1)));
        }
        "wrong-id" if !handshake => message["id"] = json!(message["id"].as_i64().unwrap_or(0) + 1000),
        "string-id" if !handshake => message["id"] = json!(message["id"].to_string()),
        "id-zero" if !handshake => message["id"] = json!(0),
        "id-null" if !handshake => message["id"] = Value::Null,
        "result-and-error" if !handshake => message["error"] = json!({ "code": -32603, "message": "and an error" }),
        "neither" if !handshake => drop(message.as_object_mut().and_then(|members| members.shift_remove("result"))),
        "no-jsonrpc" if !handshake => drop(message.as_object_mut().and_then(|members| members.shift_remove("jsonrpc"))),
        "jsonrpc-1" if !handshake => message["jsonrpc"] = json!("1.0"),
        "error-code-string" if !handshake => {
            message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": "E1", "message": 5 } });
        }
        "scalar-result" if !handshake => message["result"] = json!("fine"),
        _ => {}
    }
    say(&format!("{message}\n"));
}

fn say(text: &str) {
    say_bytes(text.as_bytes());
}

/// Writes to stdout; a reader that is gone ends the server.
fn say_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

fn leave_behind(holds_stdout: bool) {
    let stdout = if holds_stdout { Stdio::inherit() } else { Stdio::null() };
    let sleeper = std::env::current_exe()
        .and_then(|me| Command::new(me).arg("sleep").stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null()).spawn());
    match sleeper {
        Ok(child) => eprintln!("grandchild {}", child.id()),
        Err(error) => eprintln!("no grandchild: {error}"),
    }
}

/// Becomes what a shell line makes of this program; `$0` is its path.
#[cfg(unix)]
fn under_shell(script: &str) -> bool {
    use std::os::unix::process::CommandExt;
    let Ok(me) = std::env::current_exe() else { return false };
    let error = Command::new("sh").arg("-c").arg(script).arg(me).exec();
    eprintln!("cannot start sh: {error}");
    exit(1);
}

#[cfg(not(unix))]
fn under_shell(_script: &str) -> bool {
    false
}
