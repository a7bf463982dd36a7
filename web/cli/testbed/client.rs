//! HTTP client of the testbed controller.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use axum::http::Method;
use groundwave_http::Failure;
use groundwave_http::Problem;
use groundwave_http::client::Client as Http;
use groundwave_testbed::State;
use groundwave_web_testbed::wire::Testbed;
use serde::Serialize;

/// True while the controller of the testbed accepts connections.
pub fn is_running(state: &State) -> bool {
    UnixStream::connect(state.socket()).is_ok()
}

/// Sends a request to the controller; every response is the testbed.
pub fn request(
    state: &State,
    method: Method,
    path: &str,
    body: Option<&impl Serialize>,
) -> Result<Testbed, Failure> {
    let body = body.map(serde_json::to_value).transpose().map_err(Failure::machine)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (status, bytes) = runtime.block_on(async {
        let socket = state.socket();
        let mut http = Http::unix(&socket).await.map_err(|_| {
            Failure::Machine(format!(
                "the testbed {} has no controller; `groundwave testbed attach` starts one",
                state.testbed
            ))
        })?;
        let response = http.ask(method, path, body.as_ref()).await;
        response.map_err(Failure::machine)
    })?;
    if status.is_success() {
        return serde_json::from_slice(&bytes).map_err(|err| {
            Failure::Machine(format!("{path}: invalid response of the controller: {err}"))
        });
    }
    let problem = serde_json::from_slice::<Problem>(&bytes);
    let detail = problem.map_or_else(|_| status.to_string(), |problem| problem.detail);
    match status.as_u16() {
        400..=499 => Err(Failure::Input(detail)),
        _ => Err(Failure::Machine(detail)),
    }
}

/// Path of a node, or of a part of it.
pub fn node_path(node: &str, part: &str) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let name = node.bytes().map(|byte| match unreserved(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let name: String = name.collect();
    match part {
        "" => format!("/v1/nodes/{name}"),
        part => format!("/v1/nodes/{name}/{part}"),
    }
}

/// Process of the controller that accepts connections, if there is one.
pub fn controller_pid(state: &State) -> Option<i32> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let stream = tokio::net::UnixStream::connect(state.socket()).await;
        stream.ok()?.peer_cred().ok()?.pid()
    })
}

/// Time limit for the answer to a request to stop.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Asks the controller to stop. Its answer is long, and of no use but as a sign.
///
/// # Errors
/// When it does not come in time, or breaks off.
pub fn request_stop(state: &State) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let request = async {
        let mut http = Http::unix(&state.socket()).await?;
        http.ask(Method::POST, "/v1/stop", None).await
    };
    let answer = runtime.block_on(async { tokio::time::timeout(ANSWER_TIMEOUT, request).await });
    let waited = |_| Failure::Machine(format!("no answer in {} s", ANSWER_TIMEOUT.as_secs()));
    let (status, _) = answer.map_err(waited)?.map_err(Failure::machine)?;
    match status.is_success() {
        true => Ok(()),
        false => Err(Failure::Machine(format!("status {status}"))),
    }
}

/// Current state of the testbed.
pub fn show(state: &State) -> Result<Testbed, Failure> {
    request(state, Method::GET, "/v1/testbed", None::<&()>)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_one_segment_of_a_path() {
        assert_eq!(node_path("north-1", "fail"), "/v1/nodes/north-1/fail");
        assert_eq!(node_path("a/b?c#d e%é", ""), "/v1/nodes/a%2Fb%3Fc%23d%20e%25%C3%A9");
    }
}
