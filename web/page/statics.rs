//! Static frontend for every path nothing else serves.

use axum::Router;
use axum::http::{HeaderValue, Uri, header};
use axum::routing::get;
use groundwave_http::problem::no_such_path;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use super::files::page;
use super::position::position;
use super::{Frontend, Offer, Source};

/// Static files: the built-in page, or those of a folder, which are never cached.
pub fn statics(frontend: &Frontend) -> Router {
    let offer = Offer::PLANNING.with_basemap(frontend.basemap.as_ref());
    let router = match &frontend.source {
        Source::Folder(folder) => {
            let files = ServeDir::new(folder)
                .call_fallback_on_method_not_allowed(true)
                .fallback(axum::handler::HandlerWithoutStateExt::into_service(no_such_path));
            Router::new()
                .route("/page.json", get(move || async move { offer }))
                .route("/position.json", get(async |uri: Uri| position(&uri)))
                .fallback_service(files)
        }
        Source::BuiltIn => {
            Router::new().fallback(move |method, uri, headers| page(offer, method, uri, headers))
        }
    };
    let router = match &frontend.basemap {
        Some(basemap) => basemap.routes().fallback_service(router),
        None => router,
    };
    let no_cache = HeaderValue::from_static("no-cache");
    router.layer(SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, no_cache))
}
