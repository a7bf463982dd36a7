//! Router of the gateway: endpoints of all categories behind the guard.

use std::sync::Arc;

use axum::http::{HeaderValue, header};
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use groundwave_http::route::body_limit;
use groundwave_http::tag::revision_of;
use groundwave_http::{layers, problem};
use groundwave_page::{Offer, page};
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::access::guard::{AccessTable, Guard, guard};
use super::access::{Scopes, idempotency};
use super::document::build;
use super::endpoints::endpoints;
use super::services::api_tokens::TokenUses;
use super::services::limits::BODY_BYTES_MAX;
use super::state::Gateway;
use super::system::status::OwnDocument;

/// Content security policy of the API browser: own scripts, own and inline styles.
const PAGE_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; \
                           img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/// Router of the gateway.
pub fn router(gateway: Gateway) -> Router {
    let (router, document, operations) = build(endpoints());
    let scopes = Arc::new(Scopes::of(&operations));
    let checks = Guard {
        table: AccessTable::new(operations),
        world: gateway.world.clone(),
        settings: Arc::clone(&gateway.settings),
        tokens: Arc::clone(&gateway.tokens),
        metrics: Arc::clone(&gateway.metrics),
        audit: Arc::clone(&gateway.audit),
        audit_sampling: Arc::clone(&gateway.audit_sampling),
        token_uses: TokenUses::default(),
    };
    let text = document.json().to_string();
    let own = Arc::new(OwnDocument { revision: revision_of(&text), text });
    let policy = SetResponseHeaderLayer::overriding(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(PAGE_POLICY),
    );
    let docs: Router = SwaggerUi::new("/docs").config(Config::from("/openapi.json")).into();
    let router = router
        .fallback(|method, uri, headers| page(Offer::GATEWAY, method, uri, headers))
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(body_limit(BODY_BYTES_MAX))
        .layer(Extension(own))
        .layer(Extension(scopes))
        .layer(from_fn_with_state(Arc::clone(&gateway.idempotency), idempotency::once))
        .layer(from_fn_with_state(Arc::new(checks), guard))
        .with_state(gateway)
        .merge(docs.layer(policy));
    layers::own_origin(layers::to_the_end(router))
}
