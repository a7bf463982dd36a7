//! All routes, and the document they make.

use axum::Router;
use axum::routing::get;
use groundwave_http::document::About;
use groundwave_http::endpoints::{Endpoints, unrestricted};
use groundwave_http::operations;
use groundwave_http::{ApiDocument, Json, layers, problem};

use super::{Controller, steer};

const ABOUT: About = About {
    title: "Groundwave testbed controller",
    description: "Steers the world that a testbed follows, and shows what was predicted beside what \
                  was measured. Nodes go by their short names. Served on a Unix socket; who may \
                  open it may do everything. Every change stands in the log. Errors are RFC 7807 \
                  problems.",
    version: env!("CARGO_PKG_VERSION"),
};

/// Path of the OpenAPI document.
const DOCUMENT: &str = "/api-docs/openapi.json";

fn endpoints() -> Endpoints<Controller> {
    Endpoints::default().with(operations!(
        unrestricted;
        steer::show,
        steer::add,
        steer::remove,
        steer::place,
        steer::fail,
        steer::repair,
        steer::equip,
        steer::cut,
        steer::mend,
        steer::set_link,
        steer::pace,
        steer::step,
        steer::probe,
        steer::stop,
    ))
}

/// The OpenAPI document of the controller's interface.
#[must_use]
pub fn document() -> ApiDocument {
    endpoints().build(ABOUT).1
}

/// The whole controller.
pub fn router(controller: Controller) -> Router {
    let (router, document, _) = endpoints().build(ABOUT);
    let router = router
        .with_state(controller)
        .route(DOCUMENT, get(move || async move { Json(document.json().clone()) }))
        .fallback(problem::no_such_path);
    layers::any_origin(layers::to_the_end(router))
}
