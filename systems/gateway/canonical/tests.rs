use groundwave_engine::{Engine, Id, Recorded, Refusal};

use super::*;
use crate::Snapshot;
use crate::config::{Expected, Put, Remove};
use crate::onboarding::AddressPool;
use crate::test_world::{does_at, engine};

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
