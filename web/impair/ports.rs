//! Ports of the daemon on this machine: their namespaces, also those that are made again, bus addresses and MTUs.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
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

/// Traffic control in the namespaces of the ports; those of containers and of names of `ip netns` are followed.
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
    check_apart(ports, &namespaces).map_err(Failure::Input)?;
    let followed = followed(ports, &namespaces);
    if followed.is_empty() {
        return Ok(namespaces);
    }
    let (sender, receiver) = unbounded_channel();
    let follower = std::thread::Builder::new().name("namespaces".to_owned());
    follower.spawn(move || follow(followed, &sender))?;
    Ok(namespaces.replaced_by(receiver))
}

/// Refuses an interface of two ports, which may have two names and two names of its namespace. One that does not exist
/// at present may come.
fn check_apart(ports: &[PortName], namespaces: &Namespaces) -> Result<(), String> {
    let mut ports_of = BTreeMap::new();
    for port in ports {
        let interface = namespaces.interface_of(&port.to_string());
        if let Some(other) = interface.and_then(|interface| ports_of.insert(interface, port)) {
            return Err(format!(
                "invalid port {port}: found the interface of {other}, allowed an interface of its own for each \
                 direction"
            ));
        }
    }
    Ok(())
}

/// A namespace with ports whose name may become that of another one.
struct FollowedNamespace {
    name: NamespaceName,
    /// Place of the namespace.
    place: usize,
    /// Names of its interfaces.
    interfaces: Vec<String>,
    /// File of the namespace, and the identity of that; `None` once it is no more.
    file: PathBuf,
    identity: Option<Identity>,
}

/// Device and inode of the file of a namespace.
type Identity = (u64, u64);

/// Identity of the namespace with this file, if there is one.
fn identity(file: &Path) -> Option<Identity> {
    std::fs::metadata(file).ok().map(|facts| (facts.dev(), facts.ino()))
}

/// Namespaces of the ports that are followed, as they are now. That of a process is its own as long as the process
/// runs.
fn followed(ports: &[PortName], namespaces: &Namespaces) -> Vec<FollowedNamespace> {
    let mut all: Vec<FollowedNamespace> = Vec::new();
    for port in ports {
        let Some(name @ (NamespaceName::Container(_) | NamespaceName::Netns(_))) = &port.namespace
        else {
            continue;
        };
        let present = all.iter_mut().find(|space| space.name == *name);
        match (present, namespaces.place_of(&port.to_string())) {
            (Some(space), _) => space.interfaces.push(port.interface.clone()),
            (None, Some(place)) => {
                let file = file(name).unwrap_or_default();
                let identity = identity(&file);
                let interfaces = vec![port.interface.clone()];
                all.push(FollowedNamespace {
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
    all
}

/// Time between two looks at the namespaces.
const LOOK: Duration = Duration::from_secs(1);

/// Follows namespaces until the daemon ends: one that is another one now, with all its interfaces, is sent, and one that is
/// no more. A thread of its own, because it keeps the capabilities that the others drop, and because programs are asked.
fn follow(mut followed: Vec<FollowedNamespace>, sender: &UnboundedSender<Replacement>) {
    match keep_namespaces() {
        Ok(kept) => tracing::debug!(%kept, "namespaces are followed"),
        Err(err) => {
            tracing::error!(%err, "namespaces that are made again are not followed");
            return;
        }
    }
    while !sender.is_closed() {
        std::thread::sleep(LOOK);
        for space in &mut followed {
            if let Some(kernel) = space.look()
                && sender.send((space.place, kernel)).is_err()
            {
                return;
            }
        }
    }
}

impl FollowedNamespace {
    /// Sockets in the namespace of this name, if that is another one than before and has its interfaces; the inner
    /// `None` once where there is none.
    fn look(&mut self) -> Option<Option<LinuxTc>> {
        if self.identity.is_some() && identity(&self.file) == self.identity {
            return None;
        }
        let present = file(&self.name).ok();
        let now = present.as_deref().and_then(identity);
        if let (Some(file), Some(_)) = (&present, now)
            && now == self.identity
        {
            self.file.clone_from(file);
            return None;
        }
        let kernel = present.as_deref().filter(|_| now.is_some()).and_then(|file| {
            let kernel = LinuxTc::open(Some(file)).ok()?;
            let has_all = self.interfaces.iter().all(|name| kernel.index_of(name).is_some());
            has_all.then_some(kernel)
        });
        match (kernel, present) {
            (Some(kernel), Some(file)) => {
                (self.file, self.identity) = (file, now);
                Some(Some(kernel))
            }
            // That one is no more, whatever has its name by now.
            _ => self.identity.take().map(|_| None),
        }
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
