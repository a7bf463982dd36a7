//! Static frontend for every path nothing else serves.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::routing::get;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use super::files::page;
use super::{Frontend, Offer};
use crate::http::problem::no_such_path;

/// Static files: the built-in page, or those of a folder, which are never cached.
pub fn statics(frontend: &Frontend, offer: Offer) -> Router {
    let router = match frontend {
        Frontend::Folder(folder) => {
            let files = ServeDir::new(folder)
                .call_fallback_on_method_not_allowed(true)
                .fallback(axum::handler::HandlerWithoutStateExt::into_service(
                    no_such_path,
                ));
            Router::new()
                .route("/page.json", get(move || async move { offer }))
                .fallback_service(files)
        }
        Frontend::BuiltIn => {
            Router::new().fallback(move |method, uri, headers| page(offer, method, uri, headers))
        }
    };
    let no_cache = HeaderValue::from_static("no-cache");
    router.layer(SetResponseHeaderLayer::if_not_present(
        header::CACHE_CONTROL,
        no_cache,
    ))
}
