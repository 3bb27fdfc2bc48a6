//! The HTTP client, built once and only when needed.
//!
//! Owns: TLS roots, proxies, redirects and retries (both off). May use: `sensitive`.
//! Must not: know headers or bodies.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, Proxy, redirect, retry};
use url::{Host, Url};

/// An idle connection is dropped before servers with a five-second limit drop it, or a request could meet a connection
/// that is just being closed; and a request that failed so is not sent again.
const IDLE: Duration = Duration::from_secs(4);

/// How to reach the server.
#[derive(Clone, Default)]
pub struct ClientOptions {
    /// Accept any certificate.
    pub insecure: bool,
    /// Further root certificates (PEM).
    pub cacert: Option<Vec<u8>>,
    /// Proxy; where none, the usual variables decide. Never used for loopback.
    pub proxy: Option<Url>,
    /// How long one connection may take to be made; none leaves it to the caller's own limits.
    pub connect_timeout: Option<Duration>,
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions").field("insecure", &self.insecure).finish_non_exhaustive()
    }
}

/// One client for any number of connections to the same server; the first one that needs it builds it, which costs
/// some milliseconds for TLS roots. All its users must live on one runtime.
#[derive(Clone, Default)]
pub struct SharedClient(Arc<Mutex<Option<Client>>>);

impl SharedClient {
    /// The client, built at the first call.
    pub(super) fn get(&self, url: &Url, options: &ClientOptions) -> Result<Client, String> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*slot {
            return Ok(client.clone());
        }
        let client = build(url, options)?;
        *slot = Some(client.clone());
        Ok(client)
    }
}

impl fmt::Debug for SharedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedClient")
    }
}

fn build(url: &Url, options: &ClientOptions) -> Result<Client, String> {
    let local = is_loopback(url);
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .tcp_nodelay(true)
        .gzip(true)
        .pool_idle_timeout(IDLE)
        .user_agent(concat!("mcp-tester/", env!("CARGO_PKG_VERSION")));
    if let Some(limit) = options.connect_timeout {
        builder = builder.connect_timeout(limit);
    }
    if local {
        builder = builder.no_proxy();
    } else if let Some(proxy) = &options.proxy {
        let proxy = Proxy::all(proxy.clone()).map_err(|error| format!("the proxy cannot be used: {error}"))?;
        builder = builder.proxy(proxy);
    }
    if url.scheme() == "http" && local {
        // Loading the system's roots is what makes a client slow to build, and nothing here can need them.
        builder = builder.tls_certs_only([]);
    } else {
        if let Some(pem) = &options.cacert {
            let roots =
                Certificate::from_pem_bundle(pem).map_err(|_| "the CA file holds no readable PEM certificate")?;
            if roots.is_empty() {
                return Err("the CA file holds no PEM certificate".to_owned());
            }
            builder = builder.tls_certs_merge(roots);
        }
        if options.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
    }
    builder.build().map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("the HTTP client cannot be built: {error} {cause}").trim_end().to_owned()
    })
}

/// True for `localhost`, its subdomains, 127.0.0.0/8 and ::1.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|mapped| mapped.is_loopback())
        }
        None => false,
    }
}

/// True where credentials may be sent: over TLS, or to this machine.
pub fn may_carry_credentials(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

#[cfg(test)]
mod tests {
    use super::{ClientOptions, SharedClient, is_loopback, may_carry_credentials};
    use url::Url;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    #[test]
    fn credentials_go_over_tls_or_to_this_machine() {
        for (text, loopback, credentials) in [
            ("https://example.com/", false, true),
            ("http://example.com/", false, false),
            ("http://127.1.2.3:80/", true, true),
            ("http://[::1]/", true, true),
            ("http://api.localhost/", true, true),
            ("http://localhost.example.com/", false, false),
            ("ftp://localhost/", true, false),
        ] {
            assert_eq!(is_loopback(&url(text)), loopback, "{text}");
            assert_eq!(may_carry_credentials(&url(text)), credentials, "{text}");
        }
    }

    #[test]
    fn a_ca_file_without_a_certificate_is_refused() {
        let options = ClientOptions { cacert: Some(b"no certificate".to_vec()), ..ClientOptions::default() };
        let error = SharedClient::default().get(&url("https://localhost/"), &options).expect_err("no certificate");
        assert!(error.contains("CA file"), "{error}");
    }
}
