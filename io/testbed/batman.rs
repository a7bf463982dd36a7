//! `batman-adv` in a node: an interface `bat0` over all wires, asked through `batctl`.

use std::net::Ipv4Addr;
use std::path::Path;

use serde::Deserialize;

use super::error::TestbedError;
use super::program::output_of;
use crate::netlink::route::{RouteRequest, add_address, create_device, set_up};

/// Number of `bat0` in its namespace.
pub const INDEX: u32 = 900;
/// What a wire must carry: batman-adv's headers around a full packet.
pub const MTU_BYTES: u32 = 1560;
const PACKAGE_HINT: &str = "Debian: apt-get install batctl";

/// What makes `bat0`.
pub fn setup(own: Ipv4Addr) -> [RouteRequest; 3] {
    [
        create_device("bat0", INDEX, "batadv"),
        set_up(INDEX, None),
        add_address(INDEX, own.into(), 16),
    ]
}

/// Turns off what watches for bridges, which would hold broadcasts back for half a minute.
pub fn tune(netns: &Path) -> Result<(), TestbedError> {
    let off = ["meshif", "bat0", "bridge_loop_avoidance", "0"];
    match output_of(netns, PACKAGE_HINT, "batctl", &off) {
        // A kernel without it needs it not turned off.
        Ok(_) | Err(TestbedError::Failed { .. }) => Ok(()),
        Err(err) => Err(err),
    }
}

/// A way that batman-adv would take.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Route {
    /// The other node, by the hardware address of its first interface.
    pub orig_address: String,
    /// Quality of the way there, [0, 255].
    pub tq: f64,
    /// The neighbour it goes to, by the hardware address of its interface.
    pub neigh_address: String,
    /// Through which interface.
    pub hard_ifname: String,
    /// Whether it is the way taken.
    #[serde(default)]
    pub best: bool,
}

/// The ways it takes.
pub fn routes(netns: &Path) -> Result<Vec<Route>, TestbedError> {
    let text = output_of(
        netns,
        PACKAGE_HINT,
        "batctl",
        &["meshif", "bat0", "originators_json"],
    )?;
    let all: Vec<Route> = serde_json::from_str(&text).map_err(|err| TestbedError::Failed {
        program: "batctl".to_owned(),
        output: format!("{err}: {text}"),
    })?;
    Ok(all.into_iter().filter(|found| found.best).collect())
}
