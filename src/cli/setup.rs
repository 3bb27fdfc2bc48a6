//! From words of the command line to checked values: the target, the variables, the limits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::args::{ConnectArgs, VarArgs};
use super::interpolate::interpolate;
use super::profile::{Profile, Refusal};
use super::vars::{self, SECRET_PREFIX, VAR_PREFIX, is_name, looks_secret};
use super::words;
use super::world::{Disk, Env};
use crate::diagnostic::{Diagnostic, suggest};
use crate::engine::cx::Files;
use crate::engine::vars::Preset;
use crate::json::Json;
use crate::sensitive::{Masker, Sensitive};
use crate::session::target::{Endpoint, HttpFlavor, Limits, ProtocolChoice, Target};
use crate::session::version::Revision;
use crate::source::Source;

/// Shortest value of the environment that is masked because of its name alone: shorter ones are words like `true`.
const SHORTEST_GUESS: usize = 8;

/// A server as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A command: the executable first.
    Command(Vec<String>),
    /// A URL.
    Url(String),
}

/// Variables from outside, weakest first, and what the server's process must not inherit.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// From files, options and the environment; a profile's are weaker.
    pub presets: Vec<Preset>,
    /// Environment variables that hold secrets.
    pub hidden: Vec<String>,
}

/// An error of usage, with what to do instead.
pub fn usage(title: impl Into<String>, help: impl Into<String>) -> Refusal {
    Box::new(Diagnostic::error("mcp::usage::options", title).help(help))
}

/// True for a word that is a server's URL and no path.
pub fn is_url(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.starts_with("http://") || word.starts_with("https://")
}

/// The server that options, the words behind `--` and URLs among the PATHs name; none where nothing does.
///
/// # Errors
/// Where several of them do, or a command is empty or has an open quote.
pub fn named(connect: &ConnectArgs, server: &[String], urls: &[String]) -> Result<Option<Named>, Refusal> {
    let mut found: Vec<(&str, Named)> = Vec::new();
    if let Some(text) = &connect.command {
        let words = words::split(text)
            .map_err(|why| usage(format!("--command: {why}"), "quote as in a script: 'a b' or \"a b\""))?;
        found.push(("--command", command(words)));
    }
    if !server.is_empty() {
        found.push(("--", command(server.to_vec())));
    }
    found.extend(connect.url.iter().map(|url| ("--url", Named::Url(url.clone()))));
    found.extend(urls.iter().map(|url| (url.as_str(), Named::Url(url.clone()))));
    let mut found = found.into_iter();
    let (first, rest) = (found.next(), found.next());
    if let (Some((one, _)), Some((other, _))) = (&first, &rest) {
        return Err(usage(format!("the server is named twice: by {one} and by {other}"), "name it once"));
    }
    match first {
        Some((by, Named::Command(words))) if words.first().is_none_or(String::is_empty) => {
            Err(usage(format!("the command after {by} is empty"), "name the server's executable"))
        }
        first => Ok(first.map(|(_, named)| named)),
    }
}

/// A URL in place of a command means HTTP.
fn command(mut words: Vec<String>) -> Named {
    if words.len() == 1 && is_url(&words[0]) { Named::Url(words.swap_remove(0)) } else { Named::Command(words) }
}

/// What every target of a run is made of.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The options.
    pub connect: &'a ConnectArgs,
    /// The server that options name.
    pub named: Option<&'a Named>,
    /// Environment variables that the server must not inherit.
    pub hidden: &'a [String],
    /// Our environment.
    pub env: &'a Env,
    /// Told of credentials.
    pub masker: &'a Masker,
}

