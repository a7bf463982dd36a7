//! Background tasks: gateway clock, telemetry history, topology snapshots, roll-up.

use std::time::Duration;

use groundwave_files::wall::{boot_ns, is_synchronised, monotonic_ns, next_clock_step, wall_ns};
use groundwave_gateway::canonical::SetUnderlay;
use groundwave_gateway::fleet::{HoldMinutes, RecordClockStep, SetGatewayClock, StartGatewayClock};
use groundwave_gateway::outage::BeginOutages;
use groundwave_gateway::peripheral::RecordHostReadings;
use groundwave_netlink::NftWatch;

pub use crate::history_writer::store_minutes;
use crate::services::gateway_links;
use crate::state::Gateway;

/// Period of the gateway clock.
const TEND: Duration = Duration::from_millis(500);
/// Period of the roll-up of old samples.
const ROLL: Duration = Duration::from_secs(60);
/// Period of comparisons with the kernel's firewall, beside those after a notification.
pub const FIREWALL: Duration = Duration::from_secs(10);
/// Period of polls of the NUT server.
const NUT: Duration = Duration::from_secs(5);
/// Shortest time between two comparisons: a program in a dispute over the ruleset does not hold the gateway.
const FIREWALL_PAUSE: Duration = Duration::from_millis(250);
const TOPOLOGY_SNAPSHOT_PERIOD: Duration = Duration::from_secs(60);
/// Period of checks for counts of refused requests.
const REFUSALS: Duration = Duration::from_secs(10);
/// Period of readings of the gateway's own links.
const LINKS: Duration = Duration::from_secs(10);

/// Reports the start of the gateway to the world.
///
/// # Errors
/// The refusal.
pub async fn start_clock(gateway: &Gateway) -> Result<(), groundwave_http::Problem> {
    // Minutes end by the clock once the history has those that ended before the start.
    gateway.world.submit(HoldMinutes { holds: true }).await?;
    let period = gateway.settings.heartbeat.as_nanos();
    let begin = StartGatewayClock {
        now_ns: gateway.world.now_ns(),
        period_ns: u64::try_from(period).unwrap_or(u64::MAX),
    };
    gateway.world.submit(begin).await?;
    gateway.world.submit(SetUnderlay { range: gateway.settings.underlay }).await?;
    gateway.world.submit(BeginOutages {}).await
}

/// Reports the time to the world, until the gateway stops; first the start of the gateway, if that
/// found no space before.
pub async fn advance_clock(gateway: Gateway, mut is_started: bool) {
    let mut due = tokio::time::interval(TEND);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut before_ns = monotonic_ns();
    let mut step = None;
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            _ = due.tick() => {}
        }
        let began_ns = monotonic_ns();
        let late_ns = (began_ns - before_ns).saturating_sub(TEND.as_nanos() as u64);
        before_ns = began_ns;
        // Read once in each period, so that a step is noticed while nothing else reads the time.
        let _ = wall_ns();
        step = step.or_else(next_clock_step);
        if let Some(clock_step) = step {
            let command = RecordClockStep {
                expected_ns: clock_step.expected_ns,
                system_ns: clock_step.system_ns,
                adopted: clock_step.adopted,
            };
            // Submitted again until it is recorded.
            step = gateway.world.submit(command).await.err().and(step);
        }
        is_started = is_started || start_clock(&gateway).await.is_ok();
        let now_ns = gateway.world.now_ns();
        let failed = gateway.world.submit(SetGatewayClock { now_ns }).await.is_err();
        let took_ns = monotonic_ns() - began_ns;
        gateway.background_tasks.record("liveness", took_ns, late_ns, failed);
    }
}

/// Ends the playback of impairments when the gateway stops.
pub async fn end_playback(gateway: Gateway) {
    gateway.playback.end_with_gateway().await;
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
        let stored = crate::mesh::topology_history::store(&gateway, wall_ns()).await;
        if let Err(problem) = &stored {
            tracing::error!(problem = problem.detail, "no still of the mesh could be kept");
        }
        let took_ns = monotonic_ns() - began_ns;
        gateway.background_tasks.record("topology", took_ns, 0, stored.is_err());
    }
}

/// Compares the kernel's firewall with the desired ruleset and restores the confirmed one, until the
/// gateway stops: at once, when the kernel reports a change of it, and each `period`.
pub async fn observe_firewall(gateway: Gateway, period: Duration) {
    let period_s = period.as_secs();
    let mut watch = match gateway.firewall.watch() {
        Ok(watch) => Some(watch),
        Err(err) => {
            tracing::info!(%err, period_s, "no notifications of nftables: the firewall is compared at intervals");
            None
        }
    };
    loop {
        compare_firewall(&gateway).await;
        tokio::time::sleep(FIREWALL_PAUSE).await;
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(period) => {}
            outcome = ruleset_changed(&mut watch) => {
                if let Err(err) = outcome {
                    let what = "notifications of nftables ended: the firewall is compared at intervals";
                    tracing::warn!(%err, period_s, "{what}");
                    watch = None;
                }
            }
        }
    }
}

