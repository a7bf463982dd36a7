//! All routes, behind one guard.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, header};
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::access;
use super::guard::guard;
use super::heartbeat::BEAT_BYTES_MAX;
use super::readings::{batman, dhcp, network, reconfigure};
use super::system::{BODY_BYTES_MAX, OwnDocument};
use super::telemetry::BATCH_BYTES_MAX;
use super::{
    Gateway, auth, backup, deeds, detail, document, events, heartbeat, nodes, once, peers, probes,
    readings, register, registrations, system, telemetry, topology, trust, users,
};
use crate::http::tag::revision_of;
use crate::http::{accept, problem};

/// What the interactive page may load: what comes from here, and its own inline styles.
const PAGE_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; \
                           img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

pub(super) fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .merge(of_system())
        .merge(of_mesh())
        .merge(of_nodes())
        .merge(of_trust())
        .merge(of_network())
        .merge(of_admins())
}

fn of_system() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(system::health))
        .routes(routes!(system::capabilities))
        .routes(routes!(system::metrics))
        .routes(routes!(system::openapi))
        .routes(routes!(system::tasks))
        .routes(routes!(readings::system::info))
        .routes(routes!(readings::system::processor))
        .routes(routes!(readings::system::of_board))
        .routes(routes!(events::events))
        .routes(routes!(auth::login))
        .routes(routes!(auth::login_viewer))
        .routes(routes!(auth::login_operator))
        .routes(routes!(auth::login_admin))
        .routes(routes!(auth::logout))
        .routes(routes!(auth::me))
        .routes(routes!(auth::change_password))
}

fn of_mesh() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(register::wg_register))
        .routes(routes!(topology::mesh_topology))
        .routes(routes!(topology::mesh_health))
        .routes(routes!(peers::peers))
        .routes(routes!(peers::peer_delete))
        .routes(routes!(peers::ipam))
        .routes(routes!(peers::leases))
        .routes(routes!(peers::lease_delete))
        .routes(routes!(readings::mesh::status))
        .routes(routes!(readings::mesh::channels))
        .routes(routes!(readings::mesh::config, reconfigure::put))
        .routes(routes!(reconfigure::confirm))
        .routes(routes!(probes::create))
        .routes(routes!(probes::fetch))
        .routes(routes!(readings::mesh::plinks))
        .routes(routes!(batman::originators))
        .routes(routes!(batman::neighbors))
        .routes(routes!(batman::gateways))
        .routes(routes!(batman::translocal))
        .routes(routes!(batman::transglobal))
        .routes(routes!(batman::dat_cache))
        .routes(routes!(batman::bla_claims))
        .routes(routes!(batman::hardifs))
}

fn of_network() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(network::interfaces))
        .routes(routes!(network::interface))
        .routes(routes!(network::arp))
        .routes(routes!(network::routes))
        .routes(routes!(network::of_wireless))
        .routes(routes!(network::assoclist))
        .routes(routes!(dhcp::given))
        .routes(routes!(dhcp::keep))
        .routes(routes!(dhcp::release))
}

fn of_nodes() -> OpenApiRouter<Gateway> {
    let beat = DefaultBodyLimit::max(BEAT_BYTES_MAX);
    let batch = DefaultBodyLimit::max(BATCH_BYTES_MAX);
    OpenApiRouter::new()
        .routes(routes!(heartbeat::heartbeat).layer(beat))
        .routes(routes!(heartbeat::join))
        .routes(routes!(nodes::register))
        .routes(routes!(nodes::list))
        .routes(routes!(nodes::fetch, nodes::patch, nodes::delete))
        .routes(routes!(telemetry::fetch))
        .routes(routes!(telemetry::post).layer(batch))
        .routes(routes!(telemetry::latest))
        .routes(routes!(telemetry::latest_all))
        .routes(routes!(detail::radio))
        .routes(routes!(detail::health))
        .routes(routes!(detail::interfaces))
        .routes(routes!(detail::endpoints))
        .routes(routes!(detail::events))
        .routes(routes!(heartbeat::commands, heartbeat::command_create))
        .routes(routes!(heartbeat::command_result))
        .routes(routes!(nodes::rotate_credentials))
}

fn of_trust() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(trust::trust))
        .routes(routes!(trust::trust_policy_put))
        .routes(routes!(trust::trust_secret))
        .routes(routes!(trust::trust_secret_rotate))
        .routes(routes!(trust::trust_macs, trust::trust_mac_add))
        .routes(routes!(trust::trust_mac_fetch, trust::trust_mac_delete))
        .routes(routes!(trust::trust_macs_import))
}

fn of_admins() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(registrations::registrations))
        .routes(routes!(registrations::registration))
        .routes(routes!(registrations::approve))
        .routes(routes!(registrations::reject))
        .routes(routes!(registrations::revoke))
        .routes(routes!(registrations::reset))
        .routes(routes!(users::users, users::user_create))
        .routes(routes!(users::user_patch, users::user_delete))
        .routes(routes!(users::user_revoke_tokens))
        .routes(routes!(deeds::audit))
        .routes(routes!(backup::backup))
}

/// The whole gateway.
///
/// # Errors
/// When the table of who may call what and the routes do not fit each other: then nobody may call
/// anything.
pub fn router(gateway: Gateway) -> Result<Router, String> {
    let (router, paths) = routes().split_for_parts();
    let document = document::complete(&paths);
    let table = Arc::new(access::table(&document)?);
    let text = document.to_string();
    let own = Arc::new(OwnDocument {
        revision: revision_of(&text),
        text,
    });
    let policy = SetResponseHeaderLayer::overriding(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(PAGE_POLICY),
    );
    let docs: Router = SwaggerUi::new("/docs")
        .config(Config::from("/openapi.json"))
        .into();
    let router = router
        .fallback(problem::no_such_path)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(Extension(own))
        .layer(from_fn_with_state(gateway.clone(), once::once))
        .layer(from_fn_with_state((gateway.clone(), table), guard))
        .with_state(gateway)
        .merge(docs.layer(policy));
    Ok(accept::dress_closed(router))
}
