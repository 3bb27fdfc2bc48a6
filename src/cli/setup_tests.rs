use std::fs;
use std::path::Path;
use std::time::Duration;

use clap::Parser;

use super::super::args::{Cli, Command, TestArgs};
use super::super::profile::Profile;
use super::super::world::Env;
use super::{Given, Named, is_url, named, outside};
use crate::sensitive::{Masker, Sensitive};
use crate::session::target::{Endpoint, ProtocolChoice, Target};
use crate::session::version::Revision;

fn args(line: &[&str]) -> TestArgs {
    let words = ["mcp-tester", "test"].iter().chain(line);
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Test(args)) => *args,
        other => panic!("{other:?}"),
    }
}

fn env() -> Env {
    Env::from([
        ("TOKEN", "t0ken-t0ken"),
        ("MCP_TESTER_VAR_user", "ann"),
        ("MCP_TESTER_SECRET_pin", "1234-5678"),
        ("LEVEL", "3"),
    ])
}

fn target(line: &[&str], profile: Option<&Profile>) -> Result<Option<Target>, String> {
    let (args, env, masker) = (args(line), env(), Masker::new());
    let urls: Vec<String> = args.paths.iter().filter(|path| is_url(path)).cloned().collect();
    let named = named(&args.connect, &args.server, &urls).map_err(|error| error.title)?;
    let hidden = vec!["MCP_TESTER_SECRET_pin".to_owned(), "TOKEN".to_owned()];
    let given = Given { connect: &args.connect, named: named.as_ref(), hidden: &hidden, env: &env, masker: &masker };
    given.target(profile).map_err(|error| error.title)
}

fn refusal(line: &[&str]) -> String {
    target(line, None).map(|target| format!("{target:?}")).expect_err("a refusal")
}

#[test]
fn commands_are_lists() {
    let found = target(&["-c", "npx -y 'a b'", "--env", "A=1", "--env", "LEVEL", "--cwd", "/"], None);
    let Ok(Some(Target { endpoint: Endpoint::Command { program, args, env, env_remove, cwd, .. }, protocol, .. })) =
        found
    else {
        panic!("{found:?}")
    };
    assert_eq!((program.as_str(), args), ("npx", vec!["-y".to_owned(), "a b".to_owned()]));
    assert_eq!(
        env,
        [("A".to_owned(), Sensitive::new("1".to_owned())), ("LEVEL".to_owned(), Sensitive::new("3".to_owned()))]
    );
    assert_eq!((env_remove.len(), cwd.as_deref()), (2, Some(Path::new("/"))));
    assert_eq!(protocol, ProtocolChoice::Auto);
}

#[test]
fn a_secret_that_is_passed_on_explicitly_arrives() {
    let found = target(&["--env", "TOKEN", "--", "server", "--flag", "-c"], None);
    let Ok(Some(Target { endpoint: Endpoint::Command { program, args, env_remove, .. }, .. })) = found else {
        panic!("{found:?}")
    };
    assert_eq!((program.as_str(), args.len()), ("server", 2));
    assert_eq!(env_remove, ["MCP_TESTER_SECRET_pin"]);
}

#[test]
fn urls_stand_for_commands() {
    let header = ["-H", "X-Key: ${env:TOKEN}"];
    for line in [
        &["-u", "http://localhost/mcp"][..],
        &["-c", "http://localhost/mcp"],
        &["--", "http://localhost/mcp"],
        &["HTTP://localhost/mcp"],
    ] {
        let found = target(&[&header, line].concat(), None);
        let Ok(Some(Target { endpoint: Endpoint::Http { url, headers, .. }, .. })) = found else { panic!("{found:?}") };
        assert_eq!((url.as_str(), headers[0].1.reveal().as_str()), ("http://localhost/mcp", "t0ken-t0ken"));
    }
}

