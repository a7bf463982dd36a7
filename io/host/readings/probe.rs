//! Sources of readings on this machine.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use groundwave_files::ReadingError;
use groundwave_files::Root;
use groundwave_netlink::NetlinkSocket;
use groundwave_netlink::batadv::Batman;
use groundwave_netlink::nl80211::Wireless;
use groundwave_netlink::wireguard::WireGuard;
use netlink_sys::protocols::NETLINK_NETFILTER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ports of the daemons asked for UPSs and places (NUT, gpsd).
const NUT_PORT: u16 = 3493;
const GPSD_PORT: u16 = 2947;
/// A daemon of this machine answers at once or is not there.
const PATIENCE: Duration = Duration::from_millis(200);

/// Source of readings of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// The kernel or a device, directly.
    Netlink,
    /// A program or daemon of this machine.
    Cli,
    /// Files that stand for a machine.
    Fixture,
    /// No source.
    Absent,
}

/// Sources of readings, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Backends {
    /// batman-adv.
    pub batman: Backend,
    /// Radios.
    pub nl80211: Backend,
    /// Tunnels.
    pub wireguard: Backend,
    /// The firewall.
    pub nft: Backend,
    /// Sensors.
    pub i2c: Backend,
    /// GPIO pins.
    pub gpio: Backend,
    /// Cameras.
    pub v4l2: Backend,
    /// UPSs.
    pub nut: Backend,
    /// Positions.
    pub gpsd: Backend,
}

/// Looks which sources there are, in the network namespace at `netns` or that of the calling
/// thread. Takes some milliseconds.
#[must_use]
pub fn probe(root: &Root, netns: Option<&Path>) -> Backends {
    let device = |prefix: &str| {
        let names = root.names("dev");
        let there = names.iter().any(|name| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        });
        kernel(there)
    };
    let netfilter = NetlinkSocket::open(NETLINK_NETFILTER, netns)
        .map_err(|err| ReadingError::io("open a netlink socket", err));
    Backends {
        batman: kernel(has(Batman::open(netns))),
        nl80211: kernel(has(Wireless::open(netns))),
        wireguard: kernel(has(WireGuard::open(netns))),
        nft: kernel(has(netfilter) && has_nft(root)),
        i2c: device("i2c-"),
        gpio: device("gpiochip"),
        v4l2: device("video"),
        nut: daemon(NUT_PORT),
        gpsd: daemon(GPSD_PORT),
    }
}

/// A source that may not be asked is there nevertheless.
fn has<T>(opened: Result<T, ReadingError>) -> bool {
    match opened {
        Ok(_) => true,
        Err(err) => !err.is_absent(),
    }
}

/// A netfilter socket does not show its tables; the kernel's list of modules and symbols does.
fn has_nft(root: &Root) -> bool {
    root.path("sys/module/nf_tables").exists()
        || root.path("proc/sys/net/netfilter/nf_log_all_netns").exists()
}

fn kernel(there: bool) -> Backend {
    if there { Backend::Netlink } else { Backend::Absent }
}

fn daemon(port: u16) -> Backend {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match TcpStream::connect_timeout(&address, PATIENCE) {
        Ok(_) => Backend::Cli,
        Err(_) => Backend::Absent,
    }
}
