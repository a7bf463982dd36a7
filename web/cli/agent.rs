//! `groundwave agent`: node agent.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use groundwave::agent::{Agent as Node, Options, Seen};
use groundwave::http::serve::shutdown_signal;
use groundwave_io::agent::look::Source;
use groundwave_io::agent::request::TrustSecret;
use groundwave_io::agent::{Bounds, Rhythm, keys};
use groundwave_io::host::privilege::keep_net_admin;
use groundwave_io::i2c::bus::MachineBuses;
use groundwave_io::i2c::load::load;
use groundwave_io::i2c::{AssignedSensor, ProbeBuses, SensorSelection, Sensors};
use groundwave_io::readings::Root;
use serde_json::json;

use super::failure::Failure;
use super::output::Output;

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "info";

/// Enrol this node at a mesh gateway and report its state
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Agent {
    /// Address of the gateway on the underlay
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_GATEWAY",
        value_name = "ADDRESS:PORT",
        default_value = "10.41.0.1:8080"
    )]
    gateway: SocketAddr,

    /// Mesh interface
    #[arg(long, value_name = "NAME", default_value = "bat0")]
    mesh: String,

    /// WireGuard interface; created if missing
    #[arg(long, value_name = "NAME", default_value = "wg0")]
    tunnel: String,

    /// Use the underlay only, for machines without WireGuard
    #[arg(long)]
    no_tunnel: bool,

    /// UDP port of the tunnel [default: chosen by the kernel]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    listen_port: Option<u16>,

    /// File with the private key of the node; created with mode 0600 if missing
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_KEY",
        value_name = "FILE",
        default_value = "/var/lib/groundwave/node.key"
    )]
    key: PathBuf,

    /// File with the trust secret, base64, that authenticates the enrolment
    #[arg(long, value_name = "FILE", requires = "key_id")]
    trust_secret: Option<PathBuf>,

    /// Identifier of the trust secret
    #[arg(long, value_name = "ID")]
    key_id: Option<String>,

    /// File with the enrolment code of this node
    #[arg(long, value_name = "FILE")]
    enrollment_code: Option<PathBuf>,

    /// Address of gpsd
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2947")]
    gpsd: SocketAddr,

    /// I2C buses probed for sensors, by reads only [default: none]
    #[arg(long, value_name = "auto|N[,N...]", conflicts_with = "fixture")]
    i2c: Option<ProbeBuses>,

    /// Sensor to read; repeatable [example: lm75@1:0x48]
    #[arg(
        long = "sensor",
        value_name = "TEMPLATE@BUS:ADDRESS",
        conflicts_with = "fixture"
    )]
    sensors: Vec<AssignedSensor>,

    /// Folder of sensor templates (*.toml) in addition to those built in
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,

    /// Heartbeat interval, 0.5 to 300 s; the gateway may lengthen it
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = period)]
    period: f64,

    /// Take one reading, show it with its heartbeat, and stop
    #[arg(long)]
    once: bool,

    /// Folder with look.json, written by --once --json, used instead of this machine
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
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
capabilities. Log filter: RUST_LOG.";

const NOT_PROBED: &str = "\
sensors: no bus probed; --i2c probes buses, --sensor names a sensor
";

/// Heartbeat interval, s, [0.5, 300].
fn period(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let allowed = (0.5..=300.0).contains(&seconds);
    allowed
        .then_some(seconds)
        .ok_or_else(|| "allowed: 0.5 to 300".to_owned())
}

impl Agent {
    /// Runs until a stop signal.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let once = self.once;
        let mut node = Node::new(self.options()?)?;
        if once {
            return show(&mut node, output);
        }
        // Before any other thread: they inherit what this one keeps.
        let kept = keep_net_admin()?;
        tracing::info!("capabilities kept: {kept}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async move {
            let told = shutdown_signal()?;
            node.run(told).await;
            tracing::info!("stopped");
            Ok(())
        })
    }

    fn options(self) -> Result<Options, Failure> {
        let source = match &self.fixture {
            Some(folder) => Source::Fixture(folder.clone()),
            None => Source::Machine {
                mesh_ifname: self.mesh.clone(),
                root: Root::default(),
            },
        };
        // A look needs no key of its own; a throw-away one keeps the machine as it is.
        let key = match self.once {
            true => groundwave_io::netlink::wireguard::PrivateKey::generate()?,
            false => keys::private_key(&self.key).map_err(Failure::input)?,
        };
        let choice = SensorSelection {
            probe: self.i2c.unwrap_or_default(),
            assigned: self.sensors,
        };
        let sensors = sensors(choice, self.templates.as_deref())?;
        let period_ms = (self.period * 1000.0) as u64;
        let usual = Rhythm::default();
        let least_ms = usual.bounds.least_ms.min(period_ms);
        Ok(Options {
            gateway: self.gateway.to_string(),
            source,
            mesh_ifname: self.mesh,
            tunnel_ifname: (!self.no_tunnel).then_some(self.tunnel),
            listen_port: self.listen_port,
            key,
            secret: secret(self.trust_secret.as_deref(), self.key_id)?,
            enrollment_code: self.enrollment_code.as_deref().map(text).transpose()?,
            gpsd: self.gpsd,
            sensors,
            rhythm: Rhythm {
                period_ms,
                bounds: Bounds {
                    least_ms,
                    ..usual.bounds
                },
                ..usual
            },
        })
    }
}

fn sensors(choice: SensorSelection, folder: Option<&Path>) -> Result<Sensors, Failure> {
    let templates = load(folder).map_err(Failure::Input)?;
    Sensors::new(choice, templates, Box::new(MachineBuses::default())).map_err(Failure::Input)
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|err| Failure::Input(format!("{}: {err}", path.display())))?;
    Ok(text.trim().to_owned())
}

fn secret(path: Option<&Path>, key_id: Option<String>) -> Result<Option<TrustSecret>, Failure> {
    let (Some(path), Some(key_id)) = (path, key_id) else {
        return Ok(None);
    };
    let found = TrustSecret::from_text(key_id, &text(path)?);
    let wrong = || {
        Failure::Input(format!(
            "{}: invalid trust secret, allowed base64 of at least 16 bytes",
            path.display()
        ))
    };
    found.ok_or_else(wrong).map(Some)
}

fn show(node: &mut Node, output: Output) -> Result<(), Failure> {
    let Seen {
        look,
        readings,
        beat,
        sensors,
        faults,
    } = node.once().map_err(Failure::machine)?;
    let probed = !sensors.selection().is_none();
    if output.json {
        // Its own file can be the fixture of another agent.
        let mut shown = serde_json::to_value(look).map_err(Failure::machine)?;
        shown["readings"] = json!(readings);
        shown["beat"] = json!(beat);
        shown["sensors"] = json!({ "probed": probed, "found": sensors.found(), "faults": faults });
        return output.json(&shown);
    }
    let mut lines = format!(
        "{}: up {} s, {} interfaces\n",
        look.hostname,
        look.uptime_s,
        look.interfaces.len()
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
