//! The mesh as a whole: what batman-adv, its radios and its interface say together.

use std::path::Path;

use groundwave_files::ReadingError;
use groundwave_netlink::batadv::{Bandwidth, Batman, BatmanConfig, GatewayMode};
use groundwave_netlink::nl80211::{Kind, PlinkState, Wireless};
use groundwave_protocol::HardwareAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;
use super::wireless::Radios;

/// State of the mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeshStatus {
    /// Name of the mesh interface.
    pub mesh_ifname: String,
    /// `BATMAN_IV` or `BATMAN_V`.
    pub algo_name: String,
    /// Hardware address of the mesh interface, as seen by hosts.
    pub mesh_address: HardwareAddress,
    /// State of the interface (RFC 2863), for example `up`.
    pub state: String,
    /// Gateway mode: this node offers an uplink, or seeks one.
    pub gw_mode: Option<GatewayMode>,
    /// Bandwidth offered by a gateway server.
    pub gw_bandwidth: Option<Bandwidth>,
    /// Hard interfaces of the mesh.
    pub hardifs: Vec<String>,
    /// Number of neighbours in one hop.
    pub neighbor_count: usize,
    /// Number of originators, i.e. of nodes that can be reached.
    pub originator_count: usize,
    /// Peerings of the radios under it that carry frames; `None` without a radio under it.
    pub plink_estab: Option<usize>,
    /// Selected gateway, by the address that names the node.
    pub selected_gateway: Option<HardwareAddress>,
}

/// State of the mesh `ifname`, in the network namespace at `netns` or that of the calling thread;
/// `radios` are those of the same moment, if there are any.
///
/// # Errors
/// [`ReadingError::Absent`] without batman-adv or such an interface.
pub fn status(
    netns: Option<&Path>,
    ifname: &str,
    radios: Option<&Radios>,
) -> Result<MeshStatus, ReadingError> {
    let mut batman = Batman::open(netns)?;
    let mesh = batman.mesh(ifname)?;
    let hard = batman.hard_interfaces(ifname)?;
    let hardifs: Vec<String> = hard.into_iter().map(|one| one.hard_ifname).collect();
    let mut neighbours: Vec<_> = batman.neighbors(ifname)?;
    neighbours.sort_by_key(|one| one.neigh_address);
    neighbours.dedup_by_key(|one| one.neigh_address);
    let originators = batman.originators(ifname)?;
    let gateways = batman.gateways(ifname)?;
    let links = RouteSocket::open(netns)?.links()?;
    let own = links.iter().find(|link| link.name == ifname);
    let estab = radios.and_then(|radios| {
        let below = radios.wireless();
        let mut below = below.iter().filter(|one| hardifs.contains(&one.ifname));
        below.next()?;
        let peers = radios.plinks().into_iter();
        let carry = |state| state == PlinkState::Estab;
        Some(peers.filter(|one| hardifs.contains(&one.ifname) && carry(one.plink_state)).count())
    });
    Ok(MeshStatus {
        mesh_ifname: mesh.mesh_ifname,
        algo_name: mesh.algo_name,
        mesh_address: mesh.mesh_address,
        state: own.map_or_else(|| "unknown".to_owned(), |link| link.operstate.clone()),
        gw_mode: mesh.gw_mode,
        gw_bandwidth: mesh.gw_bandwidth,
        hardifs,
        neighbor_count: neighbours.len(),
        originator_count: originators.iter().filter(|one| one.best).count(),
        plink_estab: estab,
        selected_gateway: gateways.iter().find(|one| one.best).map(|one| one.orig_address),
    })
}

/// Settings of the mesh. What the kernel does not tell is `None`: the id of an open mesh and how
/// peers authenticate each other are known to who joined it only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeshConfig {
    /// Id of the mesh.
    pub mesh_id: Option<String>,
    /// Centre of the primary channel, MHz.
    pub freq_mhz: Option<u32>,
    /// Width of the channel, MHz.
    pub width_mhz: Option<u32>,
    /// `true` if the mesh forwards frames itself; not under batman-adv.
    pub mesh_fwding: Option<bool>,
    /// Settings of batman-adv.
    pub batman: BatmanConfig,
}

/// Settings of the mesh `ifname` and of the first radio under it.
///
/// # Errors
/// As [`status`].
pub fn config(netns: Option<&Path>, ifname: &str) -> Result<MeshConfig, ReadingError> {
    let mut batman = Batman::open(netns)?;
    let mesh = batman.mesh(ifname)?;
    let hard = batman.hard_interfaces(ifname)?;
    let mut found = MeshConfig {
        mesh_id: None,
        freq_mhz: None,
        width_mhz: None,
        mesh_fwding: None,
        batman: mesh.into(),
    };
    let mut wireless = match Wireless::open(netns) {
        Ok(wireless) => wireless,
        // A mesh may be of wires.
        Err(err) if err.is_absent() => return Ok(found),
        Err(err) => return Err(err),
    };
    let interfaces = wireless.interfaces()?;
    let below = |one: &&_| -> bool {
        let one: &groundwave_netlink::nl80211::WirelessInterface = one;
        one.kind == Kind::MeshPoint && hard.iter().any(|hard| hard.hard_ifname == one.ifname)
    };
    if let Some(radio) = interfaces.iter().find(below) {
        found.mesh_id.clone_from(&radio.network);
        found.freq_mhz = radio.freq_mhz;
        found.width_mhz = radio.width_mhz;
        // It may have left the mesh a moment ago.
        let parameters = wireless.mesh_parameters(&radio.ifname).ok();
        found.mesh_fwding = parameters.and_then(|parameters| parameters.mesh_fwding);
    }
    Ok(found)
}
