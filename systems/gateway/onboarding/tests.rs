use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;

use groundwave_engine::{Engine, Recorded, Refusal};
use groundwave_protocol::*;
use groundwave_simulation::site::NodeId;
use proptest::prelude::*;

use super::*;
use crate::Snapshot;
use crate::account::{AccountId, IssueCredential};
use crate::test_world::{does_at, engine};

const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;

pub(super) fn does<C: Recorded>(
    engine: &mut Engine<Snapshot>,
    command: C,
) -> Result<C::Reply, Refusal> {
    does_at(engine, 7_000, command)
}

pub(super) fn key(number: u32) -> PublicKey {
    let mut bytes = [9; 32];
    // A key's first bytes are as good as random.
    let spread = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes[..8].copy_from_slice(&spread.to_be_bytes());
    bytes[8..12].copy_from_slice(&number.to_be_bytes());
    PublicKey::new(bytes).unwrap()
}

pub(super) fn mac(number: u32) -> Mac {
    let [_, a, b, c] = number.to_be_bytes();
    Mac([2, 0, 0, a, b, c])
}

pub(super) fn request(number: u32) -> RequestJoin {
    let ip = IpAddr::V4(Ipv4Addr::new(10, 41, 0, 9));
    RequestJoin {
        registration: RegistrationId::from_u128(1_000 + u128::from(number)),
        node: NodeId::from_u128(2_000 + u128::from(number)),
        same_mac: SameMac::SameNode,
        public_key: key(number),
        claims: JoinClaims {
            mac: mac(number),
            hostname: format!("node-{number}"),
            listen_port: None,
            source_ip: ip,
            underlay_ip: ip,
            proof: Proof::Absent,
            mac_verified: false,
            code_sha256: None,
            key_proof: None,
        },
    }
}

pub(super) fn approve(outcome: &JoinOutcome, number: u32) -> ApproveRegistration {
    ApproveRegistration {
        registration: outcome.registration,
        node: NodeId::from_u128(2_000 + u128::from(number)),
        same_mac: SameMac::SameNode,
        name: None,
        role_id: None,
        overlay_ip: None,
        by: "ada".to_owned(),
        revision: None,
    }
}

fn revoke(registration: RegistrationId) -> RevokeRegistration {
    RevokeRegistration { registration, reason: None, by: "ada".to_owned(), forget: false }
}

pub(super) fn let_in(engine: &mut Engine<Snapshot>, number: u32) -> (RegistrationId, Ipv4Addr) {
    let outcome = does(engine, request(number)).unwrap();
    does(engine, approve(&outcome, number)).unwrap();
    let again = does(engine, request(number)).unwrap();
    assert_eq!(again.state, RegistrationState::Approved);
    (outcome.registration, again.overlay_ip.unwrap())
}

#[test]
fn approved_registration_keeps_its_address() {
    let mut engine = engine();
    let outcome = does(&mut engine, request(1)).unwrap();
    assert_eq!((outcome.state, outcome.node), (RegistrationState::Pending, None));
    let (_, ip) = let_in(&mut engine, 1);
    for _ in 0..3 {
        let again = does(&mut engine, request(1)).unwrap();
        assert_eq!((again.overlay_ip, again.admitted), (Some(ip), false));
    }
    let view = engine.view();
    assert_eq!(view.onboarding.peers().count(), 1);
    assert_eq!(view.fleet.with_overlay(ip), Some(NodeId::from_u128(2_001)));
}

