//! Speed as ratios: the interpreter against a bare client loop that does the same work, paired and alternating, on the
//! same runtime and the same server. `cargo bench --bench ratios` prints them; `-- --quick` makes fewer rounds.

mod baseline;
mod product;
mod server;

use std::time::Duration;

/// Calls in one round of the stdio and HTTP comparison.
const CALLS: usize = 10_000;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Median of the ratios of paired rounds, and the medians themselves.
fn compare(name: &str, rounds: usize, mut bare: impl FnMut() -> Duration, mut ours: impl FnMut() -> Duration) {
    bare();
    ours();
    let (mut bares, mut ourses, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (a, b) = (bare(), ours());
        bares.push(a);
        ourses.push(b);
        ratios.push(b.as_secs_f64() / a.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{name:<42} ratio {:.3}   bare {:>9.3} ms   ours {:>9.3} ms   ({rounds} paired rounds, medians)",
        ratios[ratios.len() / 2],
        median(bares).as_secs_f64() * 1e3,
        median(ourses).as_secs_f64() * 1e3,
    );
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("--serve-stdio") => return server::stdio(),
        Some("--serve-http") => return server::http(),
        _ => {}
    }
    // `cargo test` builds and runs benches in test mode; there is nothing to measure then.
    if args.iter().any(|arg| arg == "--test") || !args.iter().any(|arg| arg == "--bench") {
        println!("ratios: run it with `cargo bench`");
        return;
    }
    let rounds = if args.iter().any(|arg| arg == "--quick") { 3 } else { 11 };
    let script = product::script(CALLS);
    println!("{CALLS} x call_tool and two assertions:");
    compare("  over stdio", rounds, || baseline::stdio(CALLS), || product::stdio(&script));
    let http = server::HttpServer::start();
    compare("  over HTTP", rounds, || baseline::http(&http.url, CALLS), || product::http(&http.url, &script));
    product::throughput();
    product::start_up(rounds);
}
