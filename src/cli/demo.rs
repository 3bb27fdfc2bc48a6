//! `mcp-tester demo-server`: the built-in server over stdio or HTTP.

use std::io::{self, Write};

use tokio::net::TcpListener;

use super::args::DemoArgs;
use super::exit::Exit;
use super::signals::Signals;
use crate::demo::{DemoError, serve_http, serve_stdio};

/// Where it answers over HTTP.
const PATH: &str = "/mcp";

/// Serves until the input ends, or over HTTP until a signal comes.
pub fn run(args: &DemoArgs) -> Exit {
    let served = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(async {
            match &args.http {
                Some(address) => http(address).await,
                None => serve_stdio().await.map(|()| Exit::Good),
            }
        }),
        Err(why) => Err(DemoError::Io(why)),
    };
    served.unwrap_or_else(|why| {
        say(&format!("mcp-tester demo-server: {why}"));
        Exit::Failed
    })
}

async fn http(address: &str) -> Result<Exit, DemoError> {
    let mut signals = Signals::listen()?;
    let listener = match TcpListener::bind(address).await {
        Ok(listener) => listener,
        Err(why) => {
            say(&format!("mcp-tester demo-server: cannot listen on {address}: {why}"));
            return Ok(Exit::Invalid);
        }
    };
    say(&format!("http://{}{PATH}", listener.local_addr()?));
    tokio::select! {
        served = serve_http(listener, PATH) => served.map(|()| Exit::Good),
        signal = signals.next() => Ok(signal.exit),
    }
}

/// One line on stderr; stdout carries the protocol.
fn say(line: &str) {
    // Nobody reads stderr: then there is nobody to tell.
    let _written = writeln!(io::stderr().lock(), "{line}");
}