#[test]
fn a_key_belongs_to_one_hardware_address_and_a_new_key_waits_anew() {
    let mut engine = engine();
    let (first, ip) = let_in(&mut engine, 1);
    let mut stolen = request(1);
    stolen.claims.mac = mac(2);
    assert!(matches!(does(&mut engine, stolen), Err(Refusal::Conflict { .. })));
    let mut rekeyed = request(1);
    rekeyed.public_key = key(77);
    rekeyed.registration = RegistrationId::from_u128(5);
    let outcome = does(&mut engine, rekeyed.clone()).unwrap();
    assert_eq!(outcome.state, RegistrationState::Pending);
    let view = engine.view();
    assert_eq!(view.onboarding.registrations[&outcome.registration].follows, Some(first));
    assert_eq!(alerts(&engine), ["a known hardware address comes with another key"]);
    assert_eq!(view.fleet.with_overlay(ip), Some(NodeId::from_u128(2_001)));
    // Let in as the same node, it takes the place of the earlier key.
    does(&mut engine, approve(&outcome, 1)).unwrap();
    let view = engine.view();
    assert_eq!(view.onboarding.registrations[&first].state, RegistrationState::Revoked);
    assert_eq!(view.onboarding.peers().count(), 1);
    assert_eq!(view.onboarding.leases[&ip].state, LeaseState::Quarantined);
}

#[test]
fn a_trusted_stranger_comes_in_by_itself() {
    let mut engine = engine();
    let policy = SetPolicy { policy: Policy::Trusted };
    assert!(does(&mut engine, policy.clone()).is_err(), "there is no secret");
    let secret =
        RotateSecret { key_id: "k1".to_owned(), secret: SecretBytes::Clear([3; 32]), grace_s: 60 };
    does(&mut engine, secret).unwrap();
    does(&mut engine, policy).unwrap();
    assert!(matches!(does(&mut engine, request(1)), Err(Refusal::Denied { .. })));
    let mut proven = request(1);
    proven.claims.proof = Proof::Valid;
    assert_eq!(does(&mut engine, proven.clone()).unwrap().state, RegistrationState::Pending);
    let trusted = AddMacs { macs: vec![(mac(1), "roof".to_owned())], by: "ada".to_owned() };
    assert_eq!(does(&mut engine, trusted.clone()), Ok(vec![true]));
    assert_eq!(does(&mut engine, trusted), Ok(vec![false]));
    assert_eq!(does(&mut engine, proven.clone()).unwrap().state, RegistrationState::Pending);
    proven.claims.mac_verified = true;
    let inside = does(&mut engine, proven).unwrap();
    assert!(inside.admitted && inside.overlay_ip.is_some());
    assert!(engine.view().onboarding.macs[&mac(1)].seen.is_some());
}

#[test]
fn a_node_registered_ahead_comes_with_its_code_or_its_key() {
    let mut engine = engine();
    let expect = |number: u32, key| PreregisterNode {
        node: NodeId::from_u128(3_000 + u128::from(number)),
        same_mac: SameMac::SameNode,
        name: "roof".to_owned(),
        mac: mac(number),
        public_key: key,
        role_id: None,
        tags: vec![],
        overlay_ip: None,
        code_sha256: [number as u8; 32],
    };
    does(&mut engine, expect(1, None)).unwrap();
    does(&mut engine, expect(2, Some(key(2)))).unwrap();
    let mut coded = request(1);
    coded.claims.code_sha256 = Some([9; 32]);
    assert_eq!(does(&mut engine, coded.clone()).unwrap().state, RegistrationState::Pending);
    coded.claims.code_sha256 = Some([1; 32]);
    let late = does_at(&mut engine, 2 * DAY_NS, coded.clone()).unwrap();
    assert_eq!(late.state, RegistrationState::Pending);
    let inside = does(&mut engine, coded).unwrap();
    assert_eq!(inside.node, Some(NodeId::from_u128(3_001)));
    let keyed = does(&mut engine, request(2)).unwrap();
    assert_eq!(keyed.node, Some(NodeId::from_u128(3_002)));
}

