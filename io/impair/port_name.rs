//! Names of ports: an interface, or `incoming:` and an interface whose incoming traffic is the port.

use std::fmt;
use std::str::FromStr;

/// Longest name of an interface, bytes: IFNAMSIZ less its NUL.
const INTERFACE_BYTES_MAX: usize = 15;
/// Beginning of the names of ports that are the incoming traffic of an interface.
const INCOMING: &str = "incoming:";

/// Names of ports that are accepted.
pub const PORT_NAMES: &str = "1 to 15 characters without spaces, colons and slashes, such as \"eth0\", or its \
                              incoming traffic, \"incoming:eth0\"";

/// Name of a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortName {
    /// Incoming traffic of the interface, or else leaving traffic.
    pub incoming: bool,
    /// Name of the interface in the kernel.
    pub interface: String,
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.incoming { INCOMING } else { "" }, self.interface)
    }
}

impl FromStr for PortName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix(INCOMING);
        let interface = name.unwrap_or(text);
        if !is_interface_name(interface) {
            return Err(format!("found {text:?}, allowed {PORT_NAMES}"));
        }
        Ok(Self { incoming: name.is_some(), interface: interface.to_owned() })
    }
}

fn is_interface_name(name: &str) -> bool {
    let is_refused = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    (1..=INTERFACE_BYTES_MAX).contains(&name.len())
        && ![".", ".."].contains(&name)
        && !name.contains(is_refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_invalid_ones_give_found_and_allowed() {
        for text in ["eth0", "incoming:eth0", "veth-0.1"] {
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
        ] {
            let error = text.parse::<PortName>().unwrap_err();
            assert!(error.starts_with(&format!("found {text:?}, allowed")), "{error}");
        }
    }
}
