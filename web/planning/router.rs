//! All routes, and the document they make.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::wire::schemas;
use super::{
    Planner, backup, coverage, deployments, exchange, health, links, mesh, nodes, presets, statics,
    templates, terrain,
};
use crate::http::document::About;
use crate::http::{ApiDocument, Json, accept};

const ABOUT: About = About {
    title: "Groundwave planning server",
    description: "Plans wireless meshes on real terrain: deployments, link budgets, terrain, \
                  relays, routes, protocol advice, coverage. Errors are RFC 7807 problems. There \
                  is no authentication: bind to localhost or put a proxy in front. JSON bodies \
                  may have 1 MiB.",
    version: env!("CARGO_PKG_VERSION"),
};

fn routes() -> OpenApiRouter<Planner> {
    OpenApiRouter::new()
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(deployments::list, deployments::create))
        .routes(routes!(
            deployments::fetch,
            deployments::update,
            deployments::delete
        ))
        .routes(routes!(nodes::list, nodes::create))
        .routes(routes!(nodes::fetch, nodes::update, nodes::delete))
        .routes(routes!(nodes::relocate))
        .routes(routes!(links::analyze))
        .routes(routes!(terrain::profile))
        .routes(routes!(mesh::relay))
        .routes(routes!(mesh::route))
        .routes(routes!(mesh::recommend))
        .routes(routes!(presets::radios))
        .routes(routes!(presets::antennas))
        .routes(routes!(presets::roles))
        .routes(routes!(presets::modulations))
        .routes(routes!(templates::list, templates::create))
        .routes(routes!(templates::delete))
        .routes(routes!(coverage::create))
        .routes(routes!(coverage::fetch))
        .routes(routes!(coverage::stream))
        .routes(routes!(exchange::export))
        .routes(routes!(exchange::import).layer(DefaultBodyLimit::max(exchange::IMPORT_BYTES_MAX)))
        .routes(routes!(backup::backup))
}

/// The OpenAPI document of the planning interface.
#[must_use]
pub fn document() -> ApiDocument {
    ApiDocument::of(ABOUT, &routes().into_openapi(), schemas)
}

/// The whole server.
pub fn router(planner: Planner) -> Router {
    let frontend = statics::statics(&planner.frontend);
    let (router, paths) = routes().split_for_parts();
    let document = ApiDocument::of(ABOUT, &paths, schemas).json().clone();
    let docs = SwaggerUi::new("/docs").config(Config::from("/openapi.json"));
    let router = router
        .with_state(planner)
        .route("/openapi.json", get(move || async move { Json(document) }))
        .merge(docs)
        .fallback_service(frontend);
    accept::dress(router)
}
