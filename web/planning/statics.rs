//! The static frontend, never cached: a new version shows at the next reload.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::Html;
use axum::routing::get;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use super::Frontend;
use crate::http::problem::no_such_path;

const BUILT_IN: &str = include_str!("../page/index.html");

/// Static files for every path nothing else serves.
pub fn statics(frontend: &Frontend) -> Router {
    let router = match frontend {
        Frontend::Folder(folder) => {
            let files = ServeDir::new(folder)
                .call_fallback_on_method_not_allowed(true)
                .fallback(axum::handler::HandlerWithoutStateExt::into_service(
                    no_such_path,
                ));
            Router::new().fallback_service(files)
        }
        Frontend::BuiltIn => Router::new()
            .route("/", get(|| async { Html(BUILT_IN) }))
            .fallback(no_such_path),
    };
    let no_cache = HeaderValue::from_static("no-cache");
    router.layer(SetResponseHeaderLayer::if_not_present(
        header::CACHE_CONTROL,
        no_cache,
    ))
}
