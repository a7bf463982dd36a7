//! All routes, and the document they make.

use axum::routing::get;
use axum::{Json, Router};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::wire::schemas;
use super::{Controller, steer};
use crate::http::document::About;
use crate::http::{ApiDocument, accept, problem};

const ABOUT: About = About {
    title: "Groundwave testbed controller",
    description: "Steers the world that a testbed follows, and shows what was predicted beside what \
                  was measured. Nodes go by their short names. Served on a Unix socket; who may \
                  open it may do everything. Every change stands in the log. Errors are RFC 7807 \
                  problems.",
    version: env!("CARGO_PKG_VERSION"),
};

/// Where the document is.
const DOCUMENT: &str = "/api-docs/openapi.json";

fn routes() -> OpenApiRouter<Controller> {
    OpenApiRouter::new()
        .routes(routes!(steer::show))
        .routes(routes!(steer::place))
        .routes(routes!(steer::fail))
        .routes(routes!(steer::repair))
        .routes(routes!(steer::equip))
        .routes(routes!(steer::cut))
        .routes(routes!(steer::mend))
        .routes(routes!(steer::pace))
        .routes(routes!(steer::step))
        .routes(routes!(steer::probe))
        .routes(routes!(steer::stop))
}

/// The OpenAPI document of the controller's interface.
#[must_use]
pub fn document() -> ApiDocument {
    ApiDocument::of(ABOUT, &routes().into_openapi(), schemas)
}

/// The whole controller.
pub fn router(controller: Controller) -> Router {
    let (router, paths) = routes().split_for_parts();
    let document = ApiDocument::of(ABOUT, &paths, schemas).json().clone();
    let router = router
        .with_state(controller)
        .route(DOCUMENT, get(move || async move { Json(document) }))
        .fallback(problem::no_such_path);
    accept::dress(router)
}
