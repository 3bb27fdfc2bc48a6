//! Entry points: owns how the demo server meets the outside (standard streams, any byte pipe, an HTTP listener).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::server::Demo;
use super::state::Shared;

/// Largest request body over HTTP, in bytes: the same 16 MiB that one line over stdio may have.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// Why the demo server stopped other than by the client leaving.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The first message was neither a handshake nor a self-contained request, or answering it failed.
    #[error("the client did not open the connection properly: {0}")]
    Opening(Box<ServerInitializeError>),
    /// The HTTP path is no plain absolute path such as `/mcp`.
    #[error("not a usable HTTP path: {0:?} (expected an absolute path such as \"/mcp\")")]
    Path(String),
    /// The listener or the pipe failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The task that answers requests ended by a panic.
    #[error("the demo server failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// Serves one client on the process's standard input and output until the input ends.
///
/// Where both are pipes and the platform allows it, they are driven without blocking threads.
///
/// # Errors
///
/// [`DemoError::Opening`] when the client's first message is no opening of either era, [`DemoError::Task`] on a bug.
pub async fn serve_stdio() -> Result<(), DemoError> {
    let (read, write) = rmcp::transport::io::stdio_pipes();
    serve_pipe(read, write).await
}

/// Serves one client on any pair of byte streams, one JSON-RPC message a line, until `read` ends.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_pipe<R, W>(read: R, write: W) -> Result<(), DemoError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (closing, closed) = watch::channel(false);
    let read = EndOfInput { inner: read, closing };
    let demo = Demo::new(Arc::new(Shared::new()), closed);
    match demo.serve((read, write)).await {
        Ok(running) => {
            running.waiting().await?;
            Ok(())
        }
        // A client that looks and leaves has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(DemoError::Opening(Box::new(error))),
    }
}

/// Serves any number of clients over Streamable HTTP at `path` until the returned future is dropped.
///
/// Dropping it also ends the streams and sessions that are open. Requests must name a loopback host or the address the
/// listener is bound to, unless it is bound to every address; a browser's `Origin` must be a loopback one.
///
/// # Errors
///
/// [`DemoError::Path`] for a path that is not absolute or holds characters with a meaning of their own,
/// [`DemoError::Io`] when the listener fails.
pub async fn serve_http(listener: TcpListener, path: &str) -> Result<(), DemoError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c);
    if !path.starts_with('/') || !path.chars().all(plain) {
        return Err(DemoError::Path(path.to_owned()));
    }

    let address = listener.local_addr()?.ip();
    let mut config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]);
    if address.is_unspecified() {
        config = config.disable_allowed_hosts();
    } else {
        config.allowed_hosts.push(address.to_string());
    }
    let _end_sessions_on_drop = config.cancellation_token.clone().drop_guard();

    let shared = Arc::new(Shared::new());
    // HTTP has no end of input: the SDK cancels the requests of a client that left.
    let (never_closing, closed) = watch::channel(false);
    let service = StreamableHttpService::new(
        move || Ok(Demo::new(shared.clone(), closed.clone())),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let router = axum::Router::new().route_service(path, service);
    axum::serve(listener, router).await?;
    drop(never_closing);
    Ok(())
}

/// Tells the handlers that the client closed its side.
///
/// The SDK first lets running requests finish, for up to five seconds; an open subscription would hold the process all
/// that time.
struct EndOfInput<R> {
    inner: R,
    closing: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for EndOfInput<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let room = buf.remaining() > 0;
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        let ended = match &polled {
            Poll::Ready(Ok(())) => room && buf.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended {
            self.closing.send_replace(true);
        }
        polled
    }
}
