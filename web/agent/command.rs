//! The command of the node agent: `groundwave agent` and `groundwave-agent`.

use clap::Args;
use groundwave_command::output::Output;
use groundwave_http::Failure;
use serde_json::json;

use crate::serve::AgentConfig;
use crate::{Agent as Node, Seen, serve};

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "info";

/// Enrol this node at a mesh gateway and report its state
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Agent {
    #[command(flatten)]
    config: AgentConfig,

    /// Take one reading, show it with its heartbeat, and stop
    #[arg(long)]
    once: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundwave agent --once
  groundwave agent --once --i2c auto --sensor lm75@1:0x48
  mkdir -p hill && groundwave agent --once --json > hill/look.json
  groundwave agent --once --fixture hill
  groundwave agent --fixture hill --no-tunnel --gateway 127.0.0.1:8080 --key hill.key
  groundwave agent --gateway 10.41.0.1:8080 --trust-secret /etc/groundwave/trust --key-id k1

The agent waits until the mesh interface has a carrier and an address, enrols at the gateway, sets
the tunnel up, logs in with the credential it receives through the tunnel, and sends heartbeats.
Unsent heartbeats are kept in memory for an hour. Needs CAP_NET_ADMIN and drops all other
capabilities. SIGHUP reads key, trust secret, enrolment code and sensor templates again; another key, or
another proof of a node that waits for its admission, begins the registration anew. Log filter: RUST_LOG.";

const NOT_PROBED: &str = "\
sensors: no bus probed; --i2c probes buses, --sensor names a sensor
";

impl Agent {
    /// Runs until a stop signal.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut node = serve::open(self.config.clone(), self.once)?;
        match self.once {
            true => show(&mut node, output),
            false => serve::run(node, self.config),
        }
    }
}

fn show(node: &mut Node, output: Output) -> Result<(), Failure> {
    let Seen { host, readings, beat, sensors, faults } = node.once().map_err(Failure::machine)?;
    let probed = !sensors.selection().is_none();
    if output.json {
        // The agent's own output can be the fixture of another agent.
        let mut shown = serde_json::to_value(host).map_err(Failure::machine)?;
        shown["readings"] = json!(readings);
        shown["beat"] = json!(beat);
        shown["sensors"] = json!({ "probed": probed, "found": sensors.found(), "faults": faults });
        return output.json(&shown);
    }
    let mut lines = format!(
        "{}: up {} s, {} interfaces\n",
        host.hostname,
        host.uptime_s,
        host.interfaces.len()
    );
    for (name, value) in readings {
        lines.push_str(&format!("{name} {value}\n"));
    }
    if !probed {
        lines.push_str(NOT_PROBED);
    }
    for one in sensors.found() {
        let (name, bus, address) = (one.name, one.bus, one.address);
        lines.push_str(&format!("sensor {name} at {bus}:{address:#04x}\n"));
    }
    for fault in faults {
        lines.push_str(&format!("{fault}\n"));
    }
    output.text(&lines)
}
