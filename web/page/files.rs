//! The built-in page: files of `web/app/dist`, in the program in release builds, read in debug builds.

use std::io::Read;

use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use groundwave_files::hex::hex;
use groundwave_http::Problem;
use groundwave_http::problem::{no_such_method, no_such_path};
use groundwave_http::tag::{is_known, tag};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::{Offer, position};

/// Files that `make web` built; none in a build without them.
#[derive(RustEmbed)]
#[folder = "../app/dist"]
// Each is there as .br and .gz: a third of the whole.
#[exclude = "assets/*.js"]
#[exclude = "assets/*.wasm"]
#[exclude = "*.tsv"]
#[exclude = "*.tsv.br"]
#[allow_missing = true]
struct Built;

/// First file of the page.
const INDEX: &str = "index.html";

/// Towns by name: GeoNames, CC BY 4.0.
const TOWNS: &str = "towns.tsv";

/// Name of the [`Offer`] of an address.
const OFFER: &str = "page.json";

/// Content security policy: everything from this origin, nothing inline; modules of WebAssembly are compiled.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; \
                      manifest-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Caching of files whose name has a digest of their content.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Compressed forms of a file, best first: content coding and what follows the name.
const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// The file of a path, compressed as the client takes it, or the interfaces that the page may request here.
pub async fn page(offer: Offer, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    file_of::<Built>(offer, method, uri, headers).await
}

/// The first file of the page; `None` in a program that was built without it.
#[must_use]
pub fn index(headers: &HeaderMap) -> Option<Response> {
    Built::get(INDEX).map(|_| file::<Built>(INDEX, headers))
}

/// Table of towns for the command line, as the build of the page makes it; `None` in a program without it.
#[must_use]
pub fn towns() -> Option<String> {
    let file = packed::<Built>(TOWNS)?;
    String::from_utf8(unpacked(&file.data)).ok()
}

/// [`page`] over any files.
async fn file_of<Files: RustEmbed>(
    offer: Offer,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path().trim_start_matches('/');
    let name = if path.is_empty() { INDEX } else { path };
    let is_read = matches!(method, Method::GET | Method::HEAD);
    if name == OFFER && is_read {
        return offer.into_response();
    }
    if name == position::PATH && is_read {
        return position::position(&uri);
    }
    if name == INDEX && Files::get(INDEX).is_none() {
        return Problem::unavailable("this program was built without its page: run make web")
            .into_response();
    }
    let is_shown = !name.starts_with('.') && !CODINGS.iter().any(|(_, end)| name.ends_with(end));
    let is_there = is_shown && (Files::get(name).is_some() || packed::<Files>(name).is_some());
    match is_there {
        true if is_read => file::<Files>(name, &headers),
        false if name != OFFER && name != position::PATH => no_such_path(uri).await.into_response(),
        _ => {
            let allowed = [(header::ALLOW, "GET, HEAD")];
            (allowed, no_such_method(method, uri).await).into_response()
        }
    }
}

