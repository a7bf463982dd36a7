//! Tests of the admission of connections.

use super::*;

fn from(last: u8) -> Source {
    Source::of(IpAddr::from([192, 0, 2, last]))
}

fn admission(connections: usize) -> Arc<Admission> {
    Admission::new(Bounds { connections, per_source: CONNECTIONS_PER_SOURCE_MAX })
}

/// True when a newcomer has taken the place.
async fn is_displaced(place: &Place) -> bool {
    tokio::time::timeout(std::time::Duration::ZERO, place.displaced()).await.is_ok()
}

#[tokio::test]
async fn source_at_its_bound_displaces_its_oldest_connection() {
    let admission = admission(1_000);
    let places: Vec<_> =
        (0..CONNECTIONS_PER_SOURCE_MAX).map(|_| admission.admit(from(1)).unwrap()).collect();
    let other = admission.admit(from(2)).unwrap();
    let newcomer = admission.admit(from(1)).unwrap();
    assert!(is_displaced(&places[0]).await);
    assert!(!is_displaced(&places[1]).await);
    assert!(!is_displaced(&other).await);
    assert!(!newcomer.for_health);
    assert_eq!(admission.len(), CONNECTIONS_PER_SOURCE_MAX + 1);
    drop((places, other, newcomer));
    assert!(admission.is_empty());
    assert_eq!(admission.take_tally(), Tally { displaced: 1, refused: 0 });
}

#[tokio::test]
async fn new_connection_displaces_an_idle_one_of_the_greatest_source() {
    let admission = admission(10);
    let greatest: Vec<_> = (0..8).map(|_| admission.admit(from(1)).unwrap()).collect();
    let small: Vec<_> = (0..2).map(|_| admission.admit(from(2)).unwrap()).collect();
    greatest[0].becomes_busy();
    greatest[1].waits_again();
    let _first = admission.admit(from(3)).unwrap();
    // Neither the busy one nor the one that has been answered before.
    assert!(is_displaced(&greatest[2]).await);
    for place in greatest[3..].iter().chain(&greatest[..2]).chain(&small) {
        assert!(!is_displaced(place).await);
    }
    // Once the others are gone, the answered one goes, the busy one stays.
    drop(small);
    let _rest: Vec<_> = (4..12).map(|last| admission.admit(from(last)).unwrap()).collect();
    assert!(is_displaced(&greatest[1]).await);
    assert!(!is_displaced(&greatest[0]).await);
}

#[tokio::test]
async fn equal_sources_lose_the_longest_waiting_connection() {
    let admission = admission(10);
    let places: Vec<_> = [7, 9, 8, 1].map(|last| admission.admit(from(last)).unwrap()).into();
    places[0].waits_again();
    admission.displace_one();
    assert!(is_displaced(&places[1]).await);
    admission.displace_one();
    assert!(is_displaced(&places[2]).await);
    for place in [&places[0], &places[3]] {
        assert!(!is_displaced(place).await);
    }
}

#[test]
fn source_as_great_as_any_other_displaces_itself() {
    let admission = admission(4);
    let _held: Vec<_> = [1, 1, 2, 2].map(|last| admission.admit(from(last)).unwrap()).into();
    let _newcomer = admission.admit(from(1)).unwrap();
    assert_eq!(admission.len(), 4);
}

#[tokio::test]
async fn busy_connections_leave_a_reserve_for_health() {
    let admission = admission(2);
    let busy: Vec<_> = [1, 2].map(|last| admission.admit(from(last)).unwrap()).into();
    busy.iter().for_each(Place::becomes_busy);
    let reserve: Vec<_> = (0..HEALTH_RESERVE).map(|_| admission.admit(from(3)).unwrap()).collect();
    assert!(reserve.iter().all(|place| place.for_health));
    let next = admission.admit(from(4)).unwrap();
    assert!(next.for_health && is_displaced(&reserve[0]).await);
    reserve.iter().chain([&next]).for_each(Place::becomes_busy);
    assert!(admission.admit(from(5)).is_none());
    assert_eq!(admission.take_tally().refused, 1);
    drop((busy, reserve, next));
    assert!(admission.is_empty());
}

#[test]
fn this_machine_is_bounded_only_in_all_and_a_network_of_ipv6_is_one_source() {
    let admission = admission(200);
    let here = Source::of(IpAddr::from([127, 0, 0, 1]));
    let _held: Vec<_> = (0..200).map(|_| admission.admit(here).unwrap()).collect();
    assert_eq!(admission.len(), 200);
    let ip = |text: &str| Source::of(text.parse().unwrap());
    assert_eq!(ip("2001:db8::1"), ip("2001:db8::ffff:1"));
    assert_ne!(ip("2001:db8::1"), ip("2001:db8:0:1::1"));
    assert_eq!(ip("::ffff:192.0.2.1"), from(1));
}

#[test]
fn bounds_stay_below_the_descriptors_of_the_process() {
    for (descriptors, connections) in [(0, 16), (256, 112), (1_024, 880), (1 << 20, 2_048)] {
        assert_eq!(Bounds::of_descriptors(descriptors).connections, connections);
    }
}
