//! Messages between a node and the gateway during onboarding.

use core::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::RegistrationState;
use crate::{Mac, PublicKey};

/// A join request. Nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WgRegister {
    /// WireGuard public key of the node.
    pub public_key: PublicKey,
    /// Hardware address of its mesh interface.
    pub mac: Mac,
    /// Host name, RFC 1123.
    #[schemars(
        length(min = 1, max = 63),
        regex(
            pattern = r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$"
        )
    )]
    pub hostname: String,
    /// Underlay address; the source of the request if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay_ip: Option<IpAddr>,
    /// WireGuard port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub listen_port: Option<u16>,
    /// Nonce of a challenge, or 16 to 32 random bytes in base64; for one use.
    #[schemars(length(min = 24, max = 44))]
    pub nonce: String,
    /// Time of the request, RFC 3339; at most 300 s from the gateway's time.
    #[schemars(length(max = 40))]
    pub ts: String,
    /// HMAC-SHA256 under the trust secret of the message that `proof_message` makes, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 44))]
    pub proof: Option<String>,
    /// Key id of the trust secret of the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub key_id: Option<String>,
    /// Enrollment code given to an admin for this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub enrollment_code: Option<String>,
    /// Proof of possession of the private key, in base64: HMAC-SHA256 of the message that
    /// `key_proof_message` makes, under the X25519 secret shared by the node's key and the key of the
    /// challenge; its nonce is the `nonce` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(equal = 44))]
    pub key_proof: Option<String>,
    /// Asks for the credential sealed to the key, as nodes without a tunnel do; needs `key_proof`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seal_credentials: bool,
}

/// Challenge of the gateway for one join request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WgChallenge {
    /// Nonce of the request, base64, for one use.
    pub nonce: String,
    /// Key of the gateway for the proof of possession.
    pub public_key: PublicKey,
    /// Time of the gateway, RFC 3339: `ts` of the request, for nodes whose clock may be wrong.
    pub ts: String,
    /// Validity of the nonce, s.
    pub expires_in_s: u32,
}

/// WireGuard end point of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayEnd {
    /// WireGuard public key.
    pub public_key: PublicKey,
    /// Endpoint, `10.41.0.1:51820`.
    pub endpoint: String,
    /// Overlay address.
    pub overlay_ip: Ipv4Addr,
}

/// Credential of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credentials {
    /// User name.
    pub username: String,
    /// Secret, transmitted once.
    pub password: String,
}

/// Result of a join request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WgRegisterResult {
    /// Registration id.
    pub registration_id: Uuid,
    /// State.
    pub state: RegistrationState,
    /// Node id, once approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Overlay address, once approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// Prefix length of the overlay, bits.
    pub overlay_prefix_len: u8,
    /// Ranges the node routes into the tunnel, CIDR.
    pub allowed_ips: Vec<String>,
    /// WireGuard end point of the gateway, once approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewayEnd>,
    /// Persistent keepalive interval, s.
    pub persistent_keepalive: u16,
    /// MTU of the tunnel, bytes.
    pub mtu: u16,
    /// Credential, once only and only through the tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// Credential sealed to the node's key: base64 of XChaCha20-Poly1305 over the JSON of
    /// `credentials`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_credentials: Option<String>,
    /// Time until the next request, s, while pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
}
