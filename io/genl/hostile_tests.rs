//! Bytes that nobody promised anything about.

use proptest::prelude::*;

use super::batadv::{
    BlaClaim, DatEntry, Gateway, HardInterface, Mesh, Neighbor, Originator, TransGlobal, TransLocal,
};
use super::family::payload;
use super::fixture::messages;
use super::nl80211::{MeshParameters, Station, Survey, Wiphy, WirelessInterface};
use super::{Attrs, ReadingError};
use crate::readings::{links, neighbours, routes};

/// Shows bytes to every decoder there is; what they make of it does not matter, that they end does.
fn show(bytes: &[u8]) -> usize {
    fn try_one<T>(bytes: &[u8], decode: fn(&Attrs<'_>) -> Result<T, ReadingError>) -> usize {
        let attrs = payload(bytes).and_then(|body| Attrs::read("", body));
        usize::from(attrs.and_then(|attrs| decode(&attrs)).is_ok())
    }
    let all = [bytes.to_vec()];
    try_one(bytes, Mesh::decode)
        + try_one(bytes, Originator::decode)
        + try_one(bytes, Neighbor::decode)
        + try_one(bytes, Gateway::decode)
        + try_one(bytes, TransLocal::decode)
        + try_one(bytes, TransGlobal::decode)
        + try_one(bytes, DatEntry::decode)
        + try_one(bytes, BlaClaim::decode)
        + try_one(bytes, HardInterface::decode)
        + try_one(bytes, WirelessInterface::decode)
        + try_one(bytes, Station::decode)
        + try_one(bytes, Survey::decode)
        + try_one(bytes, Wiphy::decode)
        + try_one(bytes, MeshParameters::decode)
        + usize::from(super::wireguard::read_device(&[bytes]).is_ok())
        + usize::from(links::assembled(&all, &all).is_ok())
        + usize::from(neighbours::decoded(&all).is_ok())
        + usize::from(routes::decoded(&all).is_ok())
}

fn corpus() -> Vec<Vec<u8>> {
    let names = [
        "batman_iv/mesh",
        "batman_iv/originators",
        "batman_v/gateways",
        "batman_iv/transglobal",
        "batman_iv/translocal",
        "batman_v/hardifs",
        "batman_iv/dat",
        "batman_v/neighbors",
        "nl80211/interfaces",
        "nl80211/stations",
        "nl80211/mesh_parameters",
        "nl80211/wiphys",
        "wireguard/device",
        "route/links",
        "route/addresses",
        "route/neighbours",
        "route/routes",
    ];
    names.iter().flat_map(|name| messages(name)).collect()
}

#[test]
fn every_message_of_the_kernel_is_understood_by_somebody() {
    for message in corpus() {
        assert!(show(&message) > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_break_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(show(&bytes) <= 18);
    }

    #[test]
    fn changed_messages_break_nothing(
        pick in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let corpus = corpus();
        let mut bytes = pick.get(&corpus).clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert!(show(&bytes) <= 18);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(show(&bytes) <= 18);
    }
}
