//! The `mcp-tester` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_script::cli::run(std::env::args_os()).into()
}
