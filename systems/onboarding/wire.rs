//! What a node and the gateway say to each other when the node asks to be let in.

use core::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::address::{Mac, PublicKey};
use super::components::RegistrationState;

/// A request to be let in. Nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WgRegister {
    /// The node's WireGuard key.
    pub public_key: PublicKey,
    /// Hardware address of its mesh interface.
    pub mac: Mac,
    /// Its name, RFC 1123.
    #[schemars(
        length(min = 1, max = 63),
        regex(
            pattern = r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$"
        )
    )]
    pub hostname: String,
    /// Its underlay address; where the request comes from if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay_ip: Option<IpAddr>,
    /// Where its WireGuard listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub listen_port: Option<u16>,
    /// 16 to 32 random bytes in base64.
    #[schemars(length(min = 24, max = 44))]
    pub nonce: String,
    /// When it was made, RFC 3339.
    #[schemars(length(max = 40))]
    pub ts: String,
    /// HMAC-SHA256 under the trust secret of the message that `proof_message` makes, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 44))]
    pub proof: Option<String>,
    /// Which trust secret made the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub key_id: Option<String>,
    /// The code that an admin was given for this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub enrollment_code: Option<String>,
}

/// The gateway's end of the tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayEnd {
    /// Its WireGuard key.
    pub public_key: PublicKey,
    /// Where it listens, `10.41.0.1:51820`.
    pub endpoint: String,
    /// Its overlay address.
    pub overlay_ip: Ipv4Addr,
}

/// What a node logs in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credentials {
    /// Its name.
    pub username: String,
    /// Its secret, told this once.
    pub password: String,
}

/// Where a request stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WgRegisterResult {
    /// The registration.
    pub registration_id: Uuid,
    /// Where it stands.
    pub state: RegistrationState,
    /// The node, once approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Its overlay address, once approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// Length of the overlay's prefix, bits.
    pub overlay_prefix_len: u8,
    /// What the node sends into the tunnel, CIDR.
    pub allowed_ips: Vec<String>,
    /// The gateway's end, once approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewayEnd>,
    /// How often the node keeps its way through address translation open, s.
    pub persistent_keepalive: u16,
    /// Largest packet of the tunnel, bytes.
    pub mtu: u16,
    /// What it logs in with; only told through the tunnel, and only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// When to ask again, s, while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
}
