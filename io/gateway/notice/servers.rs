//! Servers that automation flows reach.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{MqttBroker, SmtpServer};

/// Servers that automation flows reach, as configured.
#[derive(Clone, Default)]
pub struct FlowServers {
    /// SMTP server.
    pub smtp: Option<SmtpServer>,
    /// MQTT broker.
    pub mqtt: Option<MqttBroker>,
    /// Socket of the impairment daemon.
    pub impaird: Option<PathBuf>,
    /// Address of the planning server.
    pub planner: Option<String>,
}

impl FlowServers {
    /// Kinds of servers, and `configured` or `absent`.
    #[must_use]
    pub fn names(&self) -> BTreeMap<String, String> {
        let all = [
            ("smtp", self.smtp.is_some()),
            ("mqtt", self.mqtt.is_some()),
            ("impaird", self.impaird.is_some()),
            ("planner", self.planner.is_some()),
        ];
        let word = |there: bool| if there { "configured" } else { "absent" };
        all.map(|(name, there)| (name.to_owned(), word(there).to_owned())).into()
    }
}

/// Without credentials.
impl std::fmt::Debug for FlowServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.names()).finish()
    }
}
