//! The page at the address of the gateway, and the gateway at that of the planning server.

use axum::body::Body;
use axum::http::{Request, header};
use groundwave_needs::needs;
use groundwave_page::with_gateway;
use serde_json::{Value, json};

use super::process::{admin, start};
use super::{Answer, Bench, request};
use crate::support::{browse, compare_document};

/// `Accept` of a browser.
const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

fn browse_to(bench: &Bench, path: &str) -> Answer {
    let request = Request::get(path).header(header::ACCEPT, BROWSER);
    let here = std::net::Ipv4Addr::LOCALHOST.into();
    bench.send_from(here, request.body(Body::empty()).unwrap())
}

#[test]
fn the_types_of_the_page_are_those_of_the_interface() {
    compare_document("web/app/api/gateway.json", &groundwave_web_gateway::document());
}

#[needs(page)]
#[test]
fn browsers_get_the_page_without_a_token_and_others_the_links() {
    let bench = Bench::new();
    let field = |answer: &Answer, name: header::HeaderName| {
        let value = answer.headers.get(name);
        value.map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    };
    let page = browse_to(&bench, "/");
    assert_eq!(page.status, 200);
    assert!(field(&page, header::VARY).contains("accept,"));
    let policy = field(&page, header::CONTENT_SECURITY_POLICY);
    assert!(policy.contains("connect-src 'self'") && !policy.contains("'unsafe-"));
    let text = String::from_utf8(page.body).unwrap();
    let script = text.split('"').find(|part| part.ends_with(".js")).unwrap();
    let file = bench.get("", script);
    assert_eq!(file.status, 200, "{script}");
    assert!(field(&file, header::CACHE_CONTROL).contains("immutable"));
    assert_eq!(field(&file, header::CONTENT_SECURITY_POLICY), policy, "{script}");
    let links = bench.get("", "/");
    assert!(String::from_utf8(links.body).unwrap().contains("/openapi.json"));
    // A file of the page is read, not written; other paths stay unknown.
    assert_eq!(bench.call("", "POST", script, &Value::Null).status, 405);
    for path in ["/assets/none.js", "/.gitkeep", "/v1/none"] {
        let answer = browse_to(&bench, path);
        assert_eq!(answer.problem(404), "not-found", "{path}");
        assert_eq!(answer.json()["instance"], *path);
    }
}

#[test]
fn page_document_lists_the_interfaces_of_this_address() {
    let bench = Bench::new();
    let document = bench.get("", "/page.json").is(200);
    assert_eq!(document, json!({ "planning": null, "gateway": "" }));
    assert_eq!(bench.call("", "POST", "/page.json", &Value::Null).status, 405);
}

/// A gateway below the path of a planning server that answers every origin.
fn beside() -> Bench {
    let mut bench = Bench::new();
    let other = axum::Router::new().fallback(|| async { "planning" });
    let other = groundwave_http::layers::any_origin(other);
    bench.router = with_gateway(other, (bench.router.clone(), 8080), None);
    bench
}

#[test]
fn below_the_planning_server_the_gateway_keeps_its_rules() {
    let bench = beside();
    let document = bench.get("", "/page.json").is(200);
    let offer = json!({ "planning": "", "gateway": "/gateway", "gateway_port": 8080 });
    assert_eq!(document, offer);
    // Without a token nothing is shown, and the problem names the whole path.
    let refused = bench.get("", "/gateway/v1/nodes");
    assert_eq!(refused.problem(401), "unauthenticated");
    assert_eq!(refused.json()["instance"], "/gateway/v1/nodes");
    assert_eq!(refused.headers[header::WWW_AUTHENTICATE], "Bearer");
    let login = json!({ "username": "viewer", "password": super::PASSWORD });
    let document = bench.call("", "POST", "/gateway/api/auth/login", &login).is(200);
    let viewer = document["access_token"].as_str().unwrap();
    bench.get(viewer, "/gateway/v1/nodes?limit=5").is(200);
    assert_eq!(bench.get(viewer, "/gateway/v1/admin/audit").status, 403);
    // What is audited names the path of the gateway.
    let login = json!({ "username": "admin", "password": super::PASSWORD });
    let document = bench.call("", "POST", "/gateway/api/auth/login", &login).is(200);
    let token = document["access_token"].as_str().unwrap();
    let rows = bench.get(token, "/gateway/v1/admin/audit").is(200);
    let rows = rows["items"].as_array().unwrap();
    let logins = rows.iter().filter(|row| row["target"] == "/api/auth/login");
    assert_eq!(logins.count(), 2, "{rows:?}");
    // Its API browser shows paths without the prefix, so it is not served here.
    for path in ["/gateway/docs", "/gateway/docs/", "/gateway/docs/index.css"] {
        assert_eq!(bench.get("", path).status, 404, "{path}");
    }
}

