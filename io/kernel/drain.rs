//! Removal of a delay line without loss of the frames in it.
//!
//! The kernel drops what waits in a discipline that is deleted. The line is opened first: frames that
//! arrive pass at once, those within leave when their delay ends, and a shaper below lets all pass.

use std::time::Duration;

use groundwave_impair::Impairment;
use tokio::time::{Instant, sleep};

use super::band_steps::all_steps;
use super::bands;
use super::netem::Netem;
use super::query::{InterfaceQdiscs, query};
use super::stack::{Stack, impairment_from_stack};
use super::target::Target;
use super::tbf::Tbf;
use super::{Handle, Kernel, KernelError, Verb};

/// Maximum time that a change waits for a delay line to empty. Frames with more than that ahead of them are
/// dropped, and the reply has their number.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// Interval between two looks at the line.
const LOOK: Duration = Duration::from_millis(5);

/// Deviations of a delay that are waited for beyond its mean: Pareto delays end at four.
const DEVIATIONS: u64 = 4;

/// Rate of an opened shaper, bytes/s, which the 32 bits of the kernel hold.
const OPEN_RATE: u64 = u32::MAX as u64;

/// Opens the delay line of an interface and waits until it is empty, if the change to `target` deletes
/// one in which frames wait. Returns the disciplines thereafter, or `before`.
///
/// # Errors
/// When the disciplines cannot be changed or read; some of them may then be open.
pub(super) async fn drain<K: Kernel>(
    kernel: &mut K,
    interface: &str,
    before: InterfaceQdiscs,
    target: &Target,
) -> Result<InterfaceQdiscs, KernelError> {
    let requests = all_steps(&before, target).disciplines;
    let lines: Vec<_> = stacks(&before).filter(|stack| stack.netem.is_some()).cloned().collect();
    let is_deleted = |request: &super::Request| match request.verb {
        Verb::Delete => lines.iter().any(|stack| request.handle == stack.layout.netem()),
        // Of the root, with all below it.
        Verb::Replace => request.parent == Handle::ROOT && !lines.is_empty(),
        Verb::Create | Verb::Change => false,
    } || request.verb == Verb::Delete && request.handle == bands::ROOT;
    if !is_waiting(&before) || !requests.iter().any(is_deleted) {
        return Ok(before);
    }
    let delays = lines.iter().map(|stack| longest_delay(&impairment_from_stack(stack, None)));
    let delay = delays.max().unwrap_or_default();
    for request in all_steps(&before, &opened(&before)).disciplines {
        kernel.send(&request).await?;
    }
    let end = Instant::now() + delay.min(DRAIN_MAX);
    loop {
        let now = query(kernel, interface).await?;
        if !is_waiting(&now) || Instant::now() >= end {
            return Ok(now);
        }
        sleep(LOOK).await;
    }
}

fn is_waiting(qdiscs: &InterfaceQdiscs) -> bool {
    qdiscs.places().flatten().any(|qdisc| qdisc.counters.backlog_packets > 0)
}

/// Own stacks of an interface.
fn stacks(qdiscs: &InterfaceQdiscs) -> impl Iterator<Item = &Stack> {
    let bands = qdiscs.bands.iter().flat_map(|bands| bands.bands.values());
    std::iter::once(&qdiscs.stack).chain(bands.map(|placed| &placed.stack))
}

/// Time after which the frames in the line have left it.
fn longest_delay(impairment: &Impairment) -> Duration {
    let latency = impairment.latency.as_ref();
    let (mean_ns, jitter_ns) =
        latency.map_or((0, 0), |latency| (latency.mean_ns(), latency.jitter_ns()));
    let delay_ns = mean_ns.saturating_add(jitter_ns.saturating_mul(DEVIATIONS));
    Duration::from_nanos(delay_ns) + 2 * LOOK
}

/// The disciplines of an interface, changed in place to let everything pass.
fn opened(before: &InterfaceQdiscs) -> Target {
    let frame_bytes = before.link.frame_bytes();
    let mut target = Target::read_all(before);
    let bands = target.bands.take().map(|mut bands| {
        for band in bands.bands.values_mut() {
            *band = open(band.clone(), frame_bytes);
        }
        bands
    });
    Target { bands, ..open(target, frame_bytes) }
}

/// A stack that lets everything pass.
fn open(target: Target, frame_bytes: u32) -> Target {
    let Target { stack, .. } = target;
    let tbf =
        stack.tbf.map(|tbf| Tbf::new(OPEN_RATE, OPEN_RATE as u32 / 8, frame_bytes, tbf.limit));
    let netem = stack.netem.map(|netem| Netem { limit: netem.limit, ..Netem::default() });
    Target {
        stack: Stack { netem, table: None, tbf, ..stack },
        burst: tbf.map_or(0, |_| OPEN_RATE as u32 / 8),
        bands: None,
    }
}
