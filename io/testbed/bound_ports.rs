//! Link directions bound to existing ports: an interface of this host, or a port of an impairment
//! daemon.

use std::future::Future;
use std::pin::Pin;

use groundwave_systems::impair::{Direction as PortName, Impairment};
use groundwave_systems::testbed::{Port, Shape};

use crate::kernel::{LinuxTc, Options, Shaper};

/// Request to a daemon: address, port, impairment.
pub type Ask = Box<
    dyn FnMut(String, PortName, Impairment) -> Pin<Box<dyn Future<Output = Result<(), String>>>>
        + Send,
>;

/// Applies link shapes to bound ports.
pub struct BoundPorts {
    shaper: Option<Shaper<LinuxTc>>,
    ask: Ask,
}

impl BoundPorts {
    /// Sends requests to daemons through `ask`.
    #[must_use]
    pub fn new(ask: Ask) -> Self {
        Self { shaper: None, ask }
    }

    /// Applies a shape. An interface of a kernel without `netem` gets the rate only.
    ///
    /// # Errors
    /// The failure, as text.
    pub async fn apply(&mut self, port: &Port, shape: &Shape) -> Result<(), String> {
        let impairment = shape.impairment();
        match port {
            Port::Daemon { address, port } => (self.ask)(address.clone(), *port, impairment).await,
            Port::Interface(name) => self.shape(name, impairment).await,
        }
    }

    async fn shape(&mut self, name: &str, mut impairment: Impairment) -> Result<(), String> {
        if self.shaper.is_none() {
            let kernel = LinuxTc::open(None).map_err(|err| err.to_string())?;
            let mut options = Options::default();
            // Burst losses are part of scenarios.
            options.extensions.gilbert_elliott = true;
            let started = Shaper::start(kernel, options).await;
            self.shaper = Some(started.map_err(|err| err.to_string())?);
        }
        let shaper = self.shaper.as_mut().expect("just started");
        if !shaper.capabilities().netem {
            (impairment.latency, impairment.loss) = (None, None);
        }
        let applied = shaper.apply(name, &impairment).await;
        applied.map(drop).map_err(|err| err.to_string())
    }
}
