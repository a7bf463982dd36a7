//! Positions of nodes as Cursor on Target, as a map of a field team receives them.

use std::net::UdpSocket;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use super::process::{admin, mast, start_with};

#[test]
fn positions_of_public_nodes_are_sent_as_cursor_on_target() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = receiver.local_addr().unwrap().to_string();
    let server = start_with(folder.path(), "info", Stdio::piped(), &["--cot", &address]);
    let token = admin(&server);
    let node = |number: u8, change: serde_json::Value| {
        let (id, _) = mast(&server, &token, number);
        let (status, answer) = server.ask(&token, "PATCH", &format!("/v1/nodes/{id}"), &change);
        assert_eq!(status, 200, "{answer}");
        id
    };
    let place = |lat: f64, lon: f64| json!({ "lat": lat, "lon": lon, "alt_m": 12 });
    node(1, json!({ "tags": ["private"], "position_override": place(57.2, 11.8) }));
    node(2, json!({ "name": "Nowhere" }));
    let name = "Mast <north> & \"east\"";
    let mast = node(3, json!({ "name": name, "position_override": place(57.1, -11.9) }));

    let mut octets = [0; 2_000];
    let length = receiver.recv(&mut octets).expect("an event within a minute");
    let text = std::str::from_utf8(&octets[..length]).unwrap();
    assert!(
        text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?><event version=\"2.0\" "),
        "{text}"
    );
    for part in [
        format!("uid=\"groundwave-{mast}\""),
        "type=\"a-f-G-E-S\" how=\"h-e\"".to_owned(),
        "<point lat=\"57.1\" lon=\"-11.9\" hae=\"9999999.0\" ce=\"9999999.0\" le=\"9999999.0\"></point>".to_owned(),
        "callsign=\"Mast &lt;north&gt; &amp; &quot;east&quot;\"".to_owned(),
        "<status readiness=\"false\"></status><remarks>joining; no heartbeat yet</remarks>".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    // The next event is that of the same node: no other one is public and has a position.
    let again = receiver.recv(&mut octets).expect("an event each ten seconds");
    assert!(std::str::from_utf8(&octets[..again]).unwrap().contains(&mast));
}
