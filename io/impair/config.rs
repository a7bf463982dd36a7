//! The configuration of the impairment daemon, a TOML file.

use std::path::{Path, PathBuf};

use groundwave_files::access::Access;
use groundwave_impair::{Direction, Extensions};
use groundwave_toml_document::{TomlDocument, TomlErrors};
use serde::Deserialize;

use super::port_name::{PORT_NAMES, PortName};

/// Default path of the configuration.
pub const CONFIG_PATH: &str = "/etc/impair/impaird.toml";

/// Default path of the socket.
pub const SOCKET_PATH: &str = "/run/impair/impair.sock";

/// Default path of the calibration baseline.
pub const BASELINE_PATH: &str = "/var/lib/impair/baseline.json";

/// Default folder of the operator's distribution tables.
pub const TABLES_PATH: &str = "/var/lib/impair/dist";

/// Interfaces of several directions that are accepted.
const INTERFACE_EACH: &str = "an interface of its own for each direction";

/// Configuration of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Path of the socket.
    pub socket: PathBuf,
    /// Owner group and mode of the socket.
    pub access: Access,
    /// The stored calibration baseline, read anew whenever it is asked for.
    pub baseline: PathBuf,
    /// Folder of `<name>.table` files.
    pub tables: PathBuf,
    /// Folder of the command log; `None` keeps none.
    pub log: Option<PathBuf>,
    /// The port of each direction, in their order: two, up to [`Direction::COUNT_MAX`].
    pub ports: Vec<PortName>,
    /// Impairments beyond those of the interface.
    pub extensions: Extensions,
    /// Replacement of the root disciplines of other programs.
    pub take_over: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "socket")]
    socket: PathBuf,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    group: Option<String>,
    #[serde(default = "baseline")]
    baseline_path: PathBuf,
    #[serde(default = "tables")]
    tables: PathBuf,
    #[serde(default)]
    log: Option<PathBuf>,
    #[serde(default)]
    ports: Vec<PortFile>,
    #[serde(default)]
    extensions: Vec<ExtensionFile>,
    #[serde(default)]
    take_over: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PortFile {
    direction: Direction,
    interface: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ExtensionFile {
    GilbertElliott,
    Paretonormal,
}

fn socket() -> PathBuf {
    SOCKET_PATH.into()
}

fn baseline() -> PathBuf {
    BASELINE_PATH.into()
}

fn tables() -> PathBuf {
    TABLES_PATH.into()
}

/// Reads a configuration file.
///
/// # Errors
/// All invalid keys and values.
pub fn load(path: &Path) -> Result<Config, TomlErrors> {
    let text = groundwave_toml_document::text(path)?;
    parse(&text, &path.display().to_string())
}

/// Reads a configuration from its text; `name` is what errors call it.
///
/// # Errors
/// All invalid keys and values.
pub fn parse(text: &str, name: &str) -> Result<Config, TomlErrors> {
    let (file, mut document) = TomlDocument::read::<File>(name, text)?;
    let mode = mode(file.mode.as_deref(), &mut document);
    let ports = port_names(&file.ports, &mut document);
    document.finish()?;
    Ok(Config {
        socket: file.socket,
        access: Access { mode, group: file.group },
        baseline: file.baseline_path,
        tables: file.tables,
        log: file.log,
        ports,
        extensions: Extensions {
            gilbert_elliott: file.extensions.contains(&ExtensionFile::GilbertElliott),
            paretonormal: file.extensions.contains(&ExtensionFile::Paretonormal),
        },
        take_over: file.take_over,
    })
}

/// Permission bits are written in a string: TOML's octal numbers are easily forgotten, and 660
/// would mean something else.
fn mode(text: Option<&str>, document: &mut TomlDocument<'_>) -> u32 {
    let Some(text) = text else {
        return 0o660;
    };
    let digits = text.strip_prefix("0o").unwrap_or(text);
    let found = u32::from_str_radix(digits, 8).ok();
    found.filter(|mode| *mode <= 0o777).unwrap_or_else(|| {
        let what = format!("invalid mode {text:?}");
        document.invalid("mode", what, "three octal digits, such as \"0660\"");
        0
    })
}

/// The ports of directions in their order, checked as those of a configuration file.
///
/// # Errors
/// The value found and the values allowed.
pub fn check_ports(names: &[String]) -> Result<Vec<PortName>, String> {
    let mut ports: Vec<PortName> = Vec::with_capacity(names.len());
    for name in names {
        let port = name.parse()?;
        if let Some(earlier) = ports.iter().position(|other| *other == port) {
            let directions: Vec<_> = Direction::first(ports.len() + 1).collect();
            let (one, other) = (directions[earlier], directions[ports.len()]);
            return Err(format!("found {port} for {one} and {other}, allowed {INTERFACE_EACH}"));
        }
        ports.push(port);
    }
    Ok(ports)
}

fn port_names(ports: &[PortFile], document: &mut TomlDocument<'_>) -> Vec<PortName> {
    for (index, port) in ports.iter().enumerate() {
        let name = &port.interface;
        if name.parse::<PortName>().is_err() {
            document.invalid(
                &format!("ports[{index}].interface"),
                format!("invalid interface name {name:?}"),
                PORT_NAMES,
            );
        }
        let earlier = &ports[..index];
        if earlier.iter().any(|other| other.direction == port.direction) {
            let what = format!("duplicate direction {}", port.direction);
            document.invalid(&format!("ports[{index}].direction"), what, "each direction once");
        }
        if earlier.iter().any(|other| other.interface == *name) {
            let what = format!("{name} serves two directions");
            let key = format!("ports[{index}].interface");
            document.invalid(&key, what, INTERFACE_EACH);
        }
    }
    let last = ports.iter().map(|port| port.direction.index() + 1).max().unwrap_or_default();
    let count = last.max(Direction::BOTH.len());
    let names = Direction::first(count).map(|direction| {
        let port = ports.iter().find(|port| port.direction == direction);
        if port.is_none() {
            let what = format!("no interface for {direction}");
            let allowed = "[[ports]] with direction and interface, for port1 and for port2, and for \
                           further ports without a gap";
            document.invalid("ports", what, allowed);
        }
        // What is invalid is noted above.
        let name = port.and_then(|port| port.interface.parse().ok());
        name.unwrap_or(PortName { namespace: None, incoming: false, interface: String::new() })
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: &str = "[[ports]]\ndirection = \"port1\"\ninterface = \"eth0\"\n\
                         [[ports]]\ndirection = \"port2\"\ninterface = \"eth1\"\n";

    fn texts(ports: &[PortName]) -> Vec<String> {
        ports.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn interfaces_of_a_command_line_are_checked() {
        let of = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            check_ports(&names).map(|ports| texts(&ports))
        };
        assert_eq!(of(&["a", "b", "incoming:a"]).unwrap(), ["a", "b", "incoming:a"]);
        let error = of(&["a", "b", "a"]).unwrap_err();
        assert_eq!(error, format!("found a for port1 and port3, allowed {INTERFACE_EACH}"));
        assert!(of(&["a", "b", "a b"]).is_err());
    }

    #[test]
    fn ports_are_enough_and_everything_can_be_said() {
        let small = parse(PORTS, "impaird.toml").unwrap();
        assert_eq!(texts(&small.ports), ["eth0", "eth1"]);
        assert_eq!(small.socket, Path::new(SOCKET_PATH));
        assert_eq!((small.access.mode, small.access.group), (0o660, None));
        assert_eq!(small.tables, Path::new("/var/lib/impair/dist"));
        assert_eq!(small.extensions, Extensions::default());

        let head = "socket = \"/tmp/s\"\nmode = \"0600\"\ngroup = \"netdev\"\n\
                    baseline_path = \"/b.json\"\ntables = \"/t\"\nlog = \"/l\"\n\
                    extensions = [\"gilbert-elliott\", \"paretonormal\"]\ntake_over = true\n";
        let all = parse(&format!("{head}{PORTS}"), "impaird.toml").unwrap();
        let incoming = PORTS.replace("eth1", "incoming:eth0");
        let incoming = parse(&incoming, "impaird.toml").unwrap().ports;
        assert_eq!(texts(&incoming), ["eth0", "incoming:eth0"]);
        // In any order, without a gap.
        let further = |number: u32| {
            format!("[[ports]]\ndirection = \"port{number}\"\ninterface = \"veth{number}\"\n")
        };
        let four = format!("{}{PORTS}{}", further(4), further(3));
        let four = parse(&four, "impaird.toml").unwrap().ports;
        assert_eq!(texts(&four), ["eth0", "eth1", "veth3", "veth4"]);
        let gap = parse(&format!("{PORTS}{}", further(4)), "impaird.toml").unwrap_err().to_string();
        assert!(gap.contains("ports: no interface for port3"), "{gap}");
        let others: String = (3..=32).map(further).collect();
        assert_eq!(parse(&format!("{PORTS}{others}"), "impaird.toml").unwrap().ports.len(), 32);
        assert_eq!(all.access.mode, 0o600);
        assert_eq!(all.access.group.as_deref(), Some("netdev"));
        assert!(all.extensions.gilbert_elliott && all.extensions.paretonormal);
        assert!(all.take_over && !small.take_over);
        assert_eq!(all.log.as_deref(), Some(Path::new("/l")));
    }

    #[test]
    fn invalid_values_are_located() {
        let cases = [
            (format!("sockets = \"x\"\n{PORTS}"), "impaird.toml:1:1: sockets: unknown key"),
            (format!("sockets = \"x\"\n{PORTS}"), "did you mean \"socket\""),
            (format!("mode = \"rw\"\n{PORTS}"), "impaird.toml:1:8: mode: invalid mode \"rw\""),
            (format!("mode = 660\n{PORTS}"), "impaird.toml:1:8: mode"),
            (format!("extensions = [\"ge\"]\n{PORTS}"), "gilbert-elliott, paretonormal"),
            (String::new(), "ports: no interface for port1"),
            (PORTS.replace("port2", "port1"), "ports[1].direction: duplicate direction port1"),
            (PORTS.replace("port2", "port3"), "ports: no interface for port2"),
            (PORTS.replace("port2", "port33"), "allowed: port1 to port32"),
            (PORTS.replace("eth1", "eth0"), "eth0 serves two directions"),
            (
                PORTS.replace("eth1", "../eth1"),
                "ports[1].interface: invalid interface name \"../eth1\"",
            ),
        ];
        for (text, says) in cases {
            let told = parse(&text, "impaird.toml").unwrap_err().to_string();
            assert!(told.contains(says), "{told} does not say {says}");
        }
    }
}
