//! Identity of nodes over new images, clones, deletion and returns to earlier keys.

use groundwave_engine::{Engine, Recorded, Refusal};
use groundwave_protocol::*;
use groundwave_simulation::site::NodeId;

use super::tests::{alerts, approve, does, key, let_in, mac, request};
use super::*;
use crate::Snapshot;
use crate::account::{AccountId, IssueCredential};
use crate::fleet::PatchNode;
use crate::test_world::engine;

fn node(number: u32) -> NodeId {
    NodeId::from_u128(2_000 + u128::from(number))
}

/// Request of node 1 with the key that a new image made.
fn with_key(number: u32) -> RequestJoin {
    let mut request = RequestJoin {
        registration: RegistrationId::from_u128(9_000 + u128::from(number)),
        node: node(500 + number),
        public_key: key(number),
        ..request(1)
    };
    request.claims.key_proof = Some(Proof::Valid);
    request
}

/// Approval as an admin sends it who chooses nothing.
fn as_offered(registration: RegistrationId) -> ApproveRegistration {
    ApproveRegistration { registration, node: node(900), ..approve(&outcome(registration), 1) }
}

fn outcome(registration: RegistrationId) -> JoinOutcome {
    JoinOutcome {
        registration,
        state: RegistrationState::Pending,
        admitted: false,
        node: None,
        overlay_ip: None,
    }
}

fn conflict<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> String
where
    C::Reply: std::fmt::Debug,
{
    match does(engine, command) {
        Err(Refusal::Conflict { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn new_image_approved_as_offered_is_the_same_node() {
    let mut engine = engine();
    let (first, _) = let_in(&mut engine, 1);
    let tags = PatchNode {
        node: node(1),
        name: Some("relay".to_owned()),
        role_id: None,
        tags: Some(vec!["north".to_owned()]),
        location: None,
        revision: None,
    };
    does(&mut engine, tags).unwrap();
    let issue = IssueCredential {
        account: AccountId::from_u128(1),
        node: node(1),
        username: "node-1".to_owned(),
        secret_sha256: [1; 32],
    };
    does(&mut engine, issue).unwrap();
    let request = does(&mut engine, with_key(77)).unwrap();
    assert_eq!(does(&mut engine, as_offered(request.registration)).unwrap(), node(1));
    let view = engine.view();
    assert_eq!(view.fleet.nodes.len(), 1);
    let record = &view.fleet.nodes[&node(1)].record;
    assert_eq!((record.name.as_str(), record.public_key), ("relay", Some(key(77))));
    assert_eq!(record.tags, ["north"]);
    // The earlier key has neither peer nor credential.
    let peers: Vec<_> = view.onboarding.peers().map(|(peer, _)| peer.public_key).collect();
    assert_eq!(peers, [key(77)]);
    assert!(view.accounts.named("node-1").is_none());
    let earlier = &view.onboarding.registrations[&first];
    assert_eq!(earlier.superseded_by, Some(request.registration));
    let Err(Refusal::Denied { what }) = does(&mut engine, tests::request(1)) else {
        panic!("the earlier key is out");
    };
    assert!(what.contains("has another key"), "{what}");
}

#[test]
fn no_policy_replaces_the_key_of_a_node_by_itself() {
    for policy in [Policy::Trusted, Policy::Open] {
        let mut engine = engine();
        let_in(&mut engine, 1);
        let secret = SecretBytes::Clear([3; 32]);
        let secret = RotateSecret { key_id: "k1".to_owned(), secret, grace_s: 60 };
        does(&mut engine, secret).unwrap();
        does(&mut engine, SetPolicy { policy }).unwrap();
        let macs = AddMacs { macs: vec![(mac(1), String::new())], by: "ada".to_owned() };
        does(&mut engine, macs).unwrap();
        let mut clone = with_key(77);
        clone.claims.proof = Proof::Valid;
        clone.claims.mac_verified = true;
        let outcome = does(&mut engine, clone).unwrap();
        assert_eq!(outcome.state, RegistrationState::Pending, "{policy:?}");
        let view = engine.view();
        assert_eq!(view.fleet.nodes.len(), 1);
        assert_eq!(view.fleet.nodes[&node(1)].record.public_key, Some(key(1)));
    }
}

#[test]
fn second_node_with_a_hardware_address_needs_a_separate_approval() {
    let mut engine = engine();
    let_in(&mut engine, 1);
    let_in(&mut engine, 2);
    let request = does(&mut engine, with_key(77)).unwrap();
    let as_other = ApproveRegistration { node: node(2), ..as_offered(request.registration) };
    let what = conflict(&mut engine, as_other);
    assert!(what.contains(&node(1).to_string()), "{what}");
    let ahead = PreregisterNode {
        node: node(3),
        name: "roof".to_owned(),
        mac: mac(1),
        same_mac: SameMac::SameNode,
        public_key: None,
        role_id: None,
        tags: vec![],
        overlay_ip: None,
        code_sha256: [3; 32],
    };
    let what = conflict(&mut engine, ahead);
    assert!(what.contains(&node(1).to_string()), "{what}");
    let separate =
        ApproveRegistration { same_mac: SameMac::Separate, ..as_offered(request.registration) };
    assert_eq!(does(&mut engine, separate).unwrap(), node(900));
    assert_eq!(engine.view().onboarding.peers().count(), 3);
}

#[test]
fn return_to_an_earlier_key_waits_and_becomes_the_same_node() {
    let mut engine = engine();
    let mut earlier = with_key(50);
    let request = does(&mut engine, earlier.clone()).unwrap();
    let first = does(&mut engine, as_offered(request.registration)).unwrap();
    let second = does(&mut engine, with_key(77)).unwrap();
    does(&mut engine, as_offered(second.registration)).unwrap();
    // Without a proof of its key it is only a claim.
    earlier.claims.key_proof = Some(Proof::Absent);
    assert!(matches!(does(&mut engine, earlier.clone()), Err(Refusal::Denied { .. })));
    let count = alerts(&engine).len();
    earlier.claims.key_proof = Some(Proof::Valid);
    let back = does(&mut engine, earlier).unwrap();
    assert_eq!(back.state, RegistrationState::Pending);
    assert_eq!(alerts(&engine).len(), count + 1);
    assert_eq!(does(&mut engine, as_offered(back.registration)).unwrap(), first);
    let view = engine.view();
    let peers: Vec<_> = view.onboarding.peers().map(|(peer, _)| peer.public_key).collect();
    assert_eq!(peers, [key(50)]);
    assert_eq!(view.fleet.nodes.len(), 1);
}

#[test]
fn hardware_of_a_deleted_node_comes_back_as_a_new_node() {
    let mut engine = engine();
    let_in(&mut engine, 1);
    does(&mut engine, DeregisterNode { node: node(1), cascade: true, by: "ada".to_owned() })
        .unwrap();
    // Its key was revoked by an admin, not replaced.
    let mut same_key = request(1);
    same_key.claims.key_proof = Some(Proof::Valid);
    assert!(matches!(does(&mut engine, same_key), Err(Refusal::Denied { .. })));
    let request = does(&mut engine, with_key(77)).unwrap();
    assert_eq!(does(&mut engine, as_offered(request.registration)).unwrap(), node(900));
}
