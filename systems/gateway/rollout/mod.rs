//! Firmware of nodes: images, and roll-outs in stages with automatic roll-back.
//!
//! A roll-out queues node commands for the nodes of its stages and judges them by their heartbeats and
//! reports: `advance_rollouts` derives every step from the state of the nodes and the clock of the
//! world, so a replay takes the same steps.

mod advance;
mod commands;
mod plan;
#[cfg(test)]
mod tests;

use groundwave_engine::{Builder, Phase};

pub use commands::{CancelRollout, RetryRollout};
pub use plan::{
    FIRMWARE, FirmwareImage, IMAGE_BYTES_MAX, NodeProgress, Rollout, RolloutNode, RolloutStage,
    RolloutState,
};

/// Roll-outs of firmware.
pub fn rollout(engine: &mut Builder) {
    engine
        .command::<CancelRollout>()
        .command::<RetryRollout>()
        .systems(Phase::Route, advance::advance_rollouts);
}
