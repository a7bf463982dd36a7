//! Names of ports: an interface, or `incoming:` and an interface whose incoming traffic is the port; before
//! it, with a slash, the network namespace that it is in: `netns:blue/eth0`.

use std::fmt;
use std::str::FromStr;

/// Maximum length of the name of an interface, bytes: IFNAMSIZ less its NUL.
const INTERFACE_BYTES_MAX: usize = 15;
/// Beginning of the names of ports that are the incoming traffic of an interface.
const INCOMING: &str = "incoming:";

/// Names of ports that are accepted.
pub const PORT_NAMES: &str = "1 to 15 characters without spaces, colons and slashes, such as \"eth0\", or its \
                              incoming traffic, \"incoming:eth0\"; before it \"netns:NAME/\", \"pid:N/\" \
                              or \"container:NAME/\"";

/// Network namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamespaceName {
    /// A name of `ip netns`.
    Netns(String),
    /// That of a process.
    Pid(u32),
    /// That of a container.
    Container(String),
}

impl fmt::Display for NamespaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Netns(name) => write!(f, "netns:{name}"),
            Self::Pid(pid) => write!(f, "pid:{pid}"),
            Self::Container(name) => write!(f, "container:{name}"),
        }
    }
}

impl NamespaceName {
    fn read(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        match kind {
            "netns" => is_file_name(name).then(|| Self::Netns(name.to_owned())),
            "pid" => name.parse().ok().filter(|pid| *pid > 0).map(Self::Pid),
            "container" => is_container_name(name).then(|| Self::Container(name.to_owned())),
            _ => None,
        }
    }
}

/// Name of a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortName {
    /// Network namespace; `None` is that of the daemon.
    pub namespace: Option<NamespaceName>,
    /// Incoming traffic of the interface, or else leaving traffic.
    pub incoming: bool,
    /// Name of the interface in the kernel.
    pub interface: String,
}

impl PortName {
    /// The name within its namespace.
    #[must_use]
    pub fn inside(&self) -> String {
        format!("{}{}", if self.incoming { INCOMING } else { "" }, self.interface)
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.inside()),
            None => f.write_str(&self.inside()),
        }
    }
}

impl FromStr for PortName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("found {text:?}, allowed {PORT_NAMES}");
        let (namespace, inside) = match text.rsplit_once('/') {
            Some((space, inside)) => {
                (Some(NamespaceName::read(space).ok_or_else(invalid)?), inside)
            }
            None => (None, text),
        };
        let name = inside.strip_prefix(INCOMING);
        let interface = name.unwrap_or(inside);
        if !is_interface_name(interface) {
            return Err(invalid());
        }
        Ok(Self { namespace, incoming: name.is_some(), interface: interface.to_owned() })
    }
}

fn is_interface_name(name: &str) -> bool {
    name.len() <= INTERFACE_BYTES_MAX && is_file_name(name) && !name.contains(':')
}

/// `true` for a name that a container can have.
fn is_container_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_allowed)
}

fn is_file_name(name: &str) -> bool {
    let is_refused = |c: char| c == '/' || c.is_whitespace() || c.is_control();
    !["", ".", ".."].contains(&name) && !name.contains(is_refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_invalid_ones_give_found_and_allowed() {
        for text in [
            "eth0",
            "incoming:eth0",
            "veth-0.1",
            "netns:blue/eth0",
            "pid:12/incoming:eth0",
            "container:web.1/eth0",
        ] {
            assert_eq!(text.parse::<PortName>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "incoming:",
            "eth0:1",
            "incoming:incoming:a",
            "..",
            "a b",
            "a/b",
            "0123456789abcdef",
            "pid:0/eth0",
            "pid:x/eth0",
            "netns:/eth0",
            "netns:../eth0",
            "container:-a/eth0",
            "blue/eth0",
            "/eth0",
        ] {
            let error = text.parse::<PortName>().unwrap_err();
            assert!(error.starts_with(&format!("found {text:?}, allowed")), "{error}");
        }
    }
}
