//! Link directions bound to existing ports: an interface of this host, or a port of an impairment
//! daemon.
//!
//! The state of a port before its first change is recorded in a file, so that it can be restored after
//! the controller ended, however it ended.

use std::collections::BTreeMap;
use std::fs;
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use groundwave_impair::{Direction as PortName, DivergenceKind, Impairment};
use groundwave_kernel::{KernelError, LinuxTc, Options, Reading, Shaper};
use groundwave_simulation::testbed::{Port, Reading as PortReading, Shape};
use serde::{Deserialize, Serialize};

use crate::veth_check::RATE_ONLY;

/// Request about a port of a daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum DaemonRequest {
    /// Reads its state.
    Read,
    /// Replaces its impairment.
    Set(Box<Impairment>),
    /// Removes its impairment.
    Clear,
}

/// State of a port of a daemon.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DaemonState {
    /// Impairment that was set without a lease.
    pub impairment: Impairment,
    /// Impairment in force, that of leases included.
    pub in_force: Impairment,
    /// Differences from the last request, in words; without what cannot be verified, with leases of others.
    pub divergence: Vec<String>,
}

/// Pending reply of a daemon.
pub type DaemonReply = Pin<Box<dyn Future<Output = Result<DaemonState, String>>>>;

/// Sends a request to a daemon: address, port, request.
pub type Ask = Box<dyn FnMut(String, PortName, DaemonRequest) -> DaemonReply + Send>;

/// A port and its impairment before the testbed changed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Saved {
    port: Port,
    before: Impairment,
}

/// Applies link shapes to bound ports.
pub struct BoundPorts {
    shaper: Option<Shaper<LinuxTc>>,
    ask: Ask,
    record: PathBuf,
    saved: Vec<Saved>,
    /// State of each daemon's port after the last request.
    held: BTreeMap<(String, PortName), Impairment>,
}

