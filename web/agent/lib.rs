//! Agent of a node: registers it with the gateway and sends its heartbeats.
//!
//! The next task is decided by `groundwave_io_agent`; this module performs it, on one thread.

pub mod command;
mod connection;
mod run;
pub mod serve;
mod wire;

use std::net::SocketAddr;

use groundwave_credentials::PrivateKey;
use groundwave_host::i2c::Sensors;
use groundwave_io_agent::Rhythm;
use groundwave_io_agent::host_state::Source;
use groundwave_io_agent::node_commands::Permissions;
use groundwave_io_agent::request::TrustSecret;

pub use run::{Agent, Files, Reload, Seen};

/// Settings of an agent.
#[derive(Debug)]
pub struct Options {
    /// The gateway on the underlay, `address:port`.
    pub gateway: String,
    /// Source of the readings.
    pub source: Source,
    /// The mesh interface.
    pub mesh_ifname: String,
    /// The tunnel; `None` talks on the underlay all the time, for machines without WireGuard.
    pub tunnel_ifname: Option<String>,
    /// UDP port of the tunnel; without one the kernel chooses.
    pub listen_port: Option<u16>,
    /// The node's key.
    pub key: PrivateKey,
    /// The secret that proves where the node comes from.
    pub secret: Option<TrustSecret>,
    /// The code that an admin was given for this node.
    pub enrollment_code: Option<String>,
    /// Address of gpsd.
    pub gpsd: SocketAddr,
    /// The sensors that are read.
    pub sensors: Sensors,
    /// Node commands that the owner of the machine permitted.
    pub permissions: Permissions,
    /// When it does what.
    pub rhythm: Rhythm,
}
