//! Scripts against real servers: other people's, and small ones on seven SDKs, over every transport and in every revision
//! that each speaks, through the real binary. `scripts/test` installs the servers; what is not there is ignored with the
//! reason, and is a failure where `CI` is set.
//!
//! `examples/any_server.mcp` runs against all the lab servers in every revision, and once with the revision left open;
//! the scripts in `scripts/` run where their first line says, once in each era.

#[cfg(unix)]
mod catalog;
#[cfg(unix)]
mod harness;
#[cfg(unix)]
mod hint;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod suite;
#[cfg(unix)]
mod trial;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    process::end_groups_on_signals();
    harness::run(&harness::Arguments::read(), suite::jobs())
}

#[cfg(not(unix))]
fn main() {
    // A shell script installs the servers, and process groups end them: both are Unix.
    println!("\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n");
}
