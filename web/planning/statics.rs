//! Static frontend, never cached.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::routing::get;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use super::Frontend;
use crate::http::problem::no_such_path;

/// Built-in page: path, media type, text.
const BUILT_IN: [(&str, &str, &str); 5] = [
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("../page/index.html"),
    ),
    ("/style.css", "text/css", include_str!("../page/style.css")),
    ("/app.js", "text/javascript", include_str!("../page/app.js")),
    ("/map.js", "text/javascript", include_str!("../page/map.js")),
    (
        "/profile.js",
        "text/javascript",
        include_str!("../page/profile.js"),
    ),
];

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
        Frontend::BuiltIn => {
            let pages = BUILT_IN.into_iter();
            let router = pages.fold(Router::new(), |router, (path, media, text)| {
                let page = move || async move { ([(header::CONTENT_TYPE, media)], text) };
                router.route(path, get(page))
            });
            router.fallback(no_such_path)
        }
    };
    let no_cache = HeaderValue::from_static("no-cache");
    router.layer(SetResponseHeaderLayer::if_not_present(
        header::CACHE_CONTROL,
        no_cache,
    ))
}
