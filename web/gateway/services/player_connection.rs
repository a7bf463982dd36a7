//! Connection of the gateway's player to the impairment daemon.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use groundwave_http::Problem;
use groundwave_http::client::Client;
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::play_lease::LeaseClient;
use groundwave_impaird::wire::{AppliedState, LeaseRecord, NewLease, RenewedLease};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::local_service::ImpairmentDaemon;

/// Time limit of a request to the daemon.
const REQUEST_LIMIT: Duration = Duration::from_secs(15);

/// A connection to the daemon.
pub struct PlayerConnection {
    daemon: Arc<ImpairmentDaemon>,
    client: Client,
}

impl PlayerConnection {
    /// Connects to the daemon.
    ///
    /// # Errors
    /// 503 without a daemon that answers.
    pub async fn open(daemon: Arc<ImpairmentDaemon>) -> Result<Self, Problem> {
        let client = daemon.connect().await?;
        Ok(Self { daemon, client })
    }

    /// Response to a request: its status and, below 400, its document.
    async fn call<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<T, Problem> {
        let body = body
            .map(serde_json::to_value)
            .transpose()
            .map_err(|err| Problem::internal(err.to_string()))?;
        let response = self.client.ask(method, path, body.as_ref());
        let answer = tokio::time::timeout(REQUEST_LIMIT, response).await.map_err(|_| {
            let detail = "the impairment daemon did not answer in time";
            Problem::new(StatusCode::GATEWAY_TIMEOUT, detail)
        })?;
        let (status, bytes) = answer.map_err(|err| broken(&err))?;
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|err| broken(&err));
        }
        let problem: Result<Problem, _> = serde_json::from_slice(&bytes);
        let detail = problem.map_or_else(|_| status.to_string(), |problem| problem.detail);
        Err(Problem::new(status, detail))
    }

    /// A request about a lease; `None` if it has ended.
    async fn call_lease(
        &mut self,
        method: Method,
        id: u64,
        body: Option<&RenewedLease>,
    ) -> Result<Option<LeaseRecord>, Problem> {
        match self.call(method, &format!("/v1/leases/{id}"), body).await {
            Ok(lease) => Ok(Some(lease)),
            Err(problem) if problem.status == StatusCode::NOT_FOUND => Ok(None),
            Err(problem) => Err(problem),
        }
    }
}

fn broken(what: &dyn Display) -> Problem {
    let detail = format!("the answer of the impairment daemon broke off: {what}");
    Problem::new(StatusCode::BAD_GATEWAY, detail)
}

impl LeaseClient for PlayerConnection {
    type Error = Problem;

    async fn begin_lease(&mut self, new: &NewLease) -> Result<LeaseRecord, Problem> {
        self.call(Method::POST, "/v1/leases", Some(new)).await
    }

    async fn renew_lease(
        &mut self,
        id: u64,
        renewed: &RenewedLease,
    ) -> Result<Option<LeaseRecord>, Problem> {
        self.call_lease(Method::PUT, id, Some(renewed)).await
    }

    async fn cancel_lease(&mut self, id: u64) -> Result<Option<LeaseRecord>, Problem> {
        self.call_lease(Method::DELETE, id, None).await
    }

    async fn replace_beneath(
        &mut self,
        direction: Direction,
        impairment: &Impairment,
    ) -> Result<(), Problem> {
        let path = format!("/v1/impairments/{direction}?beneath=true");
        self.call::<AppliedState>(Method::PUT, &path, Some(impairment)).await.map(drop)
    }

    async fn reconnect(&self) -> Result<Self, Problem> {
        Self::open(Arc::clone(&self.daemon)).await
    }
}
