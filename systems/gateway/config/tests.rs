use groundwave_engine::{Engine, Id, Recorded, Refusal};
use serde_json::json;

use super::*;
use crate::Snapshot;
use crate::canonical::{Network, UnderlayDomain};
use crate::test_world::{does_at, engine};

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, 7_000, command)
}

fn domain(name: &str) -> UnderlayDomain {
    serde_json::from_value(json!({ "name": name, "kind": "batman_adv" })).unwrap()
}

fn put<T: ConfigObject>(id: &str, object: T, expected: Expected) -> Put<T> {
    Put { id: Id::named(id), object, expected }
}

#[test]
fn commands_and_tables_are_named_by_the_kind() {
    assert_eq!(Put::<UnderlayDomain>::NAME, "underlay_domain.put");
    assert_eq!(Remove::<Network>::NAME, "network.remove");
    let table = <ConfigDocument<Network> as groundwave_engine::Document>::TABLE;
    assert_eq!(table, "config.network");
}

#[test]
fn a_revision_counts_changes_and_refuses_those_of_an_earlier_one() {
    let mut engine = engine();
    let first = does(&mut engine, put("a", domain("mesh"), Expected::Absent)).unwrap();
    assert_eq!((first.revision, first.created_ns), (1, 7_000));
    let again = does(&mut engine, put("a", domain("mesh"), Expected::Absent));
    assert!(matches!(again, Err(Refusal::Conflict { .. })), "{again:?}");

    let renamed = put("a", domain("other"), Expected::Revision(1));
    let changed = does_at(&mut engine, 8_000, renamed.clone()).unwrap();
    let times = (changed.revision, changed.created_ns, changed.changed_ns);
    assert_eq!(times, (2, 7_000, 8_000));
    let stale = does(&mut engine, renamed);
    assert!(matches!(stale, Err(Refusal::Stale { .. })), "{stale:?}");
    // The same object is no change.
    let same = put("a", domain("other"), Expected::Revision(2));
    assert_eq!(does_at(&mut engine, 9_000, same).unwrap(), changed);
    let missing = does(&mut engine, put("b", domain("b"), Expected::Present));
    assert!(matches!(missing, Err(Refusal::NotFound { kind, .. }) if kind == "underlay domain"));
    does(&mut engine, put("b", domain("b"), Expected::Any)).unwrap();

    let view = engine.view();
    let domain_after = view.config.underlay_domains.get(Id::named("a")).unwrap();
    assert_eq!(**domain_after, changed);
    assert_eq!(view.config.underlay_domains.len(), 2);
}

#[test]
fn a_name_is_unique_and_bounds_are_those_of_the_fields() {
    let mut engine = engine();
    does(&mut engine, put("a", domain("mesh"), Expected::Absent)).unwrap();
    let duplicate = does(&mut engine, put("b", domain("mesh"), Expected::Absent));
    assert!(matches!(duplicate, Err(Refusal::Conflict { what }) if what.contains("\"mesh\"")));
    let mut bad = domain("b");
    bad.mtu = Some(67);
    let refusal = does(&mut engine, put("b", bad, Expected::Absent)).unwrap_err();
    assert_eq!(refusal, Refusal::invalid("mtu", "67", "[68, 65535]"));
    let mut bad = domain("b");
    bad.name = "a\nb".to_owned();
    let refusal = does(&mut engine, put("b", bad, Expected::Absent));
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "name"));
    assert_eq!(engine.view().config.underlay_domains.len(), 1);
}

fn network(name: &str, cidr: &str, domains: &[&str]) -> Network {
    Network {
        name: name.to_owned(),
        overlay_cidr: cidr.parse().unwrap(),
        underlay_domain_ids: domains.iter().map(|name| Id::named(name)).collect(),
        gateway_node_id: None,
        description: String::new(),
    }
}

#[test]
fn a_reference_leads_somewhere_and_holds_what_it_names() {
    let mut engine = engine();
    does(&mut engine, put("a", domain("mesh"), Expected::Absent)).unwrap();
    let dangling = network("home", "10.50.0.0/24", &["a", "nowhere"]);
    let refusal = does(&mut engine, put("n", dangling, Expected::Absent)).unwrap_err();
    let missing = Id::<UnderlayDomain>::named("nowhere");
    assert_eq!(
        refusal,
        Refusal::invalid(
            "underlay_domain_ids[1]",
            missing,
            "the id of an existing underlay domain"
        )
    );
    let home = network("home", "10.50.0.0/24", &["a"]);
    does(&mut engine, put("n", home, Expected::Absent)).unwrap();

    let remove = Remove::<UnderlayDomain> { id: Id::named("a"), expected: Expected::Present };
    let refusal = does(&mut engine, remove.clone()).unwrap_err();
    assert!(matches!(&refusal, Refusal::Conflict { what } if what.contains("network \"home\"")));
    let free = network("home", "10.50.0.0/24", &[]);
    does(&mut engine, put("n", free, Expected::Present)).unwrap();
    does(&mut engine, remove).unwrap();
    assert!(engine.view().config.underlay_domains.is_empty());
}

#[test]
fn objects_that_are_gone_leave_the_digest_as_it_was() {
    let mut engine = engine();
    does(&mut engine, put("a", domain("mesh"), Expected::Absent)).unwrap();
    let with = serde_json::to_value(&*engine.view()).unwrap();
    assert_eq!(with["config"]["underlay_domains"].as_array().unwrap().len(), 1);
    let remove = Remove::<UnderlayDomain> { id: Id::named("a"), expected: Expected::Revision(1) };
    does(&mut engine, remove).unwrap();
    let without = serde_json::to_value(&*engine.view()).unwrap();
    assert!(without.get("config").is_none());
}
