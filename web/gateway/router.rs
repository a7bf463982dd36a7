//! All routes, behind one guard.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, header};
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::access::guard::guard;
use super::access::{self, idempotency};
use super::system::status::{BODY_BYTES_MAX, OwnDocument};
use super::{Gateway, admin, auth, document, mesh, network, nodes, system, telemetry, trust};
use crate::http::tag::revision_of;
use crate::http::{accept, problem};

/// What the interactive page may load: what comes from here, and its own inline styles.
const PAGE_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; \
                           img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

pub(super) fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .merge(system::routes())
        .merge(auth::routes())
        .merge(mesh::routes())
        .merge(nodes::routes())
        .merge(telemetry::routes())
        .merge(trust::routes())
        .merge(network::routes())
        .merge(admin::routes())
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
        .layer(from_fn_with_state(gateway.clone(), idempotency::once))
        .layer(from_fn_with_state((gateway.clone(), table), guard))
        .with_state(gateway)
        .merge(docs.layer(policy));
    Ok(accept::dress_closed(router))
}
