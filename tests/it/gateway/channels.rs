//! Channels of the gateway over a disk that is full and a kill: what was acknowledged is there, what was
//! refused is not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use groundwave_needs::needs;
use serde_json::{Value, json};

use super::full_disk::SmallDisk;
use super::process::{Process, admin, mast, start};

/// A kind of request that adds an object with a name of its own.
struct Channel {
    path: &'static str,
    /// Body of the request with this number.
    body: fn(u32) -> Value,
    /// List of the objects.
    list: &'static str,
    /// Name of an object in that list.
    name: &'static str,
    /// Sent by a node, otherwise by an admin.
    by_node: bool,
}

const CHANNELS: [Channel; 6] = [
    Channel {
        path: "/v1/nodes/register",
        body: |number| {
            let mac = format!("02:00:00:01:{:02x}:{:02x}", number >> 8, number & 255);
            json!({ "name": format!("x-{number}"), "mac": mac })
        },
        list: "/v1/nodes?limit=1000",
        name: "name",
        by_node: false,
    },
    Channel {
        path: "/v1/trust/join-keys",
        body: |number| json!({ "name": format!("x-{number}"), "valid_s": 3600, "nodes_max": 2 }),
        list: "/v1/trust/join-keys?limit=1000",
        name: "name",
        by_node: false,
    },
    Channel {
        path: "/v1/camera",
        body: |number| {
            let url = format!("http://10.0.0.7/{number}");
            json!({ "name": format!("x-{number}"), "source": "http_mjpeg", "url": url })
        },
        list: "/v1/camera?limit=1000",
        name: "name",
        by_node: false,
    },
    Channel {
        path: "/v1/flows",
        body: |number| {
            json!({ "name": format!("x-{number}"), "enabled": false,
                "steps": [
                    { "step_id": "begin", "type": "trigger", "kind": "manual" },
                    { "step_id": "end", "type": "action", "kind": "alert",
                        "params": { "severity": "info", "message": "x" } },
                ],
                "edges": [{ "from": "begin", "to": "end" }] })
        },
        list: "/v1/flows?limit=1000",
        name: "name",
        by_node: false,
    },
    Channel {
        path: "/v1/power/ups/samples",
        body: |number| {
            let ts = groundwave_http::time::rfc3339(groundwave_files::wall::wall_ns());
            json!({ "ups_id": format!("x-{number}"), "ts": ts, "battery_charge_pct": 50.0 })
        },
        list: "/v1/power/ups?limit=1000",
        name: "ups_id",
        by_node: true,
    },
    Channel {
        path: "/v1/trust/macs",
        body: |number| {
            let mac = format!("02:00:00:03:{:02x}:{:02x}", number >> 8, number & 255);
            json!({ "mac": mac, "label": format!("x-{number}") })
        },
        list: "/v1/trust/macs?limit=1000",
        name: "label",
        by_node: false,
    },
];

/// Names of acknowledged and of refused requests of a channel.
#[derive(Default)]
struct Outcome {
    acknowledged: BTreeSet<String>,
    refused: BTreeSet<String>,
}

impl Outcome {
    fn send(&mut self, server: &Process, channel: &Channel, token: &str, number: u32) {
        let (status, answer) = server.post(token, channel.path, &(channel.body)(number));
        let names = match status {
            200..=299 => &mut self.acknowledged,
            507 => &mut self.refused,
            _ => panic!("{} {number}: {status} {answer}", channel.path),
        };
        names.insert(format!("x-{number}"));
    }
}

/// Names in the list of a channel.
fn names(server: &Process, channel: &Channel, token: &str) -> BTreeSet<String> {
    let (status, answer) = server.ask(token, "GET", channel.list, &Value::Null);
    assert_eq!(status, 200, "{answer}");
    let items = answer["items"].as_array().unwrap().iter();
    let names = items.filter_map(|item| item[channel.name].as_str());
    names.filter(|name| name.starts_with("x-")).map(str::to_owned).collect()
}

#[needs(small_disk)]
#[test]
fn each_channel_keeps_what_it_acknowledged_and_nothing_that_it_refused() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(&folder.path().join("small"), 24 * 1024);
    let place: &Path = &disk.path;
    let mut server = start(place, "info", Stdio::piped());
    let admin = admin(&server);
    let (_, node) = mast(&server, &admin, 5);
    let token = |channel: &Channel| if channel.by_node { &node } else { &admin };
    let mut outcomes: [Outcome; CHANNELS.len()] = Default::default();
    for (channel, outcome) in CHANNELS.iter().zip(&mut outcomes) {
        outcome.send(&server, channel, token(channel), 0);
    }
    disk.fill();
    // What was set aside is used up first.
    for number in 1..200 {
        for (channel, outcome) in CHANNELS.iter().zip(&mut outcomes) {
            outcome.send(&server, channel, token(channel), number);
        }
        if outcomes.iter().all(|outcome| outcome.refused.len() > 3) {
            break;
        }
    }
    server.kill();
    disk.free();
    let server = start(place, "info", Stdio::piped());
    for (channel, outcome) in CHANNELS.iter().zip(&mut outcomes) {
        assert!(!outcome.refused.is_empty(), "{} refuses nothing", channel.path);
        assert_eq!(names(&server, channel, &admin), outcome.acknowledged, "{}", channel.path);
        // A refused one is not in the way of its repetition.
        let again: Vec<_> = outcome.refused.iter().cloned().collect();
        let number = again[0].strip_prefix("x-").unwrap().parse().unwrap();
        outcome.send(&server, channel, token(channel), number);
        assert!(outcome.acknowledged.contains(&again[0]), "{}", channel.path);
    }
}
