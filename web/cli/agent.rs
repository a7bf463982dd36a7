//! `groundwave agent`: the agent of a node.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use groundwave::agent::{Agent as Node, Options, Seen};
use groundwave::http::serve::told_to_stop;
use groundwave_io::agent::look::Source;
use groundwave_io::agent::request::TrustSecret;
use groundwave_io::agent::{Bounds, Rhythm, keys};
use groundwave_io::host::privilege::keep_net_admin;
use groundwave_io::i2c::bus::Machine as Buses;
use groundwave_io::i2c::{Assigned, Choice, Probe, Sensors, template};
use groundwave_io::readings::Root;
use serde_json::json;

use super::failure::Failure;
use super::output::Output;

/// Log filter where `RUST_LOG` says nothing.
pub const LOG_FILTER: &str = "info";

/// Join this node to a mesh gateway and tell how it is
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Agent {
    /// The gateway on the underlay
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_GATEWAY",
        value_name = "ADDRESS:PORT",
        default_value = "10.41.0.1:8080"
    )]
    gateway: SocketAddr,

    /// The mesh interface
    #[arg(long, value_name = "NAME", default_value = "bat0")]
    mesh: String,

    /// The tunnel's interface; it is made where there is none
    #[arg(long, value_name = "NAME", default_value = "wg0")]
    tunnel: String,

    /// Talk on the underlay only, for machines without WireGuard
    #[arg(long)]
    no_tunnel: bool,

    /// Where the tunnel listens, UDP [default: the kernel's choice]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    listen_port: Option<u16>,

    /// The node's private key; made where there is none, and only for its owner to read
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_KEY",
        value_name = "FILE",
        default_value = "/var/lib/groundwave/node.key"
    )]
    key: PathBuf,

    /// The trust secret, base64, that proves where the node comes from
    #[arg(long, value_name = "FILE", requires = "key_id")]
    trust_secret: Option<PathBuf>,

    /// Name of the trust secret
    #[arg(long, value_name = "ID")]
    key_id: Option<String>,

    /// The code that an admin was given for this node
    #[arg(long, value_name = "FILE")]
    enrollment_code: Option<PathBuf>,

    /// Where gpsd listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2947")]
    gpsd: SocketAddr,

    /// Look for sensors on these I2C buses, only by reading [default: on none]
    #[arg(long, value_name = "auto|N[,N...]", conflicts_with = "fixture")]
    i2c: Option<Probe>,

    /// Read this sensor; may be said again [example: lm75@1:0x48]
    #[arg(
        long = "sensor",
        value_name = "TEMPLATE@BUS:ADDRESS",
        conflicts_with = "fixture"
    )]
    sensors: Vec<Assigned>,

    /// A folder of templates (*.toml) for sensors, besides those built in
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,

    /// Time between heartbeats; the gateway may ask for more
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = period)]
    period: f64,

    /// Look once, show what is seen and the heartbeat it would be, and stop
    #[arg(long)]
    once: bool,

    /// A folder with a file look.json that stands for this machine, as --once --json writes it
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  groundwave agent
  groundwave agent --once --json
  groundwave agent --once --i2c auto --sensor lm75@1:0x48
  groundwave agent --gateway 10.41.0.1:8080 --trust-secret /etc/groundwave/trust --key-id k1
  groundwave agent --fixture nodes/hill --no-tunnel --enrollment-code code --key hill.key

It waits until the mesh interface has a carrier and an address, asks the gateway to let the node
in, sets the tunnel up, logs in with the credential it is told through the tunnel, and beats. What
cannot be told is kept for an hour, in memory. It needs CAP_NET_ADMIN and gives up all else.
Log filter: RUST_LOG.";

const NOT_PROBED: &str = "\
sensors: nothing is probed; --i2c looks for them, --sensor names one
";

/// Times between heartbeats that make sense, s.
fn period(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let allowed = (0.5..=300.0).contains(&seconds);
    allowed
        .then_some(seconds)
        .ok_or_else(|| "allowed: 0.5 to 300".to_owned())
}

impl Agent {
    /// Works until told to stop.
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
            let told = told_to_stop()?;
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
        let choice = Choice {
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

fn sensors(choice: Choice, folder: Option<&Path>) -> Result<Sensors, Failure> {
    let templates = template::load(folder).map_err(Failure::Input)?;
    Sensors::new(choice, templates, Box::new(Buses::default())).map_err(Failure::Input)
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
            "{}: no secret of at least 16 bytes in base64",
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
    let probed = !sensors.choice().is_none();
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
