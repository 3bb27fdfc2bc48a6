//! The transports against servers that misbehave: each test talks to a transport directly.

#[path = "../support/fault.rs"]
mod fault;
mod http;
mod memory;
mod recorder;
mod server;
mod spawn;
mod stdio;
mod streams;

/// Runs one test on the runtime that the product uses, with a limit.
fn within<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(recorder::LIMIT * 2, test).await.expect("the test takes too long") })
}
