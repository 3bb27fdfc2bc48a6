//! What starting a program says and hands over.

use mcp_script::transport::stdio::{Stdio, StdioOptions};

use crate::fault::fault_server;
use crate::recorder::Recorder;
use crate::within;

#[test]
fn a_program_that_cannot_start_is_explained() {
    within(async {
        let explain = |options: &StdioOptions| Stdio::spawn(options, Recorder::new()).map(drop).unwrap_err();
        let error = explain(&StdioOptions::new("no-such-program-here", [""; 0]));
        assert_eq!(error.to_string(), "cannot start `no-such-program-here`: not found in PATH");
        assert!(error.hint.is_some_and(|hint| hint.starts_with("install it")));
        let error = explain(&StdioOptions::new("npx -y server", [""; 0]));
        assert!(error.hint.is_some_and(|hint| hint.contains("words of their own")));
        let error = explain(&StdioOptions::new("./no/such/file", [""; 0]));
        assert_eq!(error.cause, "no such file");
        let mut options = StdioOptions::new(fault_server().to_string_lossy(), ["sane"]);
        options.cwd = Some("/no/such/folder".into());
        assert_eq!(explain(&options).cause, "the working directory /no/such/folder does not exist");
        let folder = tempfile::tempdir().unwrap();
        let error = explain(&StdioOptions::new(folder.path().to_string_lossy(), [""; 0]));
        assert_eq!(error.cause, "it is a folder, not a program");
        let file = folder.path().join("data");
        std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
        assert_eq!(explain(&StdioOptions::new(file.to_string_lossy(), [""; 0])).cause, "permission denied");
    });
}

#[cfg(unix)]
#[test]
fn scripts_that_cannot_run_are_explained() {
    use std::os::unix::fs::PermissionsExt;
    within(async {
        let folder = tempfile::tempdir().unwrap();
        for (text, cause) in [
            ("#!/no/such/interpreter\n", "the file is there, but the interpreter that it asks for is not"),
            ("no first line\n", "it is no program that this system can run"),
        ] {
            let file = folder.path().join("script");
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
            let options = StdioOptions::new(file.to_string_lossy(), [""; 0]);
            assert_eq!(Stdio::spawn(&options, Recorder::new()).map(drop).unwrap_err().cause, cause);
        }
    });
}

#[cfg(unix)]
#[test]
fn the_environment_is_as_asked() {
    within(async {
        let inbox = Recorder::new();
        let mut options = StdioOptions::new("sh", ["-c", "echo \"{$ADDED|$CARGO_PKG_NAME|$PATH}\""]);
        options.env = vec![("ADDED".to_owned(), mcp_script::sensitive::Sensitive::new("yes".to_owned()))];
        options.env_remove = vec!["CARGO_PKG_NAME".to_owned()];
        let _stdio = Stdio::spawn(&options, inbox.clone()).unwrap();
        inbox.closed().await;
        assert!(inbox.frames()[0].starts_with("{yes||/"), "{:?}", inbox.frames());
        options.env_clear = true;
        options.program = "/bin/sh".to_owned();
        let inbox = Recorder::new();
        let _stdio = Stdio::spawn(&options, inbox.clone()).unwrap();
        inbox.closed().await;
        assert!(inbox.frames()[0].starts_with("{yes||"), "{:?}", inbox.frames());
    });
}
