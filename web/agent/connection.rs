//! Requests to the gateway, within limits of time and size.

use std::time::Duration;

use groundwave_http::client::{Client, HttpResponse, RequestError};
use groundwave_http::problem::Problem;
use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Range of the time limit of a response, ms. The limit is a heartbeat period, when the next report
/// is due, but no less than a slow mesh needs and no more than an operator waits.
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 2_000..=10_000;

/// Reason why there is no usable response.
#[derive(Debug)]
pub enum RequestFailure {
    /// Refusal of the gateway: status, and the wait until another request, ms.
    Refused(u16, Option<u64>),
    /// No response, or an undecodable one.
    NoAnswer(String),
}

impl RequestFailure {
    /// `true` where the same request may succeed later: without a response, and where the gateway refuses for
    /// its own state or the token, not for the request.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::NoAnswer(_) => true,
            Self::Refused(status, _) => matches!(status, 401 | 408 | 429 | 500..),
        }
    }
}

/// Connection to the gateway, open for as long as it works.
pub struct GatewayConnection {
    open: Option<(String, Client)>,
    timeout: Duration,
    /// Last refusal: path, status and reason.
    refusal: Option<String>,
}

impl GatewayConnection {
    /// Connection of an agent that reads its machine every `period_ms`.
    #[must_use]
    pub fn of(period_ms: u64) -> Self {
        let timeout_ms = period_ms.clamp(*TIMEOUT_MS.start(), *TIMEOUT_MS.end());
        Self { open: None, timeout: Duration::from_millis(timeout_ms), refusal: None }
    }

    /// Sends a request to `address`; only a response of success is one.
    ///
    /// # Errors
    /// Without a response of success within the time limit.
    pub async fn send(
        &mut self,
        address: &str,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<HttpResponse, RequestFailure> {
        let body = serde_json::to_vec(body).map_err(no_answer)?;
        let limit = self.timeout;
        let exchange = self.exchange(address, token, method, path, body);
        let response = match tokio::time::timeout(limit, exchange).await {
            Ok(response) => {
                response.map_err(|err| RequestFailure::NoAnswer(format!("{address}: {err}")))
            }
            Err(_) => Err(RequestFailure::NoAnswer(format!("{address} did not answer in time"))),
        };
        let response = response.inspect_err(|_| self.open = None)?;
        if response.status.is_success() {
            return Ok(response);
        }
        let refusal = refusal(path, &response);
        tracing::debug!("{refusal}");
        self.refusal = Some(refusal);
        let wait_ms = response.retry_after_s.map(|seconds| seconds.saturating_mul(1000));
        Err(RequestFailure::Refused(response.status.as_u16(), wait_ms))
    }

    /// Takes the text of the last refusal.
    pub fn take_refusal(&mut self) -> Option<String> {
        self.refusal.take()
    }

    async fn exchange(
        &mut self,
        address: &str,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<HttpResponse, RequestError> {
        // A server closes idle connections: after a failure on an open one, a new one is tried.
        if let Some((open, client)) = &mut self.open
            && open == address
            && let Ok(response) = client.call(method.clone(), path, token, body.clone()).await
        {
            return Ok(response);
        }
        let mut client = Client::tcp(address).await?;
        let response = client.call(method, path, token, body).await?;
        self.open = Some((address.to_owned(), client));
        Ok(response)
    }
}

/// Body of a response.
///
/// # Errors
/// [`RequestFailure::NoAnswer`] when it is undecodable.
pub fn decode<T: DeserializeOwned>(response: &HttpResponse) -> Result<T, RequestFailure> {
    serde_json::from_slice(&response.body).map_err(no_answer)
}

/// Text of a refusal: path, status and reason.
pub fn refusal(path: &str, response: &HttpResponse) -> String {
    let problem: Option<Problem> = serde_json::from_slice(&response.body).ok();
    let detail = problem.map(|problem| problem.detail).unwrap_or_default();
    format!("{path}: {}: {}", response.status, printable(&detail))
}

fn no_answer(err: impl std::fmt::Display) -> RequestFailure {
    RequestFailure::NoAnswer(err.to_string())
}

/// Text of another program without control characters, for a line of the log.
pub fn printable(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_for_the_state_of_the_gateway_may_pass_and_one_for_the_request_may_not() {
        for status in [401, 408, 429, 500, 502, 503, 504, 507] {
            assert!(RequestFailure::Refused(status, None).may_pass(), "{status}");
        }
        for status in [400, 403, 404, 409, 413, 415, 422] {
            assert!(!RequestFailure::Refused(status, Some(1_000)).may_pass(), "{status}");
        }
        assert!(RequestFailure::NoAnswer("reset".to_owned()).may_pass());
    }
}
