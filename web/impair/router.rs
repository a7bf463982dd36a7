//! Router and OpenAPI document of the impairment daemon.

use axum::Router;
use axum::extract::Request;
use axum::extract::connect_info::ConnectInfo;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use groundwave_http::document::About;
use groundwave_http::endpoints::{Endpoints, unrestricted};
use groundwave_http::operations;
use groundwave_http::{ApiDocument, Json, layers, problem};
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::port_schemas::with_ports;
use super::wire::DirectionName;
use super::{Daemon, Peer, baseline, impairments, leases, stats, system};

const ABOUT: About = About {
    title: "Groundwave impairment daemon",
    description: "Shapes the traffic of two network directions and reports what the kernel holds. \
                  Durations are in nanoseconds, percentages in [0, 100], correlations and \
                  probabilities in [0, 1]. Served on a Unix socket; who may open it may do \
                  everything. Errors are RFC 7807 problems.",
    version: env!("CARGO_PKG_VERSION"),
};

/// Path of the OpenAPI document.
const DOCUMENT: &str = "/api-docs/openapi.json";

fn endpoints() -> Endpoints<Daemon> {
    Endpoints::default()
        .with(operations!(
            unrestricted;
            system::system,
            impairments::fetch_impairment,
            impairments::replace_impairment,
            impairments::clear_impairment,
            leases::list_leases,
            leases::begin_lease,
            leases::renew_lease,
            leases::cancel_lease,
            stats::sample,
            baseline::fetch_baseline,
        ))
        .schema::<DirectionName>()
}

/// OpenAPI document of an impairment daemon with `count` ports.
#[must_use]
pub fn document(count: usize) -> ApiDocument {
    with_ports(endpoints().build(ABOUT).1, count)
}

/// Router of the impairment daemon. Serve it with [`Peer`] as connect info, so that the audit log
/// names the caller of each change.
pub fn router(daemon: Daemon) -> Router {
    let (router, document, _) = endpoints().build(ABOUT);
    let document = with_ports(document, daemon.ports.names.len());
    let docs = SwaggerUi::new("/swagger-ui").config(Config::from(DOCUMENT));
    let router = router
        .with_state(daemon)
        .route(DOCUMENT, get(move || async move { Json(document.json().clone()) }))
        .merge(docs)
        .fallback(problem::no_such_path)
        .layer(from_fn(introduce));
    layers::any_origin(layers::to_the_end(router))
}

/// Passes the peer of the connection on to handlers; a request without a connection has none.
async fn introduce(mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    if let Some(&ConnectInfo(peer)) = peer {
        request.extensions_mut().insert(peer);
    }
    next.run(request).await
}
