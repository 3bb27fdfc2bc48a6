//! A server that answers sanely except for the one fault that its first argument names.
//!
//! `fault_server MODE [NUMBER]` speaks over its standard streams, `fault_server http MODE [NUMBER]` over HTTP on a free
//! port that its first line names. The modes are listed in `fault_stdio.rs` and `fault_http.rs`. Only std and
//! serde_json: a fault must not be repaired by a library on the way out.

mod fault_answers;
mod fault_events;
mod fault_http;
mod fault_stdio;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let known = match words.as_slice() {
        ["http", mode, rest @ ..] => fault_http::run(mode, number(rest)),
        [mode, rest @ ..] => fault_stdio::run(mode, number(rest)),
        [] => false,
    };
    if known {
        ExitCode::SUCCESS
    } else {
        eprintln!("usage: fault_server MODE [NUMBER] | fault_server http MODE [NUMBER]");
        ExitCode::from(2)
    }
}

fn number(rest: &[&str]) -> Option<usize> {
    rest.first().and_then(|word| word.parse().ok())
}
