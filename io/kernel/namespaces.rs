//! Ports in several network namespaces, as the interfaces of one kernel.
//!
//! A port is named by its namespace and its name there. Indices of interfaces are those of this module:
//! two namespaces may use the same ones. A namespace that is no more is let go: a socket in it would keep it, and
//! requests would succeed on interfaces that nobody has.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::pin::Pin;
use std::task::Poll;

use tokio::sync::mpsc::UnboundedReceiver;

use super::incoming;
use super::{
    FilterMessage, FilterRequest, Handle, Kernel, KernelError, Link, LinuxTc, Qdisc, ReadBack,
    Request,
};

/// Traffic control of the running kernel in the namespaces of some ports.
#[derive(Debug)]
pub struct Namespaces {
    /// One for each namespace; `None` of one that is no more. The first one is that of capabilities.
    kernels: Vec<Option<LinuxTc>>,
    /// Device and inode of each namespace when it was entered first.
    identities: Vec<(u64, u64)>,
    /// Name and version of the backend.
    backend: (String, String),
    /// Namespace and name there of each port.
    ports: BTreeMap<String, (usize, String)>,
    /// Namespace and index there, in the order of own indices from 1.
    indices: Vec<(usize, u32)>,
    /// Sockets in namespaces that took the place of earlier ones.
    replacements: Option<UnboundedReceiver<Replacement>>,
    /// Ports whose namespace is another one since the last call of [`Kernel::returned`].
    returned: Vec<String>,
    /// Ports whose namespace is no more since the last call of [`Kernel::changed`].
    vanished: Vec<String>,
}

/// Place of a namespace, and sockets in the one that is there now; `None` where there is none.
pub type Replacement = (usize, Option<LinuxTc>);

/// Interface of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortInterface {
    /// Device and inode of its network namespace.
    namespace: (u64, u64),
    /// Index there.
    index: u32,
    /// The port is its incoming traffic.
    incoming: bool,
}

/// A port: its name for callers, and the file of its namespace, if not that of the process, with its
/// name there.
pub type NamespacePort<'p> = (String, Option<&'p Path>, String);

impl Namespaces {
    /// Opens sockets in the namespaces of `ports`, of which there is at least one. Entering another
    /// namespace takes CAP_SYS_ADMIN, requests on the sockets do not.
    ///
    /// # Errors
    /// When a namespace cannot be entered or the kernel gives no socket.
    pub fn open(ports: &[NamespacePort<'_>]) -> Result<Self, KernelError> {
        let mut paths: Vec<Option<&Path>> = Vec::new();
        let mut names = BTreeMap::new();
        for (name, path, inside) in ports {
            let place = paths.iter().position(|other| other == path).unwrap_or(paths.len());
            if place == paths.len() {
                paths.push(*path);
            }
            names.insert(name.clone(), (place, inside.clone()));
        }
        let identities = paths.iter().map(|path| identity(*path)).collect::<Result<_, _>>()?;
        let kernels: Vec<LinuxTc> =
            paths.into_iter().map(LinuxTc::open).collect::<Result<_, _>>()?;
        let backend = kernels.first().map(Kernel::backend).unwrap_or_default();
        Ok(Self {
            kernels: kernels.into_iter().map(Some).collect(),
            identities,
            backend,
            ports: names,
            indices: Vec::new(),
            replacements: None,
            returned: Vec::new(),
            vanished: Vec::new(),
        })
    }

    /// These namespaces, of which some are replaced later, as those of containers that start again.
    #[must_use]
    pub fn replaced_by(self, replacements: UnboundedReceiver<Replacement>) -> Self {
        Self { replacements: Some(replacements), ..self }
    }

    /// Place of the namespace of a port, as in [`Replacement`].
    #[must_use]
    pub fn place_of(&self, port: &str) -> Option<usize> {
        self.ports.get(port).map(|(place, _)| *place)
    }

    /// Interface of a port whatever its names, `None` where it is not there: two ports with the same would undo the
    /// impairments of each other.
    #[must_use]
    pub fn interface_of(&self, port: &str) -> Option<PortInterface> {
        let (space, name) = self.ports.get(port)?;
        let kernel = self.kernels.get(*space)?.as_ref()?;
        let base = incoming::base_of(name);
        let index = kernel.index_of(base.unwrap_or(name))?;
        Some(PortInterface {
            namespace: *self.identities.get(*space)?,
            index,
            incoming: base.is_some(),
        })
    }

    /// Takes sockets in place of others; nothing of the earlier namespace is in the other one.
    fn replace(&mut self, (place, kernel): Replacement) {
        let Some(own) = self.kernels.get_mut(place) else {
            return;
        };
        let ports = self.ports.iter().filter(|(_, (space, _))| *space == place);
        let ports = ports.map(|(port, _)| port.clone());
        match &kernel {
            Some(_) => self.returned.extend(ports),
            None => self.vanished.extend(ports),
        }
        *own = kernel;
    }

    /// Traffic control in a namespace.
    fn kernel(&mut self, space: usize) -> Result<&mut LinuxTc, KernelError> {
        let port = self.ports.iter().find(|(_, (own, _))| *own == space);
        let kernel = self.kernels.get_mut(space).and_then(Option::as_mut);
        kernel.ok_or_else(|| KernelError::Gone {
            what: match port {
                Some((port, _)) => format!("{port}, and no such network namespace at present"),
                None => "in a network namespace that is no more".to_owned(),
            },
        })
    }

    /// Namespace of a name, and the name there; one that is not of a port is of the first namespace.
    fn place(&self, interface: &str) -> (usize, String) {
        let place = self.ports.get(interface).cloned();
        place.unwrap_or_else(|| (0, interface.to_owned()))
    }

    /// Namespace and index there of an own index.
    fn real(&self, index: u32) -> (usize, u32) {
        let place = (index as usize).checked_sub(1);
        place.and_then(|place| self.indices.get(place)).copied().unwrap_or_default()
    }

    /// Own index of a namespace and an index there; 0 stays 0.
    fn own(&mut self, space: usize, index: u32) -> u32 {
        if index == 0 {
            return 0;
        }
        let place = self.indices.iter().position(|other| *other == (space, index));
        let place = place.unwrap_or_else(|| {
            self.indices.push((space, index));
            self.indices.len() - 1
        });
        place as u32 + 1
    }
}

impl Kernel for Namespaces {
    fn backend(&self) -> (String, String) {
        self.backend.clone()
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        let (space, name) = self.place(interface);
        let link = self.kernel(space)?.link(&name).await?;
        Ok(Link { index: self.own(space, link.index), ..link })
    }

