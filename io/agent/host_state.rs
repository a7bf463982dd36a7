//! State of the machine at one moment: the source of a heartbeat.

use std::path::Path;

use groundwave_files::ReadingError;
use groundwave_files::Root;
use groundwave_host::readings::links::Interface;
use groundwave_host::readings::wireless::Radios;
use groundwave_host::readings::{RouteSocket, cpu, host, wireless};
use groundwave_netlink::batadv::{Batman, Gateway, Mesh, Neighbor, Originator};
use groundwave_protocol::HardwareAddress;
use serde::{Deserialize, Serialize};

use super::gpsd::Fix;

/// State of the mesh in batman-adv.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshState {
    /// The mesh interface.
    pub mesh: Mesh,
    /// Names of its hard interfaces.
    pub hardifs: Vec<String>,
    /// Ways to other nodes.
    pub originators: Vec<Originator>,
    /// Nodes in one hop.
    pub neighbors: Vec<Neighbor>,
    /// Nodes that offer a way out.
    pub gateways: Vec<Gateway>,
}

/// State of the machine at one moment. Fields without a source on this machine are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostState {
    /// Name of the host.
    pub hostname: String,
    /// Identifier of this boot, new after each reboot.
    pub boot_id: String,
    /// Time since boot, s.
    pub uptime_s: u64,
    /// Runnable tasks over a minute.
    pub load1: Option<f64>,
    /// Memory available to programs, bytes.
    pub mem_available_bytes: Option<u64>,
    /// The hottest sensor of the processor, °C.
    pub temp_c: Option<f64>,
    /// Interfaces.
    pub interfaces: Vec<Interface>,
    /// Radios.
    pub radios: Option<Radios>,
    /// The mesh.
    pub mesh: Option<MeshState>,
    /// Position fix, if there is one.
    pub fix: Option<Fix>,
}

/// Source of the machine's state.
#[derive(Debug, Clone)]
pub enum Source {
    /// This machine, the mesh interface of this name.
    Machine {
        /// The mesh interface, usually `bat0`.
        mesh_ifname: String,
        /// Folder of `/proc` and `/sys`.
        root: Root,
    },
    /// A folder with a file `look.json`, in place of a machine.
    Fixture(std::path::PathBuf),
}

impl Source {
    /// Reads the state of the machine.
    ///
    /// # Errors
    /// When there is no `/proc`, no netlink, or no fixture; what else is missing is absent.
    pub fn read(&self) -> Result<HostState, ReadingError> {
        match self {
            Self::Machine { mesh_ifname, root } => machine(mesh_ifname, root),
            Self::Fixture(folder) => fixture(folder),
        }
    }
}

fn fixture(folder: &Path) -> Result<HostState, ReadingError> {
    let path = folder.join("look.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|err| ReadingError::io(path.display().to_string(), err))?;
    serde_json::from_str(&text)
        .map_err(|err| ReadingError::decode(format!("{}: {err}", path.display())))
}

pub fn machine(mesh_ifname: &str, root: &Root) -> Result<HostState, ReadingError> {
    let interfaces = RouteSocket::open(None)?.interfaces(root)?;
    Ok(HostState {
        hostname: root.line("proc/sys/kernel/hostname").unwrap_or_default(),
        boot_id: root.line("proc/sys/kernel/random/boot_id").unwrap_or_default(),
        uptime_s: host::uptime_s(root)?,
        load1: host::load(root).ok().map(|[one, ..]| one),
        mem_available_bytes: groundwave_files::memory::memory(root)
            .ok()
            .map(|memory| memory.available),
        temp_c: cpu::temperature(root),
        interfaces,
        radios: wireless::read(None).ok(),
        mesh: mesh(mesh_ifname).ok(),
        fix: None,
    })
}

fn mesh(ifname: &str) -> Result<MeshState, ReadingError> {
    let mut batman = Batman::open(None)?;
    let hard = batman.hard_interfaces(ifname)?;
    Ok(MeshState {
        mesh: batman.mesh(ifname)?,
        hardifs: hard.into_iter().map(|one| one.hard_ifname).collect(),
        originators: batman.originators(ifname)?,
        neighbors: batman.neighbors(ifname)?,
        gateways: batman.gateways(ifname)?,
    })
}

/// A link that is ready: it has a carrier and an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// Hardware address.
    pub mac: HardwareAddress,
    /// IPv4 address.
    pub ip: std::net::Ipv4Addr,
}

impl HostState {
    /// The interface of this name.
    #[must_use]
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|one| one.name == name)
    }

    /// Link of the interface of this name, which has a carrier, a hardware address and a global address of its own.
    ///
    /// # Errors
    /// Obstacle, which ends a sentence about the interface.
    pub fn ready(&self, name: &str) -> Result<Ready, &'static str> {
        let interface = self.interface(name).ok_or("is absent")?;
        if !interface.carrier {
            return Err("is down or has no carrier");
        }
        let mac = interface.mac.ok_or("has no hardware address")?;
        let mut global = interface.ips.iter().filter(|one| one.scope == "global");
        let ip = global.find_map(|one| match one.address {
            std::net::IpAddr::V4(four) => Some(four),
            std::net::IpAddr::V6(_) => None,
        });
        ip.map(|ip| Ready { mac, ip }).ok_or("has no IPv4 address beyond this machine")
    }
}
