//! The systems of a tick, their order and the data they access, as a reviewer sees them.

use std::sync::Arc;

use groundwave_gateway::Snapshot;
use groundwave_model::terrain::Flat;

#[test]
fn the_schedule_is_the_reviewed_one() {
    let world =
        groundwave_gateway::world(Arc::new(Flat::default())).build::<Snapshot>(1, 1_000_000_000);
    insta::assert_snapshot!(world.unwrap().schedule_table());
}
