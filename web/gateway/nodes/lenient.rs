//! Heartbeats and join reports, read entry by entry: a node with one bad reading still counts as alive.

use garde::Validate;
use groundwave_http::Problem;
use groundwave_http::json_body;
use groundwave_http::lenient::{Rejections, fits};
use groundwave_http::name::{is_line, line_mistake};
use groundwave_protocol::heartbeat::REJECTED_MAX;
use groundwave_protocol::metrics::METRICS_MAX;
use groundwave_protocol::{
    CORE_METRICS, Heartbeat, Interface, MeshLink, MeshReport, RadioReport, RejectedEntry,
    Transport, check_hostname, check_metric, check_reading,
};
use groundwave_values::bounds;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use uuid::Uuid;

/// Fields without which a heartbeat is refused.
const IDENTITY: [&str; 4] = ["mac", "hostname", "boot_id", "seq"];

/// Self-description of a node.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct JoinReport {
    /// Node id; required from users, implied by the token of a node.
    #[serde(default)]
    pub node_id: Option<Uuid>,
    /// Board.
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub board: Option<String>,
    /// Firmware versions by component, up to 32.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 32))]
    pub firmware: BTreeMap<String, String>,
    /// Supported commands, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub supported_commands: Vec<String>,
    /// Settings in force that the gateway may change, by name, up to 32.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 32))]
    pub settings: BTreeMap<String, String>,
}

/// Reads a heartbeat; what does not fit is left out and named, except its identity. A machine may be
/// renamed: its host name is left out as well, for [`NO_HOSTNAME`]. `rejections` are those of the body.
///
/// # Errors
/// 422 with the field of its identity.
pub fn read_heartbeat(
    mut body: Value,
    mut rejections: Rejections,
) -> Result<(Heartbeat, Rejections), Problem> {
    if let Some(hostname) = body.get_mut("hostname")
        && let Err(reason) = is_host_name(hostname)
    {
        rejections.add("/hostname".to_owned(), &reason);
        *hostname = NO_HOSTNAME.into();
    }
    if is_heartbeat(&body).is_err() {
        clean_lists(&mut rejections, &mut body);
        if let Value::Object(fields) = &mut body {
            // What remains is of the identity, and refused below.
            let _ = rejections.fields("", fields, &IDENTITY, is_heartbeat);
        }
    }
    Ok((json_body::read_value(body)?, rejections))
}

/// Host name of a heartbeat whose own was left out; no host is called so by its administrator.
pub const NO_HOSTNAME: &str = "no-valid-hostname";

fn is_host_name(value: &Value) -> Result<(), String> {
    let hostname: String = groundwave_http::strict::read(value.clone())?;
    check_hostname(&hostname).map_err(|refusal| refusal.to_string())
}

fn is_heartbeat(body: &Value) -> Result<(), String> {
    let heartbeat: Heartbeat = groundwave_http::strict::read(body.clone())?;
    let lines = std::iter::once(&heartbeat.agent_version).chain(&heartbeat.capabilities);
    match lines.into_iter().find(|text| !is_line(text)) {
        Some(text) => Err(line_mistake(text)),
        None => heartbeat.check().map_err(|refusal| refusal.to_string()),
    }
}

/// Checks that a value is a `T` within its bounds.
fn is_bounded<T>(value: &Value) -> Result<(), String>
where
    T: DeserializeOwned + Validate<Context = ()> + Serialize + JsonSchema,
{
    let entry: T = groundwave_http::strict::read(value.clone())?;
    bounds::check(&entry, "").map_err(|bad| bad.to_string())
}

/// An item of a list with its required fields.
fn item<T>(
    rejections: &mut Rejections,
    pointer: &str,
    value: &mut Value,
    required: &[&str],
) -> Result<(), String>
where
    T: DeserializeOwned + Validate<Context = ()> + Serialize + JsonSchema,
{
    match value {
        Value::Object(fields) => rejections.fields(pointer, fields, required, is_bounded::<T>),
        other => is_bounded::<T>(other),
    }
}

fn is_short(value: &Value, chars_max: usize) -> Result<(), String> {
    fits::<String>(value)?;
    let count = value.as_str().map_or(0, |text| text.chars().count());
    if count > chars_max {
        return Err(format!("found {count} characters, allowed 0 to {chars_max}"));
    }
    value.as_str().filter(|text| !is_line(text)).map_or(Ok(()), |text| Err(line_mistake(text)))
}

