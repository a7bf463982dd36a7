//! All decoders of netlink messages, for tests and fuzz targets.

use groundwave_netlink::attr::Attrs;
use groundwave_netlink::batadv::{
    BlaClaim, DatEntry, Gateway, HardInterface, Mesh, Neighbor, Originator, TransGlobal, TransLocal,
};
use groundwave_netlink::fixture::messages;
use groundwave_netlink::nl80211::{MeshParameters, Station, Survey, Wiphy, WirelessInterface};
use groundwave_netlink::{payload, wireguard};
use netlink_packet_core::DecodeError;

use super::{links, neighbours, routes};

/// Number of decoders that accept the bytes.
pub fn accepting_decoders(bytes: &[u8]) -> usize {
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

/// Recorded messages.
pub fn corpus() -> Vec<Vec<u8>> {
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
