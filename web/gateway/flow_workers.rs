//! Workers of deliveries: a bounded number of attempts of each receiver at a time, and their outcomes for
//! the world.

use std::sync::Arc;
use std::time::Duration;

use groundwave_engine::Effects;
use groundwave_gateway::automation::{Deliver, FinishAttempt, ObserveGateway, ResumeDeliveries};
use groundwave_host::readings::host::disk_used_percent;
use groundwave_http::Problem;

use super::services::delivery_slots::{DeliverySlots, receiver};
use super::services::flow_backends::attempt;
use super::services::world::blocking;
use super::state::Gateway;

/// Wait before an outcome that found no space is recorded again.
const AGAIN: Duration = Duration::from_secs(1);
/// Metric of the used share of the file system with the state of the gateway.
pub const DISK_METRIC: &str = "gateway.disk_used_pct";
/// Period of readings of the gateway.
const OBSERVE: Duration = Duration::from_secs(10);

/// Makes deliveries until the gateway stops. Those that were in flight when it ended are made again.
pub async fn deliver(gateway: Gateway, mut effects: Effects<Deliver>) {
    while let Err(problem) = gateway.world.submit(ResumeDeliveries {}).await {
        if !wait(&gateway, &problem).await {
            return;
        }
    }
    let slots = Arc::new(DeliverySlots::default());
    loop {
        let next = tokio::select! {
            () = gateway.stop.cancelled() => return,
            next = effects.next() => next,
        };
        let Some(next) = next else {
            return;
        };
        let (gateway, slots) = (gateway.clone(), Arc::clone(&slots));
        tokio::spawn(async move {
            let slot = tokio::select! {
                () = gateway.stop.cancelled() => return,
                slot = slots.acquire(receiver(&next.request)) => slot,
            };
            let servers = &gateway.settings.flow_servers;
            let attempt =
                attempt(servers, (&gateway.world, &gateway.vault, &gateway.outbound), &next);
            let outcome = tokio::select! {
                // It is made again after the restart, with the same key.
                () = gateway.stop.cancelled() => return,
                outcome = attempt => outcome,
            };
            let command = FinishAttempt { delivery: next.delivery, attempt: next.attempt, outcome };
            while let Err(problem) = gateway.world.submit(command.clone()).await {
                // The delivery is gone: its execution was cancelled.
                if problem.status < 500 || !wait(&gateway, &problem).await {
                    break;
                }
            }
            drop(slot);
        });
    }
}

/// Waits before a command that was refused is submitted again; `false` when the gateway stops.
async fn wait(gateway: &Gateway, problem: &Problem) -> bool {
    tracing::warn!(problem = problem.detail, "the outcome of a delivery waits");
    tokio::select! {
        () = gateway.stop.cancelled() => false,
        () = tokio::time::sleep(AGAIN) => true,
    }
}

/// Reports readings of the gateway for sensor triggers, until it stops.
pub async fn observe(gateway: Gateway, state: std::path::PathBuf) {
    loop {
        let flows = !gateway.world.view().config.automations.is_empty();
        let path = state.clone();
        let used = blocking(move || {
            disk_used_percent(&path).map_err(|err| Problem::internal(err.to_string()))
        });
        if flows && let Ok(used) = used.await {
            let used = (used * 10.0).round() / 10.0;
            let readings = [(DISK_METRIC.to_owned(), used)].into();
            // It is read again soon.
            let _ = gateway.world.submit(ObserveGateway { readings }).await;
        }
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(OBSERVE) => {}
        }
    }
}
