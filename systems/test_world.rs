//! World of the unit tests: flat ground at 0 m, ticks of 1 ms, one command a tick.

use std::sync::Arc;

use groundwave_engine::{Engine, Recorded, Refusal};

use crate::terrain::Flat;
use crate::{Snapshot, world};

/// Empty world over flat ground.
pub(crate) fn engine() -> Engine<Snapshot> {
    let ground = Flat {
        elevation_msl_m: 0.0,
    };
    world(Arc::new(ground)).build(1, 1_000_000).unwrap()
}

/// Carries out a command in a tick at `at_ns` of the wall clock.
pub(crate) fn does_at<C: Recorded>(
    engine: &mut Engine<Snapshot>,
    at_ns: u64,
    command: C,
) -> Result<C::Reply, Refusal> {
    let reply = engine.handle().submit(command).unwrap();
    engine.tick(Some(at_ns)).unwrap();
    reply.wait()
}
