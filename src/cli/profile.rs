//! `mcp-tester.yml`: profiles, which hold a server and how to talk to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::interpolate::{InterpolateError, interpolate};
use super::words;
use super::yaml::{self, Key, Node, Value};
use crate::diagnostic::{Diagnostic, suggest};
use crate::duration;
use crate::json::Json;
use crate::sensitive::Sensitive;
use crate::source::{Source, Span};

/// What a configuration file is called.
pub const FILE_NAMES: [&str; 2] = ["mcp-tester.yml", "mcp-tester.yaml"];

/// The keys of the file.
const TOP_KEYS: [&str; 2] = ["profiles", "default"];

/// The keys of a profile.
const PROFILE_KEYS: [&str; 11] =
    ["command", "args", "url", "env", "cwd", "headers", "protocol", "transport", "timeout", "vars", "disabled"];

/// Why a configuration cannot be used.
pub type Refusal = Box<Diagnostic>;

/// A configuration file that was read; its profiles are looked at when one is asked for.
#[derive(Debug)]
pub struct Profiles {
    source: Arc<Source>,
    folder: PathBuf,
    default: Option<(String, Span)>,
    entries: Vec<(Key, Node)>,
    /// Keys that mean nothing, as warnings.
    pub warnings: Vec<Diagnostic>,
}

/// One profile, filled in.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The command as a list: the executable first.
    pub command: Option<Vec<String>>,
    /// The URL.
    pub url: Option<String>,
    /// Variables for the server's process.
    pub env: Vec<(String, Sensitive<String>)>,
    /// The folder of its file, in which its command runs unless `cwd` says otherwise.
    pub folder: PathBuf,
    /// The server's working directory, from that folder.
    pub cwd: Option<PathBuf>,
    /// HTTP headers.
    pub headers: Vec<(String, Sensitive<String>)>,
    /// The revision, unchecked.
    pub protocol: Option<String>,
    /// `stdio`, `http`, `streamable-http` or `sse`, in lower case.
    pub transport: Option<String>,
    /// The longest silence of one request.
    pub timeout: Option<Duration>,
    /// Variables for the script.
    pub vars: Vec<(String, Json)>,
}

/// The configuration file next to `start` or in a folder above it.
pub fn find(start: &Path) -> Option<PathBuf> {
    start.ancestors().flat_map(|folder| FILE_NAMES.map(|name| folder.join(name))).find(|file| file.is_file())
}

impl Profiles {
    /// Reads a configuration file's text; `folder` is where it lies.
    ///
    /// # Errors
    /// What is no YAML or has another shape, with its place.
    pub fn parse(source: &Arc<Source>, folder: &Path) -> Result<Self, Refusal> {
        let top = yaml::parse(source)?;
        let mut profiles = Self {
            source: source.clone(),
            folder: folder.to_path_buf(),
            default: None,
            entries: Vec::new(),
            warnings: Vec::new(),
        };
        for (key, value) in profiles.mapping(&top, "a mapping with `profiles:`")? {
            match key.name.as_str() {
                "profiles" => profiles.entries = profiles.mapping(&value, "a mapping of names to profiles")?,
                "default" => {
                    let name = value.text().ok_or_else(|| profiles.wrong(&value, "the name of a profile"))?;
                    profiles.default = Some((name, value.span));
                }
                _ => profiles.warn_of_key(&key, &TOP_KEYS),
            }
        }
        for (_, profile) in profiles.entries.clone() {
            for (key, _) in profiles.mapping(&profile, "a mapping such as `url: http://localhost:8080/mcp`")? {
                if !PROFILE_KEYS.contains(&key.name.as_str()) {
                    profiles.warn_of_key(&key, &PROFILE_KEYS);
                }
            }
        }
        Ok(profiles)
    }