/// A file as the client takes it.
///
/// # Panics
/// If the file is not there.
fn file<Files: RustEmbed>(name: &str, headers: &HeaderMap) -> Response {
    let compressed = compressed::<Files>(name, headers);
    let coding = compressed.as_ref().map(|(coding, _)| *coding);
    let plain = compressed.map(|(_, file)| file).or_else(|| Files::get(name));
    let (form, is_packed) = match plain {
        Some(plain) => (plain, false),
        None => (packed::<Files>(name).expect("a file that is there"), true),
    };
    // Forms of one file differ in their octets, and so in their tags.
    let form_mark = if is_packed { "-plain" } else { "" };
    let revision = format!("{}{form_mark}", hex(&form.metadata.sha256_hash()[..16]));
    let cached = match name.starts_with("assets/") {
        true => IMMUTABLE,
        false => "no-cache",
    };
    let common = [
        (header::CACHE_CONTROL, cached),
        (header::VARY, "accept-encoding"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    if is_known(headers, &revision) {
        let unchanged = axum::http::StatusCode::NOT_MODIFIED;
        return (unchanged, common, tag(&revision)).into_response();
    }
    let kind = [(header::CONTENT_TYPE, media(name))];
    let octets = match is_packed {
        true => unpacked(&form.data),
        false => form.data.into_owned(),
    };
    let mut answer = (common, tag(&revision), kind, octets).into_response();
    if let Some(coding) = coding {
        let coding = HeaderValue::from_static(coding);
        answer.headers_mut().insert(header::CONTENT_ENCODING, coding);
    }
    answer
}

/// The gzip form of a file, from which the plain one is made where that is not in the program.
fn packed<Files: RustEmbed>(name: &str) -> Option<EmbeddedFile> {
    Files::get(&format!("{name}.gz"))
}

/// Contents of a gzip form that the build wrote.
fn unpacked(gzip: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let outcome = GzDecoder::new(gzip).read_to_end(&mut octets);
    outcome.expect("the build wrote it");
    octets
}

/// The best compressed form that the client takes, and its coding.
fn compressed<Files: RustEmbed>(
    name: &str,
    headers: &HeaderMap,
) -> Option<(&'static str, EmbeddedFile)> {
    let taken = headers.get(header::ACCEPT_ENCODING)?.to_str().ok()?;
    CODINGS.into_iter().find_map(|(coding, end)| {
        takes(taken, coding).then_some(())?;
        Some((coding, Files::get(&format!("{name}{end}"))?))
    })
}

/// `true` if the client accepts HTML, as browsers do.
#[must_use]
pub fn asks_for_html(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter();
    accepted.any(|value| {
        let value = value.to_str();
        value.is_ok_and(|value| takes(value, "text/html"))
    })
}

/// True if a list such as `Accept-Encoding` names a form and does not refuse it.
fn takes(accepted: &str, form: &str) -> bool {
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(form));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        is_named && weight.and_then(|weight| weight.parse().ok()) != Some(0.0)
    })
}

/// Media type by the end of a name.
fn media(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        "png" => "image/png",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    /// Files of a program that was built without its page.
    #[derive(RustEmbed)]
    #[folder = "web/app/absent"]
    #[allow_missing = true]
    struct Absent;

    #[tokio::test]
    async fn program_without_its_page_gives_the_build_command() {
        let get = async |path: &'static str| {
            let uri = Uri::from_static(path);
            let answer =
                file_of::<Absent>(Offer::PLANNING, Method::GET, uri, HeaderMap::new()).await;
            let problem = answer.extensions().get::<Problem>();
            let detail = problem.map(|problem| problem.detail.clone());
            (answer.status(), detail.unwrap_or_default())
        };
        for path in ["/", "/index.html"] {
            let (status, detail) = get(path).await;
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
            assert!(detail.contains("make web"), "{detail}");
        }
        assert_eq!(get("/assets/a.js").await.0, StatusCode::NOT_FOUND);
        assert_eq!(get("/page.json").await.0, StatusCode::OK);
    }

    #[test]
    fn browsers_ask_for_html() {
        let asks = |accepted: &'static str| {
            let value = HeaderValue::from_static(accepted);
            asks_for_html(&HeaderMap::from_iter([(header::ACCEPT, value)]))
        };
        assert!(asks("text/html,application/xhtml+xml,*/*;q=0.8"));
        for other in ["*/*", "application/json", "text/html;q=0, */*"] {
            assert!(!asks(other), "{other}");
        }
        assert!(!asks_for_html(&HeaderMap::new()));
    }

    #[test]
    fn a_coding_is_taken_when_named_and_not_refused() {
        for (accepted, coding, taken) in [
            ("gzip, deflate, br, zstd", "br", true),
            ("gzip;q=0.8, BR;q=1.0", "br", true),
            ("br;q=0, gzip", "br", false),
            ("gzip", "br", false),
            ("brotli", "br", false),
            ("", "gzip", false),
        ] {
            assert_eq!(takes(accepted, coding), taken, "{accepted:?} {coding}");
        }
    }

    #[test]
    fn media_types_follow_the_name() {
        assert_eq!(media("index.html"), "text/html; charset=utf-8");
        assert_eq!(media("assets/a-1.js"), "text/javascript; charset=utf-8");
        assert_eq!(media("assets/font.woff2"), "font/woff2");
        assert_eq!(media("assets/positions-1.wasm"), "application/wasm");
        assert_eq!(media("manifest.webmanifest"), "application/manifest+json");
        assert_eq!(media("unknown"), "application/octet-stream");
    }
}