impl BoundPorts {
    /// Sends requests to daemons through `ask`; previous states are recorded in the file `record`,
    /// which is read if it exists.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn new(ask: Ask, record: &Path) -> io::Result<Self> {
        Ok(Self {
            shaper: None,
            ask,
            record: record.to_owned(),
            saved: load(record)?,
            held: BTreeMap::new(),
        })
    }

    /// Applies a shape and reads it back. An interface of a kernel without `netem` gets the rate only.
    ///
    /// # Errors
    /// The failure, or the part that is not in force, as text.
    pub async fn apply(&mut self, port: &Port, shape: &Shape) -> Result<(), String> {
        self.save(port).await?;
        let impairment = shape.impairment();
        match port {
            Port::Daemon { address, port } => {
                let request = DaemonRequest::Set(Box::new(impairment));
                let state = (self.ask)(address.clone(), *port, request).await?;
                self.held.insert((address.clone(), *port), state.impairment);
                in_force(&state.divergence)
            }
            Port::Interface(name) => self.shape(name, impairment).await,
        }
    }

    async fn shape(&mut self, name: &str, mut impairment: Impairment) -> Result<(), String> {
        let shaper = self.shaper().await?;
        let limited = !shaper.capabilities().netem;
        if limited {
            (impairment.latency, impairment.loss) = (None, None);
        }
        let applied = shaper.apply(name, &impairment).await.map_err(|err| err.to_string())?;
        in_force(&divergence(&applied))?;
        match limited {
            true => Err(RATE_ONLY.to_owned()),
            false => Ok(()),
        }
    }

    /// The shaper of interfaces; started at the first use.
    async fn shaper(&mut self) -> Result<&mut Shaper<LinuxTc>, String> {
        let shaper = match self.shaper.take() {
            Some(shaper) => shaper,
            None => start().await?,
        };
        Ok(self.shaper.insert(shaper))
    }

    /// Records the state of a port, once.
    async fn save(&mut self, port: &Port) -> Result<(), String> {
        if self.saved.iter().any(|saved| saved.port == *port) {
            return Ok(());
        }
        let before = match port {
            Port::Daemon { address, port } => {
                (self.ask)(address.clone(), *port, DaemonRequest::Read).await?.impairment
            }
            Port::Interface(name) => {
                let reading = self.shaper().await?.read(name).await;
                reading.map_err(|err| err.to_string())?.impairment
            }
        };
        let port = port.clone();
        self.saved.push(Saved { port, before });
        store(&self.record, &self.saved).map_err(|err| {
            self.saved.pop();
            format!("record the state in {}: {err}", self.record.display())
        })
    }

    /// Restores the state that a port had before its first change.
    ///
    /// # Errors
    /// The failure, as text; the end of the testbed tries again.
    pub async fn give_back(&mut self, port: &Port) -> Result<(), String> {
        let Some(place) = self.saved.iter().position(|saved| saved.port == *port) else {
            return Ok(());
        };
        restore_one(&self.saved[place], &mut self.ask).await?;
        self.saved.remove(place);
        if let Port::Daemon { address, port } = port {
            self.held.remove(&(address.clone(), *port));
        }
        let written = match self.saved.is_empty() {
            true => fs::remove_file(&self.record),
            false => store(&self.record, &self.saved),
        };
        written.map_err(|err| format!("record the state in {}: {err}", self.record.display()))
    }

    /// Bound interfaces that other programs changed since the last call.
    ///
    /// # Errors
    /// When the kernel's notifications cannot be received, as text.
    pub fn changed(&mut self) -> Result<Vec<String>, String> {
        match &mut self.shaper {
            Some(shaper) => shaper.changed().map_err(|err| err.to_string()),
            None => Ok(Vec::new()),
        }
    }

    /// Waits until [`Self::changed`] may have something; for ever without a bound interface.
    ///
    /// # Errors
    /// As [`Self::changed`].
    pub async fn until_changed(&mut self) -> Result<(), String> {
        match &mut self.shaper {
            Some(shaper) => { shaper.until_changed().await }.map_err(|err| err.to_string()),
            None => std::future::pending().await,
        }
    }

    /// Applies `shape` again if the state of the interface differs from it; the change in words and the
    /// outcome. `None` without a difference.
    pub async fn repair(
        &mut self,
        interface: &str,
        shape: &Shape,
    ) -> Option<(String, Result<(), String>)> {
        let reading = match self.shaper().await {
            Ok(shaper) => shaper.read(interface).await.map_err(|err| err.to_string()),
            Err(err) => Err(err),
        };
        let change = match reading {
            Ok(reading) => divergence(&reading).into_iter().next()?,
            Err(err) => return Some((err.clone(), Err(err))),
        };
        let port = Port::Interface(interface.to_owned());
        let outcome = self.apply(&port, shape).await;
        Some((change, outcome))
    }

    /// Values of a port as read; `None` where it cannot be read.
    pub async fn reading(&mut self, port: &Port) -> Option<PortReading> {
        let impairment = match port {
            Port::Daemon { address, port } => {
                (self.ask)(address.clone(), *port, DaemonRequest::Read).await.ok()?.in_force
            }
            Port::Interface(name) => self.shaper().await.ok()?.read(name).await.ok()?.impairment,
        };
        Some(PortReading::of_port(&impairment))
    }

    /// State of a daemon's port, compared with that after the last request.
    ///
    /// # Errors
    /// The difference, or the failure to read it, as text.
    pub async fn check(&mut self, address: &str, port: PortName) -> Result<(), String> {
        let Some(held) = self.held.get(&(address.to_owned(), port)).cloned() else {
            return Ok(());
        };
        let state = (self.ask)(address.to_owned(), port, DaemonRequest::Read).await?;
        in_force(&state.divergence)?;
        if state.impairment != held {
            return Err(format!("{port} of {address} was changed by another client"));
        }
        Ok(())
    }
}

/// Restores the ports recorded in the file `record`, and removes the file when all are restored. Returns
/// the outcome of each; a removed interface needs none.
///
/// # Errors
/// When the file cannot be read or written.
pub async fn restore(record: &Path, ask: &mut Ask) -> io::Result<Vec<(Port, Result<(), String>)>> {
    let mut outcomes = Vec::new();
    let mut left = Vec::new();
    for saved in load(record)? {
        let outcome = restore_one(&saved, ask).await;
        if outcome.is_err() {
            left.push(saved.clone());
        }
        outcomes.push((saved.port, outcome));
    }
    if !outcomes.is_empty() {
        match left.is_empty() {
            true => fs::remove_file(record)?,
            false => store(record, &left)?,
        }
    }
    Ok(outcomes)
}