#[test]
fn node_registered_ahead_has_a_key_and_an_address_of_its_own() {
    let mut engine = engine();
    let ip = Ipv4Addr::new(10, 42, 0, 33);
    let ahead = |number: u32, key_number, overlay_ip| PreregisterNode {
        node: NodeId::from_u128(3_000 + u128::from(number)),
        same_mac: SameMac::SameNode,
        name: "roof".to_owned(),
        mac: mac(number),
        public_key: Some(key(key_number)),
        role_id: None,
        tags: vec![],
        overlay_ip,
        code_sha256: [number as u8; 32],
    };
    does(&mut engine, ahead(1, 1, Some(ip))).unwrap();
    // The same registration again changes nothing.
    does(&mut engine, ahead(1, 1, Some(ip))).unwrap();
    let same_key = does(&mut engine, ahead(2, 1, None)).unwrap_err();
    assert!(
        matches!(&same_key, Refusal::Conflict { what } if what.contains("key")),
        "{same_key:?}"
    );
    let same_ip = does(&mut engine, ahead(2, 2, Some(ip))).unwrap_err();
    assert!(matches!(same_ip, Refusal::Conflict { .. }), "{same_ip:?}");
    let outside = does(&mut engine, ahead(2, 2, Some(Ipv4Addr::new(10, 9, 0, 9)))).unwrap_err();
    assert!(matches!(&outside, Refusal::Invalid { key, .. } if key == "overlay_ip"));
    // No other node gets the address, by hand or by its key.
    let outcome = does(&mut engine, request(3)).unwrap();
    let taken = ApproveRegistration { overlay_ip: Some(ip), ..approve(&outcome, 3) };
    assert!(matches!(does(&mut engine, taken), Err(Refusal::Conflict { .. })));
    assert_eq!(does(&mut engine, request(1)).unwrap().overlay_ip, Some(ip));
}

#[test]
fn waiting_registration_gives_one_event() {
    let mut engine = engine();
    let states = |engine: &Engine<Snapshot>| {
        let view = engine.view();
        let events = view.events.iter();
        let of_registrations =
            events.filter(|event| event.kind == crate::fleet::FleetEventKind::Registration);
        of_registrations.map(|event| event.data["state"].clone()).collect::<Vec<_>>()
    };
    let outcome = does(&mut engine, request(1)).unwrap();
    does(&mut engine, request(1)).unwrap();
    assert_eq!(states(&engine), ["pending"]);
    let view = engine.view();
    let data = &view.events.back().unwrap().data;
    assert_eq!(data["registration_id"], outcome.registration.to_string());
    assert_eq!((data["hostname"].as_str(), data["mac"].clone()), ("node-1", mac(1).to_string()));
    // It expires after a day, and a later request waits anew.
    does_at(&mut engine, 3 * DAY_NS, request(2)).unwrap();
    assert_eq!(states(&engine), ["pending", "pending", "expired"]);
    does_at(&mut engine, 3 * DAY_NS, request(1)).unwrap();
    assert_eq!(states(&engine).last().unwrap(), "pending");
}

#[test]
fn states_turn_only_as_they_may() {
    let mut engine = engine();
    let outcome = does(&mut engine, request(1)).unwrap();
    let registration = outcome.registration;
    let reject = |block| RejectRegistration {
        registration,
        reason: Some("unknown".to_owned()),
        block,
        by: "ada".to_owned(),
        revision: None,
    };
    let reset = ResetRegistration { registration, by: "ada".to_owned() };
    assert!(does(&mut engine, revoke(registration)).is_err());
    assert!(does(&mut engine, reset.clone()).is_err());
    does(&mut engine, reject(false)).unwrap();
    assert!(matches!(does(&mut engine, request(1)), Err(Refusal::Denied { .. })));
    assert!(does(&mut engine, approve(&outcome, 1)).is_err());
    does(&mut engine, reset.clone()).unwrap();
    does(&mut engine, approve(&outcome, 1)).unwrap();
    assert!(does(&mut engine, reject(false)).is_err());
    let ip = engine.view().onboarding.registrations[&registration].overlay_ip;
    does(&mut engine, revoke(registration)).unwrap();
    assert!(matches!(does(&mut engine, request(1)), Err(Refusal::Denied { .. })));
    assert_eq!(engine.view().onboarding.peers().count(), 0);
    // Only an admin brings the same key back, to the same address.
    does(&mut engine, approve(&outcome, 1)).unwrap();
    assert_eq!(engine.view().onboarding.registrations[&registration].overlay_ip, ip);
    let stale = ApproveRegistration { revision: Some(1), ..approve(&outcome, 1) };
    assert!(matches!(does(&mut engine, stale), Err(Refusal::Stale { what }) if what == STALE));
}

