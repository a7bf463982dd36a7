use groundwave_engine::{Engine, Id, Recorded, Refusal};

use super::*;
use crate::Snapshot;
use crate::config::{Expected, Put, Remove};
use crate::onboarding::AddressPool;
use crate::test_world::{does_at, engine, let_in};

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, 7_000, command)
}

fn put(number: u128, cidr: &str) -> Put<Network> {
    let object = Network {
        name: format!("network {number}"),
        overlay_cidr: cidr.parse().unwrap(),
        underlay_domain_ids: Vec::new(),
        gateway_node_id: None,
        description: String::new(),
    };
    Put { id: Id::from_u128(number), object, expected: Expected::Any }
}

#[test]
fn the_oldest_network_of_this_gateway_is_the_pool_of_addresses() {
    let mut engine = engine();
    assert_eq!(engine.view().onboarding.pool, AddressPool::default());
    does(&mut engine, put(2, "10.50.0.0/24")).unwrap();
    does(&mut engine, put(3, "10.51.0.0/24")).unwrap();
    let pool = |engine: &Engine<Snapshot>| engine.view().onboarding.pool.to_string();
    // The pool follows in the tick of the command.
    assert_eq!(pool(&engine), "10.50.0.0/24");
    does(&mut engine, put(2, "10.52.0.0/16")).unwrap();
    assert_eq!(pool(&engine), "10.52.0.0/16");
    let remove = Remove::<Network> { id: Id::from_u128(2), expected: Expected::Present };
    does(&mut engine, remove).unwrap();
    assert_eq!(pool(&engine), "10.51.0.0/24");
}

#[test]
fn ranges_stay_apart_from_the_underlay_and_special_addresses() {
    let mut engine = engine();
    does(&mut engine, put(1, "10.41.0.0/24")).unwrap();
    let underlay = SetUnderlay { range: AddressPool::parse("10.41.0.0/24").unwrap() };
    does(&mut engine, underlay).unwrap();
    for bad in ["10.41.0.0/24", "10.0.0.0/8", "127.0.0.0/24", "224.0.0.0/24", "169.0.0.0/8"] {
        for number in [1, 2] {
            let refusal = does(&mut engine, put(number, bad)).unwrap_err();
            assert!(
                matches!(&refusal, Refusal::Invalid { key, .. } if key == "overlay_cidr"),
                "{bad}: {refusal:?}"
            );
        }
    }
    // One of before that covers the underlay is neither kept by a change nor served by a removal.
    does(&mut engine, put(1, "10.50.0.0/24")).unwrap();
    let other = put(2, "10.60.0.0/24");
    does(&mut engine, other).unwrap();
    let underlay = SetUnderlay { range: AddressPool::parse("10.60.0.0/16").unwrap() };
    does(&mut engine, underlay).unwrap();
    let remove = Remove::<Network> { id: Id::from_u128(1), expected: Expected::Present };
    assert!(matches!(does(&mut engine, remove), Err(Refusal::Conflict { .. })));
    assert_eq!(engine.view().onboarding.pool.to_string(), "10.50.0.0/24");
}

#[test]
fn leased_range_stays_as_it_is() {
    let mut engine = engine();
    does(&mut engine, put(1, "10.50.0.0/24")).unwrap();
    let_in(&mut engine, 7_000, 9, groundwave_simulation::site::NodeId::from_u128(9));
    // The wider range has another address of the gateway than nodes know.
    for range in ["10.0.0.0/8", "10.50.0.0/16", "10.60.0.0/24"] {
        let refusal = does(&mut engine, put(1, range)).unwrap_err();
        assert!(matches!(refusal, Refusal::Conflict { .. }), "{range}: {refusal:?}");
    }
    let mut renamed = put(1, "10.50.0.0/24");
    renamed.object.name = "home".to_owned();
    does(&mut engine, renamed).unwrap();
}

#[test]
fn ranges_of_networks_are_apart_and_fit_for_nodes() {
    let mut engine = engine();
    does(&mut engine, put(1, "10.50.0.0/16")).unwrap();
    let refusal = does(&mut engine, put(2, "10.50.7.0/24")).unwrap_err();
    assert!(matches!(refusal, Refusal::Conflict { what } if what.contains("\"network 1\"")));
    for bad in ["fd00::/64", "10.60.0.0/30", "10.0.0.0/7"] {
        let refusal = does(&mut engine, put(2, bad));
        assert!(
            matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "overlay_cidr"),
            "{bad}"
        );
    }
    let mut ghost = put(2, "10.60.0.0/24");
    ghost.object.gateway_node_id = Some(groundwave_simulation::site::NodeId::named("ghost"));
    let refusal = does(&mut engine, ghost);
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "gateway_node_id"));
    assert_eq!(engine.view().config.networks.len(), 1);
}