#[test]
fn other_origins_reach_the_planning_server_but_not_the_gateway_below_it() {
    let bench = beside();
    let here = std::net::Ipv4Addr::LOCALHOST.into();
    let mut allowed = Vec::new();
    for (method, path) in [
        ("GET", "/api/v1/deployments"),
        ("OPTIONS", "/api/v1/deployments"),
        ("GET", "/gateway/health"),
        ("OPTIONS", "/gateway/v1/nodes"),
        ("GET", "/page.json"),
    ] {
        let mut preflight = request("", method, path, &Value::Null);
        let fields = preflight.headers_mut();
        fields.insert("origin", "http://elsewhere.example".parse().unwrap());
        fields.insert("access-control-request-method", "GET".parse().unwrap());
        let answer = bench.send_from(here, preflight);
        let cors = answer.headers.contains_key("access-control-allow-origin");
        allowed.push((path, cors));
    }
    assert_eq!(
        allowed,
        [
            ("/api/v1/deployments", true),
            ("/api/v1/deployments", true),
            ("/gateway/health", false),
            ("/gateway/v1/nodes", false),
            ("/page.json", false),
        ]
    );
    // A foreign host name is refused there as well.
    let mut preflight = request("", "GET", "/gateway/health", &Value::Null);
    preflight.headers_mut().insert(header::HOST, "evil.example".parse().unwrap());
    assert_eq!(bench.send_from(here, preflight).status, 403);
}

#[test]
fn one_process_serves_both_at_the_address_of_the_planning_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = super::process::start_both(folder.path());
    let (status, offer) = server.ask("", "GET", "/page.json", &Value::Null);
    assert_eq!(
        (status, &offer["planning"], &offer["gateway"]),
        (200, &json!(""), &json!("/gateway"))
    );
    // Agents ask the gateway's own address.
    let port = offer["gateway_port"].as_u64().unwrap();
    assert!(port > 0 && !server.address.ends_with(&format!(":{port}")), "{offer}");
    assert_eq!(server.ask("", "GET", "/gateway/health", &Value::Null).0, 200);
    assert_eq!(server.ask("", "GET", "/api/v1/deployments", &Value::Null).0, 200);
    server.end();
    let alone = start(folder.path(), "info", std::process::Stdio::piped());
    let answer = alone.ask(&admin(&alone), "GET", "/page.json", &Value::Null);
    assert_eq!(answer, (200, json!({ "planning": null, "gateway": "" })));
}

#[needs(page)]
#[test]
fn an_admin_watches_the_mesh_on_the_page() {
    browse("live.spec.ts");
}

#[needs(page)]
#[test]
fn an_admin_manages_nodes_people_and_flows_on_the_page() {
    browse("manage.spec.ts");
}

#[needs(page)]
#[test]
fn words_of_the_live_view_stay_whole_on_narrow_screens() {
    browse("phone.spec.ts");
}

#[needs(page, namespaces, tbf)]
#[test]
fn an_admin_impairs_a_link_and_plays_a_timeline_on_the_page() {
    browse("impairment.spec.ts");
}

#[needs(page, namespaces, tbf, mesh_programs)]
#[test]
fn an_operator_steers_a_testbed_on_the_page() {
    browse("testbed.spec.ts");
}
