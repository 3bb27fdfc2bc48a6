//! Owns the first line of a script in `scripts/`: against which servers, in which revisions, with which outcome it runs.
//! May use the catalog's words. Must not look at the rest of the script.

use crate::catalog::How;

/// `# servers: NAME…; revisions: A..B; except: NAME [HOW] [A..B], …; exit: N; says: TEXT`; only `servers` has to be there.
#[derive(Default)]
pub struct Hint {
    servers: Vec<String>,
    revisions: Range,
    except: Vec<Except>,
    /// The exit code to expect, 0 if unsaid.
    pub exit: i32,
    /// What the output must hold.
    pub says: Option<String>,
}

#[derive(Default)]
struct Except {
    server: String,
    how: Option<How>,
    revisions: Range,
}

/// `A..B`, `A..`, `..B` or everything; both ends belong to it.
#[derive(Default)]
struct Range {
    from: String,
    to: String,
}

impl Range {
    fn parse(text: &str) -> Option<Range> {
        text.split_once("..").map(|(from, to)| Range { from: from.into(), to: to.into() })
    }

    fn holds(&self, revision: &str) -> bool {
        revision >= self.from.as_str() && (self.to.is_empty() || revision <= self.to.as_str())
    }
}

impl Hint {
    /// Reads a script's first line; the error names what is wrong with it.
    pub fn parse(line: &str) -> Result<Hint, String> {
        let mut hint = Hint::default();
        for field in line.trim_start_matches('#').split(';') {
            let (key, value) = field.split_once(':').ok_or_else(|| format!("not a hint: {field}"))?;
            let value = value.trim();
            match key.trim() {
                "servers" => hint.servers = value.split_whitespace().map(str::to_owned).collect(),
                "revisions" => hint.revisions = Range::parse(value).ok_or_else(|| format!("not a range: {value}"))?,
                "except" => hint.except = value.split(',').map(except).collect::<Result<_, _>>()?,
                "exit" => hint.exit = value.parse().map_err(|_| format!("not an exit code: {value}"))?,
                "says" => hint.says = Some(value.to_owned()),
                other => return Err(format!("unknown hint: {other}")),
            }
        }
        if hint.servers.is_empty() { Err("the hint names no server".to_owned()) } else { Ok(hint) }
    }

    /// The servers that it names.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Whether the script is meant for this server, transport and revision.
    pub fn admits(&self, server: &str, how: How, revision: &str) -> bool {
        let excepted =
            |e: &Except| e.server == server && e.how.is_none_or(|only| only == how) && e.revisions.holds(revision);
        self.servers.iter().any(|name| name == server)
            && self.revisions.holds(revision)
            && !self.except.iter().any(excepted)
    }
}

fn except(text: &str) -> Result<Except, String> {
    let mut words = text.split_whitespace();
    let mut found = Except { server: words.next().ok_or("an empty exception")?.to_owned(), ..Except::default() };
    for word in words {
        match (How::parse(word), Range::parse(word)) {
            (Some(how), _) => found.how = Some(how),
            (None, Some(range)) => found.revisions = range,
            (None, None) => return Err(format!("neither a transport nor a range: {word}")),
        }
    }
    Ok(found)
}
