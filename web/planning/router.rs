//! Router and OpenAPI document of the planning server.

use axum::Router;
use axum::routing::get;
use groundwave_http::document::About;
use groundwave_http::endpoints::{Endpoints, unrestricted};
use groundwave_http::operations;
use groundwave_http::{ApiDocument, Json, layers};
use groundwave_page::statics;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::{
    Planner, backup, calibrations, changes, coverages, deployments, exchange, ground_fetches,
    health, links, mesh, mesh_coverage, nodes, patterns, placement, presets, previews, replays,
    templates, terrain,
};

const ABOUT: About = About {
    title: "Groundwave planning server",
    description: "Plans wireless meshes on real terrain: deployments, link budgets, terrain, \
                  relays, routes, protocol advice, coverage. Errors are RFC 7807 problems. There \
                  is no authentication: bind to localhost or put a proxy in front. JSON bodies \
                  may have 1 MiB. Routes, relays, links of a deployment, advice and coverage take \
                  turns by client; 429 and 503 say with Retry-After when to ask again.",
    version: env!("CARGO_PKG_VERSION"),
};

fn endpoints() -> Endpoints<Planner> {
    let import = operations!(unrestricted; exchange::import);
    let pattern = operations!(unrestricted; patterns::pattern);
    let calibration = operations!(unrestricted; calibrations::calibration_profile);
    let upload = operations!(unrestricted; replays::upload);
    Endpoints::default()
        .with(operations!(
            unrestricted;
            health::alive,
            health::ready,
            deployments::list_deployments,
            deployments::create_deployment,
            deployments::fetch_deployment,
            deployments::update_deployment,
            deployments::delete_deployment,
            changes::changes,
            nodes::list_nodes,
            nodes::create_node,
            nodes::fetch_node,
            nodes::update_node,
            nodes::delete_node,
            nodes::relocate,
            links::analyze,
            previews::preview,
            previews::scan,
            placement::placement,
            replays::list_replays,
            replays::fetch_replay,
            replays::delete_replay,
            replays::frames,
            replays::create_variant,
            replays::player,
            terrain::profile,
            terrain::elevation,
            terrain::area,
            terrain::tile,
            terrain::relief_tile,
            ground_fetches::ground_offer,
            ground_fetches::create_ground_fetch,
            ground_fetches::ground_fetch,
            ground_fetches::delete_ground_fetch,
            mesh::relay,
            mesh::route,
            mesh::links,
            mesh::recommend,
            presets::radios,
            presets::antennas,
            presets::devices,
            presets::roles,
            presets::modulations,
            presets::models,
            presets::environments,
            presets::formats,
            templates::list_templates,
            templates::create_template,
            templates::delete_template,
            coverages::create_coverage,
            coverages::fetch_coverage,
            coverages::delete_coverage,
            coverages::stream,
            coverages::tiles,
            coverages::export_coverage,
            mesh_coverage::set_mesh_coverage,
            mesh_coverage::mesh_coverage,
            mesh_coverage::delete_mesh_coverage,
            mesh_coverage::mesh_coverage_tiles,
            exchange::export,
            backup::backup,
        ))
        .with(import.body_limit(exchange::IMPORT_BYTES_MAX))
        .with(pattern.body_limit(patterns::PATTERN_BYTES_MAX))
        .with(calibration.body_limit(calibrations::PROFILE_BYTES_MAX))
        .with(upload.body_limit(replays::LOG_BYTES_MAX))
        .schema::<super::wire::coverage::CoverageFormat>()
        .schema::<super::wire::coverage::CoverageLayer>()
        .schema::<super::wire::exchange::ExchangeFormat>()
        .schema::<super::wire::mesh::DeploymentLinks>()
        .schema::<super::wire::terrain::ReliefDetail>()
}

/// OpenAPI document of the planning server.
#[must_use]
pub fn document() -> ApiDocument {
    endpoints().build(ABOUT).1
}

/// Router of the planning server.
pub fn router(planner: Planner) -> Router {
    let frontend = statics(&planner.frontend);
    let (router, document, _) = endpoints().build(ABOUT);
    let docs = SwaggerUi::new("/docs").config(Config::from("/openapi.json"));
    let router = router
        .with_state(planner)
        .route("/openapi.json", get(move || async move { Json(document.json().clone()) }))
        .merge(docs)
        .fallback_service(frontend);
    layers::any_origin(router)
}