impl Given<'_> {
    /// What a script connects to: options win over the profile. None where neither names a server.
    ///
    /// # Errors
    /// A value that is not what its option needs, or a target that is refused before anything starts.
    pub fn target(&self, profile: Option<&Profile>) -> Result<Option<Target>, Refusal> {
        let connect = self.connect;
        let of_profile = profile.and_then(|profile| {
            let command = profile.command.clone().map(Named::Command);
            command.or_else(|| profile.url.clone().map(Named::Url))
        });
        let endpoint = match self.named.cloned().or(of_profile) {
            None => {
                return match connect.headers.first().map(|_| "--header").or(connect.cwd.as_ref().map(|_| "--cwd")) {
                    None => Ok(None),
                    Some(option) => {
                        Err(usage(format!("{option} needs a server"), "name one with --url, --profile or behind --"))
                    }
                };
            }
            Some(Named::Command(words)) => self.local(words, profile)?,
            Some(Named::Url(text)) => self.remote(&text, profile)?,
        };
        let mut target = Target::new(endpoint);
        target.protocol =
            protocol(connect.protocol.as_deref().or(profile.and_then(|profile| profile.protocol.as_deref())))?;
        let defaults = Limits::default();
        let limits = &mut target.limits;
        limits.timeout = connect.timeout.or(profile.and_then(|profile| profile.timeout)).unwrap_or(defaults.timeout);
        limits.connect_timeout = connect.connect_timeout.unwrap_or(defaults.connect_timeout);
        for (option, limit) in [("timeout", limits.timeout), ("connect-timeout", limits.connect_timeout)] {
            if limit == Duration::ZERO {
                return Err(usage(format!("--{option} of 0 leaves no time for an answer"), "give a time such as 30s"));
            }
        }
        target.allow_tools.clone_from(&connect.allow_tools);
        target.check().map_err(|why| Box::new(Diagnostic::error("mcp::config::target", why)))?;
        Ok(Some(target))
    }

    fn local(&self, mut words: Vec<String>, profile: Option<&Profile>) -> Result<Endpoint, Refusal> {
        let connect = self.connect;
        if !connect.headers.is_empty() {
            return Err(usage("--header is for servers behind a URL", "give --url, or set --env for a command"));
        }
        let mut env = profile.map_or_else(Vec::new, |profile| profile.env.clone());
        for text in &connect.env {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, value),
                None => (text.as_str(), self.env.get(text).ok_or_else(|| not_set("--env", text))?),
            };
            if name.is_empty() {
                return Err(usage("--env needs NAME=VALUE", "such as --env LOG_LEVEL=debug"));
            }
            env.retain(|(known, _)| known != name);
            env.push((name.to_owned(), Sensitive::new(value.to_owned())));
        }
        for (name, value) in &env {
            guess_secret(name, value.reveal(), self.masker);
        }
        let given = |name: &String| env.iter().any(|(given, _)| given == name);
        let env_remove = self.hidden.iter().filter(|name| !given(name)).cloned().collect();
        let cwd = connect.cwd.clone().or_else(|| {
            let profile = profile?;
            // A profile's command runs beside its file; a command from the command line where we are.
            profile.cwd.clone().or_else(|| self.named.is_none().then(|| profile.folder.clone()))
        });
        if let Some(folder) = cwd.as_ref().filter(|folder| !folder.is_dir()) {
            let title = format!("the server's working directory {} is no folder", folder.display());
            return Err(usage(title, "check --cwd, or `cwd` of the profile"));
        }
        if words.is_empty() {
            return Err(usage("the server's command is empty", "name the server's executable"));
        }
        let program = words.remove(0);
        Ok(Endpoint::Command { program, args: words, env, env_clear: connect.env_clear, env_remove, cwd })
    }

    fn remote(&self, text: &str, profile: Option<&Profile>) -> Result<Endpoint, Refusal> {
        let connect = self.connect;
        if let Some(option) = connect.env.first().map(|_| "--env").or(connect.cwd.as_ref().map(|_| "--cwd")) {
            return Err(usage(
                format!("{option} is for servers that are started"),
                "a server behind a URL is running already",
            ));
        }
        let url = Url::parse(text);
        let url =
            url.map_err(|why| usage(format!("`{text}` is no URL: {why}"), "such as http://localhost:8080/mcp"))?;
        let mut headers = profile.map_or_else(Vec::new, |profile| profile.headers.clone());
        for header in &connect.headers {
            let example = "such as -H 'Authorization: Bearer ${env:TOKEN}'";
            let (name, value) = header.split_once(':').ok_or_else(|| usage("--header needs 'NAME: VALUE'", example))?;
            let value = interpolate(value.trim(), |name| self.env.get(name).map(str::to_owned));
            let default = "set it, or give a default: ${env:NAME:-default}";
            let value = value.map_err(|why| usage(format!("--header {}: {why}", name.trim()), default))?;
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name.trim()));
            headers.push((name.trim().to_owned(), Sensitive::new(value)));
        }
        for (name, value) in &headers {
            guess_secret(name, value.reveal(), self.masker);
        }
        let flavor = match profile.and_then(|profile| profile.transport.as_deref()) {
            Some("sse") => HttpFlavor::Sse,
            Some("streamable-http") => HttpFlavor::Streamable,
            Some("stdio") => {
                return Err(usage(
                    "the profile's transport is stdio, but the server is a URL",
                    "leave `transport` out",
                ));
            }
            _ => HttpFlavor::Auto,
        };
        Ok(Endpoint::Http { url, headers, flavor, insecure: false, cacert: None, proxy: None })
    }
}

fn not_set(option: &str, name: &str) -> Refusal {
    usage(
        format!("{option} {name}: the environment variable {name} is not set"),
        format!("set it, or write {option} {name}=VALUE"),
    )
}

