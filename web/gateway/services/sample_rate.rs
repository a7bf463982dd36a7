//! Rate limit of telemetry samples by node.

use std::num::NonZeroU32;

use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota};
use groundwave_systems::site::NodeId;

use super::limits::limited;
use crate::http::Problem;

/// Samples of a node a second: 25 times those of an agent with the usual period.
const SAMPLES_PER_S: NonZeroU32 = NonZeroU32::new(100).expect("not zero");
/// Samples of a node at once: the hour that an agent keeps while it has no connection.
const BURST: NonZeroU32 = NonZeroU32::new(24_000).expect("not zero");
/// Nodes that are remembered.
const REMEMBERED: usize = 20_000;

/// Rate limit of samples by node.
pub struct SampleRate(DefaultKeyedRateLimiter<NodeId>);

impl Default for SampleRate {
    fn default() -> Self {
        let quota = Quota::per_second(SAMPLES_PER_S).allow_burst(BURST);
        Self(DefaultKeyedRateLimiter::keyed(quota))
    }
}

impl SampleRate {
    /// Takes `count` samples of a node; a batch counts as one sample at least.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub fn allow(&self, node: NodeId, count: usize) -> Result<(), Problem> {
        if self.0.len() > REMEMBERED {
            self.0.retain_recent();
        }
        let count = u32::try_from(count).ok().and_then(NonZeroU32::new);
        let count = count.unwrap_or(NonZeroU32::MIN);
        let what = "too many samples";
        let checked = self.0.check_key_n(&node, count);
        let checked = checked.map_err(|_| limited(what, BURST.get() / SAMPLES_PER_S.get()))?;
        checked.map_err(|early| {
            let wait = early.wait_time_from(self.0.clock().now());
            limited(what, u32::try_from(wait.as_secs() + 1).unwrap_or(u32::MAX))
        })
    }
}
