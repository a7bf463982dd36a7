//! Ports of the daemon on this machine: their namespaces, also those of containers that start again, bus addresses and
//! MTUs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use groundwave_host::container::container_pid;
use groundwave_host::interface;
use groundwave_host::privilege::keep_namespaces;
use groundwave_http::Failure;
use groundwave_io_impair::port_name::{NamespaceName, PortName};
use groundwave_kernel::{LinuxTc, Namespaces, Replacement};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

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

/// Traffic control in the namespaces of the ports; containers that start again are followed.
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
    let namespaces = Namespaces::open(&spaces).map_err(Failure::machine)?;
    let containers = containers(ports, &namespaces);
    if containers.is_empty() {
        return Ok(namespaces);
    }
    let (sender, receiver) = unbounded_channel();
    let follower = std::thread::Builder::new().name("containers".to_owned());
    follower.spawn(move || follow(containers, &sender))?;
    Ok(namespaces.replaced_by(receiver))
}

/// A container with ports.
struct Container {
    name: String,
    /// Place of its namespace.
    place: usize,
    /// Names of its interfaces.
    interfaces: Vec<String>,
    /// File of its namespace, and the identity of that.
    file: PathBuf,
    identity: Option<PathBuf>,
}

/// Containers of the ports, with the namespaces that they have now.
fn containers(ports: &[PortName], namespaces: &Namespaces) -> Vec<Container> {
    let mut containers: Vec<Container> = Vec::new();
    for port in ports {
        let Some(NamespaceName::Container(name)) = &port.namespace else {
            continue;
        };
        let known = containers.iter_mut().find(|container| container.name == *name);
        match (known, namespaces.place_of(&port.to_string())) {
            (Some(container), _) => container.interfaces.push(port.interface.clone()),
            (None, Some(place)) => {
                let file = file(&NamespaceName::Container(name.clone())).unwrap_or_default();
                let identity = std::fs::read_link(&file).ok();
                let interfaces = vec![port.interface.clone()];
                containers.push(Container {
                    name: name.clone(),
                    place,
                    interfaces,
                    file,
                    identity,
                });
            }
            (None, None) => {}
        }
    }
    containers
}

/// Time between two looks at the processes of containers.
const LOOK: Duration = Duration::from_secs(1);

/// Follows containers until the daemon ends: one that has started again, with all its interfaces, is sent. A thread of
/// its own, because it keeps the capabilities that the others drop, and because programs are asked.
fn follow(mut containers: Vec<Container>, sender: &UnboundedSender<Replacement>) {
    match keep_namespaces() {
        Ok(kept) => tracing::debug!(%kept, "containers are followed"),
        Err(err) => {
            tracing::error!(%err, "containers that start again are not followed");
            return;
        }
    }
    while !sender.is_closed() {
        std::thread::sleep(LOOK);
        for container in &mut containers {
            if let Some(kernel) = container.other_namespace()
                && sender.send((container.place, kernel)).is_err()
            {
                return;
            }
        }
    }
}

impl Container {
    /// Sockets in the namespace of the container, if that is another one than before and has its interfaces.
    fn other_namespace(&mut self) -> Option<LinuxTc> {
        if self.identity.is_some() && std::fs::read_link(&self.file).ok() == self.identity {
            return None;
        }
        let file = file(&NamespaceName::Container(self.name.clone())).ok()?;
        let identity = std::fs::read_link(&file).ok()?;
        if Some(&identity) == self.identity.as_ref() {
            self.file = file;
            return None;
        }
        let kernel = LinuxTc::open(Some(&file)).ok()?;
        if !self.interfaces.iter().all(|name| kernel.has_interface(name)) {
            return None;
        }
        (self.file, self.identity) = (file, Some(identity));
        Some(kernel)
    }
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
