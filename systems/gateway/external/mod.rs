//! External systems: services beside the mesh that the gateway tests, polls and calls.

mod check;
mod endpoint;
mod preset;
mod system;

pub use check::{AuthKind, Check};
pub use endpoint::{Endpoint, EndpointPoll, HttpMethod, ParameterPlace};
pub use preset::Preset;
pub use system::{ENDPOINTS_BYTES_MAX, ExternalSystem, OWN_METRICS, TlsTrust};
