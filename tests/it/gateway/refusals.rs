//! Requests that are refused before anything is done.

use serde_json::Value;

use super::{Answer, Bench, request};

fn with_field(bench: &Bench, token: &str, path: &str, field: (&'static str, &str)) -> Answer {
    let mut request = request(token, "GET", path, &Value::Null);
    request.headers_mut().insert(field.0, field.1.parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), request)
}

#[test]
fn parameters_that_no_operation_describes_are_refused_by_all() {
    let bench = Bench::new();
    let (admin, viewer) = (bench.login("admin"), bench.login("viewer"));
    let unknown = "00000000-0000-7000-8000-000000000000";
    for (method, path) in [
        ("POST", "/v1/firewall/apply?dry_run=true".to_owned()),
        ("POST", format!("/v1/flows/{unknown}/trigger?dry_run=true")),
        ("DELETE", format!("/v1/nodes/{unknown}?force=true")),
        ("GET", "/v1/metrics/nodes?zzz=1".to_owned()),
        ("GET", "/meshviewer.json?callback=x".to_owned()),
    ] {
        let refused = bench.call(&admin, method, &path, &Value::Null);
        assert_eq!(refused.problem(400), "invalid-body", "{path}");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.ends_with("allowed none"), "{detail}");
    }
    // Who may not call an operation does not learn its parameters.
    bench.get("", "/v1/metrics/nodes?zzz=1").problem(401);
    bench.get(&viewer, "/v1/mesh/health?_=1").is(200);
    assert_eq!(bench.get("", "/?lat=57.7&lon=11.97").status, 200);
}

#[test]
fn a_path_that_is_no_text_passes_the_guard_like_others() {
    let bench = Bench::new();
    let (path, viewer) = ("/v1/nodes/%ff", bench.login("viewer"));
    assert_eq!(bench.get("", path).problem(401), "unauthenticated");
    let refused = bench.get(&viewer, path);
    assert_eq!(refused.problem(400), "invalid-body");
    assert_eq!(refused.json()["instance"], path);
    assert!(refused.headers.contains_key("x-request-id"));
    bench.get("", "/v1/none/%ff").problem(404);
    let two_spaces = format!("Bearer  {viewer}");
    let answer = with_field(&bench, "", "/v1/nodes", ("authorization", two_spaces.as_str()));
    answer.is(200);
}

#[test]
fn a_copy_with_a_weak_tag_or_any_is_known() {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    let path = "/v1/mesh/topology";
    let tag = bench.get(&viewer, path).headers["etag"].to_str().unwrap().to_owned();
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", W/{tag}"), "*".to_owned()] {
        let again = with_field(&bench, &viewer, path, ("if-none-match", known.as_str()));
        assert_eq!(again.status, 304, "{known}");
    }
}

#[test]
fn reversed_ranges_are_refused_by_all_lists() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let range = "from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z";
    let flow = "00000000-0000-7000-8000-000000000000";
    for path in [format!("/v1/flows/{flow}/executions"), "/v1/admin/audit".to_owned()] {
        let refused = bench.get(&admin, &format!("{path}?{range}"));
        assert_eq!(refused.problem(422), "invalid-body", "{path}");
        assert_eq!(refused.json()["errors"][0]["pointer"], "/from", "{path}");
    }
}
