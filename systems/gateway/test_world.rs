//! World of the unit tests: flat ground at 0 m, ticks of 1 ms, one command a tick.

use core::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use groundwave_engine::{Engine, Recorded, Refusal};
use groundwave_model::terrain::Flat;
use groundwave_protocol::{Mac, Proof, PublicKey};
use groundwave_simulation::site::NodeId;

use crate::onboarding::{ApproveRegistration, JoinClaims, RegistrationId, RequestJoin, SameMac};
use crate::{Snapshot, world};

/// Empty world over flat ground.
pub(crate) fn engine() -> Engine<Snapshot> {
    let ground = Flat { elevation_msl_m: 0.0 };
    world(Arc::new(ground)).build(1, 1_000_000).unwrap()
}

/// Carries out a command in a tick at `at_ns` of the wall clock.
pub(crate) fn does_at<C: Recorded>(
    engine: &mut Engine<Snapshot>,
    at_ns: u64,
    command: C,
) -> Result<C::Reply, Refusal> {
    let reply = engine.handle().submit(command).unwrap();
    engine.tick(Some(at_ns)).unwrap();
    reply.wait()
}

/// Admits a node that requests from 10.41.0.`number`.
pub(crate) fn let_in(
    engine: &mut Engine<Snapshot>,
    at_ns: u64,
    number: u8,
    as_node: NodeId,
) -> RegistrationId {
    let ip = IpAddr::V4(Ipv4Addr::new(10, 41, 0, number));
    let registration = RegistrationId::from_u128(u128::from(number));
    let request = RequestJoin {
        registration,
        node: as_node,
        same_mac: SameMac::SameNode,
        public_key: PublicKey::new([number; 32]).unwrap(),
        claims: JoinClaims {
            mac: Mac([2, 0, 0, 0, 0, number]),
            hostname: format!("n{number}"),
            listen_port: None,
            source_ip: ip,
            underlay_ip: ip,
            proof: Proof::Absent,
            mac_verified: false,
            code_sha256: None,
            key_proof: None,
        },
    };
    does_at(engine, at_ns, request).unwrap();
    let approve = ApproveRegistration {
        registration,
        node: as_node,
        same_mac: SameMac::SameNode,
        name: None,
        role_id: None,
        overlay_ip: None,
        by: "ada".to_owned(),
        revision: None,
    };
    does_at(engine, at_ns, approve).unwrap();
    registration
}
