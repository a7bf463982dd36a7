//! Testbed operations.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::Problem;
use groundwave_web_testbed::wire::{LinkEnds, NewPace, NewPlace, NewRadio, NewSteps, Testbed};

use crate::access::{Operator, Viewer};
use crate::services::local_service::{Answered, JsonOf, Passed, TestbedController};

/// Path of this category; below it are the paths of the controller.
const PREFIX: &str = "/v1/testbed";

/// Passes a request on to the same path of the controller.
async fn pass<B>(
    testbed: &TestbedController,
    request: Passed<TestbedController, B>,
) -> Result<Answered<Testbed>, Problem> {
    let path = match request.below(PREFIX) {
        rest if rest.is_empty() => PREFIX.to_owned(),
        rest => format!("/v1{rest}"),
    };
    Ok(testbed.pass(request, &path).await?.into())
}

/// Get the testbed: nodes, links, predicted and measured values
#[utoipa::path(get, path = "/v1/testbed", tag = "testbed",
    responses(
        (status = 200, description = "The testbed")))]
pub async fn testbed_show(
    _: Viewer,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Move a node of the testbed
#[utoipa::path(put, path = "/v1/testbed/nodes/{name}/position", tag = "testbed",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed afterwards"),
        (status = 404, description = "No such node")))]
pub async fn testbed_place(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController, JsonOf<NewPlace>>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Stop a node of the testbed until it is repaired
#[utoipa::path(post, path = "/v1/testbed/nodes/{name}/fail", tag = "testbed",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed afterwards"),
        (status = 404, description = "No such node")))]
pub async fn testbed_fail(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Start a failed node of the testbed
#[utoipa::path(post, path = "/v1/testbed/nodes/{name}/repair", tag = "testbed",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed afterwards"),
        (status = 404, description = "No such node")))]
pub async fn testbed_repair(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Change the radio or mast of a node of the testbed
#[utoipa::path(patch, path = "/v1/testbed/nodes/{name}/station", tag = "testbed",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed afterwards"),
        (status = 404, description = "No such node")))]
pub async fn testbed_equip(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController, JsonOf<NewRadio>>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Cut a link of the testbed
#[utoipa::path(post, path = "/v1/testbed/links/cut", tag = "testbed",
    responses(
        (status = 200, description = "The testbed afterwards"),
        (status = 404, description = "No such node")))]
pub async fn testbed_cut(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController, JsonOf<LinkEnds>>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Repair a cut link of the testbed
#[utoipa::path(post, path = "/v1/testbed/links/mend", tag = "testbed",
    responses(
        (status = 200, description = "The testbed afterwards"),
        (status = 404, description = "No such node")))]
pub async fn testbed_mend(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController, JsonOf<LinkEnds>>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Set the time scale of the testbed
#[utoipa::path(put, path = "/v1/testbed/pace", tag = "testbed",
    responses(
        (status = 200, description = "The testbed afterwards")))]
pub async fn testbed_pace(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController, JsonOf<NewPace>>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}

/// Take steps of the testbed at once
#[utoipa::path(post, path = "/v1/testbed/steps", tag = "testbed",
    responses(
        (status = 200, description = "The testbed afterwards")))]
pub async fn testbed_step(
    _: Operator,
    State(testbed): State<Arc<TestbedController>>,
    request: Passed<TestbedController, JsonOf<NewSteps>>,
) -> Result<Answered<Testbed>, Problem> {
    pass(&testbed, request).await
}
