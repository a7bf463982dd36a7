//! A router below a prefix of another, each with its own middleware.

use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use tower::ServiceExt;

/// Prefix that [`mount`] took off the path of a request.
#[derive(Debug, Clone, Copy)]
pub struct MountedAt(pub &'static str);

/// Router that passes requests below `prefix`, such as `/inner`, to `inner` without the prefix, and
/// all others to `outer`. `Router::nest` would show `inner` its templates with the prefix.
pub fn mount(outer: Router, prefix: &'static str, inner: Router) -> Router {
    Router::new().fallback(move |mut request: Request| {
        let (outer, inner) = (outer.clone(), inner.clone());
        async move {
            let Some(uri) = below(request.uri(), prefix) else {
                return outer.oneshot(request).await;
            };
            *request.uri_mut() = uri;
            request.extensions_mut().insert(MountedAt(prefix));
            inner.oneshot(request).await
        }
    })
}

/// URI without the prefix; `None` if it does not lie below it.
fn below(uri: &Uri, prefix: &str) -> Option<Uri> {
    let rest = uri.path().strip_prefix(prefix)?;
    let path = match rest {
        "" => "/",
        rest => rest.starts_with('/').then_some(rest)?,
    };
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(whole).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_below_the_prefix_loses_it() {
        for (uri, inner) in [
            ("/inner/v1/nodes?a=%2F&b", Some("/v1/nodes?a=%2F&b")),
            ("/inner/", Some("/")),
            ("/inner", Some("/")),
            ("/inner?x=1", Some("/?x=1")),
            ("/inner//x", Some("//x")),
            ("/inners", None),
            ("/", None),
            ("/x/inner/", None),
        ] {
            let path = below(&Uri::from_static(uri), "/inner").map(|uri| uri.to_string());
            assert_eq!(path.as_deref(), inner, "{uri}");
        }
    }
}
