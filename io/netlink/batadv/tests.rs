//! Decoded kernel messages against the JSON of `batctl` for the same tables.

use serde::Serialize;
use serde_json::Value;

use super::*;
use crate::attr::put;
use crate::fixture::{json, messages};

fn rows<T>(name: &str, decode: fn(&Attrs<'_>) -> Result<T, DecodeError>) -> Vec<T> {
    let row = |message: &Vec<u8>| decode(&Attrs::read("", payload(message).unwrap()).unwrap());
    messages(name).iter().map(|message| row(message).unwrap()).collect()
}

/// `batctl`'s name for a field of ours, and how many of our units its unit is.
fn theirs(table: &str, field: &str) -> (String, u64) {
    let rate = match (table, field) {
        ("gateways" | "hardifs", _) => 100,
        _ => 1,
    };
    match field.strip_suffix("_kbps").or(field.strip_suffix("_ms")) {
        Some(name) if field.ends_with("_kbps") => (name.to_owned(), rate),
        Some(name) => (name.to_owned(), 1),
        None => (field.to_owned(), 1),
    }
}

fn same(table: &str, field: &str, our: &Value, their: &Value) {
    let (name, unit) = theirs(table, field);
    // `batctl` leaves out what is false.
    let their = match (&their[&name], our) {
        (Value::Null, Value::Bool(false)) => &Value::Bool(false),
        (other, _) => other,
    };
    match (field, our, their) {
        // Asked a moment later.
        ("last_seen_msecs", our, their) => {
            let apart = our.as_i64().unwrap() - their.as_i64().unwrap();
            assert!(apart.abs() < 1000, "{table} {field}: {our} and {their}");
        }
        ("tt_flags", Value::Object(our), their) => {
            for (flag, value) in our {
                assert_eq!(*value, their[flag], "{table} {flag}");
            }
        }
        (_, Value::Number(our), Value::Number(their)) if unit != 1 => {
            assert_eq!(our.as_u64(), their.as_u64().map(|their| their * unit), "{table} {field}");
        }
        (_, our, their) => assert_eq!(our, their, "{table} {field}"),
    }
}

/// Compares every field of every row; answers how many rows there were.
fn compare<T: Serialize>(folder: &str, table: &str, rows: &[T]) -> usize {
    let expected = json(&format!("{folder}/{table}"));
    let expected = expected.as_array().unwrap();
    assert_eq!(rows.len(), expected.len(), "{table}");
    for (our, their) in rows.iter().zip(expected) {
        let our = serde_json::to_value(our).unwrap();
        for (field, value) in our.as_object().unwrap() {
            same(table, field, value, their);
        }
    }
    rows.len()
}

#[test]
fn tables_are_what_batctl_says() {
    for algorithm in ["batman_iv", "batman_v"] {
        let name = |table: &str| format!("{algorithm}/{table}");
        let counts = [
            compare(algorithm, "originators", &rows(&name("originators"), Originator::decode)),
            compare(algorithm, "neighbors", &rows(&name("neighbors"), Neighbor::decode)),
            compare(algorithm, "gateways", &rows(&name("gateways"), Gateway::decode)),
            compare(algorithm, "translocal", &rows(&name("translocal"), TransLocal::decode)),
            compare(algorithm, "transglobal", &rows(&name("transglobal"), TransGlobal::decode)),
            compare(algorithm, "hardifs", &rows(&name("hardifs"), HardInterface::decode)),
            compare(algorithm, "dat", &rows(&name("dat"), DatEntry::decode)),
        ];
        assert!(counts.iter().all(|count| *count > 0), "{algorithm}: {counts:?}");
    }
}

#[test]
fn qualities_are_those_of_the_algorithm() {
    let iv = rows("batman_iv/originators", Originator::decode);
    assert!(iv.iter().all(|way| way.tq.is_some() && way.throughput_kbps.is_none()));
    let v = rows("batman_v/originators", Originator::decode);
    assert!(v.iter().all(|way| way.tq.is_none() && way.throughput_kbps.is_some()));
    // The kernel says the same way in kbit/s to one question, in 100 kbit/s to the other.
    let gateway = &rows("batman_v/gateways", Gateway::decode)[0];
    let way = v.iter().find(|way| way.best && way.orig_address == gateway.orig_address).unwrap();
    let (offered, measured) = (gateway.throughput_kbps.unwrap(), way.throughput_kbps.unwrap());
    assert!(offered.abs_diff(measured) < measured / 5, "{offered} {measured}");
}

#[test]
fn the_mesh_is_what_batctl_says() {
    for algorithm in ["batman_iv", "batman_v"] {
        let mesh = rows(&format!("{algorithm}/mesh"), Mesh::decode).pop().unwrap();
        let expected = json(&format!("{algorithm}/mesh"));
        let our = serde_json::to_value(&mesh).unwrap();
        let plain = [
            "version",
            "algo_name",
            "mesh_ifname",
            "mesh_address",
            "hard_ifname",
            "hard_address",
            "tt_ttvn",
            "bla_crc",
            "gw_mode",
            "gw_sel_class",
            "hop_penalty",
        ];
        for field in plain {
            assert_eq!(our[field], expected[field], "{field}");
        }
        let switches = [
            "bridge_loop_avoidance",
            "distributed_arp_table",
            "fragmentation",
            "bonding",
            "ap_isolation",
        ];
        for field in switches {
            assert_eq!(our[field], expected[format!("{field}_enabled")], "{field}");
        }
        assert_eq!(our["orig_interval_ms"], expected["orig_interval"]);
        assert_eq!(our["gw_bandwidth"]["down_kbps"], 10_000);
        assert_eq!(our["gw_bandwidth"]["up_kbps"], 2_000);
        assert_eq!(
            mesh.multicast_mode,
            expected["multicast_forceflood_enabled"].as_bool().map(|on| !on)
        );
    }
}

#[test]
fn claims_are_read() {
    let mut bytes = Vec::new();
    put(&mut bytes, attr::BLA_OWN, &[]);
    put(&mut bytes, attr::BLA_ADDRESS, &[2, 0, 0, 0, 1, 0]);
    put(&mut bytes, attr::BLA_VID, &0x8007u16.to_ne_bytes());
    put(&mut bytes, attr::BLA_BACKBONE, &[2, 0, 0, 0, 2, 0]);
    let short = Attrs::read("", &bytes).unwrap();
    assert!(BlaClaim::decode(&short).is_err());
    put(&mut bytes, attr::BLA_CRC, &57857u16.to_ne_bytes());
    let claim = BlaClaim::decode(&Attrs::read("", &bytes).unwrap()).unwrap();
    assert_eq!((claim.bla_vid, claim.bla_own, claim.bla_crc), (7, true, 57857));
}

#[test]
fn settings_are_read_back_as_they_were_set() {
    let wanted = BatmanConfig {
        orig_interval_ms: Some(2000),
        hop_penalty: Some(30),
        gw_mode: Some(GatewayMode::Server),
        gw_bandwidth_down_kbps: Some(50_000),
        gw_bandwidth_up_kbps: Some(10_000),
        bridge_loop_avoidance: Some(false),
        distributed_arp_table: Some(true),
        fragmentation: Some(false),
        bonding: Some(true),
        ap_isolation: Some(true),
        multicast_mode: Some(false),
    };
    let mut facts = Vec::new();
    for kind in [attr::VERSION, attr::ALGO_NAME, attr::MESH_IFNAME] {
        put(&mut facts, kind, b"x\0");
    }
    put(&mut facts, attr::MESH_ADDRESS, &[2, 0, 0, 0, 0, 1]);
    let decoded = |config: &BatmanConfig| {
        let mut bytes = facts.clone();
        config.encode(&mut bytes);
        let mesh = Mesh::decode(&Attrs::read("", &bytes).unwrap()).unwrap();
        BatmanConfig::from(mesh)
    };
    assert_eq!(decoded(&wanted), wanted);
    let little = BatmanConfig { hop_penalty: Some(0), ..BatmanConfig::default() };
    assert_eq!(decoded(&little), little);
    let mut none = Vec::new();
    BatmanConfig::default().encode(&mut none);
    assert_eq!(none, [0; 0]);
}
