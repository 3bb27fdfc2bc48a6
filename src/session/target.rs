//! Where to connect, as whom, and within which limits; and what of that is refused before anything starts.
//!
//! Owns: [`Target`] and its checks. May use: `sensitive`, `transport`. Must not: read the environment or connect.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::version::Revision;
use crate::sensitive::Sensitive;
use crate::transport::http::{is_protocol_header, may_carry_credentials};
use crate::transport::{Inbox, Transport};

/// Where and how to connect.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server.
    pub endpoint: Endpoint,
    /// Which revision to speak.
    pub protocol: ProtocolChoice,
    /// Times and sizes.
    pub limits: Limits,
    /// The tools that may be called; none means all.
    pub allow_tools: Option<Vec<String>>,
    /// Start the server anew after a refused probe, so that `initialize` is the first thing it sees (stdio).
    pub respawn: bool,
}

/// The server.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A child process that speaks over its stdin and stdout.
    Command {
        /// The executable; looked up in `PATH` where it has no separator.
        program: String,
        /// Its arguments, one each.
        args: Vec<String>,
        /// Variables to set.
        env: Vec<(String, Sensitive<String>)>,
        /// Inherit nothing.
        env_clear: bool,
        /// Variables not to inherit.
        env_remove: Vec<String>,
        /// Its working directory; ours where none.
        cwd: Option<PathBuf>,
    },
    /// A server behind a URL.
    Http {
        /// Its endpoint.
        url: Url,
        /// Headers for every request.
        headers: Vec<(String, Sensitive<String>)>,
        /// Which of the two HTTP transports.
        flavor: HttpFlavor,
        /// Accept any certificate.
        insecure: bool,
        /// Further root certificates (PEM).
        cacert: Option<Vec<u8>>,
        /// Proxy; where none, the usual variables decide. Never used for loopback.
        proxy: Option<Url>,
    },
    /// A server in this process, or a transport of one's own.
    Memory(Memory),
}

/// Which HTTP transport to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpFlavor {
    /// Streamable HTTP, and HTTP+SSE of 2024-11-05 where the server has only that.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Streamable,
    /// HTTP+SSE of 2024-11-05 only.
    Sse,
}

/// What [`Memory`] holds: connects a transport to the inbox that takes what arrives.
type Opener = dyn Fn(Arc<dyn Inbox>) -> Arc<dyn Transport> + Send + Sync;

/// Opens a connection to a server in this process; asked again where the server must be started anew.
#[derive(Clone)]
pub struct Memory(Arc<Opener>);

impl Memory {
    /// Takes the function that connects.
    pub fn new(open: impl Fn(Arc<dyn Inbox>) -> Arc<dyn Transport> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    /// Connects.
    pub fn open(&self, inbox: Arc<dyn Inbox>) -> Arc<dyn Transport> {
        (self.0)(inbox)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

/// Which revision to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtocolChoice {
    /// Ask the server first, fall back to `initialize`.
    #[default]
    Auto,
    /// This one, unasked.
    Exact(Revision),
}

/// Times and sizes that no server may exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest silence of one request; its progress starts the time anew.
    pub timeout: Duration,
    /// From the spawn or first request to an open session.
    pub connect_timeout: Duration,
    /// How long a server may take to end after each step of closing, and to end a request that cannot succeed any more.
    pub grace: Duration,
    /// Bytes of one message, and of a list put together from its pages.
    pub max_message: usize,
    /// Pages of one list.
    pub max_pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            max_message: 64 << 20,
            max_pages: 100,
        }
    }
}

impl Target {
    /// A target with default limits, protocol `auto` and no allowlist.
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, protocol: ProtocolChoice::Auto, limits: Limits::default(), allow_tools: None, respawn: false }
    }

    /// Checks what can be checked without connecting.
    ///
    /// # Errors
    /// One sentence: a URL with user and password or of another scheme, a header that the protocol owns or that is no header,
    /// credentials over plain HTTP to another machine, an empty command.
    pub fn check(&self) -> Result<(), String> {
        match &self.endpoint {
            Endpoint::Command { program, .. } if program.is_empty() => Err("the server's command is empty".to_owned()),
            Endpoint::Http { url, headers, .. } => check_http(url, headers),
            Endpoint::Command { .. } | Endpoint::Memory(_) => Ok(()),
        }
    }
}

