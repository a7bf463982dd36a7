//! Services of this machine behind Unix sockets: requests are passed on to them, each once.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::response::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_http::client::Client;
use groundwave_http::document::add_problems;
use groundwave_http::endpoints::{Describe, Reply, add_body};
use groundwave_http::extract::{plain_encoding, whole_body};
use groundwave_http::{Problem, Schemas, problem};
use schemars::JsonSchema;
use serde_json::Value;

use super::kernel::absent;

/// Maximum length of a forwarded answer, bytes: that of a testbed of some hundred nodes.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// Header fields of an answer that are passed on: those that the body needs to be read. Rules for
/// other origins are those of the gateway.
const PASSED: [header::HeaderName; 2] = [header::CONTENT_TYPE, header::RETRY_AFTER];

/// Service behind a Unix socket.
#[derive(Debug)]
pub struct LocalService {
    /// Name in messages.
    name: &'static str,
    /// Option of the gateway that names the socket.
    option: &'static str,
    /// Command that starts it.
    command: &'static str,
    /// Time limit of a request.
    limit: Duration,
    socket: Option<PathBuf>,
}

#[derive(Debug)]
pub struct ImpairmentDaemon(LocalService);

#[derive(Debug)]
pub struct TestbedController(LocalService);

impl ImpairmentDaemon {
    /// Daemon at a socket; none without one.
    #[must_use]
    pub fn new(socket: Option<PathBuf>) -> Self {
        Self(LocalService {
            name: "impairment daemon",
            option: "--impaird-socket",
            command: "groundwave impaird",
            // Longer than the daemon waits for the kernel.
            limit: Duration::from_secs(15),
            socket,
        })
    }
}

impl TestbedController {
    /// Controller at a socket; none without one.
    #[must_use]
    pub fn new(socket: Option<PathBuf>) -> Self {
        Self(LocalService {
            name: "testbed",
            option: "--testbed-socket",
            command: "groundwave testbed up SCENARIO --detach",
            // Many steps at once take a while.
            limit: Duration::from_secs(60),
            socket,
        })
    }
}

/// Service that requests are forwarded to, with its refusals in the document.
pub trait Refusals {
    /// Status and description.
    const REFUSALS: [(&'static str, &'static str); 3];
}

impl Refusals for ImpairmentDaemon {
    const REFUSALS: [(&'static str, &'static str); 3] = [
        ("502", "The answer of the daemon broke off"),
        ("503", "No impairment daemon configured, or it does not answer"),
        ("504", "The daemon did not answer in time"),
    ];
}

impl Refusals for TestbedController {
    const REFUSALS: [(&'static str, &'static str); 3] = [
        ("502", "The answer of the controller broke off"),
        ("503", "No testbed configured, or it does not answer"),
        ("504", "The controller did not answer in time"),
    ];
}

impl Deref for ImpairmentDaemon {
    type Target = LocalService;

    fn deref(&self) -> &LocalService {
        &self.0
    }
}

impl Deref for TestbedController {
    type Target = LocalService;

    fn deref(&self) -> &LocalService {
        &self.0
    }
}

impl LocalService {
    /// `true` if a socket is configured.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.socket.is_some()
    }

    /// `true` if the service accepts connections.
    pub async fn answers(&self) -> bool {
        self.connect().await.is_ok()
    }

    /// Connects to the service.
    ///
    /// # Errors
    /// 503 without a service, with the option or the command that it lacks.
    pub async fn connect(&self) -> Result<Client, Problem> {
        let (name, option) = (self.name, self.option);
        let Some(socket) = &self.socket else {
            return Err(absent(format!(
                "no {name} configured: start the gateway with {option} PATH"
            )));
        };
        let connected = tokio::time::timeout(self.limit, Client::unix(socket)).await;
        let why = match connected {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(err)) => {
                std::error::Error::source(&err).map_or(String::new(), |cause| format!(": {cause}"))
            }
            Err(_) => ": time limit exceeded".to_owned(),
        };
        let socket = socket.display();
        let command = self.command;
        Err(absent(format!(
            "no answer of the {name} at {socket}{why}; start it with `{command}`, or set {option}"
        )))
    }

    /// Passes a request on to `path` of the service, once; the answer is passed back as it is.
    ///
    /// # Errors
    /// The problem that the service answered with. 503 without a service, 502 for an answer that broke off, 504
    /// after the time limit.
    pub async fn pass<S, B>(&self, request: Passed<S, B>, path: &str) -> Result<Response, Problem> {
        let mut client = self.connect().await?;
        let Passed { method, media, body, .. } = request;
        let note = match method {
            Method::GET => "",
            _ => "; the change may be in force",
        };
        let name = self.name;
        let passing = client.pass(method, path, (media, body), ANSWER_BYTES_MAX);
        let answer = match tokio::time::timeout(self.limit, passing).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(err)) => {
                let what = format!("the answer of the {name} broke off: {err}{note}");
                return Err(Problem::new(StatusCode::BAD_GATEWAY, what));
            }
            Err(_) => {
                let waited_s = self.limit.as_secs();
                let what = format!("no answer of the {name} in {waited_s} s{note}");
                return Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, what));
            }
        };
        let (head, body) = answer.into_parts();
        if let Some(problem) = problem_of(&head, &body) {
            return Err(problem);
        }
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = head.status;
        for name in PASSED {
            if let Some(value) = head.headers.get(&name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        Ok(response)
    }
}

