//! HTTP client of the impairment daemon.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use axum::http::{Method, StatusCode};
use groundwave_http::Failure;
use groundwave_http::Problem;
use groundwave_http::client::{Client as Http, RequestError};
use groundwave_impair::{Direction, Impairment, LinkStats};
use groundwave_impaird::play_lease::LeaseClient;
use groundwave_impaird::wire::{
    AppliedState, LeaseRecord, LinkSample, NewLease, RenewedLease, SystemRecord,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum number of attempts to change a state that others change at the same time.
const EDITS_MAX: usize = 100;

/// A connection to the daemon.
pub struct Client {
    http: Http,
    socket: PathBuf,
}

impl Client {
    /// Connects to the daemon at a socket.
    pub async fn connect(socket: &Path) -> Result<Self, Failure> {
        let http = Http::unix(socket).await.map_err(|err| {
            let hint = match &err {
                RequestError::Connection { cause, .. }
                    if cause.kind() == std::io::ErrorKind::PermissionDenied =>
                {
                    access_hint(socket)
                }
                _ => "is `groundwave impaird` running?".to_owned(),
            };
            match Failure::machine(err) {
                Failure::Machine(what) => Failure::Machine(format!("{what}; {hint}")),
                other => other,
            }
        })?;
        Ok(Self { http, socket: socket.to_owned() })
    }

    pub async fn system(&mut self) -> Result<SystemRecord, Failure> {
        self.ask(Method::GET, "/v1/system", None).await
    }

    pub async fn fetch(&mut self, direction: Direction) -> Result<AppliedState, Failure> {
        self.ask(Method::GET, &path(direction), None).await
    }

    /// Replaces the state of a direction, beneath its leases.
    pub async fn replace(
        &mut self,
        direction: Direction,
        impairment: &Impairment,
    ) -> Result<AppliedState, Failure> {
        let body = serde_json::to_value(impairment).map_err(Failure::machine)?;
        self.ask(Method::PUT, &beneath(direction), Some(&body)).await
    }

    /// Replaces the state of a direction, beneath its leases, by what `edit` makes of the present one. Where
    /// another client changes it in between, it is read and edited again, so that neither change is lost.
    pub async fn edit(
        &mut self,
        direction: Direction,
        edit: impl Fn(&AppliedState) -> Result<Impairment, Failure>,
    ) -> Result<AppliedState, Failure> {
        for _ in 0..EDITS_MAX {
            let path = path(direction);
            let response = self.http.ask_revision(Method::GET, &path, None, None).await;
            let (status, bytes, revision) = response.map_err(Failure::machine)?;
            let present: AppliedState = read(&path, status, &bytes)?;
            let body = serde_json::to_value(edit(&present)?).map_err(Failure::machine)?;
            let path = beneath(direction);
            let revision = revision.as_deref();
            let response = self.http.ask_revision(Method::PUT, &path, Some(&body), revision).await;
            let (status, bytes, _) = response.map_err(Failure::machine)?;
            if status != StatusCode::PRECONDITION_FAILED {
                return read(&path, status, &bytes);
            }
        }
        let what = format!("{direction} was changed by others each time in {EDITS_MAX} attempts");
        Err(Failure::Machine(what))
    }

    pub async fn leases(&mut self) -> Result<Vec<LeaseRecord>, Failure> {
        self.ask(Method::GET, "/v1/leases", None).await
    }

    async fn ask_lease(
        &mut self,
        method: Method,
        id: u64,
        body: Option<&Value>,
    ) -> Result<Option<LeaseRecord>, Failure> {
        let path = format!("/v1/leases/{id}");
        let (status, bytes) = self.send(method, &path, body).await?;
        match status.as_u16() {
            404 => Ok(None),
            _ => read(&path, status, &bytes).map(Some),
        }
    }

    pub async fn clear(&mut self, direction: Direction) -> Result<AppliedState, Failure> {
        self.ask(Method::DELETE, &path(direction), None).await
    }

    pub async fn stats(&mut self, direction: Direction) -> Result<LinkStats, Failure> {
        let path = format!("{}/stats", path(direction));
        let LinkSample(stats) = self.ask(Method::GET, &path, None).await?;
        Ok(stats)
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Vec<u8>), Failure> {
        let response = self.http.ask(method, path, body).await;
        response.map_err(Failure::machine)
    }

    async fn ask<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Failure> {
        let (status, bytes) = self.send(method, path, body).await?;
        read(path, status, &bytes)
    }
}

impl LeaseClient for Client {
    type Error = Failure;

    async fn begin_lease(&mut self, new: &NewLease) -> Result<LeaseRecord, Failure> {
        let body = serde_json::to_value(new).map_err(Failure::machine)?;
        self.ask(Method::POST, "/v1/leases", Some(&body)).await
    }

    async fn renew_lease(
        &mut self,
        id: u64,
        renewed: &RenewedLease,
    ) -> Result<Option<LeaseRecord>, Failure> {
        let body = serde_json::to_value(renewed).map_err(Failure::machine)?;
        self.ask_lease(Method::PUT, id, Some(&body)).await
    }

    async fn cancel_lease(&mut self, id: u64) -> Result<Option<LeaseRecord>, Failure> {
        self.ask_lease(Method::DELETE, id, None).await
    }

    async fn replace_beneath(
        &mut self,
        direction: Direction,
        impairment: &Impairment,
    ) -> Result<(), Failure> {
        self.replace(direction, impairment).await.map(drop)
    }

    async fn reconnect(&self) -> Result<Self, Failure> {
        Self::connect(&self.socket).await
    }
}

/// Remedy where the user may not write to a socket, with its owner as far as the system names it.
fn access_hint(socket: &Path) -> String {
    let owner = std::fs::metadata(socket).map_or_else(
        |_| "its folder is closed to this user".to_owned(),
        |file| {
            let mode = file.mode() & 0o777;
            format!("it is of user {}, group {}, mode {mode:04o}", file.uid(), file.gid())
        },
    );
    format!("{owner}: use sudo, or a group of yours as `group` in the daemon's configuration")
}

/// The document of a response, or its problem as a failure.
fn read<T: DeserializeOwned>(path: &str, status: StatusCode, bytes: &[u8]) -> Result<T, Failure> {
    if status.is_success() {
        return serde_json::from_slice(bytes).map_err(|err| {
            Failure::Machine(format!("{path}: invalid response of the daemon: {err}"))
        });
    }
    let problem = serde_json::from_slice::<Problem>(bytes);
    let detail = problem.map_or_else(|_| status.to_string(), |problem| problem.detail);
    // Invalid or unsupported requests; anything else is a failure of the machine.
    match status.as_u16() {
        400 | 404 | 409 | 413 | 415 | 422 => Err(Failure::Input(detail)),
        _ => Err(Failure::Machine(detail)),
    }
}

fn path(direction: Direction) -> String {
    format!("/v1/impairments/{direction}")
}

/// Path of the state of a direction beneath its leases.
fn beneath(direction: Direction) -> String {
    path(direction) + "?beneath=true"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_of_others_is_named_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        std::fs::write(&socket, "").unwrap();
        let hint = access_hint(&socket);
        assert!(hint.contains("of user ") && hint.contains("use sudo"), "{hint}");
        assert!(access_hint(&folder.path().join("none")).contains("use sudo"));
    }
}
