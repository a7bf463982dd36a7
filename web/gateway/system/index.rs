//! Start page: links to the interface and its status.

use axum::http::{HeaderName, header};
use maud::{DOCTYPE, html};

use crate::gateway::access::Anonymous;

/// Paths that need no token, with their meanings.
const LINKS: [(&str, &str); 5] = [
    ("/docs/", "API browser"),
    ("/openapi.json", "OpenAPI document"),
    ("/health", "Health"),
    ("/capabilities", "Capabilities"),
    ("/metrics", "Prometheus metrics"),
];

/// Get the start page
#[utoipa::path(get, path = "/", tag = "system",
    responses((status = 200, description = "Links to the interface", content((String = "text/html")))))]
pub async fn index(_: Anonymous) -> ([(HeaderName, &'static str); 2], Vec<u8>) {
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
    (headers, page.into_string().into_bytes())
}
