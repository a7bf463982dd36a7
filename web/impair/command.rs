//! The command of the impairment daemon: `groundwave impaird` and `groundwave-impaird`.

use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_command::output::Output;
use groundwave_files::access::Access;
use groundwave_http::Failure;
use groundwave_impair::{Direction, Extensions};
use groundwave_io_impair::config;
use groundwave_io_impair::config::{BASELINE_PATH, CONFIG_PATH, Config, TABLES_PATH};
use groundwave_io_impair::port_name::PortName;

use crate::ports::bus_address;
use crate::serve::ImpairDaemon;

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "info";

/// The unit file for systemd.
const UNIT: &str = include_str!("impaird.service");

/// Line of the unit file before which that of the group stands.
const UNIT_GROUP_PLACE: &str = "\n# Netlink to the kernel";

/// Lines of the unit file, and what they are for ports in other namespaces: to enter those of other processes.
const UNIT_OF_NAMESPACES: [(&str, &str); 3] = [
    (
        "AmbientCapabilities=CAP_NET_ADMIN\n",
        "AmbientCapabilities=CAP_NET_ADMIN CAP_SYS_ADMIN CAP_SYS_PTRACE\n",
    ),
    (
        "CapabilityBoundingSet=CAP_NET_ADMIN\n",
        "CapabilityBoundingSet=CAP_NET_ADMIN CAP_SYS_ADMIN CAP_SYS_PTRACE\n",
    ),
    ("RestrictNamespaces=yes\n", "RestrictNamespaces=net\n"),
];

