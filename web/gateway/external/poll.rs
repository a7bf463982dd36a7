//! Polls of external systems: their checks and endpoints become series.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use groundwave_engine::Id;
use groundwave_files::wall::monotonic_ns;
use groundwave_gateway::external::ExternalSystem;
use groundwave_http::Problem;
use groundwave_io_gateway::openapi;
use groundwave_simulation::site::NodeId;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::services::config_objects::objects;
use crate::services::external::auth::SystemCredentials;
use crate::services::external::probe::probe;
use crate::services::external::sample;
use crate::services::external::state::Due;
use crate::services::outbound::unreached;
use crate::state::Gateway;

/// Period of looks for polls that are due.
const LOOK: Duration = Duration::from_secs(1);
/// Polls that run at once.
const RUNNING_MAX: usize = 16;
/// Looks between two writes to the history.
const LOOKS_A_WRITE: u64 = 30;

/// Polls external systems until the gateway stops, and keeps their samples.
pub async fn run(gateway: Gateway) {
    let running = Arc::new(Semaphore::new(RUNNING_MAX));
    let mut tasks = JoinSet::new();
    let mut looks = 0;
    let mut is_stopping = false;
    while !is_stopping {
        tokio::select! {
            () = gateway.stop.cancelled() => is_stopping = true,
            () = tokio::time::sleep(LOOK) => {}
        }
        looks += 1;
        if is_stopping || looks % LOOKS_A_WRITE == 0 {
            store(&gateway).await;
        }
        if is_stopping {
            continue;
        }
        let systems = objects::<ExternalSystem>(&gateway.world);
        let definitions = systems.iter().map(|(id, versioned)| (id.uuid(), &versioned.object));
        for due in gateway.external.take_due(definitions, monotonic_ns()) {
            let (gateway, running) = (gateway.clone(), Arc::clone(&running));
            tasks.spawn(async move {
                let _permit = running.acquire_owned().await;
                poll(&gateway, due).await;
                gateway.external.finish(due);
            });
        }
        while tasks.try_join_next().is_some() {}
    }
}

/// Polls what is due.
pub async fn poll(gateway: &Gateway, due: Due) {
    let systems = objects::<ExternalSystem>(&gateway.world);
    let Some(versioned) = systems.get(Id::new(due.system)) else {
        return;
    };
    let system = &versioned.object;
    let polled = match due.endpoint {
        None => poll_checks(gateway, due, system).await,
        Some(_) => poll_endpoint(gateway, due, system).await,
    };
    match (polled, due.endpoint) {
        (Ok(()), _) => {}
        (Err(problem), None) => gateway.external.record_error(due.system, problem.detail),
        (Err(problem), Some(_)) => gateway.external.degrade(due.system, problem.detail),
    }
}

async fn poll_checks(gateway: &Gateway, due: Due, system: &ExternalSystem) -> Result<(), Problem> {
    let credentials = SystemCredentials::open(&gateway.vault, due.system, system)?;
    let probed = probe(&gateway.outbound, &credentials, system).await?;
    gateway.external.record(due.system, probed);
    Ok(())
}

async fn poll_endpoint(
    gateway: &Gateway,
    due: Due,
    system: &ExternalSystem,
) -> Result<(), Problem> {
    let mut endpoints = system.endpoints.iter();
    let Some(endpoint) = endpoints.find(|other| Some(other.endpoint_id) == due.endpoint) else {
        return Ok(());
    };
    let Some(poll) = &endpoint.poll else {
        return Ok(());
    };
    let failed = |why: String| Problem::unavailable(format!("{}: {why}", endpoint.path));
    let call = openapi::call(endpoint, &serde_json::Map::new()).map_err(|bad| {
        let first = bad.first().map(ToString::to_string);
        failed(first.unwrap_or_default())
    })?;
    let credentials = SystemCredentials::open(&gateway.vault, due.system, system)?;
    let request = credentials.request(system, Method::GET, &call.path)?;
    let response =
        gateway.outbound.send(&request).await.map_err(|err| unreached("/base_url", &err))?;
    if !response.status.is_success() {
        return Err(failed(format!("status {}", response.status.as_u16())));
    }
    let value = sample::at_pointer(&response.body, &poll.json_pointer)
        .ok_or_else(|| failed(format!("no number at {:?}", poll.json_pointer)))?;
    gateway.external.record_value(due.system, poll.metric.clone(), value);
    Ok(())
}

/// Moves samples to the history; what finds no space stays.
async fn store(gateway: &Gateway) {
    let began_ns = monotonic_ns();
    let pending = gateway.external.all_pending();
    if pending.is_empty() {
        return;
    }
    let history = gateway.history.clone();
    let work = move || {
        let mut stored = Vec::new();
        for (id, samples) in pending {
            if let Err(err) = history.add(NodeId::new(id), &samples) {
                return (stored, Some(err));
            }
            stored.push((id, samples.len()));
        }
        (stored, None)
    };
    let outcome = tokio::task::spawn_blocking(work).await;
    let failed = !matches!(outcome, Ok((_, None)));
    if let Ok((stored, err)) = outcome {
        for (id, count) in stored {
            gateway.external.stored(id, count);
        }
        if let Some(err) = err {
            tracing::error!(%err, "samples of external systems could not be kept");
        }
    }
    let took_ns = monotonic_ns() - began_ns;
    gateway.background_tasks.record("external", took_ns, 0, failed);
}