/// Parts of a header's name that say its value is a credential.
const CREDENTIAL_WORDS: [&str; 9] =
    ["auth", "cookie", "token", "key", "secret", "password", "credential", "session", "signature"];

fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
}

fn check_http(url: &Url, headers: &[(String, Sensitive<String>)]) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the URL's scheme is `{}`; only http and https are spoken", url.scheme()));
    }
    if url.host().is_none() {
        return Err("the URL names no host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "the URL holds a user or password; give credentials as a header instead, from the environment".to_owned()
        );
    }
    let plain = !may_carry_credentials(url);
    for (name, value) in headers {
        check_header(name, value.reveal())?;
        if is_protocol_header(name) {
            return Err(format!("the header `{name}` is set by the protocol and cannot be given"));
        }
        if plain && is_credential(name) {
            return Err(format!(
                "the header `{name}` looks like a credential and would cross the network unencrypted; use https"
            ));
        }
    }
    Ok(())
}

/// Checks that this is a header at all (RFC 9110, section 5): a token, and a value without control characters.
///
/// # Errors
/// One sentence that names the header and never shows the value.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return Err(format!("`{}` is no header name", name.escape_debug()));
    }
    if value.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
        return Err(format!("the value of the header `{name}` holds a line end or another control character"));
    }
    Ok(())
}

/// True for the bytes an RFC 9110 token is made of.
pub(super) const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, HttpFlavor, Target, check_header};
    use crate::sensitive::Sensitive;
    use url::Url;

    fn check(url: &str, headers: &[(&str, &str)]) -> Result<(), String> {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), Sensitive::new((*value).to_owned()))).collect();
        let url = Url::parse(url).expect(url);
        Target::new(Endpoint::Http {
            url,
            headers,
            flavor: HttpFlavor::Auto,
            insecure: false,
            cacert: None,
            proxy: None,
        })
        .check()
    }

    #[test]
    fn credentials_in_urls_and_over_plain_http_are_refused() {
        assert!(check("https://example.com/mcp", &[("Authorization", "Bearer x")]).is_ok());
        assert!(check("http://127.0.0.1:8080/mcp", &[("Authorization", "Bearer x")]).is_ok());
        assert!(check("http://[::1]/mcp", &[("X-Api-Key", "x")]).is_ok());
        assert!(check("http://localhost/mcp", &[("Cookie", "x")]).is_ok());
        assert!(check("http://example.com/mcp", &[("Accept-Language", "de")]).is_ok());
        for (url, headers) in [
            ("https://me:pw@example.com/", vec![]),
            ("https://me@example.com/", vec![]),
            ("http://example.com/", vec![("Authorization", "Bearer x")]),
            ("http://localhost.example.com/", vec![("X-Api-Key", "x")]),
            ("http://10.0.0.1/", vec![("X-Auth", "x")]),
            ("ftp://example.com/", vec![]),
        ] {
            assert!(check(url, &headers).is_err(), "{url} {headers:?}");
        }
    }

    #[test]
    fn headers_of_the_protocol_and_broken_ones_are_refused() {
        for name in ["Mcp-Session-Id", "mcp-protocol-version", "Accept", "MCP-PARAM-x", "Host", "Mcp-Name"] {
            let error = check("https://example.com/", &[(name, "x")]).expect_err(name);
            assert!(error.contains(name), "{error}");
        }
        let error = check_header("X-A", "secret\r\nX-B: c").expect_err("line end");
        assert!(error.contains("X-A") && !error.contains("secret"), "{error}");
        assert!(check_header("X A", "v").is_err());
        assert!(check_header("", "v").is_err());
        assert!(check_header("X-A", "tab\tand ä").is_ok());
    }
}
