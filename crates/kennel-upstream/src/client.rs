//! Requests to one server over HTTP/1.1: connections, TLS, headers of every request, and redirects within the origin.
//!
//! What is sent may hold credentials, so it goes to the origin of the address and nowhere else.

use crate::address::{Address, Elsewhere};
use crate::error::UpstreamError;
use crate::fault::Fault;
use crate::target::Upstream;
use crate::tls;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client as Pool, Error};
use hyper_util::rt::TokioTimer;
use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower_service::Service;

/// How often one request is sent elsewhere within the origin.
const REDIRECTS: usize = 3;
/// How long a connection is kept for the next request: less than common servers keep theirs, which would otherwise be
/// closed just when a request is on its way.
const IDLE: Duration = Duration::from_secs(2);
/// How many such connections there are.
const IDLE_CONNECTIONS: usize = 8;
/// After which silence the system asks whether the other side is still there.
const KEEP_ALIVE: Duration = Duration::from_mins(1);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

type Connector = Timely<HttpsConnector<HttpConnector>>;

/// Sends requests to one server. All connections are closed when this is dropped.
pub(crate) struct Client {
    connector: Connector,
    pool: Pool<Connector, Full<Bytes>>,
    address: Address,
    headers: HeaderMap,
    _connections: DropGuard,
}

impl Client {
    /// A client for this server. Reads files if the server is talked to over TLS.
    pub(crate) fn new(upstream: &Upstream) -> Result<Self, UpstreamError> {
        let mut plain = HttpConnector::new();
        plain.enforce_http(false);
        plain.set_nodelay(true);
        plain.set_keepalive(Some(KEEP_ALIVE));
        let tls = if upstream.address.is_encrypted() { tls::settings(&upstream.roots)? } else { tls::of_nobody()? };
        let encrypted = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let connector = Timely { inner: encrypted.wrap_connector(plain), within: upstream.limits.connect };
        let connections = CancellationToken::new();
        let pool = Pool::builder(Connections(connections.clone()))
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector.clone());
        let mut headers = upstream.headers.clone();
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(concat!("kennel/", env!("CARGO_PKG_VERSION"))));
        Ok(Self { connector, pool, address: upstream.address.clone(), headers, _connections: connections.drop_guard() })
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// How the server is called in what people read.
    pub(crate) fn origin(&self) -> String {
        self.address.to_string()
    }

    /// Whether there is somebody to talk to at all: makes a connection, and closes it.
    pub(crate) async fn reach(&self) -> Result<(), Fault> {
        let mut connector = self.connector.clone();
        let unreachable = |cause| Fault::Unreachable { origin: self.origin(), cause };
        let ready = std::future::poll_fn(|context| connector.poll_ready(context)).await;
        ready.map_err(|error| unreachable(root_cause(&*error)))?;
        let connected = connector.call(self.address.uri().clone()).await;
        connected.map(drop).map_err(|error| unreachable(root_cause(&*error)))
    }

    /// Sends a message; an answer may come as one or as a stream.
    pub(crate) async fn post(
        &self,
        to: &Address,
        further: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, Fault> {
        let mut headers = further;
        headers.insert(ACCEPT, EITHER);
        headers.insert(CONTENT_TYPE, JSON);
        self.send(&Method::POST, to, headers, body).await
    }

    /// Asks for a stream of events.
    pub(crate) async fn stream(&self, further: HeaderMap) -> Result<Response<Incoming>, Fault> {
        let mut headers = further;
        headers.insert(ACCEPT, EVENTS);
        self.send(&Method::GET, &self.address, headers, Bytes::new()).await
    }

    /// Ends a session.
    pub(crate) async fn delete(&self, further: HeaderMap) -> Result<Response<Incoming>, Fault> {
        self.send(&Method::DELETE, &self.address, further, Bytes::new()).await
    }

    async fn send(
        &self,
        method: &Method,
        to: &Address,
        further: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, Fault> {
        let mut to = to.clone();
        for _ in 0..=REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = to.uri().clone();
            let headers = request.headers_mut();
            headers.extend(self.headers.clone());
            headers.extend(further.clone());
            let response = self.pool.request(request).await.map_err(|error| self.fault(&error))?;
            match self.redirect(method, &to, &response)? {
                Some(next) => to = next,
                None => return Ok(response),
            }
        }
        Err(Fault::RedirectedTooOften { origin: self.origin() })
    }

    /// Where a response sends the request, if it does and the request may go there.
    fn redirect(
        &self,
        method: &Method,
        from: &Address,
        response: &Response<Incoming>,
    ) -> Result<Option<Address>, Fault> {
        let follows = match response.status() {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            // Of anything else these would make a GET, without the message.
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::GET,
            _ => false,
        };
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        match location.map(|location| from.within_origin(location)) {
            Some(Ok(next)) if follows => Ok(Some(next)),
            Some(Err(Elsewhere::Other(to))) if response.status().is_redirection() => {
                Err(Fault::Redirected { origin: self.origin(), to })
            }
            Some(Ok(_) | Err(_)) | None => Ok(None),
        }
    }

    fn fault(&self, error: &Error) -> Fault {
        let (origin, cause) = (self.origin(), root_cause(error));
        if error.is_connect() { Fault::Unreachable { origin, cause } } else { Fault::Lost { origin, cause } }
    }
}

/// What lies under an error; what lies above it says only that there is one.
pub(crate) fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// Runs connections until they are told to end.
#[derive(Clone)]
struct Connections(CancellationToken);

impl<F> hyper::rt::Executor<F> for Connections
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, connection: F) {
        let ended = self.0.clone();
        // Owned by the token, which is cancelled when the client is dropped.
        tokio::spawn(async move { ended.run_until_cancelled(connection).await.map(drop) });
    }
}

/// A connector that gives up in time, the steps of TLS included.
#[derive(Clone)]
struct Timely<C> {
    inner: C,
    within: Duration,
}

impl<C> Service<Uri> for Timely<C>
where
    C: Service<Uri, Error = Box<dyn StdError + Send + Sync>>,
    C::Future: Send + 'static,
    C::Response: 'static,
{
    type Response = C::Response;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, within) = (self.inner.call(uri), self.within);
        Box::pin(async move {
            match tokio::time::timeout(within, connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(format!("no connection within {} s", within.as_secs_f32()).into()),
            }
        })
    }
}
