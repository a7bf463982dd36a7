//! Directions that follow something that is there already: an interface of this host, or a port of
//! an impairment daemon.

use std::future::Future;
use std::pin::Pin;

use groundwave_systems::impair::{Direction as PortName, Impairment};
use groundwave_systems::testbed::{Port, Shape};

use crate::kernel::{LinuxTc, Options, Shaper};

/// How a daemon is asked: its address, the port, what it should do.
pub type Ask = Box<
    dyn FnMut(String, PortName, Impairment) -> Pin<Box<dyn Future<Output = Result<(), String>>>>
        + Send,
>;

/// Puts shapes into force on what is bound.
pub struct BoundPorts {
    shaper: Option<Shaper<LinuxTc>>,
    ask: Ask,
}

impl BoundPorts {
    /// Asks daemons through `ask`.
    #[must_use]
    pub fn new(ask: Ask) -> Self {
        Self { shaper: None, ask }
    }

    /// Puts a shape into force. An interface of a kernel without `netem` gets the rate alone.
    ///
    /// # Errors
    /// Why it is not in force.
    pub async fn apply(&mut self, port: &Port, shape: &Shape) -> Result<(), String> {
        let wish = shape.impairment();
        match port {
            Port::Daemon { address, port } => (self.ask)(address.clone(), *port, wish).await,
            Port::Interface(name) => self.shape(name, wish).await,
        }
    }

    async fn shape(&mut self, name: &str, mut wish: Impairment) -> Result<(), String> {
        if self.shaper.is_none() {
            let kernel = LinuxTc::open(None).map_err(|err| err.to_string())?;
            let mut options = Options::default();
            // Losses in runs are the scenario's wish.
            options.extensions.gilbert_elliott = true;
            let started = Shaper::start(kernel, options).await;
            self.shaper = Some(started.map_err(|err| err.to_string())?);
        }
        let shaper = self.shaper.as_mut().expect("just started");
        if !shaper.capabilities().netem {
            (wish.latency, wish.loss) = (None, None);
        }
        let applied = shaper.apply(name, &wish).await;
        applied.map(drop).map_err(|err| err.to_string())
    }
}
