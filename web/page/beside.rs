//! Planning server and gateway of one process at the address of the planning server.

use axum::Router;
use axum::routing::{any, get};
use groundwave_http::mount::mount;
use groundwave_http::problem::{no_such_method, no_such_path};

use super::{Basemap, Offer};

/// Path in front of those of the gateway.
const GATEWAY: &str = "/gateway";

/// Router of the planning server, and below `/gateway` that of the gateway with its own middleware:
/// what the planning server allows other origins does not hold there. The API browser of the gateway
/// stays at its own address, since its document names paths without a prefix; `port` is that of this address.
pub fn with_gateway(
    planning: Router,
    (gateway, port): (Router, u16),
    basemap: Option<&Basemap>,
) -> Router {
    let offer = Offer {
        gateway: Some(GATEWAY),
        gateway_port: Some(port),
        ..Offer::PLANNING.with_basemap(basemap)
    };
    let planning = Router::new()
        .route("/page.json", get(move || async move { offer }))
        .method_not_allowed_fallback(no_such_method)
        .fallback_service(planning);
    let gateway = Router::new()
        .route("/docs", any(no_such_path))
        .route("/docs/", any(no_such_path))
        .route("/docs/{*rest}", any(no_such_path))
        .fallback_service(gateway);
    mount(planning, GATEWAY, gateway)
}
