//! Background tasks: gateway clock, telemetry history, topology snapshots, roll-up.

use std::time::Duration;

use groundwave_engine::Effects;
use groundwave_io::wall::{monotonic_ns, wall_ns};
use groundwave_systems::fleet::{SetGatewayClock, StartGatewayClock, StoreMinute};

use crate::gateway::state::Gateway;

/// Period of the gateway clock.
const TEND: Duration = Duration::from_millis(500);
/// Period of writes to the telemetry history.
const KEEP: Duration = Duration::from_millis(500);
/// Period of the roll-up of old samples.
const ROLL: Duration = Duration::from_secs(60);
/// Period of topology snapshots.
const TOPOLOGY_SNAPSHOT_PERIOD: Duration = Duration::from_secs(60);
/// Period of looks for counts of refused requests to write.
const REFUSALS: Duration = Duration::from_secs(10);
/// Most minutes written in one transaction.
const KEPT_AT_ONCE: usize = 2_000;

/// Reports the start of the gateway to the world.
///
/// # Errors
/// The refusal.
pub async fn start_clock(gateway: &Gateway) -> Result<(), crate::http::Problem> {
    let period = gateway.settings.heartbeat.as_nanos();
    let begin = StartGatewayClock {
        now_ns: gateway.world.now_ns(),
        period_ns: u64::try_from(period).unwrap_or(u64::MAX),
    };
    gateway.world.submit(begin).await
}

/// Reports the time to the world, until the gateway stops.
pub async fn advance_clock(gateway: Gateway) {
    let mut due = tokio::time::interval(TEND);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut before_ns = monotonic_ns();
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            _ = due.tick() => {}
        }
        let began_ns = monotonic_ns();
        let late_ns = (began_ns - before_ns).saturating_sub(TEND.as_nanos() as u64);
        before_ns = began_ns;
        let now_ns = gateway.world.now_ns();
        let failed = gateway
            .world
            .submit(SetGatewayClock { now_ns })
            .await
            .is_err();
        let took_ns = monotonic_ns() - began_ns;
        gateway
            .background_tasks
            .done("liveness", took_ns, late_ns, failed);
    }
}

/// Keeps minutes of readings that are over, until the gateway stops.
pub async fn store_minutes(gateway: Gateway, mut effects: Effects<StoreMinute>) {
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => {}
            () = tokio::time::sleep(KEEP) => {}
        }
        let stopping = gateway.stop.is_cancelled();
        loop {
            let batch: Vec<StoreMinute> = std::iter::from_fn(|| effects.try_next())
                .take(KEPT_AT_ONCE)
                .collect();
            if batch.is_empty() {
                break;
            }
            let began_ns = monotonic_ns();
            let history = gateway.history.clone();
            let kept = tokio::task::spawn_blocking(move || history.keep(&batch)).await;
            let failed = !matches!(kept, Ok(Ok(())));
            if let Ok(Err(err)) = kept {
                tracing::error!(%err, "readings could not be kept");
            }
            if failed {
                gateway.metrics.history_faults.inc();
            }
            let took_ns = monotonic_ns() - began_ns;
            gateway.background_tasks.done("history", took_ns, 0, failed);
        }
        if stopping {
            return;
        }
    }
}

/// Keeps a still of the mesh a minute, until the gateway stops.
pub async fn snapshot_topology(gateway: Gateway) {
    let mut due = tokio::time::interval(TOPOLOGY_SNAPSHOT_PERIOD);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            _ = due.tick() => {}
        }
        let began_ns = monotonic_ns();
        let kept = crate::gateway::mesh::topology_history::store(&gateway, wall_ns()).await;
        if let Err(problem) = &kept {
            tracing::error!(
                problem = problem.detail,
                "no still of the mesh could be kept"
            );
        }
        let took_ns = monotonic_ns() - began_ns;
        gateway
            .background_tasks
            .done("topology", took_ns, 0, kept.is_err());
    }
}

/// Writes the counts of refused requests to the audit log, until the gateway stops.
pub async fn write_refusals(gateway: Gateway) {
    let mut is_stopping = false;
    while !is_stopping {
        tokio::select! {
            () = gateway.stop.cancelled() => is_stopping = true,
            () = tokio::time::sleep(REFUSALS) => {}
        }
        let began_ns = monotonic_ns();
        let (audit, sampling) = (gateway.audit.clone(), gateway.audit_sampling.clone());
        let written = tokio::task::spawn_blocking(move || {
            let due = sampling.due(monotonic_ns(), is_stopping);
            due.into_iter().try_for_each(|entry| audit.add(entry))
        });
        let written = written.await;
        if let Ok(Err(err)) = &written {
            tracing::error!(%err, "audit log write failed");
        }
        let failed = !matches!(written, Ok(Ok(())));
        gateway
            .background_tasks
            .done("audit", monotonic_ns() - began_ns, 0, failed);
    }
}

/// Rolls old readings up, until the gateway stops.
pub async fn roll_up(gateway: Gateway) {
    loop {
        let began_ns = monotonic_ns();
        let history = gateway.history.clone();
        let rolled = tokio::task::spawn_blocking(move || history.roll(wall_ns() / 1_000_000)).await;
        let more = matches!(rolled, Ok(Ok(true)));
        let failed = !matches!(rolled, Ok(Ok(_)));
        if let Ok(Err(err)) = rolled {
            tracing::error!(%err, "readings could not be rolled up");
        }
        gateway
            .background_tasks
            .done("roll-up", monotonic_ns() - began_ns, 0, failed);
        let pause = if more {
            Duration::from_millis(50)
        } else {
            ROLL
        };
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
