//! The node agent.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{BoolishValueParser, PathBufValueParser, TypedValueParser};
use groundwave_files::Root;
use groundwave_host::i2c::bus::MachineBuses;
use groundwave_host::i2c::load::load;
use groundwave_host::i2c::{AssignedSensor, ProbeBuses, SensorSelection, Sensors};
use groundwave_host::privilege::keep_net_admin;
use groundwave_http::Failure;
use groundwave_http::option_value::{file_path, interface_name, require_existing_if_some};
use groundwave_http::serve::{HangupSignal, shutdown_signal};
use groundwave_io_agent::firmware::{Firmware, Installer};
use groundwave_io_agent::host_state::Source;
use groundwave_io_agent::mesh_settings::{KernelMesh, MeshSettings};
use groundwave_io_agent::node_commands::Permissions;
use groundwave_io_agent::reboot::Reboot;
use groundwave_io_agent::request::TrustSecret;
use groundwave_io_agent::{Backoff, Rhythm, keys};

use crate::{Agent, Files, Options, Reload};

/// Configuration of the agent.
#[derive(Debug, Clone, Args)]
pub struct AgentConfig {
    /// Address of the gateway on the underlay
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_GATEWAY",
        value_name = "ADDRESS:PORT",
        default_value = "10.41.0.1:8080"
    )]
    pub gateway: SocketAddr,

    /// Mesh interface
    #[arg(long, value_name = "NAME", value_parser = interface_name, default_value = "bat0")]
    pub mesh: String,

    /// WireGuard interface; created if missing
    #[arg(long, value_name = "NAME", value_parser = interface_name, default_value = "wg0")]
    pub tunnel: String,

    /// Use the underlay only, for machines without WireGuard
    #[arg(long)]
    pub no_tunnel: bool,

    /// UDP port of the tunnel [default: chosen by the kernel]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub listen_port: Option<u16>,

    /// File with the private key of the node; created with mode 0600 if missing
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_KEY",
        value_name = "FILE",
        default_value = "/var/lib/groundwave/node.key",
        value_parser = PathBufValueParser::new().try_map(file_path)
    )]
    pub key: PathBuf,

    /// File with the trust secret, base64, that authenticates the enrolment
    #[arg(long, value_name = "FILE", requires = "key_id")]
    pub trust_secret: Option<PathBuf>,

    /// Identifier of the trust secret
    #[arg(long, value_name = "ID", requires = "trust_secret")]
    pub key_id: Option<String>,

    /// File with the enrolment code of this node
    #[arg(long, value_name = "FILE")]
    pub enrollment_code: Option<PathBuf>,

    /// Address of gpsd
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2947")]
    pub gpsd: SocketAddr,

    /// I2C buses probed for sensors, by reads only [default: none]
    #[arg(long, value_name = "auto|N[,N...]", conflicts_with = "fixture")]
    pub i2c: Option<ProbeBuses>,

    /// Sensor to read; repeatable [example: lm75@1:0x48]
    #[arg(long = "sensor", value_name = "TEMPLATE@BUS:ADDRESS", conflicts_with = "fixture")]
    pub sensors: Vec<AssignedSensor>,

    /// Folder of sensor templates (*.toml) in addition to those built in
    #[arg(long, value_name = "DIR")]
    pub templates: Option<PathBuf>,

    /// Heartbeat interval, 0.5 to 300 s; the gateway may lengthen it
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = period)]
    pub period: f64,

    /// Let the gateway restart this machine, as Ctrl-Alt-Del does
    #[arg(long, env = "GROUNDWAVE_AGENT_ALLOW_REBOOT", value_parser = BoolishValueParser::new())]
    pub allow_reboot: bool,

    /// Let the gateway change batman-adv settings of the mesh interface; undone unless it is heard in time
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_ALLOW_CONFIGURE",
        conflicts_with = "fixture",
        value_parser = BoolishValueParser::new()
    )]
    pub allow_configure: bool,

    /// Program that installs firmware: called with the file of an image and its version
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_FIRMWARE_COMMAND",
        value_name = "PROGRAM",
        requires = "firmware_version"
    )]
    pub firmware_command: Option<PathBuf>,

    /// File whose first line is the version of the installed firmware
    #[arg(
        long,
        env = "GROUNDWAVE_AGENT_FIRMWARE_VERSION",
        value_name = "FILE",
        requires = "firmware_command"
    )]
    pub firmware_version: Option<PathBuf>,

    /// Folder with look.json, written by --once --json, used instead of this machine
    #[arg(long, value_name = "DIR")]
    pub fixture: Option<PathBuf>,
}

/// Heartbeat interval, s, [0.5, 300].
fn period(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.5..=300.0).contains(seconds));
    seconds.ok_or_else(|| format!("found {text:?}, allowed 0.5 to 300 s"))
}

/// Opens the agent; for one reading (`once`) it uses a temporary key.
///
/// # Errors
/// When an option, a key or a template is invalid.
pub fn open(config: AgentConfig, once: bool) -> Result<Agent, Failure> {
    Ok(Agent::new(config.options(once)?)?)
}

