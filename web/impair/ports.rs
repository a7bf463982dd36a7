//! Ports of the daemon on this machine: their namespaces, bus addresses and MTUs.

use std::path::{Path, PathBuf};

use groundwave_host::container::container_pid;
use groundwave_host::interface;
use groundwave_http::Failure;
use groundwave_io_impair::port_name::{NamespaceName, PortName};
use groundwave_kernel::Namespaces;

/// Bus address of the interface of a port; empty for an unknown one, and in another namespace.
pub fn bus_address(port: &PortName) -> String {
    match port.namespace {
        Some(_) => String::new(),
        None => interface::bus_address(&port.interface),
    }
}

/// MTU of the interface of a port, bytes; `None` for an unknown one, and in another namespace.
pub fn mtu_bytes(port: &PortName) -> Option<u32> {
    port.namespace.is_none().then(|| interface::mtu_bytes(&port.interface)).flatten()
}

/// File of a namespace.
fn file(namespace: &NamespaceName) -> Result<PathBuf, String> {
    let of_process = |pid: u32| PathBuf::from(format!("/proc/{pid}/ns/net"));
    let file = match namespace {
        NamespaceName::Netns(name) => Path::new("/run/netns").join(name),
        NamespaceName::Pid(pid) => of_process(*pid),
        NamespaceName::Container(name) => of_process(container_pid(name)?),
    };
    match file.exists() {
        true => Ok(file),
        false => Err(format!("found no {}, allowed a network namespace", file.display())),
    }
}

/// Traffic control in the namespaces of the ports.
///
/// # Errors
/// When a namespace does not exist or cannot be entered.
pub fn kernel(ports: &[PortName]) -> Result<Namespaces, Failure> {
    let mut spaces = Vec::new();
    for port in ports {
        let file = port.namespace.as_ref().map(file).transpose();
        let file = file.map_err(|what| Failure::Input(format!("invalid port {port}: {what}")))?;
        spaces.push((port.to_string(), file, port.inside()));
    }
    let spaces: Vec<_> = spaces
        .iter()
        .map(|(name, file, inside)| (name.clone(), file.as_deref(), inside.clone()))
        .collect();
    Namespaces::open(&spaces).map_err(Failure::machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_namespace_gives_an_error_with_its_file() {
        let own = format!("pid:{}/lo", std::process::id());
        let of = |text: &str| file(&text.parse::<PortName>().unwrap().namespace.unwrap());
        assert!(of(&own).unwrap().starts_with("/proc"));
        let error = of("netns:absent/eth0").unwrap_err();
        assert_eq!(error, "found no /run/netns/absent, allowed a network namespace");
        assert!(of("pid:4194305/eth0").is_err(), "more than the kernel's maximum");
    }
}