/// Serve the impairment API on a Unix socket
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Impaird {
    /// Configuration file [default: /etc/impair/impaird.toml if it exists]
    #[arg(long, env = "IMPAIRD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Socket path; overrides the configuration [default: /run/impair/impair.sock]
    #[arg(long, env = "IMPAIR_SOCKET", value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Interfaces of port1, port2 and further ports, up to port32, instead of a configuration file;
    /// incoming:eth1 is the incoming traffic of one; netns:NAME/, pid:N/ or container:NAME/ before it is
    /// the network namespace it is in
    #[arg(long, num_args = 2..=Direction::COUNT_MAX, value_name = "PORT", conflicts_with = "config")]
    interfaces: Option<Vec<String>>,

    /// Replace the root discipline of another program, with all under it, by the first impairment of its
    /// interface; without it such an interface is left alone and cannot be shaped
    #[arg(long)]
    take_over: bool,

    /// Check the configuration and exit
    #[arg(long)]
    check: bool,

    /// Print the systemd unit file and exit; with the group of the configuration, if it has one, and the
    /// capabilities for its ports in other namespaces
    #[arg(long)]
    unit: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundwave impaird --config examples/impaird.toml --check
  groundwave impaird --unit > impaird.service
  sudo groundwave impaird --interfaces eth1 eth2
  sudo groundwave impaird --interfaces eth0 incoming:eth0
  sudo groundwave impaird --interfaces eth1 eth2 eth3 eth4
  sudo groundwave impaird --interfaces netns:blue/veth0 container:web/eth0

Configuration file; every key but ports shows its default:
  socket = \"/run/impair/impair.sock\"
  mode = \"0660\"                             # of the socket
  group = \"netdev\"                          # of the socket and, by --unit, of the process
  baseline_path = \"/var/lib/impair/baseline.json\"
  tables = \"/var/lib/impair/dist\"           # <name>.table, delay distributions
  log = \"/var/lib/impair/log\"               # folder of replayable logs; default: none
  extensions = []                           # gilbert-elliott, paretonormal
  take_over = false                         # replace the root disciplines of other programs
  [[ports]]
  direction = \"port1\"
  interface = \"eth1\"
  [[ports]]
  direction = \"port2\"
  interface = \"eth2\"                      # or incoming:eth1, its incoming traffic
  [[ports]]                                 # further ports, up to port32, without a gap
  direction = \"port3\"
  interface = \"eth3\"

The API is described at /swagger-ui and /api-docs/openapi.json; `groundwave impair` is its client.
Access to the socket is full access. Changes are logged with target `audit`. Impairments stay in
force when the daemon stops. Log filter: RUST_LOG.";

/// Shows the ports of a valid configuration, each with its presence on this machine, and the socket.
fn show(config: &Config, output: Output) -> Result<(), Failure> {
    let is_missing = |port: &PortName| port.namespace.is_none() && bus_address(port).is_empty();
    let ports = Direction::first(config.ports.len()).zip(&config.ports);
    if output.json {
        let ports = ports.map(|(direction, port)| {
            serde_json::json!({
                "direction": direction.to_string(),
                "port": port.to_string(),
                "present": !is_missing(port),
            })
        });
        let ports: Vec<_> = ports.collect();
        return output.json(&serde_json::json!({ "ports": ports, "socket": config.socket }));
    }
    let text = |port: &PortName| match is_missing(port) {
        true => format!("{port} (no such interface at present)"),
        false => port.to_string(),
    };
    let ports: Vec<_> =
        ports.map(|(direction, port)| format!("{direction} {}", text(port))).collect();
    let (ports, socket) = (ports.join(", "), config.socket.display());
    output.text(&format!("{ports}, socket {socket}\n"))
}

impl Impaird {
    /// Serves until a stop signal.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if self.unit {
            let unit = self.unit_file()?;
            return match output.json {
                true => output.json(&serde_json::json!({ "unit": unit })),
                false => output.text(&unit),
            };
        }
        let config = self.configuration()?;
        if self.check {
            return show(&config, output);
        }
        ImpairDaemon::start(&config)?.run()
    }

    /// The unit file; with the group of the configuration, if there is one, and what ports in other namespaces need.
    fn unit_file(&self) -> Result<String, Failure> {
        let is_configured = self.config.is_some() || Path::new(CONFIG_PATH).exists();
        if self.interfaces.is_some() || !is_configured {
            return Ok(UNIT.to_owned());
        }
        let config = self.configuration()?;
        let mut unit = UNIT.to_owned();
        if config.ports.iter().any(|port| port.namespace.is_some()) {
            for (of_own, of_namespaces) in UNIT_OF_NAMESPACES {
                unit = unit.replace(of_own, of_namespaces);
            }
        }
        let Some(group) = config.access.group else {
            return Ok(unit);
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if group.is_empty() || !group.chars().all(allowed) {
            let what = "allowed a name or a number of /etc/group";
            return Err(Failure::Input(format!("invalid group: found {group:?}, {what}")));
        }
        let line = format!("SupplementaryGroups={group}\n");
        Ok(unit.replace(UNIT_GROUP_PLACE, &format!("{line}{UNIT_GROUP_PLACE}")))
    }

    fn configuration(&self) -> Result<Config, Failure> {
        let default = Path::new(CONFIG_PATH);
        let file = self.config.as_deref().or_else(|| {
            let is_used = self.interfaces.is_none() && default.exists();
            is_used.then_some(default)
        });
        let mut config = match (file, self.interfaces.as_deref()) {
            (Some(file), _) => config::load(file).map_err(Failure::input)?,
            (None, Some(names)) => Config {
                socket: config::SOCKET_PATH.into(),
                access: Access { mode: 0o660, group: None },
                baseline: BASELINE_PATH.into(),
                tables: TABLES_PATH.into(),
                log: None,
                ports: config::check_ports(names)
                    .map_err(|what| Failure::Input(format!("invalid --interfaces: {what}")))?,
                extensions: Extensions::default(),
                take_over: false,
            },
            _ => {
                let what = format!(
                    "no configuration: missing {CONFIG_PATH}, allowed --config FILE or \
                     --interfaces PORT1 PORT2 ..."
                );
                return Err(Failure::Input(what));
            }
        };
        if let Some(socket) = &self.socket {
            config.socket.clone_from(socket);
        }
        config.take_over |= self.take_over;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_of_ports_in_namespaces_may_enter_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("impaird.toml");
        let unit = |ports: [&str; 2]| {
            let ports = Direction::BOTH.into_iter().zip(ports).map(|(direction, port)| {
                format!("[[ports]]\ndirection = \"{direction}\"\ninterface = \"{port}\"\n")
            });
            std::fs::write(&file, ports.collect::<String>()).unwrap();
            let (socket, interfaces) = (None, None);
            let config = Some(file.clone());
            let (take_over, check, unit) = (false, false, true);
            Impaird { config, socket, interfaces, take_over, check, unit }.unit_file().unwrap()
        };
        assert_eq!(unit(["eth1", "eth2"]), UNIT);
        let entering = unit(["eth1", "netns:blue/eth0"]);
        let capabilities = "CAP_NET_ADMIN CAP_SYS_ADMIN CAP_SYS_PTRACE";
        for line in [
            format!("AmbientCapabilities={capabilities}"),
            format!("CapabilityBoundingSet={capabilities}"),
            "RestrictNamespaces=net".to_owned(),
        ] {
            assert!(entering.lines().any(|other| other == line), "{line}: {entering}");
        }
        assert_eq!(entering.lines().count(), UNIT.lines().count());
    }
}
