//! All routes, and the document they make.

use axum::extract::Request;
use axum::extract::connect_info::ConnectInfo;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::wire::schemas;
use super::{Daemon, Peer, baseline, impairments, stats, system};
use crate::http::document::About;
use crate::http::{ApiDocument, accept, problem};

const ABOUT: About = About {
    title: "Groundwave impairment daemon",
    description: "Shapes the traffic of two network directions and reports what the kernel holds. \
                  Durations are in nanoseconds, percentages in [0, 100], correlations and \
                  probabilities in [0, 1]. Served on a Unix socket; who may open it may do \
                  everything. Errors are RFC 7807 problems.",
    version: env!("CARGO_PKG_VERSION"),
};

/// Where the document is.
const DOCUMENT: &str = "/api-docs/openapi.json";

fn routes() -> OpenApiRouter<Daemon> {
    OpenApiRouter::new()
        .routes(routes!(system::system))
        .routes(routes!(
            impairments::fetch,
            impairments::replace,
            impairments::clear
        ))
        .routes(routes!(stats::sample))
        .routes(routes!(baseline::fetch))
}

/// The OpenAPI document of the daemon's interface.
#[must_use]
pub fn document() -> ApiDocument {
    ApiDocument::of(ABOUT, &routes().into_openapi(), schemas)
}

/// The whole daemon. Serve it with [`Peer`] as connect info, so that changes are told with who
/// made them.
pub fn router(daemon: Daemon) -> Router {
    let (router, paths) = routes().split_for_parts();
    let document = ApiDocument::of(ABOUT, &paths, schemas).json().clone();
    let docs = SwaggerUi::new("/swagger-ui").config(Config::from(DOCUMENT));
    let router = router
        .with_state(daemon)
        .route(DOCUMENT, get(move || async move { Json(document) }))
        .merge(docs)
        .fallback(problem::no_such_path)
        .layer(from_fn(introduce));
    accept::dress(router)
}

/// Hands the peer of the connection to handlers; a request without a connection has none.
async fn introduce(mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    if let Some(&ConnectInfo(peer)) = peer {
        request.extensions_mut().insert(peer);
    }
    next.run(request).await
}