#[test]
fn undecided_registration_expires_after_a_day() {
    let mut engine = engine();
    let outcome = does(&mut engine, request(1)).unwrap();
    does_at(&mut engine, 2 * DAY_NS, request(2)).unwrap();
    engine.tick(None).unwrap();
    let state = |engine: &Engine<Snapshot>| {
        engine.view().onboarding.registrations[&outcome.registration].state
    };
    assert_eq!(state(&engine), RegistrationState::Expired);
    does_at(&mut engine, 2 * DAY_NS, request(1)).unwrap();
    assert_eq!(state(&engine), RegistrationState::Pending);
}

#[test]
fn a_revoked_node_has_no_credential_and_gets_none() {
    let mut engine = engine();
    let (registration, _) = let_in(&mut engine, 1);
    let issue = IssueCredential {
        account: AccountId::from_u128(1),
        node: NodeId::from_u128(2_001),
        username: "node-1".to_owned(),
        secret_sha256: [1; 32],
    };
    assert_eq!(does(&mut engine, issue.clone()).unwrap(), "node-1");
    does(&mut engine, revoke(registration)).unwrap();
    assert!(engine.view().accounts.named("node-1").is_none());
    assert!(matches!(does(&mut engine, issue), Err(Refusal::NotFound { .. })));
}

/// Subjects of the alerts among the events.
pub(super) fn alerts(engine: &Engine<Snapshot>) -> Vec<String> {
    let view = engine.view();
    let alerts =
        view.events.iter().filter(|event| event.kind == crate::fleet::FleetEventKind::Alert);
    alerts.map(|event| event.data["about"].clone()).collect()
}

#[test]
fn the_pool_is_exhausted_exactly_at_its_size_and_never_reuses_in_quarantine() {
    let mut engine = engine();
    let size = AddressPool::default().usable() - AddressPool::default().reserved();
    let mut addresses = BTreeSet::new();
    for number in 0..size {
        let (_, ip) = let_in(&mut engine, number);
        assert!(AddressPool::default().holds(ip) && addresses.insert(ip), "{ip}");
        // The last address raises an alert, and none before it.
        let alerts = alerts(&engine);
        assert_eq!(alerts.len(), usize::from(number + 1 == size), "{alerts:?}");
    }
    let outcome = does(&mut engine, request(size)).unwrap();
    let full = does(&mut engine, approve(&outcome, size));
    assert!(matches!(full, Err(Refusal::Exhausted { what }) if what == EXHAUSTED));
    let view = engine.view();
    assert_eq!(
        view.onboarding.registrations[&outcome.registration].state,
        RegistrationState::Pending
    );
    // A released address is in quarantine for a day.
    let first = view.onboarding.of_key(&key(0)).unwrap();
    let (first, ip) = (first.0, first.1.overlay_ip.unwrap());
    does(&mut engine, revoke(first)).unwrap();
    assert!(does(&mut engine, approve(&outcome, size)).is_err());
    let late = does_at(&mut engine, 7_000 + DAY_NS + 1, request(size)).unwrap();
    does_at(&mut engine, 7_000 + DAY_NS + 2, approve(&late, size)).unwrap();
    let view = engine.view();
    assert_eq!(view.onboarding.of_key(&key(size)).unwrap().1.overlay_ip, Some(ip));
}

#[test]
fn free_addresses_are_those_that_can_be_assigned_automatically() {
    let pool = AddressPool::default();
    let free =
        |in_use: &[[u8; 4]]| pool.free(&in_use.iter().copied().map(Ipv4Addr::from).collect());
    assert_eq!(free(&[]), 245);
    // Two that are assigned manually, one of another range.
    assert_eq!(free(&[[10, 42, 0, 2], [10, 42, 0, 9], [10, 43, 0, 20]]), 245);
    assert_eq!(free(&[[10, 42, 0, 10], [10, 42, 0, 254]]), 243);
}

proptest! {
    #[test]
    fn addresses_are_distinct_whatever_the_keys(numbers in prop::collection::btree_set(any::<u32>(), 1..200)) {
        let pool = AddressPool::default();
        let mut in_use = BTreeSet::new();
        for number in numbers {
            let ip = pool.pick(&key(number), &in_use).unwrap();
            prop_assert!(pool.holds(ip));
            prop_assert!(ip.octets()[3] >= 10);
            prop_assert_eq!(pool.pick(&key(number), &in_use), Some(ip));
            prop_assert!(in_use.insert(ip));
        }
    }
}

