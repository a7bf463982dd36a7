use std::collections::BTreeMap;

use super::*;
use crate::radio::Environment;
use crate::sample::station;
use crate::terrain::{Flat, geodesic};

#[test]
fn a_share_has_the_nearest_and_some_of_all_distances() {
    let ranks: Vec<_> = spread(100, 8).collect();
    assert_eq!(ranks, [0, 1, 2, 3, 4, 5, 29, 76]);
    for (count, share) in [(0, 8), (3, 8), (8, 8), (9, 8), (4_999, 50), (5, 1), (5, 0)] {
        let ranks: Vec<_> = spread(count, share).collect();
        assert_eq!(ranks.len(), count.min(share), "{count} {share}");
        assert!(ranks.windows(2).all(|two| two[0] < two[1]), "{ranks:?}");
        assert!(ranks.iter().all(|rank| *rank < count));
    }
}

#[test]
fn of_a_dense_mesh_each_member_has_its_nearest_and_parts_stay_connected() {
    let (station, environment) = (station(), Environment::default());
    let inputs = Inputs {
        terrain: &Flat { elevation_msl_m: 100.0 },
        environment: &environment,
        packet_bytes: 1500,
        spacing_m: None,
    };
    // Two groups of 60, 2 km apart, all in reach of each other.
    let start = GeoPoint::new(57.5, 11.5).unwrap();
    let member = |n: u32| Member {
        id: NodeId::from_u128(u128::from(n) + 1),
        position: geodesic::direct(start, 90.0, f64::from(n % 60) * 7.0 + f64::from(n / 60) * 2e3)
            .unwrap(),
        station: &station,
    };
    let members: Vec<_> = (0..120).map(member).collect();
    let roster = Roster::new(&inputs, &members).unwrap();
    let all = 120 * 119 / 2;
    assert_eq!(roster.pairs_up_to(&inputs, all).1, 0);
    assert_eq!(roster.pairs_up_to(&inputs, all).0.len(), all);

    let most = 120 * 16;
    let (pairs, left_out) = roster.pairs_up_to(&inputs, most);
    assert!(pairs.len() <= most && pairs.len() >= most / 2, "{}", pairs.len());
    assert_eq!(pairs.len() + left_out, all);
    assert!(pairs.windows(2).all(|two| two[0] < two[1]) && pairs.iter().all(|(a, b)| a < b));
    let mut peers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(a, b) in &pairs {
        peers.entry(a).or_default().push(b);
        peers.entry(b).or_default().push(a);
    }
    for (own, peers) in &peers {
        assert!(peers.len() >= 16, "{own} has {peers:?}");
        for near in [own.wrapping_sub(1), own + 1] {
            let is_beside = near < 120 && near / 60 == own / 60;
            assert!(!is_beside || peers.contains(&near), "{own} lacks {near}");
        }
        assert!(peers.iter().any(|peer| peer / 60 != own / 60), "{own} is cut off");
    }
    // The order of the members does not matter.
    let turned: Vec<_> = members.into_iter().rev().collect();
    let turned = Roster::new(&inputs, &turned).unwrap();
    assert_eq!(turned.pairs_up_to(&inputs, most), (pairs, left_out));
}