fn clean_lists(rejections: &mut Rejections, body: &mut Value) {
    rejections.items("/transports", body.get_mut("transports"), 32, |rejections, at, value| {
        item::<Transport>(rejections, at, value, &["name", "kind", "up"])
    });
    rejections.items("/capabilities", body.get_mut("capabilities"), 64, |_, _, value| {
        is_short(value, 128)
    });
    rejections.items("/interfaces", body.get_mut("interfaces"), 32, |rejections, at, value| {
        let ips = value.get_mut("ips");
        rejections.items(&format!("{at}/ips"), ips, 32, |_, _, ip| fits::<IpAddr>(ip));
        item::<Interface>(rejections, at, value, &["name"])
    });
    rejections.items("/radios", body.get_mut("radios"), 32, |rejections, at, value| {
        item::<RadioReport>(rejections, at, value, &["ifname"])
    });
    if let Some(mesh) = body.get_mut("mesh") {
        rejections.items("/mesh/links", mesh.get_mut("links"), 64, |rejections, at, value| {
            item::<MeshLink>(rejections, at, value, &["neigh_address"])
        });
        if let Value::Object(fields) = mesh {
            // Nothing is required of it.
            let _ = rejections.fields("/mesh", fields, &[], is_bounded::<MeshReport>);
        }
    }
    let is_core = |name: &str| CORE_METRICS.contains(&name);
    rejections.entries("/metrics", body.get_mut("metrics"), METRICS_MAX, is_core, |name, value| {
        check_metric(name, 0.0).map_err(|refusal| refusal.to_string())?;
        let number = value.as_f64();
        let number = number.ok_or_else(|| format!("found {value}, allowed a finite number"))?;
        check_reading(name, number).map_err(|refusal| refusal.to_string())
    });
}

/// Reads a join report; what does not fit is left out and named, except the id of the node. `rejections`
/// are those of the body.
///
/// # Errors
/// 422 with the id.
pub fn read_join_report(
    mut body: Value,
    mut rejections: Rejections,
) -> Result<(JoinReport, Rejections), Problem> {
    for key in ["firmware", "settings"] {
        let at = format!("/{key}");
        rejections.entries(
            &at,
            body.get_mut(key),
            32,
            |_| false,
            |name, value| {
                is_short(&Value::from(name), 128)?;
                is_short(value, 128)
            },
        );
    }
    let commands = body.get_mut("supported_commands");
    rejections.items("/supported_commands", commands, 32, |_, _, value| is_short(value, 128));
    if let Value::Object(fields) = &mut body {
        // What remains is the id, and refused below.
        let _ = rejections.fields("", fields, &["node_id"], |report| {
            fits::<JoinReport>(report)?;
            report
                .get("board")
                .filter(|board| !board.is_null())
                .map_or(Ok(()), |board| is_short(board, 128))
        });
    }
    Ok((json_body::read_value(body)?, rejections))
}