    async fn prepare(&mut self, interface: &str) -> Result<bool, KernelError> {
        let (space, name) = self.place(interface);
        self.kernel(space)?.prepare(&name).await
    }

    async fn release(&mut self, interface: &str) -> Result<(), KernelError> {
        let (space, name) = self.place(interface);
        self.kernel(space)?.release(&name).await
    }

    async fn has_ifb(&mut self) -> Result<bool, KernelError> {
        self.kernel(0)?.has_ifb().await
    }

    fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        let mut changed = std::mem::take(&mut self.vanished);
        for (space, kernel) in self.kernels.iter_mut().enumerate() {
            let Some(kernel) = kernel else { continue };
            let names = kernel.changed()?;
            let ports =
                self.ports.iter().filter(|(_, (own, name))| *own == space && names.contains(name));
            changed.extend(ports.map(|(port, _)| port.clone()));
        }
        Ok(changed)
    }

    fn returned(&mut self) -> Vec<String> {
        let mut returned = std::mem::take(&mut self.returned);
        for (space, kernel) in self.kernels.iter_mut().enumerate() {
            let names = kernel.as_mut().map(Kernel::returned).unwrap_or_default();
            let ports =
                self.ports.iter().filter(|(_, (own, name))| *own == space && names.contains(name));
            returned.extend(ports.map(|(port, _)| port.clone()));
        }
        returned
    }

    async fn until_changed(&mut self) -> Result<(), KernelError> {
        let Self { kernels, replacements, .. } = self;
        let replacement = {
            type Wait<'k> = Pin<Box<dyn Future<Output = Result<(), KernelError>> + Send + 'k>>;
            let waits = kernels
                .iter_mut()
                .flatten()
                .map(|kernel| Box::pin(kernel.until_changed()) as Wait<'_>);
            let mut waits: Vec<Wait<'_>> = waits.collect();
            let any = poll_fn(|context| {
                let mut outcomes = waits.iter_mut().map(|wait| wait.as_mut().poll(context));
                outcomes.find(Poll::is_ready).unwrap_or(Poll::Pending)
            });
            tokio::select! {
                outcome = any => return outcome,
                replacement = next(replacements) => replacement,
            }
        };
        self.replace(replacement);
        Ok(())
    }

    async fn get(&mut self, index: u32, parent: Handle) -> Result<Option<Qdisc>, KernelError> {
        let (space, index) = self.real(index);
        self.kernel(space)?.get(index, parent).await
    }

    async fn get_many(
        &mut self,
        index: u32,
        parents: &[Handle],
    ) -> Result<Vec<Option<Qdisc>>, KernelError> {
        let (space, index) = self.real(index);
        self.kernel(space)?.get_many(index, parents).await
    }

    async fn filters(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> Result<Vec<FilterMessage>, KernelError> {
        let (space, index) = self.real(index);
        self.kernel(space)?.filters(index, parent).await
    }

    async fn send_filters(&mut self, requests: &[FilterRequest]) -> Result<(), KernelError> {
        for request in requests {
            let (space, index) = self.real(request.index);
            let request = FilterRequest { index, ..request.clone() };
            self.kernel(space)?.send_filters(&[request]).await?;
        }
        Ok(())
    }

    async fn link_and_qdiscs<const N: usize>(
        &mut self,
        interface: &str,
        parents: [Handle; N],
    ) -> Result<(Link, [Option<Qdisc>; N]), KernelError> {
        let (space, name) = self.place(interface);
        let (link, qdiscs) = self.kernel(space)?.link_and_qdiscs(&name, parents).await?;
        Ok((Link { index: self.own(space, link.index), ..link }, qdiscs))
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        let (space, index) = self.real(request.index);
        self.kernel(space)?.send(&Request { index, ..request.clone() }).await
    }

    async fn send_and_read<const N: usize>(
        &mut self,
        index: u32,
        requests: &[Request],
        parents: [Handle; N],
    ) -> Result<ReadBack<N>, KernelError> {
        let (space, index) = self.real(index);
        let requests: Vec<_> =
            requests.iter().map(|request| Request { index, ..request.clone() }).collect();
        self.kernel(space)?.send_and_read(index, &requests, parents).await
    }
}

/// Device and inode of a network namespace, of the calling thread for `None`.
fn identity(path: Option<&Path>) -> Result<(u64, u64), KernelError> {
    let file = path.unwrap_or(Path::new("/proc/thread-self/ns/net"));
    let facts = std::fs::metadata(file).map_err(|source| KernelError::open(path, source))?;
    Ok((facts.dev(), facts.ino()))
}

/// Waits for a replacement; for ever where there are none any more.
async fn next(replacements: &mut Option<UnboundedReceiver<Replacement>>) -> Replacement {
    match replacements {
        Some(all) => match all.recv().await {
            Some(replacement) => replacement,
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}