#[test]
fn ranges_are_read_with_care() {
    assert_eq!(AddressPool::parse("10.42.0.0/24"), Ok(AddressPool::default()));
    for bad in ["10.42.0.0", "10.42.0.1/24", "10.42.0.0/29", "10.42.0.0/33", "x/24"] {
        assert!(AddressPool::parse(bad).is_err(), "{bad}");
    }
}

/// A request of another source, without a proof of its key.
fn claimed(number: u32, source: [u8; 4]) -> RequestJoin {
    let mut join = request(number);
    join.claims.key_proof = Some(Proof::Absent);
    join.claims.source_ip = source.into();
    join
}

#[test]
fn a_flood_shuts_out_no_other_address_and_no_proof() {
    let mut engine = engine();
    for number in 0..1_100_u32 {
        let [_, _, high, low] = (number % 300).to_be_bytes();
        // One that has its share replaces its own, or is turned away.
        let _ = does(&mut engine, claimed(number, [10, 41, high, low]));
    }
    let pending = |engine: &Engine<Snapshot>| engine.view().onboarding.registrations.len();
    assert!((500..=PENDING_MAX).contains(&pending(&engine)));
    for host in 0..50 {
        let outcome = does(&mut engine, claimed(5_000 + u32::from(host), [10, 41, 9, host]));
        assert_eq!(outcome.unwrap().state, RegistrationState::Pending);
    }
    let mut vouched = claimed(6_000, [10, 41, 0, 1]);
    vouched.claims.proof = Proof::Valid;
    let outcome = does(&mut engine, vouched).unwrap();
    assert_eq!(outcome.state, RegistrationState::Pending);
    // Without an answer they expire, and are gone a week later.
    does_at(&mut engine, 7_000 + 2 * DAY_NS, claimed(7_000, [10, 41, 8, 1])).unwrap();
    let later = claimed(7_001, [10, 41, 8, 2]);
    does_at(&mut engine, 7_000 + 9 * DAY_NS, later).unwrap();
    assert_eq!(pending(&engine), 2);
}

#[test]
fn a_secret_in_clear_is_sealed_once() {
    let mut engine = engine();
    let rotation =
        RotateSecret { key_id: "k1".to_owned(), secret: SecretBytes::Clear([3; 32]), grace_s: 0 };
    does(&mut engine, rotation).unwrap();
    let seal = SealSecrets { secret: Some("sealed".to_owned()), previous: None };
    does(&mut engine, seal.clone()).unwrap();
    let view = engine.view();
    let sealed = view.onboarding.trust.secret.as_ref().unwrap();
    assert_eq!(sealed.secret, SecretBytes::Sealed("sealed".to_owned()));
    assert!(does(&mut engine, seal).is_err());
}

#[test]
fn address_in_quarantine_is_free_after_the_decision_of_an_admin() {
    let mut engine = engine();
    let (registration, ip) = let_in(&mut engine, 1);
    assert!(matches!(does(&mut engine, FreeLease { ip }), Err(Refusal::Conflict { .. })));
    does(&mut engine, revoke(registration)).unwrap();
    let outcome = does(&mut engine, request(2)).unwrap();
    let at_address = ApproveRegistration { overlay_ip: Some(ip), ..approve(&outcome, 2) };
    let Err(Refusal::Conflict { what }) = does(&mut engine, at_address.clone()) else {
        panic!("it is in quarantine");
    };
    assert!(what.contains("quarantine"), "{what}");
    does(&mut engine, FreeLease { ip }).unwrap();
    assert!(engine.view().onboarding.leases.get(&ip).is_none());
    assert!(matches!(does(&mut engine, FreeLease { ip }), Err(Refusal::NotFound { .. })));
    does(&mut engine, at_address).unwrap();
    assert_eq!(does(&mut engine, request(2)).unwrap().overlay_ip, Some(ip));
}
