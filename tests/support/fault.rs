//! Where the fault server is, for every test that needs one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The path of the built fault server. `cargo test` builds it; `cargo test --test NAME` does not, so it is built here
/// where it is missing or older than its sources.
pub fn fault_server() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let binaries = Path::new(env!("CARGO_BIN_EXE_mcp-tester")).parent().expect("a binary has a folder");
        let path = binaries.join("examples").join(format!("fault_server{}", std::env::consts::EXE_SUFFIX));
        if modified(&path) < newest_source() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--example", "fault_server"]);
            if !cfg!(debug_assertions) {
                cargo.arg("--release");
            }
            assert!(cargo.status().expect("cargo starts").success(), "the fault server does not build");
        }
        path
    })
}

fn newest_source() -> Option<SystemTime> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support");
    let files = std::fs::read_dir(folder).expect("the support folder can be read");
    files
        .filter_map(Result::ok)
        .map(|file| file.path())
        .filter(|path| names_fault(path))
        .filter_map(|path| modified(&path))
        .max()
}

fn names_fault(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("fault_"))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|data| data.modified()).ok()
}
