//! Start page: the page for browsers, links to the interface and its status for others.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, html};

use crate::access::Anonymous;

/// Paths that need no token, with their meanings.
const LINKS: [(&str, &str); 5] = [
    ("/docs/", "API browser"),
    ("/openapi.json", "OpenAPI document"),
    ("/health", "Health"),
    ("/capabilities", "Capabilities"),
    ("/metrics", "Prometheus metrics"),
];

/// Get the start page
///
/// Browsers get the page; clients that do not accept HTML, and all where the program was built
/// without the page, get links.
#[utoipa::path(get, path = "/", tag = "system",
    responses((status = 200, description = "The page, or links to the interface", content((String = "text/html")))))]
pub async fn index(_: Anonymous, headers: HeaderMap) -> Response {
    let mut answer = groundwave_page::asks_for_html(&headers)
        .then(|| groundwave_page::index(&headers))
        .flatten()
        .unwrap_or_else(links);
    let vary = HeaderValue::from_static("accept, accept-encoding");
    answer.headers_mut().insert(header::VARY, vary);
    answer
}

/// Links to the interface.
fn links() -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "Groundwave gateway" }
            }
            body {
                h1 { "Groundwave gateway " (env!("CARGO_PKG_VERSION")) }
                p { "Log in with POST /api/auth/login; other paths need the token of the answer." }
                ul {
                    @for (path, meaning) in LINKS {
                        li { a href=(path) { (meaning) } }
                    }
                }
            }
        }
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ];
    (headers, page.into_string().into_bytes()).into_response()
}