#[test]
fn options_win_over_the_profile() {
    let profile = Profile {
        command: Some(vec!["other".into()]),
        folder: "/".into(),
        env: vec![("A".into(), Sensitive::new("weak".into())), ("B".into(), Sensitive::new("kept".into()))],
        protocol: Some("2024-11-05".into()),
        timeout: Some(Duration::from_secs(1)),
        ..Profile::default()
    };
    let found = target(&["--protocol", "2025-06-18", "--env", "A=1", "--timeout", "5s"], Some(&profile));
    let Ok(Some(Target { endpoint: Endpoint::Command { program, env, cwd, .. }, protocol, limits, .. })) = found else {
        panic!("{found:?}")
    };
    assert_eq!((program.as_str(), cwd.as_deref()), ("other", Some(Path::new("/"))));
    let values: Vec<_> = env.iter().map(|(name, value)| format!("{name}={}", value.reveal())).collect();
    assert_eq!(values, ["B=kept", "A=1"]);
    assert_eq!(protocol, ProtocolChoice::Exact(Revision::V2025_06_18));
    assert_eq!(limits.timeout, Duration::from_secs(5));
    let found = target(&["--", "mine"], Some(&profile));
    let Ok(Some(Target { endpoint: Endpoint::Command { program, cwd, .. }, .. })) = found else { panic!("{found:?}") };
    assert_eq!((program.as_str(), cwd), ("mine", None));
    assert!(target(&[], None).is_ok_and(|target| target.is_none()));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (line, title) in [
        (&["-c", "a", "--", "b"][..], "the server is named twice: by --command and by --"),
        (&["-u", "http://a/", "http://b/"], "the server is named twice: by --url and by http://b/"),
        (&["-c", "a 'b"], "--command: the ' in it is never closed"),
        (&["-c", " "], "the command after --command is empty"),
        (&["-c", "a", "-H", "A: b"], "--header is for servers behind a URL"),
        (&["-u", "http://a/", "--cwd", "/"], "--cwd is for servers that are started"),
        (&["-u", "http://a/", "-H", "A"], "--header needs 'NAME: VALUE'"),
        (&["-u", "http://a/", "-H", "A: ${env:NOPE}"], "--header A: the environment variable NOPE is not set"),
        (&["-u", "nowhere"], "`nowhere` is no URL: relative URL without a base"),
        (&["-c", "a", "--env", "NOPE"], "--env NOPE: the environment variable NOPE is not set"),
        (&["-c", "a", "--cwd", "/nope"], "the server's working directory /nope is no folder"),
        (&["-c", "a", "--protocol", "2025-11-26"], "`2025-11-26` is no protocol revision"),
        (&["-c", "a", "--timeout", "0"], "--timeout of 0 leaves no time for an answer"),
        (&["-H", "A: b"], "--header needs a server"),
    ] {
        assert_eq!(refusal(line), title, "{line:?}");
    }
    assert!(refusal(&["-u", "https://me:pw@host/"]).contains("user or password"));
}

#[test]
fn variables_come_in_order_of_strength() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vars.env");
    fs::write(&file, "user=weak\nfile=1\n").expect("a file");
    let args =
        args(&["--vars-file", &file.to_string_lossy(), "--var", "a=x=y", "--secret", "TOKEN", "--secret", "b=s3cret"]);
    let masker = Masker::new();
    let outside = outside(&args.vars, &env(), &masker).expect("variables");
    let profile = Profile { vars: vec![("a".into(), 5.into())], ..Profile::default() };
    let shown: Vec<_> = outside
        .with(Some(&profile))
        .into_iter()
        .map(|preset| format!("{}={}", preset.name, preset.value.render()))
        .collect();
    assert_eq!(
        shown,
        ["a=5", "user=weak", "file=1", "user=ann", "a=x=y", "pin=1234-5678", "TOKEN=t0ken-t0ken", "b=s3cret"]
    );
    assert_eq!(outside.hidden, ["MCP_TESTER_SECRET_pin", "TOKEN"]);
    assert_eq!(masker.mask("1234-5678 t0ken-t0ken s3cret ann"), "*** *** *** ann");
}

#[test]
fn variables_that_cannot_be_are_refused() {
    for (line, title) in [
        (&["--var", "a"][..], "--var a: the value is missing"),
        (&["--var", "a-b=1"], "--var: `a-b` cannot be the name of a variable"),
        (&["--secret", "NOPE"], "--secret NOPE: the environment variable NOPE is not set"),
        (
            &["--secret", "a=abc"],
            "--secret a: a secret needs at least 4 characters, or masking it would garble every text",
        ),
        (&["--vars-file", "/nope"], "--vars-file /nope: there is no such file"),
    ] {
        let error = outside(&args(line).vars, &Env::default(), &Masker::new()).map(|_| ()).map_err(|error| error.title);
        assert_eq!(error, Err(title.to_owned()));
    }
}

#[test]
fn a_named_command_is_plain_data() {
    let args = args(&["--", "a", "b c"]);
    let found = named(&args.connect, &args.server, &[]).map_err(|error| error.title);
    assert_eq!(found, Ok(Some(Named::Command(vec!["a".into(), "b c".into()]))));
}
