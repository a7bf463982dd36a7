//! The wire types between gateway and node agent: enrolment, heartbeats, metrics, addresses and proofs.

pub mod address;
mod enrolment;
mod hardware_address;
pub mod heartbeat;
mod hostname;
pub mod metrics;
mod node_state;
pub mod proof;
mod registration_state;

pub use address::{Mac, PublicKey, six_bytes};
pub use enrolment::{Credentials, GatewayEnd, WgChallenge, WgRegister, WgRegisterResult};
pub use hardware_address::HardwareAddress;
pub use heartbeat::{
    DispatchedCommand, Heartbeat, HeartbeatAck, Interface, MeshLink, MeshReport, RadioReport,
    RejectedEntry, Transport, TransportKind,
};
pub use hostname::{check_hostname, is_hostname};
pub use metrics::{
    CORE_METRICS, METRICS_MAX, NAMES_MAX, Reading, Readings, Sample, check_metric, check_reading,
    unit_of,
};
pub use node_state::NodeState;
pub use proof::{
    KEY_PROOF_DOMAIN, PROOF_DOMAIN, Proof, key_message as key_proof_message,
    message as proof_message,
};
pub use registration_state::RegistrationState;