/// Masks a value whose name says that it is a credential; of `Bearer …` the token too.
fn guess_secret(name: &str, value: &str, masker: &Masker) {
    if looks_secret(name) {
        for part in std::iter::once(value).chain(value.split_whitespace().skip(1)) {
            if part.chars().count() >= SHORTEST_GUESS {
                // Long enough by the line above.
                let _masked = masker.add(part);
            }
        }
    }
}

fn protocol(text: Option<&str>) -> Result<ProtocolChoice, Refusal> {
    let Some(text) = text.filter(|text| *text != "auto") else { return Ok(ProtocolChoice::Auto) };
    Revision::parse(text).map(ProtocolChoice::Exact).ok_or_else(|| {
        let known: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
        let near =
            suggest(text, known.iter().copied()).map_or_else(String::new, |near| format!("did you mean {near}? "));
        usage(format!("`{text}` is no protocol revision"), format!("{near}There are {}, and auto", known.join(", ")))
    })
}

/// Variables from files, options and the environment; secrets are told to the masker.
///
/// # Errors
/// A file that cannot be read, a name that cannot be one, a secret that is too short or not set.
pub fn outside(args: &VarArgs, env: &Env, masker: &Masker) -> Result<Outside, Refusal> {
    let mut outside = Outside::default();
    for file in &args.files {
        for (name, value) in vars_file(file)? {
            outside.presets.push(Preset { name, value });
        }
    }
    for (name, value) in env.with_prefix(VAR_PREFIX) {
        outside.set(&format!("{VAR_PREFIX}{name}"), name, value)?;
    }
    for text in &args.vars {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("--var {text}: the value is missing"), format!("write --var {text}=VALUE")))?;
        outside.set("--var", name, value)?;
    }
    for (name, value) in env.with_prefix(SECRET_PREFIX) {
        let variable = format!("{SECRET_PREFIX}{name}");
        outside.set(&variable, name, value)?;
        keep_secret(&variable, value, masker)?;
        outside.hidden.push(variable);
    }
    for text in &args.secrets {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value),
            None => {
                let value = env.get(text).ok_or_else(|| not_set("--secret", text))?;
                outside.hidden.push(text.clone());
                (text.as_str(), value)
            }
        };
        outside.set("--secret", name, value)?;
        keep_secret(&format!("--secret {name}"), value, masker)?;
    }
    Ok(outside)
}

impl Outside {
    fn set(&mut self, by: &str, name: &str, value: &str) -> Result<(), Refusal> {
        if !is_name(name) {
            return Err(usage(
                format!("{by}: `{name}` cannot be the name of a variable"),
                "names are letters, digits and _, and start with no digit",
            ));
        }
        self.presets.push(Preset { name: name.to_owned(), value: Json::from(value) });
        Ok(())
    }

    /// All variables for a script under this profile, weakest first.
    pub fn with(&self, profile: Option<&Profile>) -> Vec<Preset> {
        let weak = profile.into_iter().flat_map(|profile| &profile.vars);
        let weak = weak.map(|(name, value)| Preset { name: name.clone(), value: value.clone() });
        weak.chain(self.presets.iter().cloned()).collect()
    }
}

fn keep_secret(by: &str, value: &str, masker: &Masker) -> Result<(), Refusal> {
    masker.add(value).map_err(|why| usage(format!("{by}: {why}"), "use --var for values that are no secret"))
}

fn vars_file(file: &Path) -> Result<Vec<(String, Json)>, Refusal> {
    let text = Disk
        .read_text(file)
        .map_err(|why| usage(format!("--vars-file {}: {why}", file.display()), "name a dotenv or JSON file"))?;
    vars::read_file(&Source::new(file.to_string_lossy(), text))
}

/// Reads a configuration file.
///
/// # Errors
/// Where it cannot be read, is no YAML or has another shape.
pub fn read_config(file: &Path) -> Result<super::profile::Profiles, Refusal> {
    let text = Disk.read_text(file).map_err(|why| {
        Box::new(Diagnostic::error("mcp::config::unreadable", format!("cannot read {}: {why}", file.display())))
    })?;
    let shown: Arc<Source> = Source::new(shorten(file).to_string_lossy(), text);
    super::profile::Profiles::parse(&shown, file.parent().unwrap_or_else(|| Path::new(".")))
}

/// The path from the working directory, where it lies below it.
fn shorten(file: &Path) -> PathBuf {
    let below = std::env::current_dir().ok().and_then(|here| file.strip_prefix(here).ok().map(Path::to_path_buf));
    below.unwrap_or_else(|| file.to_path_buf())
}

#[cfg(test)]
#[path = "setup_tests.rs"]
mod tests;