/// The problem in an answer; the guard completes it.
fn problem_of(head: &Parts, body: &[u8]) -> Option<Problem> {
    let media = head.headers.get(header::CONTENT_TYPE)?;
    if media != problem::MEDIA_TYPE {
        return None;
    }
    let problem: Problem = serde_json::from_slice(body).ok()?;
    let wait_s = head.headers.get(header::RETRY_AFTER).and_then(|wait_s| wait_s.to_str().ok());
    let retry_after_s = wait_s.and_then(|wait_s| wait_s.parse().ok());
    Some(Problem { status: head.status.as_u16(), retry_after_s, ..problem })
}

/// Request that is passed on: its method and its body with the media type, and nothing else of the
/// client. In the document `S` is the service and `B` the body; `()` for none.
#[derive(Debug)]
pub struct Passed<S, B = ()> {
    method: Method,
    /// Path, percent-encoded.
    path: String,
    media: Option<HeaderValue>,
    body: Bytes,
    described: PhantomData<fn() -> (S, B)>,
}

impl<S, B> Passed<S, B> {
    /// A request with a JSON document in place of that of a client.
    ///
    /// # Errors
    /// When the document cannot be written as JSON.
    pub fn json(method: Method, body: &impl serde::Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_vec(body).map_err(|err| Problem::internal(err.to_string()))?;
        let media = Some(HeaderValue::from_static("application/json"));
        Ok(Self { method, path: String::new(), media, body: body.into(), described: PhantomData })
    }

    /// Path below a prefix, percent-encoded as it came.
    #[must_use]
    pub fn below(&self, prefix: &str) -> String {
        self.path.strip_prefix(prefix).unwrap_or("").to_owned()
    }
}

impl<S, B, State: Send + Sync> FromRequest<State> for Passed<S, B> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &State) -> Result<Self, Problem> {
        plain_encoding(request.headers())?;
        let method = match *request.method() {
            // The server leaves the body out.
            Method::HEAD => Method::GET,
            ref method => method.clone(),
        };
        let path = request.uri().path().to_owned();
        let media = request.headers().get(header::CONTENT_TYPE).cloned();
        let body = whole_body(request, state).await?;
        Ok(Self { method, path, media, body, described: PhantomData })
    }
}

/// Body of a request that is passed on, as the document describes it.
pub trait PassedBody {
    /// Adds the body to an operation.
    fn describe(operation: &mut Value, schemas: &mut Schemas);
}

impl PassedBody for () {
    fn describe(_: &mut Value, _: &mut Schemas) {}
}

/// JSON body of a request that is passed on.
#[derive(Debug)]
pub struct JsonOf<T>(PhantomData<T>);

impl<T: JsonSchema> PassedBody for JsonOf<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        add_body(operation, &schemas.reference::<T>(), true);
    }
}

impl<S: Refusals, B: PassedBody> Describe for Passed<S, B> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        add_problems(operation, &S::REFUSALS);
        B::describe(operation, schemas);
    }
}

/// Answer that was passed back, with JSON of `T` when it is a success.
#[derive(Debug)]
pub struct Answered<T>(Response, PhantomData<fn() -> T>);

impl<T> From<Response> for Answered<T> {
    fn from(response: Response) -> Self {
        Self(response, PhantomData)
    }
}

impl<T> IntoResponse for Answered<T> {
    fn into_response(self) -> Response {
        self.0
    }
}

impl<T: JsonSchema> Reply for Answered<T> {
    fn schema(schemas: &mut Schemas) -> Option<Value> {
        Some(schemas.reference::<T>())
    }
}
