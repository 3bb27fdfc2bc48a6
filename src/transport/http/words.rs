//! What went wrong with a request, in words.
//!
//! Owns: walking an error's causes. May use: nothing of ours. Must not: show a URL's user or password.

use std::error::Error;
use std::io;

use url::Url;

/// A failed request with its causes, without the URL.
pub(super) fn describe(error: &reqwest::Error, url: &Url) -> String {
    let causes = causes(error);
    let cause = plain(&causes).unwrap_or_else(|| causes.join(": "));
    let what = if error.is_connect() {
        format!("cannot connect to {}", place(url))
    } else if error.is_body() || error.is_decode() {
        "the answer broke off".to_owned()
    } else if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        "the request failed".to_owned()
    };
    if cause.is_empty() { what } else { format!("{what}: {cause}") }
}

/// The URL without user and password.
pub fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that have no host and so no user either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// The causes below the error itself, outermost first, without those that only say where.
fn causes(error: &reqwest::Error) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        let generic = [
            "client error (",
            "tcp connect error",
            "error trying to connect",
            "request or response body error",
            "error reading a body from connection",
        ];
        let known = causes.last().is_some_and(|last| last.contains(&text));
        if !known && !generic.iter().any(|start| text.starts_with(start)) {
            causes.push(text);
        }
        next = inner(cause);
    }
    causes
}

/// The cause of a cause; an IO error that wraps another error hides it from `source`.
fn inner<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match wrapped {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}

/// Words for the causes that everybody meets.
fn plain(causes: &[String]) -> Option<String> {
    let last = causes.last()?;
    let has = |part: &str| causes.iter().any(|cause| cause.contains(part));
    let words = if has("Connection refused") {
        "connection refused".to_owned()
    } else if has("failed to lookup address") || has("dns error") {
        format!("the host name cannot be resolved ({last})")
    } else if has("InvalidContentType") {
        "the other side does not speak TLS; is it an http:// URL?".to_owned()
    } else if has("tls handshake eof") {
        "the other side ended the TLS handshake; is it an http:// URL?".to_owned()
    } else if has("invalid peer certificate") {
        format!("the server's certificate is not accepted ({})", certificate(last))
    } else if has("invalid HTTP version") {
        format!("the other side does not speak HTTP ({last})")
    } else if has("connection closed before message completed") {
        "the server closed the connection without an answer".to_owned()
    } else if has("Connection reset") {
        "the server reset the connection".to_owned()
    } else if has("end of file before message length reached") || has("unexpected EOF during chunk") {
        "the connection ended before the body did".to_owned()
    } else {
        return None;
    };
    Some(words)
}

/// Which check failed, with its usual meaning.
fn certificate(cause: &str) -> String {
    let meaning = if cause.contains("UnknownIssuer") {
        "nobody we trust has signed it"
    } else if cause.contains("NotValidForName") || cause.contains("not valid for name") {
        "it is for another name"
    } else if cause.contains("Expired") || cause.contains("expired") {
        "it has expired"
    } else {
        return cause.to_owned();
    };
    format!("{meaning}: {cause}")
}

#[cfg(test)]
mod tests {
    use super::{display_url, place, plain};
    use url::Url;

    #[test]
    fn urls_are_shown_without_user_and_password() {
        let url = Url::parse("https://me:secret@example.com/mcp?x=1").expect("a URL");
        assert_eq!(display_url(&url), "https://example.com/mcp?x=1");
        assert_eq!(place(&url), "example.com:443");
    }

    #[test]
    fn common_causes_have_plain_words() {
        let plain = |text: &str| plain(&[text.to_owned()]);
        assert_eq!(plain("Connection refused (os error 111)").as_deref(), Some("connection refused"));
        let issuer = plain("invalid peer certificate: UnknownIssuer");
        assert!(issuer.is_some_and(|text| text.contains("nobody we trust") && text.contains("UnknownIssuer")));
        let name = plain("failed to lookup address information: Name or service not known");
        assert!(name.is_some_and(|text| text.starts_with("the host name cannot be resolved")));
        assert_eq!(plain("something else"), None);
    }
}