async fn restore_one(saved: &Saved, ask: &mut Ask) -> Result<(), String> {
    match &saved.port {
        Port::Daemon { address, port } => {
            let request = match saved.before.is_empty() {
                true => DaemonRequest::Clear,
                false => DaemonRequest::Set(Box::new(saved.before.clone())),
            };
            ask(address.clone(), *port, request).await.map(drop)
        }
        Port::Interface(name) => {
            // With all extensions: another program may have set them.
            match start().await?.apply(name, &saved.before).await {
                Ok(_) | Err(KernelError::Gone { .. }) => Ok(()),
                Err(err) => Err(err.to_string()),
            }
        }
    }
}

async fn start() -> Result<Shaper<LinuxTc>, String> {
    let kernel = LinuxTc::open(None).map_err(|err| err.to_string())?;
    let mut options = Options::default();
    // Burst losses are part of scenarios.
    options.extensions.gilbert_elliott = true;
    let started = Shaper::start(kernel, options).await;
    started.map_err(|err| err.to_string())
}

/// Verifiable differences of a reading from its request, in words.
fn divergence(reading: &Reading) -> Vec<String> {
    let items = reading.divergence.iter();
    let verifiable = items.filter(|item| item.kind != DivergenceKind::Unverifiable);
    verifiable.map(|item| item.message.clone()).collect()
}

fn in_force(divergence: &[String]) -> Result<(), String> {
    match divergence {
        [] => Ok(()),
        items => Err(items.join("; ")),
    }
}

fn load(record: &Path) -> io::Result<Vec<Saved>> {
    match fs::read(record) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(err) => Err(err),
    }
}

/// Writes the record beside its place and moves it there: it is whole at any time.
fn store(record: &Path, saved: &[Saved]) -> io::Result<()> {
    let beside = record.with_extension("new");
    let mut file = fs::File::create(&beside)?;
    file.write_all(&serde_json::to_vec(saved)?)?;
    file.sync_all()?;
    fs::rename(beside, record)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use groundwave_impair::Latency;

    use super::*;

    type Requests = Arc<Mutex<Vec<DaemonRequest>>>;

    /// A daemon whose ports are delayed; `down` refuses changes.
    fn ask(requests: &Requests, down: bool) -> Ask {
        let requests = Arc::clone(requests);
        Box::new(move |_, _, request| {
            let read = request == DaemonRequest::Read;
            requests.lock().unwrap().push(request);
            Box::pin(async move {
                match down && !read {
                    true => Err("refused".to_owned()),
                    false => {
                        let in_force = delayed();
                        let divergence = Vec::new();
                        Ok(DaemonState { impairment: delayed(), in_force, divergence })
                    }
                }
            })
        })
    }

    fn delayed() -> Impairment {
        Impairment { latency: Some(Latency::Constant { duration_ns: 7 }), ..Impairment::default() }
    }

    #[test]
    fn a_port_is_recorded_before_its_first_change_and_restored_by_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("bound-ports.json");
        let requests = Requests::default();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        let port = Port::Daemon { address: "/run/impair.sock".to_owned(), port: PortName::PORT2 };
        runtime.block_on(async {
            let mut ports = BoundPorts::new(ask(&requests, false), &record).unwrap();
            ports.apply(&port, &Shape::DOWN).await.unwrap();
            // A controller that took over finds the port impaired, and does not record that.
            let mut ports = BoundPorts::new(ask(&requests, false), &record).unwrap();
            ports.apply(&port, &Shape::DOWN).await.unwrap();
            let set = DaemonRequest::Set(Box::new(Shape::DOWN.impairment()));
            let sent = std::mem::take(&mut *requests.lock().unwrap());
            assert_eq!(sent, [DaemonRequest::Read, set.clone(), set]);

            let refused = restore(&record, &mut ask(&requests, true)).await.unwrap();
            assert_eq!(refused, [(port.clone(), Err("refused".to_owned()))]);
            assert!(record.exists(), "it can be tried again");
            let done = restore(&record, &mut ask(&requests, false)).await.unwrap();
            assert_eq!(done, [(port, Ok(()))]);
            let last = requests.lock().unwrap().pop();
            assert_eq!(last, Some(DaemonRequest::Set(Box::new(delayed()))));
            assert!(!record.exists());
            assert_eq!(restore(&record, &mut ask(&requests, false)).await.unwrap(), []);
        });
    }
}
