//! Power supplies of a NUT server, asked from time to time; samples of all sources are kept here.

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
    told: Mutex<String>,
}

/// A power supply as the server shows it.
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
    if !samples.is_empty() {
        takes_readings(history)?;
    }
    world.submit(command).await?;
    if samples.is_empty() {
        return Ok(());
    }
    let history = history.clone();
    blocking(move || history.add(key, &samples).map_err(history_failed)).await
}

fn ask(address: &NutAddress) -> Result<Vec<Supply>, NutError> {
    let mut client = NutClient::connect(address)?;
    let mut found = Vec::new();
    for supply in client.supplies()?.into_iter().take(UPS_MAX) {
        if check_ups_id(&supply.name).is_err() {
            continue;
        }
        let variables = match client.variables(&supply.name) {
            Err(err @ (NutError::Stale(_) | NutError::Refused(_))) => Err(err),
            other => Ok(other?),
        };
        found.push((supply, variables));
    }
    Ok(found)
}

impl NutServer {
    /// NUT server at an address; none is asked without one.
    #[must_use]
    pub fn new(address: Option<NutAddress>) -> Self {
        Self { address, ..Self::default() }
    }

    /// `true` if the server answered last.
    #[must_use]
    pub fn answers(&self) -> bool {
        self.answers.load(Ordering::Relaxed)
    }

    /// `true` if there is a server to ask.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.address.is_some()
    }

    /// Logs an error once, and its end.
    fn tell(&self, said: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *told == said {
            return;
        }
        match said.is_empty() {
            true => tracing::info!("the NUT server answers"),
            // Without a server on this host there is nothing to tell but once.
            false => tracing::info!("{said}"),
        }
        *told = said;
    }

    /// Asks the server once, and records what it shows. Power supplies that it has no data of, and
    /// all of them when it does not answer, are stale.
    ///
    /// # Errors
    /// The refusal of the world or the failure of the history.
    pub async fn poll(&self, world: &World, history: &TelemetryStore) -> Result<(), Problem> {
        let Some(address) = self.address.clone() else {
            return Ok(());
        };
        let asked = blocking(move || Ok(ask(&address))).await?;
        self.answers.store(asked.is_ok(), Ordering::Relaxed);
        self.tell(asked.as_ref().err().map_or_else(String::new, ToString::to_string));
        let ts_ms = world.wall_ns() / 1_000_000;
        let mut silent: BTreeSet<String> = world
            .view()
            .power
            .iter()
            .filter(|ups| ups.source == UpsSource::Nut && !ups.is_stale)
            .map(|ups| ups.ups_id.clone())
            .collect();
        let mut outcome = Ok(());
        for (supply, variables) in asked.unwrap_or_default() {
            let Ok(variables) = variables else {
                continue;
            };
            silent.remove(&supply.name);
            let described = Some(supply.description).filter(|text| !text.is_empty());
            let command = RecordUpsSamples {
                ups_id: supply.name,
                source: UpsSource::Nut,
                node: None,
                description: described,
                model: variables.get("device.model").cloned(),
                samples: vec![sample(&variables, ts_ms)],
            };
            // One that a node sends too keeps none of the others back.
            outcome = keep(world, history, command).await.and(outcome);
        }
        for ups_id in silent {
            let view = world.view();
            let known = view.power.get(&ups_id);
            let command = RecordUpsSamples {
                source: UpsSource::Nut,
                node: None,
                description: known.and_then(|known| known.description.clone()),
                model: known.and_then(|known| known.model.clone()),
                ups_id,
                samples: Vec::new(),
            };
            outcome = keep(world, history, command).await.and(outcome);
        }
        outcome
    }
}