    /// The names of all profiles, as written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.name.as_str())
    }

    /// The profile that `default:` names.
    ///
    /// # Errors
    /// As [`Profiles::get`].
    pub fn default_profile(&self, env: &impl Fn(&str) -> Option<String>) -> Result<Option<Profile>, Refusal> {
        let Some((name, span)) = &self.default else { return Ok(None) };
        match self.entries.iter().find(|(key, _)| key.name == *name) {
            Some((_, node)) => self.profile(name, node, env).map(Some),
            None => Err(Box::new(self.unknown(name).at(&self.source, *span, "no profile has this name"))),
        }
    }

    /// A profile by name; `${env:…}` in it is filled in by `env`.
    ///
    /// # Errors
    /// An unknown or disabled name, a value of the wrong shape, a variable that is not set.
    pub fn get(&self, name: &str, env: &impl Fn(&str) -> Option<String>) -> Result<Profile, Refusal> {
        match self.entries.iter().find(|(key, _)| key.name == name) {
            Some((_, node)) => self.profile(name, node, env),
            None => Err(Box::new(self.unknown(name))),
        }
    }

    fn unknown(&self, name: &str) -> Diagnostic {
        let file = self.source.name();
        let names: Vec<&str> = self.names().collect();
        let help = match (suggest(name, names.iter().copied()), names.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`? {file} has: {}", names.join(", ")),
            (None, false) => format!("{file} has: {}", names.join(", ")),
            (None, true) => format!("{file} has no profiles; add one under `profiles:`"),
        };
        Diagnostic::error("mcp::config::unknown_profile", format!("there is no profile `{name}`")).help(help)
    }

    fn profile(&self, name: &str, node: &Node, env: &impl Fn(&str) -> Option<String>) -> Result<Profile, Refusal> {
        let mut profile = Profile { name: name.to_owned(), folder: self.folder.clone(), ..Profile::default() };
        let mut args = None;
        let mut command = None;
        for (key, value) in self.mapping(node, "a mapping")? {
            let text = || self.filled(&value, env);
            match key.name.as_str() {
                "command" => command = Some(value),
                "args" => args = Some(self.texts(&value, env)?),
                "url" => profile.url = Some(text()?),
                "env" => profile.env = self.pairs(&value, env)?,
                "cwd" => profile.cwd = Some(self.folder.join(text()?)),
                "headers" => profile.headers = self.pairs(&value, env)?,
                "protocol" => profile.protocol = Some(text()?),
                "transport" => profile.transport = Some(self.transport(&value, &text()?)?),
                "timeout" => {
                    let limit = duration::parse(&text()?);
                    profile.timeout = Some(limit.map_err(|error| self.refuse(value.span, &error.to_string()))?);
                }
                "vars" => profile.vars = self.vars(&value, env)?,
                "disabled" => self.check_enabled(name, &value)?,
                _ => {}
            }
        }
        profile.command = self.command(command.as_ref(), args, env)?;
        if let (Some(command), Some(_)) = (&command, &profile.url) {
            return Err(self.refuse(command.span, "a profile has either `command` or `url`"));
        }
        Ok(profile)
    }

    fn check_enabled(&self, name: &str, value: &Node) -> Result<(), Refusal> {
        match value.value {
            Value::Bool(false) | Value::Null => Ok(()),
            Value::Bool(true) => Err(self.refuse(value.span, &format!("the profile `{name}` is disabled"))),
            _ => Err(self.wrong(value, "true or false")),
        }
    }

    fn command(
        &self,
        command: Option<&Node>,
        args: Option<Vec<String>>,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Vec<String>>, Refusal> {
        let Some(node) = command else { return Ok(None) };
        let mut words = match (&node.value, &args) {
            (Value::List(_), _) => self.texts(node, env)?,
            // With `args` beside it the command is one executable, spaces included.
            (_, Some(_)) => vec![self.filled(node, env)?],
            (_, None) => {
                let text = node.text().ok_or_else(|| self.wrong(node, "a command line or a list"))?;
                let words = words::split(&text).map_err(|error| self.refuse(node.span, &error.to_string()))?;
                words.iter().map(|word| self.interpolated(word, node.span, env)).collect::<Result<_, _>>()?
            }
        };
        words.extend(args.into_iter().flatten());
        if words.first().is_none_or(String::is_empty) {
            return Err(self.refuse(node.span, "the command is empty"));
        }
        Ok(Some(words))
    }

    fn transport(&self, node: &Node, text: &str) -> Result<String, Refusal> {
        let transport = text.to_ascii_lowercase().replace('_', "-");
        match transport.as_str() {
            "stdio" | "http" | "streamable-http" | "sse" => Ok(transport),
            _ => Err(self.refuse(node.span, "the transports are stdio, http, streamable-http and sse")),
        }
    }

    fn vars(&self, node: &Node, env: &impl Fn(&str) -> Option<String>) -> Result<Vec<(String, Json)>, Refusal> {
        let mut vars = Vec::new();
        for (key, value) in self.mapping(node, "a mapping of names to values")? {
            if !super::vars::is_name(&key.name) {
                return Err(
                    self.refuse(key.span, "a variable's name is letters, digits and _, and starts with no digit")
                );
            }
            let value = value.to_json(&|text| interpolate(text, env));
            vars.push((key.name, value.map_err(|(error, span)| self.unfilled(span, &error))?));
        }
        Ok(vars)
    }

    fn pairs(
        &self,
        node: &Node,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<(String, Sensitive<String>)>, Refusal> {
        let pairs = self.mapping(node, "a mapping of names to text")?.into_iter();
        pairs.map(|(key, value)| Ok((key.name, Sensitive::new(self.filled(&value, env)?)))).collect()
    }

    fn texts(&self, node: &Node, env: &impl Fn(&str) -> Option<String>) -> Result<Vec<String>, Refusal> {
        match &node.value {
            Value::List(items) => items.iter().map(|item| self.filled(item, env)).collect(),
            _ => Err(self.wrong(node, "a list of words")),
        }
    }

    fn filled(&self, node: &Node, env: &impl Fn(&str) -> Option<String>) -> Result<String, Refusal> {
        let text = node.text().ok_or_else(|| self.wrong(node, "text"))?;
        self.interpolated(&text, node.span, env)
    }

    fn interpolated(&self, text: &str, span: Span, env: &impl Fn(&str) -> Option<String>) -> Result<String, Refusal> {
        interpolate(text, env).map_err(|error| self.unfilled(span, &error))
    }

    fn unfilled(&self, span: Span, error: &InterpolateError) -> Refusal {
        let mut refused = self.refuse(span, &error.to_string());
        if let InterpolateError::Missing { name } = error {
            refused.help = Some(format!("set it, or give a default: ${{env:{name}:-default}}"));
        }
        refused
    }

    fn mapping(&self, node: &Node, wanted: &str) -> Result<Vec<(Key, Node)>, Refusal> {
        match &node.value {
            Value::Map(members) => Ok(members.clone()),
            Value::Null => Ok(Vec::new()),
            _ => Err(self.wrong(node, wanted)),
        }
    }

    fn wrong(&self, node: &Node, wanted: &str) -> Refusal {
        self.refuse(node.span, &format!("{wanted} is needed here, not {}", node.kind()))
    }

    fn refuse(&self, span: Span, title: &str) -> Refusal {
        Box::new(Diagnostic::error("mcp::config::profile", title).at(&self.source, span, ""))
    }

    fn warn_of_key(&mut self, key: &Key, known: &[&str]) {
        let title = format!("`{}` is no key that means something here", key.name);
        let help = match suggest(&key.name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? The keys are {}", known.join(", ")),
            None => format!("the keys are {}", known.join(", ")),
        };
        self.warnings
            .push(Diagnostic::warning("mcp::config::unknown_key", title).at(&self.source, key.span, "").help(help));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{Profile, Profiles, Refusal};
    use crate::source::Source;

    const FILE: &str = "\
default: demo
profiles:
  demo:
    command: npx -y 'a b' ${env:PKG}
    env: {TOKEN: \"${env:TOKEN}\", LEVEL: 3}
    cwd: sub
    protocol: 2025-11-25
    timeout: 1m30s
    vars: {user: ann, ratio: 1.10, tags: [a, \"${env:PKG}\"]}
  list:
    command: [\"/opt/my server/run\", --fast]
  go:
    command: /opt/my server/run
    args: [\"-p\", 8080]
    transport: stdio
  web:
    url: https://example.com/mcp
    headers: {Authorization: \"Bearer ${env:TOKEN}\"}
    timeout: 250
  off:
    url: http://x/
    disabled: true
";

    fn env(name: &str) -> Option<String> {
        match name {
            "PKG" => Some("pkg with space".into()),
            "TOKEN" => Some("t0ken".into()),
            _ => None,
        }
    }

    fn parse(text: &str) -> Result<Profiles, Refusal> {
        Profiles::parse(&Source::new("mcp-tester.yml", text), Path::new("/work"))
    }

    fn get(name: &str) -> Profile {
        parse(FILE).and_then(|file| file.get(name, &env)).expect(name)
    }

    #[test]
    fn profiles_are_read_and_filled_in() {
        let demo = get("demo");
        assert_eq!(demo.command.as_deref().unwrap_or_default(), ["npx", "-y", "a b", "pkg with space"]);
        let env: Vec<_> = demo.env.iter().map(|(name, value)| (name.as_str(), value.reveal().as_str())).collect();
        assert_eq!(env, [("TOKEN", "t0ken"), ("LEVEL", "3")]);
        assert_eq!(demo.cwd.as_deref(), Some(Path::new("/work/sub")));
        assert_eq!((demo.protocol.as_deref(), demo.timeout), (Some("2025-11-25"), Some(Duration::from_secs(90))));
        let vars: Vec<_> = demo.vars.iter().map(|(name, value)| format!("{name}={}", value.compact())).collect();
        assert_eq!(vars, ["user=\"ann\"", "ratio=1.10", "tags=[\"a\",\"pkg with space\"]"]);
        assert_eq!(get("list").command.unwrap_or_default(), ["/opt/my server/run", "--fast"]);
        assert_eq!(get("go").command.unwrap_or_default(), ["/opt/my server/run", "-p", "8080"]);
        let web = get("web");
        assert_eq!(
            (web.url.as_deref(), web.timeout),
            (Some("https://example.com/mcp"), Some(Duration::from_millis(250)))
        );
        assert_eq!(web.headers[0].1.reveal(), "Bearer t0ken");
        assert_eq!((web.cwd, web.folder.as_path()), (None, Path::new("/work")));
    }

    #[test]
    fn the_default_is_used() {
        let file = parse(FILE).expect("a file");
        assert_eq!(file.default_profile(&env).expect("a profile").map(|profile| profile.name), Some("demo".into()));
        let none = parse("profiles: {}").expect("a file");
        assert!(none.default_profile(&env).expect("no profile").is_none());
        let error =
            parse("default: x\nprofiles: {y: {url: z}}").expect("a file").default_profile(&env).expect_err("unknown");
        assert_eq!(error.place().map(|(_, at)| (at.line, at.column)), Some((1, 10)));
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, at, title) in [
            ("profiles: [a]", (1, 11), "a mapping of names to profiles is needed here, not a list"),
            (
                "profiles: {p: x}",
                (1, 15),
                "a mapping such as `url: http://localhost:8080/mcp` is needed here, not text",
            ),
            ("profiles:\n  p: {url: \"${env:NO}\"}", (2, 12), "the environment variable NO is not set"),
            ("profiles:\n  p: {command: \"a 'b\"}", (2, 16), "the ' in it is never closed"),
            ("profiles:\n  p: {command: []}", (2, 16), "the command is empty"),
            ("profiles:\n  p: {command: a, url: b}", (2, 16), "a profile has either `command` or `url`"),
            (
                "profiles:\n  p: {vars: {a-b: 1}}",
                (2, 14),
                "a variable's name is letters, digits and _, and starts with no digit",
            ),
            ("profiles:\n  p: {transport: pigeon}", (2, 18), "the transports are stdio, http, streamable-http and sse"),
            ("profiles:\n  p: {disabled: true}", (2, 17), "the profile `p` is disabled"),
            ("profiles:\n  p: {timeout: soon}", (2, 16), "a duration starts with a number, as in 500ms, 2s or 1m30s"),
        ] {
            let error = parse(text).and_then(|file| file.get("p", &env)).expect_err(text);
            let place = error.place().map(|(_, at)| (at.line, at.column));
            assert_eq!((place, error.title.as_str()), (Some(at), title), "{text}");
        }
    }

    #[test]
    fn unknown_names_and_keys_get_suggestions() {
        let error = parse(FILE).and_then(|file| file.get("dmeo", &env)).expect_err("unknown");
        assert_eq!(error.title, "there is no profile `dmeo`");
        assert_eq!(error.help.as_deref(), Some("did you mean `demo`? mcp-tester.yml has: demo, list, go, web, off"));
        let file = parse("profile: {}\nprofiles: {p: {comand: x}}").expect("a file");
        let warnings: Vec<_> = file.warnings.iter().map(|warning| warning.title.as_str()).collect();
        assert_eq!(
            warnings,
            ["`profile` is no key that means something here", "`comand` is no key that means something here"]
        );
        assert!(file.warnings[1].help.as_deref().is_some_and(|help| help.starts_with("did you mean `command`?")));
    }
}
