//! `batman-adv` of a node: an interface `bat0` over all links, queried with `batctl`.

use std::net::Ipv4Addr;
use std::path::Path;

use groundwave_netlink::route::{RouteRequest, add_address, create_device, set_controller, set_up};
use serde::Deserialize;

use super::actions::{Action, send_all};
use super::dump;
use super::error::TestbedError;
use super::namespace::Namespace;
use super::program::output_of;

/// Index of `bat0` in its namespace.
pub const INDEX: u32 = 900;
/// MTU of the links: a full packet with the headers of batman-adv, bytes.
pub const MTU_BYTES: u32 = 1560;
const PACKAGE_HINT: &str = "Debian: apt-get install batctl";

/// Requests that create `bat0`.
pub fn setup(own: Ipv4Addr) -> [RouteRequest; 3] {
    [
        create_device("bat0", INDEX, "batadv"),
        set_up(INDEX, None),
        add_address(INDEX, own.into(), 16),
    ]
}

/// Disables bridge loop avoidance, which blocks broadcasts for half a minute.
pub fn tune(netns: &Path) -> Result<(), TestbedError> {
    let off = ["meshif", "bat0", "bridge_loop_avoidance", "0"];
    match output_of(netns, PACKAGE_HINT, "batctl", &off) {
        // A kernel built without it refuses the setting.
        Ok(_) | Err(TestbedError::Failed { .. }) => Ok(()),
        Err(err) => Err(err),
    }
}

/// Creates `bat0` of `node` again with its member interfaces if another program deleted it; `true` if so.
pub(super) fn restore(
    namespace: &mut Namespace,
    (netns, node): (&Path, &str),
    own: Ipv4Addr,
    members: impl Iterator<Item = u32>,
) -> Result<bool, TestbedError> {
    let links = dump::links(&mut namespace.batch);
    let links = links.map_err(TestbedError::kernel("read interfaces"))?;
    if links.contains_key(&INDEX) {
        return Ok(false);
    }
    send_all(namespace, &setup(own).map(Action::Route), node)?;
    let members = members.filter(|member| links.contains_key(member));
    let members: Vec<Action> =
        members.map(|member| Action::Route(set_controller(member, INDEX))).collect();
    send_all(namespace, &members, node)?;
    tune(netns)?;
    Ok(true)
}

/// A route of batman-adv.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Route {
    /// Destination node, as hardware address of its first interface.
    pub orig_address: String,
    /// Link quality of the route (TQ), [0, 255].
    pub tq: f64,
    /// Next hop, as hardware address of its interface.
    pub neigh_address: String,
    /// Output interface.
    pub hard_ifname: String,
    /// Selection of this route.
    #[serde(default)]
    pub best: bool,
}

/// The selected routes.
pub fn routes(netns: &Path) -> Result<Vec<Route>, TestbedError> {
    let text = output_of(netns, PACKAGE_HINT, "batctl", &["meshif", "bat0", "originators_json"])?;
    let all: Vec<Route> = serde_json::from_str(&text).map_err(|err| TestbedError::Failed {
        program: "batctl".to_owned(),
        output: format!("{err}: {text}"),
    })?;
    Ok(all.into_iter().filter(|found| found.best).collect())
}
