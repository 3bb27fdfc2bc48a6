//! The command line as typed. Only shapes; `setup` checks what the values mean.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};

use super::exit;
use crate::duration;

/// First lines of `-h`.
const EXAMPLES: &str = "\
Examples:
  mcp-tester test smoke.mcp -- npx -y @scope/server
  mcp-tester test tests/ --profile staging --format json
  mcp-tester test -e 'call_tool add a:1 b:2' --url http://localhost:8080/mcp";

/// First lines of `test -h`.
const COMMANDS_EXAMPLES: &str = "\
Examples:
  mcp-tester commands
  mcp-tester commands call_tool";
const TEST_EXAMPLES: &str = "\
Examples:
  mcp-tester test smoke.mcp -- npx -y @scope/server
  mcp-tester test tests/ -p staging --var user=ann --secret API_TOKEN
  mcp-tester test -e 'call_tool add a:1 b:2' -e 'assert_contains 3' -u http://localhost:8080/mcp";

/// First lines of `demo-server -h`.
const DEMO_EXAMPLES: &str = "\
Examples:
  mcp-tester test examples/demo.mcp -- mcp-tester demo-server
  mcp-tester demo-server --http
  mcp-tester demo-server --http 127.0.0.1:8080";

const TEMPLATE: &str = "{before-help}{about}\n\n{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Tests MCP servers with `.mcp` scripts.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-tester",
    version,
    before_help = EXAMPLES,
    after_long_help = exit::TABLE,
    help_template = TEMPLATE,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true,
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scripts against a server; `mcp-tester FILE` is short for it
    #[command(alias = "run", before_help = TEST_EXAMPLES, after_long_help = exit::TABLE, help_template = TEMPLATE)]
    Test(Box<TestArgs>),
    /// Serve the built-in demo server over stdio or HTTP
    #[command(before_help = DEMO_EXAMPLES, after_long_help = exit::TABLE, help_template = TEMPLATE)]
    DemoServer(DemoArgs),
    /// Show the commands of the language, or one of them
    #[command(before_help = COMMANDS_EXAMPLES, after_long_help = exit::TABLE, help_template = TEMPLATE)]
    Commands(CommandsArgs),
}

/// `commands`.
#[derive(Args, Debug)]
pub struct CommandsArgs {
    /// The command to explain; all in one line each when left out
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// Scripts, folders of scripts, patterns such as 'tests/**/*.mcp', or - for stdin
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// The server's command and its arguments
    #[arg(last = true, value_name = "SERVER")]
    pub server: Vec<String>,
    /// Another script to run, before the PATHs
    #[arg(long = "script", value_name = "FILE")]
    pub scripts: Vec<String>,
    /// A line to run, after the PATHs; several make one script
    #[arg(short = 'e', long = "line", value_name = "LINE", allow_hyphen_values = true)]
    pub lines: Vec<String>,
    /// Where the server is.
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Variables from outside.
    #[command(flatten)]
    pub vars: VarArgs,
    /// Which tests run and how they may end.
    #[command(flatten)]
    pub run: RunArgs,
    /// What is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where the server is and how to talk to it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Server")]
pub struct ConnectArgs {
    /// The server's command line, split at white space and quotes; no shell
    #[arg(short, long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub command: Option<String>,
    /// The server's URL (Streamable HTTP)
    #[arg(short, long, value_name = "URL")]
    pub url: Option<String>,
    /// A profile of mcp-tester.yml
    #[arg(short, long, value_name = "NAME")]
    pub profile: Option<String>,
    /// An HTTP header; ${env:NAME} takes an environment variable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// A variable for the server's process; NAME alone passes ours on
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Start the server without our environment
    #[arg(long, hide_short_help = true)]
    pub env_clear: bool,
    /// The server's working directory
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub cwd: Option<PathBuf>,
    /// The protocol revision, or auto to ask the server [default: auto]
    #[arg(long, value_name = "REVISION")]
    pub protocol: Option<String>,
    /// Longest silence while a request waits [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
    /// Longest time until the session is open [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, hide_short_help = true)]
    pub connect_timeout: Option<Duration>,
    /// Refuse calls of all other tools before anything is sent
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_short_help = true)]
    pub allow_tools: Option<Vec<String>>,
}

/// Variables given from outside the script.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Variables")]
pub struct VarArgs {
    /// Set a variable; MCP_TESTER_VAR_x in the environment sets x
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub vars: Vec<String>,
    /// Set variables from a dotenv or JSON file
    #[arg(long = "vars-file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Set a variable shown as ***; NAME alone takes it from the environment
    #[arg(long = "secret", value_name = "NAME[=VALUE]")]
    pub secrets: Vec<String>,
    /// Never ask for input_var; the default where CI is set
    #[arg(long, conflicts_with = "input", hide_short_help = true)]
    pub no_input: bool,
    /// Read the answers to input_var from stdin, also where CI is set
    #[arg(long, value_name = "-", value_parser = ["-"], hide_short_help = true)]
    pub input: Option<String>,
}

/// Which tests run and how they may end.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Stop at the first failure
    #[arg(long)]
    pub fail_fast: bool,
    /// Warnings and broken MUST rules of the protocol fail too
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
    /// Run only tests with one of these tags
    #[arg(long = "tag", value_name = "TAGS", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Run only tests whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// List the tests and run nothing
    #[arg(long, hide_short_help = true)]
    pub list: bool,
    /// Longest time for one script [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, hide_short_help = true)]
    pub max_time: Option<Duration>,
    /// Exit with 0 where nothing was executed
    #[arg(long, hide_short_help = true)]
    pub allow_none: bool,
}

/// What is shown.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// What stdout carries
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Show every command and answer; -vv also the messages on the wire
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub color: ColorChoice,
}

/// What stdout carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines for people
    Text,
    /// One JSON document (grammar/report.schema.json)
    Json,
}

/// `demo-server`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Serve Streamable HTTP on this loopback address; without one on a free port
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    pub http: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }
}
