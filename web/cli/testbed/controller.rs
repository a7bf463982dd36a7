//! The controller: a world at the pace of real time, the driver of its network, and the socket it is
//! steered over.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc;

use axum::http::Method;
use groundwave::http::client::Client as Http;
use groundwave::http::serve::{serve_to, shutdown_signal};
use groundwave::impair::Peer;
use groundwave::testbed::wire::Testbed;
use groundwave::testbed::{Controller as Steering, router};
use groundwave_engine::{Effects, Engine, Throttle};
use groundwave_io::host::socket::{Access, Socket};
use groundwave_io::testbed::{BoundPorts, Driver, Names, State, TestbedError, TestbedNetwork};
use groundwave_io::wall::MachineClock;
use groundwave_systems::Snapshot;
use groundwave_systems::impair::{Direction as PortName, Impairment};
use groundwave_systems::testbed::{Settings, Work};
use tokio_util::sync::CancellationToken;

use crate::cli::failure::Failure;

/// Threads that serve connections.
const THREADS: usize = 2;

/// A world that is ready to be followed.
pub struct Begun {
    /// The world.
    pub engine: Engine<Snapshot>,
    /// What leaves it.
    pub effects: Effects<Work>,
    /// Whether its network may be there already.
    pub adopt: bool,
    /// Simulated seconds per second.
    pub speed: f64,
}

/// A controller before it runs.
pub struct Controller {
    state: State,
    names: Names,
}

impl Controller {
    pub fn new(state: &State, settings: &Settings) -> Self {
        let names = Names {
            testbed: settings.name.clone(),
            network: settings.network,
        };
        Self {
            state: state.clone(),
            names,
        }
    }

    /// Brings the network up, then serves until told to stop; `up` hears when everything is there.
    pub fn run(
        self,
        begun: Begun,
        up: impl FnOnce(&Testbed) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Begun {
            engine,
            effects,
            adopt,
            speed,
        } = begun;
        let handle = engine.handle();
        let plant = TestbedNetwork::new(self.names, self.state.folder());
        let (tell, laid) = mpsc::channel();
        let world = handle.clone();
        let stop = CancellationToken::new();
        let ended = stop.clone();
        // A thread of its own: the kernel is asked by calls that block.
        let driver = std::thread::Builder::new()
            .name("testbed".to_owned())
            .spawn(move || {
                let driver =
                    Driver::new(plant, BoundPorts::new(Box::new(ask_daemon)), world, effects);
                let outcome = drive(driver, adopt, &tell);
                if let Err(err) = &outcome {
                    tracing::error!(%err, "the network is followed no more");
                }
                ended.cancel();
                outcome
            })?;
        match laid.recv() {
            Ok(()) => {}
            Err(_) => {
                drop(engine);
                let outcome = driver.join().expect("the driver does not panic");
                return Err(Failure::machine(outcome.expect_err("it said nothing")));
            }
        }
        let access = Access {
            mode: 0o600,
            group: None,
        };
        let (socket, listener) =
            Socket::listen(&self.state.socket(), &access).map_err(Failure::input)?;
        let throttle = Throttle::default();
        throttle.set(speed);
        let running = engine.spawn_throttled(MachineClock::start(), throttle.clone())?;
        let steering = Steering::new(handle, throttle, stop.clone());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()?;
        let served: Result<(), Failure> = runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::UnixListener::from_std(listener)?;
            let told = shutdown_signal()?;
            let asked = stop.clone();
            tokio::spawn(async move {
                told.await;
                asked.cancel();
            });
            up(&steering.show())?;
            serve_to::<_, Peer>(listener, router(steering), stop).await?;
            Ok(())
        });
        runtime.shutdown_background();
        let (mut engine, world_ended) = running.stop();
        // So that a replay of the log can prove itself.
        let marked = engine.mark();
        drop(engine);
        let driven = driver.join().expect("the driver does not panic");
        drop(socket);
        served?;
        world_ended.map_err(Failure::machine)?;
        marked?;
        driven.map_err(Failure::machine)
    }
}

fn drive(mut driver: Driver, adopt: bool, laid: &mpsc::Sender<()>) -> Result<(), TestbedError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(TestbedError::runtime)?;
    runtime.block_on(async {
        if adopt {
            driver.adopt().await?;
        } else {
            driver.catch_up().await?;
        }
        // Whoever waited may have gone.
        let _ = laid.send(());
        driver.run().await
    })
}

/// Asks an impairment daemon for a port's state.
fn ask_daemon(
    address: String,
    port: PortName,
    wish: Impairment,
) -> Pin<Box<dyn Future<Output = Result<(), String>>>> {
    Box::pin(async move {
        let told = |err: &dyn std::error::Error| err.to_string();
        let connected = match address.contains('/') {
            true => Http::unix(address.as_ref()).await,
            false => Http::tcp(&address).await,
        };
        let mut http = connected.map_err(|err| told(&err))?;
        let body = serde_json::to_value(&wish).map_err(|err| told(&err))?;
        let path = format!("/v1/impairments/{port}");
        let asked = http.ask(Method::PUT, &path, Some(&body)).await;
        let (status, bytes) = asked.map_err(|err| told(&err))?;
        if status.is_success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&bytes).into_owned();
        Err(format!("{address} answers {status}: {said}"))
    })
}
