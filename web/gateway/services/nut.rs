//! Power supplies of a NUT server, polled at intervals; samples of all sources are recorded here.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use groundwave_gateway::power::{RecordUpsSamples, UPS_MAX, UpsId, UpsSource, check_ups_id};
use groundwave_http::Problem;
use groundwave_io_gateway::nut::{NutAddress, NutClient, NutError, NutUps, Variables, sample};
use groundwave_protocol::Sample;
use groundwave_simulation::site::NodeId;
use groundwave_telemetry::TelemetryStore;

use super::history::{history_failed, takes_readings};
use super::world::{World, blocking};

/// NUT server of the gateway.
#[derive(Debug, Default)]
pub struct NutServer {
    address: Option<NutAddress>,
    answers: AtomicBool,
    /// Error that was logged last.
    last_error: Mutex<String>,
}

/// A power supply of the server with its variables.
type Supply = (NutUps, Result<Variables, NutError>);

/// Key of the history of a power supply.
#[must_use]
pub fn history_key(ups_id: &str) -> NodeId {
    NodeId::new(UpsId::named(ups_id).uuid())
}

/// Records samples in the world, and keeps them in the history.
///
/// # Errors
/// The refusal, or 507 or 503 when the history fails; then the world has none of them either.
pub async fn keep(
    world: &World,
    history: &TelemetryStore,
    command: RecordUpsSamples,
) -> Result<(), Problem> {
    let key = history_key(&command.ups_id);
    let samples: Vec<Sample> = command.samples.iter().flat_map(|sample| sample.metrics()).collect();
    // The history first: samples that it has already are replaced when the sender repeats them, but the
    // latest sample of the world, its events and alerts cannot be taken back. A command that the world
    // refuses leaves the history as it is.
    let view = world.view();
    let is_acceptable = match view.power.get(&command.ups_id) {
        Some(ups) => (ups.source, ups.node) == (command.source, command.node),
        None => view.power.iter().count() < UPS_MAX,
    };
    if !samples.is_empty() && is_acceptable {
        takes_readings(history)?;
        let history = history.clone();
        blocking(move || history.add(key, &samples).map_err(history_failed)).await?;
    }
    world.submit(command).await?;
    Ok(())
}

fn read_supplies(address: &NutAddress) -> Result<Vec<Supply>, NutError> {
    let mut client = NutClient::connect(address)?;
    let mut supplies = Vec::new();
    for supply in client.supplies()?.into_iter().take(UPS_MAX) {
        if check_ups_id(&supply.name).is_err() {
            continue;
        }
        let variables = match client.variables(&supply.name) {
            Err(err @ (NutError::Stale(_) | NutError::Refused(_))) => Err(err),
            other => Ok(other?),
        };
        supplies.push((supply, variables));
    }
    Ok(supplies)
}

impl NutServer {
    /// NUT server at an address; without one, [`poll`](Self::poll) does nothing.
    #[must_use]
    pub fn new(address: Option<NutAddress>) -> Self {
        Self { address, ..Self::default() }
    }

    /// `true` if the server answered last.
    #[must_use]
    pub fn answers(&self) -> bool {
        self.answers.load(Ordering::Relaxed)
    }

    /// `true` if a server is configured.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.address.is_some()
    }

    /// Logs an error once, and its end.
    fn log_change(&self, error: String) {
        let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        if *last == error {
            return;
        }
        match error.is_empty() {
            true => tracing::info!("the NUT server answers"),
            // Without a server on this host the error stays the same.
            false => tracing::info!("{error}"),
        }
        *last = error;
    }

    /// Polls the server once, and records its power supplies. Those without data, and all of them
    /// without an answer, are stale.
    ///
    /// # Errors
    /// The refusal of the world or the failure of the history.
    pub async fn poll(&self, world: &World, history: &TelemetryStore) -> Result<(), Problem> {
        let Some(address) = self.address.clone() else {
            return Ok(());
        };
        let supplies = blocking(move || Ok(read_supplies(&address))).await?;
        self.answers.store(supplies.is_ok(), Ordering::Relaxed);
        self.log_change(supplies.as_ref().err().map_or_else(String::new, ToString::to_string));
        let ts_ms = world.wall_ns() / 1_000_000;
        let mut silent: BTreeSet<String> = world
            .view()
            .power
            .iter()
            .filter(|ups| ups.source == UpsSource::Nut && !ups.is_stale)
            .map(|ups| ups.ups_id.clone())
            .collect();
        let mut outcome = Ok(());
        for (supply, variables) in supplies.unwrap_or_default() {
            let variables = match variables {
                Ok(variables) => Some(variables),
                // One whose driver is dead from the start is listed without data.
                Err(_) if world.view().power.get(&supply.name).is_none() => None,
                Err(_) => continue,
            };
            silent.remove(&supply.name);
            let described = Some(supply.description).filter(|text| !text.is_empty());
            let command = RecordUpsSamples {
                ups_id: supply.name,
                source: UpsSource::Nut,
                node: None,
                description: described,
                model: variables.as_ref().and_then(|all| all.get("device.model").cloned()),
                samples: variables.iter().map(|all| sample(all, ts_ms)).collect(),
            };
            // One that a node sends too keeps none of the others back.
            outcome = keep(world, history, command).await.and(outcome);
        }
        for ups_id in silent {
            let view = world.view();
            let before = view.power.get(&ups_id);
            let command = RecordUpsSamples {
                source: UpsSource::Nut,
                node: None,
                description: before.and_then(|ups| ups.description.clone()),
                model: before.and_then(|ups| ups.model.clone()),
                ups_id,
                samples: Vec::new(),
            };
            outcome = keep(world, history, command).await.and(outcome);
        }
        outcome
    }
}