/// Entries as an answer lists them, the first ones, each with status 422.
pub fn rejected_entries(rejections: Rejections) -> Vec<RejectedEntry> {
    let entries = rejections.0.into_iter().take(REJECTED_MAX);
    entries.map(|(pointer, message)| RejectedEntry { pointer, status: 422, message }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn heartbeat(change: impl Fn(&mut Value)) -> Value {
        let mut body = json!({
            "mac": "02:00:00:00:00:01", "hostname": "n1", "boot_id": "b", "seq": 5,
            "metrics": {"mesh.tx_mbps": 1.5},
        });
        change(&mut body);
        body
    }

    #[track_caller]
    fn read_with(change: impl Fn(&mut Value), expected: &[&str]) -> Heartbeat {
        let (heartbeat, rejections) =
            read_heartbeat(heartbeat(change), Rejections::default()).unwrap();
        assert_eq!(heartbeat.metrics["mesh.tx_mbps"], 1.5);
        let pointers: Vec<_> = rejections.0.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, expected);
        heartbeat
    }

    #[test]
    fn a_bad_entry_is_named_and_the_rest_of_the_heartbeat_is_kept() {
        for value in [json!(null), json!("NaN"), json!("unavailable"), json!("1e999"), json!([1])] {
            read_with(
                |body| body["metrics"]["sys.temp_c"] = value.clone(),
                &["/metrics/sys.temp_c"],
            );
        }
        read_with(|body| body["metrics"]["foo.bar"] = json!(1), &["/metrics/foo.bar"]);
        read_with(|body| body["agent_version"] = json!("1\u{202e}"), &["/agent_version"]);
        read_with(|body| body["capabilities"] = json!(["a\u{200b}", "b"]), &["/capabilities/0"]);
        read_with(|body| body["active_transport"] = json!("lte"), &["/active_transport"]);
        let beat = read_with(|body| body["uptime_s"] = json!(12.7), &[]);
        assert_eq!(beat.uptime_s, 12);
        read_with(|body| body["uptime_s"] = json!(-3), &["/uptime_s"]);
        read_with(|body| body["signal_dbm"] = json!(300), &["/signal_dbm"]);
        read_with(|body| body["interfaces"] = json!(null), &["/interfaces"]);
        let lte = json!([{"name": "w", "kind": "lte", "up": true}, {"name": "e", "kind": "ethernet", "up": true, "rtt_ms": "x"}]);
        let beat = read_with(
            |body| body["transports"] = lte.clone(),
            &["/transports/0", "/transports/1/rtt_ms"],
        );
        assert_eq!(beat.transports.len(), 1);
    }

    #[test]
    fn entries_beyond_a_bound_are_named_and_the_others_are_kept() {
        let interfaces: Vec<_> =
            (0..33).map(|i| json!({"name": format!("e{i}"), "mtu": 1500.0})).collect();
        let beat = read_with(|body| body["interfaces"] = json!(interfaces), &["/interfaces/32"]);
        assert_eq!((beat.interfaces.len(), beat.interfaces[0].mtu), (32, 1500));
        let links: Vec<_> = (0..65).map(|i| json!({"neigh_address": format!("02:00:00:00:01:{i:02x}"), "tq": if i == 3 { 256 } else { 255 }})).collect();
        let mesh = json!({"links": links, "neighbor_count": 65});
        let beat =
            read_with(|body| body["mesh"] = mesh.clone(), &["/mesh/links/3/tq", "/mesh/links/64"]);
        assert_eq!((beat.mesh.links.len(), beat.mesh.neighbor_count), (64, 65));
        let beat = read_with(
            |body| (0..70).for_each(|i| body["metrics"][format!("i2c.a.m{i:02}")] = json!(i)),
            &[
                "/metrics/i2c.a.m63",
                "/metrics/i2c.a.m64",
                "/metrics/i2c.a.m65",
                "/metrics/i2c.a.m66",
                "/metrics/i2c.a.m67",
                "/metrics/i2c.a.m68",
                "/metrics/i2c.a.m69",
            ],
        );
        assert_eq!(beat.metrics.len(), METRICS_MAX);
    }

    #[test]
    fn impossible_readings_and_host_names_are_named_and_the_rest_is_kept() {
        for (name, value) in
            [("mesh.signal_dbm", -1e308), ("mesh.plink_estab", -3.0), ("i2c.a.b", 1e308)]
        {
            let pointer = format!("/metrics/{name}");
            read_with(|body| body["metrics"][name] = json!(value), &[&pointer]);
        }
        for name in [json!("my_node"), json!("Node-A."), json!(null), json!(7)] {
            let beat = read_with(|body| body["hostname"] = name.clone(), &["/hostname"]);
            assert_eq!(beat.hostname, NO_HOSTNAME);
        }
    }

    #[test]
    fn a_heartbeat_without_its_identity_is_refused() {
        // The credential decides which node it is: an id that is none is left out.
        read_with(|body| body["node_id"] = json!("x"), &["/node_id"]);
        for (key, value) in [("mac", json!("x")), ("seq", json!(null)), ("boot_id", json!(1))] {
            let refused =
                read_heartbeat(heartbeat(|body| body[key] = value.clone()), Rejections::default());
            assert_eq!(refused.map_err(|problem| problem.status).unwrap_err(), 422, "{key}");
        }
        assert!(read_heartbeat(json!([]), Rejections::default()).is_err());
    }

    #[test]
    fn a_join_report_is_taken_without_what_does_not_fit() {
        let firmware: serde_json::Map<_, _> =
            (0..33).map(|i| (format!("c{i:02}"), json!("1"))).collect();
        let body = json!({"board": "b", "firmware": firmware, "supported_commands": ["reboot", 5], "settings": {"a": 3}});
        let (report, rejections) = read_join_report(body, Rejections::default()).unwrap();
        let unseen = json!({"board": "b\u{feff}", "firmware": {"a": "1\n"}});
        let (_, unseen) = read_join_report(unseen, Rejections::default()).unwrap();
        assert_eq!(unseen.0.len(), 2, "{unseen:?}");
        assert_eq!((report.firmware.len(), report.supported_commands.len()), (32, 1));
        assert_eq!((report.board.as_deref(), rejections.0.len()), (Some("b"), 3));
    }
}
