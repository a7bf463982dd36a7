//! A node's agent: it asks the gateway to let the node in, and then tells how the node is.
//!
//! What comes next is `groundwave_io::agent`'s to decide; here it is done, on one thread.

mod run;
mod talk;
mod wire;

use std::net::SocketAddr;

use groundwave_io::agent::Rhythm;
use groundwave_io::agent::look::Source;
use groundwave_io::agent::request::TrustSecret;
use groundwave_io::i2c::Sensors;
use groundwave_io::netlink::wireguard::PrivateKey;

pub use run::{Agent, Seen};

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
    /// Where the tunnel listens, UDP; a port of the kernel's choice if there is none.
    pub listen_port: Option<u16>,
    /// The node's key.
    pub key: PrivateKey,
    /// The secret that proves where the node comes from.
    pub secret: Option<TrustSecret>,
    /// The code that an admin was given for this node.
    pub enrollment_code: Option<String>,
    /// Where gpsd listens.
    pub gpsd: SocketAddr,
    /// The sensors that are read.
    pub sensors: Sensors,
    /// When it does what.
    pub rhythm: Rhythm,
}
