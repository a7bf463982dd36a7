//! Removal of a delay line without loss of the frames in it.
//!
//! The kernel drops what waits in a discipline that is deleted. The line is opened first: frames that
//! arrive pass at once, those within leave when their delay ends, and a shaper below lets all pass.

use std::time::Duration;

use groundwave_impair::Impairment;
use tokio::time::{Instant, sleep};

use super::netem::Netem;
use super::query::{InterfaceQdiscs, query};
use super::stack::{NETEM, Stack, impairment_from_stack};
use super::steps::{Target, steps};
use super::tbf::Tbf;
use super::{Kernel, KernelError, Verb};

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
    let requests = steps(before.link.index, &before.stack, target);
    let is_deleted =
        |request: &super::Request| request.verb == Verb::Delete && request.handle == NETEM;
    if !is_waiting(&before) || !requests.iter().any(is_deleted) {
        return Ok(before);
    }
    let delay = longest_delay(&impairment_from_stack(&before.stack, None));
    for request in steps(before.link.index, &before.stack, &opened(&before)) {
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
    qdiscs.ours.iter().any(|qdisc| qdisc.counters.backlog_packets > 0)
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
    let stack = &before.stack;
    let limit = stack.netem.map_or(0, |netem| netem.limit);
    let tbf = stack
        .tbf
        .map(|tbf| Tbf::new(OPEN_RATE, OPEN_RATE as u32 / 8, before.link.frame_bytes(), tbf.limit));
    let netem = Some(Netem { limit, ..Netem::default() });
    Target {
        stack: Stack { netem, table: None, tbf, ..stack.clone() },
        burst: tbf.map_or(0, |_| OPEN_RATE as u32 / 8),
    }
}
