//! Malformed netlink messages: every decoder returns.

use proptest::prelude::*;

use super::{links, neighbours, routes};
use crate::netlink::attr::Attrs;
use crate::netlink::batadv::{
    BlaClaim, DatEntry, Gateway, HardInterface, Mesh, Neighbor, Originator, TransGlobal, TransLocal,
};
use crate::netlink::fixture::messages;
use crate::netlink::nl80211::{MeshParameters, Station, Survey, Wiphy, WirelessInterface};
use crate::netlink::{payload, wireguard};
use netlink_packet_core::DecodeError;

/// Number of decoders that accept the bytes.
pub(crate) fn accepting_decoders(bytes: &[u8]) -> usize {
    fn accepts<T>(bytes: &[u8], decode: fn(&Attrs<'_>) -> Result<T, DecodeError>) -> usize {
        let attrs = payload(bytes).and_then(|body| Attrs::read("", body));
        usize::from(attrs.and_then(|attrs| decode(&attrs)).is_ok())
    }
    let all = [bytes.to_vec()];
    accepts(bytes, Mesh::decode)
        + accepts(bytes, Originator::decode)
        + accepts(bytes, Neighbor::decode)
        + accepts(bytes, Gateway::decode)
        + accepts(bytes, TransLocal::decode)
        + accepts(bytes, TransGlobal::decode)
        + accepts(bytes, DatEntry::decode)
        + accepts(bytes, BlaClaim::decode)
        + accepts(bytes, HardInterface::decode)
        + accepts(bytes, WirelessInterface::decode)
        + accepts(bytes, Station::decode)
        + accepts(bytes, Survey::decode)
        + accepts(bytes, Wiphy::decode)
        + accepts(bytes, MeshParameters::decode)
        + usize::from(wireguard::read_device(&[bytes]).is_ok())
        + usize::from(links::assembled(&all, &all).is_ok())
        + usize::from(neighbours::decoded(&all).is_ok())
        + usize::from(routes::decoded(&all).is_ok())
}

pub(crate) fn corpus() -> Vec<Vec<u8>> {
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
fn every_message_of_the_kernel_is_decoded() {
    for message in corpus() {
        assert!(accepting_decoders(&message) > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(accepting_decoders(&bytes) <= 18);
    }

    #[test]
    fn modified_messages_never_panic(
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
        prop_assert!(accepting_decoders(&bytes) <= 18);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(accepting_decoders(&bytes) <= 18);
    }
}