/// Compares the kernel's firewall with the desired ruleset, where there is one, and restores the confirmed one.
async fn compare_firewall(gateway: &Gateway) {
    if gateway.world.view().firewall.desired().is_none() {
        return;
    }
    let began_ns = monotonic_ns();
    let result = gateway.firewall.restore(&gateway.world).await;
    if let Err(problem) = &result {
        tracing::error!(problem = problem.detail, "firewall could not be compared or restored");
    }
    let failed = result.is_err();
    let took_ns = monotonic_ns() - began_ns;
    gateway.background_tasks.record("firewall", took_ns, 0, failed);
}

/// Waits for a notification about the ruleset; for ever without a subscription.
async fn ruleset_changed(watch: &mut Option<NftWatch>) -> std::io::Result<()> {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}

/// Reverts a firewall ruleset that awaits confirmation when the gateway stops.
pub async fn revert_firewall(gateway: Gateway) {
    gateway.stop.cancelled().await;
    gateway.firewall.stop(&gateway.world).await;
}

/// Polls the NUT server for its power supplies until the gateway stops.
pub async fn poll_nut(gateway: Gateway) {
    if !gateway.nut.is_configured() {
        return;
    }
    loop {
        let began_ns = monotonic_ns();
        let polled = gateway.nut.poll(&gateway.world, &gateway.history).await;
        if let Err(problem) = &polled {
            tracing::debug!(problem = problem.detail, "samples could not be kept");
        }
        let took_ns = monotonic_ns() - began_ns;
        gateway.background_tasks.record("nut", took_ns, 0, polled.is_err());
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(NUT) => {}
        }
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
            // All are handed over: those that find no space wait.
            let added: Vec<_> = due.into_iter().map(|entry| audit.add(entry)).collect();
            added.into_iter().chain([audit.flush()]).collect::<std::io::Result<()>>()
        });
        let written = written.await;
        if let Ok(Err(err)) = &written {
            tracing::error!(%err, "audit log write failed");
        }
        let failed = !matches!(written, Ok(Ok(())));
        gateway.background_tasks.record("audit", monotonic_ns() - began_ns, 0, failed);
    }
}

/// Rolls old readings up, until the gateway stops.
pub async fn roll_up(gateway: Gateway) {
    loop {
        let began_ns = monotonic_ns();
        let history = gateway.history.clone();
        let roll = move || {
            let (now_ms, boot_ms) = (wall_ns() / 1_000_000, boot_ns() / 1_000_000);
            let mark_ms = history.advance_retention(now_ms, boot_ms, is_synchronised())?;
            history.roll(mark_ms)
        };
        let rolled = tokio::task::spawn_blocking(roll).await;
        let more = matches!(rolled, Ok(Ok(true)));
        let failed = !matches!(rolled, Ok(Ok(_)));
        if let Ok(Err(err)) = rolled {
            tracing::error!(%err, "readings could not be rolled up");
        }
        gateway.background_tasks.record("roll-up", monotonic_ns() - began_ns, 0, failed);
        let pause = if more { Duration::from_millis(50) } else { ROLL };
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Reads the assigned sensors of this machine, until the gateway stops.
pub async fn read_sensors(gateway: Gateway) {
    let mut due = tokio::time::interval(gateway.settings.telemetry);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            _ = due.tick() => {}
        }
        let view = gateway.world.view();
        // What could not be kept is not read.
        if !gateway.peripherals.has_sensors(&view) || gateway.history.failure().is_some() {
            continue;
        }
        let (began_ns, host) = (monotonic_ns(), gateway.peripherals.clone());
        let read = tokio::task::spawn_blocking(move || host.read(&view, began_ns / 1_000_000));
        let failed = match read.await {
            Err(_) => true,
            Ok((readings, faults)) => {
                for fault in faults {
                    tracing::warn!("{fault}");
                }
                let command = RecordHostReadings { readings, partial: true };
                match command.readings.is_empty() {
                    true => false,
                    false => match gateway.world.submit(command).await {
                        Ok(refusals) => {
                            for refusal in refusals {
                                tracing::warn!("reading of this machine left out: {refusal}");
                            }
                            false
                        }
                        Err(_) => true,
                    },
                }
            }
        };
        let took_ns = monotonic_ns() - began_ns;
        gateway.background_tasks.record("sensors", took_ns, 0, failed);
    }
}

/// Records the links of this machine where they changed, until the gateway stops.
pub async fn observe_gateway_links(gateway: Gateway) {
    let mut recorded = None;
    loop {
        let began_ns = monotonic_ns();
        let links = gateway_links::read(&gateway.settings).await;
        let state = (links.macs.clone(), links.neighbors.clone());
        let mut failed = false;
        if recorded.as_ref() != Some(&state) {
            failed = gateway.world.submit(links).await.is_err();
            recorded = (!failed).then_some(state);
        }
        gateway.background_tasks.record("links", monotonic_ns() - began_ns, 0, failed);
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(LINKS) => {}
        }
    }
}
