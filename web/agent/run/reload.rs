//! The files of the configuration, read again while the agent runs.

use groundwave_credentials::PrivateKey;
use groundwave_host::i2c::Sensors;
use groundwave_http::serve::HangupSignal;
use groundwave_io_agent::Machine;
use groundwave_io_agent::request::TrustSecret;

use super::Agent;

/// Content of the files of a configuration.
#[derive(Debug)]
pub struct Files {
    /// The node's key.
    pub key: PrivateKey,
    /// The secret that proves where the node comes from.
    pub secret: Option<TrustSecret>,
    /// The code that an admin was given for this node.
    pub enrollment_code: Option<String>,
    /// The sensors that are read.
    pub sensors: Sensors,
}

/// Requests to read the files again, and how.
pub struct Reload {
    /// Requests.
    pub signal: HangupSignal,
    /// Reads the files; the error in words.
    pub read: Box<dyn FnMut() -> Result<Files, String>>,
}

impl Agent {
    /// Takes over the files of the configuration. Another key, or another proof of a node that is not admitted
    /// yet, begins the registration anew. Files that cannot be used change nothing.
    pub(super) fn reload(&mut self, files: Result<Files, String>) {
        let Files { key, secret, enrollment_code, sensors } = match files {
            Ok(files) => files,
            Err(problem) => {
                tracing::error!(
                    problem,
                    "the configuration is not read again; the present one stays"
                );
                return;
            }
        };
        let has_other_key = key.to_text() != self.options.key.to_text();
        let has_other_proof =
            secret != self.options.secret || enrollment_code != self.options.enrollment_code;
        self.options.key = key;
        self.options.secret = secret;
        self.options.enrollment_code = enrollment_code;
        self.options.sensors = sensors;
        // What the gateway assigned is asked for with the next heartbeat.
        self.sensors_revision = None;
        let is_admitted = self.credentials.is_some();
        if !has_other_key && (is_admitted || !has_other_proof) {
            tracing::info!("the configuration is read again; the registration stays");
            return;
        }
        let cause = if has_other_key { "another key" } else { "another proof" };
        tracing::info!(cause, "the configuration is read again; registration begins anew");
        (self.registered, self.credentials) = (None, None);
        (self.token, self.node_id) = (None, None);
        let now_ms = self.now_ms();
        self.machine = Machine::new(self.options.rhythm, now_ms);
        self.machine.set_backlog(!self.backlog.is_empty());
    }
}
