//! Requests to the gateway, each answered within bounds of time and size.

use std::time::Duration;

use groundwave_http::client::{Client, HttpResponse};
use groundwave_http::problem::Problem;
use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Backoff of the timeout of an answer, ms. The timeout is a heartbeat period, when the next report
/// is due, but no less than a slow mesh needs and no more than an operator waits.
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 2_000..=10_000;

/// Reason why there is no usable answer.
#[derive(Debug)]
pub enum RequestFailure {
    /// The gateway refused: the status, and how long it wants us to wait, ms.
    Refused(u16, Option<u64>),
    /// There is none, or none that can be understood.
    NoAnswer(String),
}

/// A line to the gateway, kept open while it works.
pub struct Line {
    open: Option<(String, Client)>,
    timeout: Duration,
}

impl Line {
    /// A line of an agent that reads its machine every `period_ms`.
    #[must_use]
    pub fn of(period_ms: u64) -> Self {
        let patience_ms = period_ms.clamp(*TIMEOUT_MS.start(), *TIMEOUT_MS.end());
        Self { open: None, timeout: Duration::from_millis(patience_ms) }
    }

    /// Asks `address`; the answer must be one of success.
    ///
    /// # Errors
    /// What came instead.
    pub async fn ask(
        &mut self,
        address: &str,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<HttpResponse, RequestFailure> {
        let body = serde_json::to_vec(body).map_err(silence)?;
        let asked =
            tokio::time::timeout(self.timeout, self.turn(address, token, method, path, body));
        let heard = match asked.await {
            Ok(Ok(heard)) => heard,
            Ok(Err(why)) => {
                self.open = None;
                return Err(RequestFailure::NoAnswer(why));
            }
            Err(_) => {
                self.open = None;
                return Err(RequestFailure::NoAnswer(format!("{address} did not answer in time")));
            }
        };
        if heard.status.is_success() {
            return Ok(heard);
        }
        let problem: Option<Problem> = serde_json::from_slice(&heard.body).ok();
        let detail = problem.map(|problem| problem.detail).unwrap_or_default();
        tracing::info!("{path}: {}: {}", heard.status, shown(&detail));
        let wait = heard.retry_after_s.map(|seconds| seconds.saturating_mul(1000));
        Err(RequestFailure::Refused(heard.status.as_u16(), wait))
    }

    async fn turn(
        &mut self,
        address: &str,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<HttpResponse, String> {
        let told = |err: groundwave_http::client::RequestError| err.to_string();
        // A server closes lines that are quiet for long; a first failure on an old one says little.
        if let Some((open, client)) = &mut self.open
            && open == address
        {
            let again = (method.clone(), body.clone());
            match client.call(method, path, token, body).await {
                Ok(heard) => return Ok(heard),
                Err(_) => {
                    let mut client = Client::tcp(address).await.map_err(told)?;
                    let heard = client.call(again.0, path, token, again.1).await.map_err(told)?;
                    self.open = Some((address.to_owned(), client));
                    return Ok(heard);
                }
            }
        }
        let mut client = Client::tcp(address).await.map_err(told)?;
        let heard = client.call(method, path, token, body).await.map_err(told)?;
        self.open = Some((address.to_owned(), client));
        Ok(heard)
    }
}

/// Body of an answer.
///
/// # Errors
/// [`RequestFailure::NoAnswer`] when it cannot be understood.
pub fn read<T: DeserializeOwned>(heard: &HttpResponse) -> Result<T, RequestFailure> {
    serde_json::from_slice(&heard.body).map_err(silence)
}

fn silence(err: impl std::fmt::Display) -> RequestFailure {
    RequestFailure::NoAnswer(err.to_string())
}

/// Text of another program, escaped for a line of the log.
fn shown(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(200).collect()
}
