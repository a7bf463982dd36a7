//! Start page and health.

use groundwave_web_gateway::Settings;
use serde_json::json;

use super::Bench;

#[test]
fn the_start_page_links_to_pages_that_answer_without_a_token() {
    let bench = Bench::new();
    let page = bench.get("", "/");
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let text = String::from_utf8(page.body).unwrap();
    let links: Vec<_> = text.split("href=\"").skip(1).collect();
    assert!(links.len() >= 4, "{text}");
    for link in links {
        let path = link.split('"').next().unwrap();
        assert_eq!(bench.get("", path).status, 200, "{path}");
    }
}

#[test]
fn damaged_history_gives_degraded_health_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.redb.damaged");
    std::fs::write(&file, "x").unwrap();
    let bench =
        Bench::with(Settings { damaged_history: Some(file.clone()), ..Settings::default() });
    let states = || {
        let health = bench.get("", "/health").is(200);
        (health["status"].clone(), health["checks"]["history"].clone())
    };
    assert_eq!(states(), (json!("degraded"), json!("degraded")));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(states(), (json!("ok"), json!("ok")));
}

#[test]
fn absent_tunnel_gives_degraded_health() {
    let health = |settings: Settings| Bench::with(settings).get("", "/health").is(200);
    let without = health(Settings::default());
    assert_eq!((&without["status"], without["checks"].get("tunnel")), (&json!("ok"), None));
    let expected = health(Settings {
        tunnel_wanted: true,
        tunnel_ifname: "no-such-tunnel".to_owned(),
        ..Settings::default()
    });
    let pair = (&expected["status"], &expected["checks"]["tunnel"]);
    assert_eq!(pair, (&json!("degraded"), &json!("absent")));
}

#[test]
fn leases_of_a_machine_without_a_clock_have_their_length_and_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let leases = folder.path().join("leases");
    let end_s = groundwave_files::wall::wall_ns() / 1_000_000_000 + 600;
    let lines = [
        // As dnsmasq writes them on OpenWrt: the length, s.
        "43200 02:00:00:00:00:07 10.41.0.7 hill *".to_owned(),
        format!("{end_s} 02:00:00:00:00:08 10.41.0.8 dale *"),
        "0 02:00:00:00:00:09 10.41.0.9 ever *".to_owned(),
    ];
    std::fs::write(&leases, lines.join("\n") + "\n").unwrap();
    let bench = Bench::with(Settings { leases: Some(leases), ..Settings::default() });
    let listed = bench.get(&bench.login("viewer"), "/v1/network/dhcp/leases").is(200);
    let of = |number: usize, field: &str| listed["items"][number].get(field).cloned();
    assert_eq!((of(0, "expires_at"), of(0, "length_s")), (Some(json!(null)), Some(json!(43_200))));
    let end = groundwave_http::time::rfc3339(end_s * 1_000_000_000);
    assert_eq!((of(1, "expires_at"), of(1, "length_s")), (Some(json!(end)), None));
    assert_eq!((of(2, "expires_at"), of(2, "length_s")), (Some(json!(null)), None));
}

#[test]
fn scores_have_two_decimal_places_and_no_remainder_of_their_sum() {
    let bench = Bench::new();
    for number in 71..=73 {
        let (_, token, _) = bench.node(number);
        bench.call(&token, "POST", "/v1/nodes/heartbeat", &super::beat(number, 1)).is(200);
    }
    let health = bench.get(&bench.login("viewer"), "/v1/mesh/health").is(200);
    let components = health["components"].as_array().unwrap().iter();
    for score in components.map(|one| &one["score"]).chain([&health["score"]]) {
        let text = score.to_string();
        let places = text.split_once('.').map_or(0, |(_, places)| places.len());
        assert!(places <= 2, "{health}");
    }
}
