//! Notices by the servers of the gateway: e-mail over SMTP, messages over MQTT.
//!
//! Addresses and credentials come from the configuration of the start, never from a request.

mod mqtt;
mod servers;
mod smtp;

pub use mqtt::{MqttBroker, MqttMessage};
pub use servers::FlowServers;
pub use smtp::SmtpServer;

/// Notice that a server did not accept.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct NoticeError {
    /// Cause.
    pub what: String,
    /// A further attempt may succeed.
    pub may_pass: bool,
}
