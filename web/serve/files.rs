//! Files of a server: each is one, whatever writes or reads it.

use std::path::{Path, PathBuf};

use groundwave_command::file_identity::{named, refuse_shared};
use groundwave_files::rotated::Bounds;
use groundwave_http::Failure;
use groundwave_store::RedbStore;

use super::config::{ServerConfig, Service};

/// Files that a gateway writes in the folder of its state.
const OF_STATE: [&str; 7] = [
    "audit.jsonl",
    "bootstrap-admin",
    "firmware",
    "replies.jsonl",
    "telemetry.redb",
    "token.key",
    "tunnel.key",
];

impl ServerConfig {
    /// Refuses files that two options write, or that one writes and another reads; `log_file` is that of the
    /// program.
    ///
    /// # Errors
    /// With both options.
    pub fn refuse_shared(&self, log_file: Option<&Path>) -> Result<(), Failure> {
        let journals = RedbStore::journals(&self.db);
        let logs: Vec<_> = log_file.into_iter().flat_map(log_files).collect();
        let with_gateway = self.has(Service::Gateway);
        let of_state = OF_STATE.map(|name| self.gateway.state.file(name));
        let of_state = of_state.iter().filter(|_| with_gateway);
        let written: Vec<_> = named("--db", [&self.db])
            .chain(named("the journal of --db", &journals))
            .chain(named("--record", &self.record))
            .chain(named("--log-file", &logs))
            .chain(named("--state", of_state))
            .collect();
        let gateway = &self.gateway;
        let read: Vec<_> = named("--replay", &self.replays)
            .chain(named("--basemap", &self.basemap))
            .chain(named("--geoid", &self.geoid))
            .chain(named("--admin-password-file", &gateway.admin_password_file))
            .chain(named("--tls-cert", &gateway.tls_cert))
            .chain(named("--tls-key", &gateway.tls_key))
            .chain(named("--leases", &gateway.leases))
            .chain(named("--smtp-password-file", &gateway.flows.smtp_password_file))
            .chain(named("--mqtt-password-file", &gateway.flows.mqtt_password_file))
            .chain(named("--mqtt-ca", &gateway.flows.mqtt_ca))
            .collect();
        refuse_shared(&written, &read)
    }
}

/// The log file and the older ones beside it.
fn log_files(path: &Path) -> Vec<PathBuf> {
    let older = (1..=Bounds::USUAL.older_files).map(|age| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{age}"));
        PathBuf::from(name)
    });
    std::iter::once(path.to_owned()).chain(older).collect()
}
