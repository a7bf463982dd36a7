use groundwave_engine::{Engine, Id, Recorded, Refusal};
use serde_json::{Value, json};

use super::*;
use crate::Snapshot;
use crate::config::{ConfigObject, Expected, Put, Remove};
use crate::test_world::{does_at, engine};

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, 7_000, command)
}

fn put<T: ConfigObject>(id: &str, object: Value) -> Put<T> {
    Put {
        id: Id::named(id),
        object: serde_json::from_value(object).unwrap(),
        expected: Expected::Any,
    }
}

fn zone(name: &str, interfaces: &[&str]) -> Put<Zone> {
    let object = json!({ "name": name, "interfaces": interfaces,
        "input": "accept", "output": "accept", "forward": "drop" });
    put(name, object)
}

#[test]
fn an_interface_belongs_to_one_zone() {
    let mut engine = engine();
    does(&mut engine, zone("lan", &["eth0", "bat0"])).unwrap();
    let refusal = does(&mut engine, zone("wan", &["eth1", "bat0"])).unwrap_err();
    assert!(matches!(refusal, Refusal::Conflict { what } if what.contains("\"bat0\"")));
    let twice = does(&mut engine, zone("wan", &["eth1", "eth1"]));
    assert!(matches!(twice, Err(Refusal::Invalid { key, .. }) if key == "interfaces[1]"));
    let odd = does(&mut engine, zone("wan", &["eth1; drop"]));
    assert!(matches!(odd, Err(Refusal::Invalid { key, .. }) if key == "interfaces[0]"));
    does(&mut engine, zone("wan", &["eth1"])).unwrap();
}

#[test]
fn a_rule_fits_packets_that_there_are() {
    let mut engine = engine();
    does(&mut engine, zone("lan", &["eth0"])).unwrap();
    let lan = Id::<Zone>::named("lan");
    let cases = [
        (json!({ "dest_port": 80, "action": "drop" }), "dest_port"),
        (json!({ "proto": "icmp", "src_port": 80, "action": "drop" }), "src_port"),
        (json!({ "chain": "input", "dest_zone": lan, "action": "drop" }), "dest_zone"),
        (json!({ "chain": "output", "src_zone": lan, "action": "drop" }), "src_zone"),
        (json!({ "src_ip": "10.0.0.0/8", "dest_ip": "fd00::/8", "action": "drop" }), "dest_ip"),
        (json!({ "src_ip": "10.0.0.0/8", "proto": "icmpv6", "action": "drop" }), "proto"),
        (json!({ "src_zone": Id::<Zone>::named("none"), "action": "drop" }), "src_zone"),
        (json!({ "priority": 10_001, "action": "drop" }), "priority"),
    ];
    for (object, wrong) in cases {
        let refusal = does(&mut engine, put::<FirewallRule>("r", object.clone()));
        assert!(
            matches!(&refusal, Err(Refusal::Invalid { key, .. }) if key == wrong),
            "{object}: {refusal:?}"
        );
    }
    let rule =
        json!({ "src_zone": lan, "proto": "tcp", "dest_port": "8000-8080", "action": "accept" });
    does(&mut engine, put::<FirewallRule>("r", rule)).unwrap();
    let remove = Remove::<Zone> { id: lan, expected: Expected::Present };
    let refusal = does(&mut engine, remove);
    assert!(matches!(refusal, Err(Refusal::Conflict { .. })), "{refusal:?}");
}

#[test]
fn ports_are_a_number_or_a_range() {
    let read = |value: Value| serde_json::from_value::<PortRange>(value);
    assert_eq!(read(json!(80)).unwrap(), PortRange::new(80, 80).unwrap());
    let range = read(json!("8000-8080")).unwrap();
    assert_eq!((range.first(), range.last()), (8000, 8080));
    assert_eq!(serde_json::to_value(range).unwrap(), json!("8000-8080"));
    assert_eq!(serde_json::to_value(read(json!("80")).unwrap()).unwrap(), json!(80));
    for bad in
        [json!(0), json!(65_536), json!("9-8"), json!("a"), json!("1-"), json!(-1), json!("+1")]
    {
        assert!(read(bad.clone()).is_err(), "{bad}");
    }
}

fn apply(token: u8) -> ApplyRuleset {
    ApplyRuleset {
        ruleset: Ruleset {
            nft: format!("ruleset {token}"),
            revision: token.to_string(),
            by: "ada".to_owned(),
        },
        token_sha256: [token; 32],
        confirm_by_ns: 9_000,
    }
}

#[test]
fn a_ruleset_is_confirmed_or_the_one_before_is_desired_again() {
    let mut engine = engine();
    let desired = |engine: &Engine<Snapshot>| {
        let view = engine.view();
        view.firewall.desired().map(|ruleset| ruleset.nft.clone())
    };
    does(&mut engine, apply(1)).unwrap();
    let second = does(&mut engine, apply(2));
    assert!(matches!(second, Err(Refusal::Conflict { .. })));
    let wrong = ConfirmRuleset { token_sha256: [9; 32] };
    assert!(matches!(does(&mut engine, wrong), Err(Refusal::NotFound { .. })));
    let confirm = |token: u8| ConfirmRuleset { token_sha256: [token; 32] };
    does(&mut engine, confirm(1)).unwrap();
    does(&mut engine, apply(2)).unwrap();
    assert_eq!(desired(&engine).as_deref(), Some("ruleset 2"));
    let revert = RevertRuleset { token_sha256: [2; 32], reason: "not confirmed".to_owned() };
    does(&mut engine, revert.clone()).unwrap();
    assert_eq!(desired(&engine).as_deref(), Some("ruleset 1"));
    assert!(matches!(does(&mut engine, revert), Err(Refusal::Conflict { .. })));
    assert!(matches!(does(&mut engine, confirm(2)), Err(Refusal::Outdated { .. })));
}

#[test]
fn an_observation_is_recorded_when_it_changes() {
    let mut engine = engine();
    does(&mut engine, apply(1)).unwrap();
    let observe = |texts: &[&str]| ObserveRuleset {
        divergence: texts.iter().map(|text| (*text).to_owned()).collect(),
    };
    does(&mut engine, observe(&[])).unwrap();
    does(&mut engine, observe(&["/chains/input/rules/0"])).unwrap();
    let before = engine.view().firewall.clone();
    assert_eq!(before.observed.as_ref().unwrap().divergence, ["/chains/input/rules/0"]);
    does(&mut engine, observe(&["/chains/input/rules/0"])).unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &engine.view().firewall));
}