/// Drops all capabilities but CAP_NET_ADMIN and runs the agent until a stop signal; SIGHUP reads the files
/// of its configuration again.
///
/// # Errors
/// When the machine fails.
pub fn run(agent: Agent, config: AgentConfig) -> Result<(), Failure> {
    // Before any other thread: threads inherit the capabilities.
    let capabilities = keep_net_admin()?;
    tracing::info!("capabilities kept: {capabilities}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        let stop = shutdown_signal()?;
        let signal = HangupSignal::listen()?;
        let read = Box::new(move || config.files().map_err(|failure| failure.message().to_owned()));
        groundwave_http::notify::ready()?;
        agent.run(stop, Reload { signal, read }).await;
        tracing::info!("stopped");
        Ok(())
    })
}

impl AgentConfig {
    /// Permitted node commands; what this machine cannot do is refused.
    fn permissions(&self) -> Result<Permissions, Failure> {
        let reboot = self
            .allow_reboot
            .then(Reboot::probe)
            .transpose()
            .map_err(|why| Failure::Input(format!("invalid --allow-reboot: {why}")))?;
        let mesh_settings = self.allow_configure.then(|| {
            let ifname = self.mesh.clone();
            MeshSettings::new(
                Box::new(KernelMesh { ifname }),
                &self.key.with_extension("unconfirmed"),
            )
        });
        let firmware = match (&self.firmware_command, &self.firmware_version) {
            (Some(command), Some(version)) => {
                let installer =
                    Installer::probe(command, version, &self.key.with_extension("firmware"));
                let wrong = |why| Failure::Input(format!("invalid --firmware-command: {why}"));
                Some(Firmware::new(installer.map_err(wrong)?))
            }
            _ => None,
        };
        Ok(Permissions {
            reboot,
            firmware,
            mesh_settings: mesh_settings.transpose().map_err(Failure::Input)?,
        })
    }

    /// Refuses files that are not there.
    fn require_inputs(&self) -> Result<(), Failure> {
        for (option, path, allowed) in [
            ("--trust-secret", &self.trust_secret, "a file with the trust secret, base64"),
            ("--enrollment-code", &self.enrollment_code, "a file with the code of this node"),
            ("--templates", &self.templates, "a folder of sensor templates (*.toml)"),
        ] {
            require_existing_if_some(option, path.as_deref(), allowed)?;
        }
        Ok(())
    }

    /// The files of the configuration.
    fn files(&self) -> Result<Files, Failure> {
        self.require_inputs()?;
        let choice = SensorSelection {
            probe: self.i2c.clone().unwrap_or_default(),
            assigned: self.sensors.clone(),
        };
        Ok(Files {
            key: keys::private_key(&self.key).map_err(Failure::input)?,
            secret: secret(self.trust_secret.as_deref(), self.key_id.clone())?,
            enrollment_code: self.enrollment_code.as_deref().map(text).transpose()?,
            sensors: sensors(choice, self.templates.as_deref())?,
        })
    }

    fn options(self, once: bool) -> Result<Options, Failure> {
        self.require_inputs()?;
        let source = match &self.fixture {
            Some(folder) => {
                let file = folder.join("look.json");
                if !file.is_file() {
                    return Err(Failure::Input(format!(
                        "invalid --fixture: found no {}, allowed a folder with look.json, written by \
                         --once --json",
                        file.display()
                    )));
                }
                Source::Fixture(folder.clone())
            }
            None => Source::Machine { mesh_ifname: self.mesh.clone(), root: Root::default() },
        };
        // One reading leaves the machine unchanged: no key is created.
        let key = match once {
            true => groundwave_credentials::PrivateKey::generate()?,
            false => keys::private_key(&self.key).map_err(Failure::input)?,
        };
        let permissions = match once {
            true => Permissions::default(),
            false => self.permissions()?,
        };
        let choice =
            SensorSelection { probe: self.i2c.unwrap_or_default(), assigned: self.sensors };
        let sensors = sensors(choice, self.templates.as_deref())?;
        let period_ms = (self.period * 1000.0) as u64;
        let usual = Rhythm::default();
        let least_ms = usual.backoff.least_ms.min(period_ms);
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
            permissions,
            rhythm: Rhythm { period_ms, backoff: Backoff { least_ms, ..usual.backoff }, ..usual },
        })
    }
}

fn sensors(choice: SensorSelection, folder: Option<&Path>) -> Result<Sensors, Failure> {
    let templates = load(folder).map_err(Failure::Input)?;
    Sensors::new(choice, templates, Box::new(MachineBuses::default())).map_err(Failure::Input)
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|err| Failure::Input(format!("{}: {err}", path.display())))?;
    Ok(text.trim().to_owned())
}

fn secret(path: Option<&Path>, key_id: Option<String>) -> Result<Option<TrustSecret>, Failure> {
    let (Some(path), Some(key_id)) = (path, key_id) else {
        return Ok(None);
    };
    let secret = TrustSecret::from_text(key_id, &text(path)?);
    let wrong = || {
        Failure::Input(format!(
            "{}: invalid trust secret, allowed base64 of at least 16 bytes",
            path.display()
        ))
    };
    secret.ok_or_else(wrong).map(Some)
}
