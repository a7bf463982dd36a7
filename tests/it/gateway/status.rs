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
