//! What runs in the guest, in the order of the names.

use crate::{mesh, onboarding, readings};

/// Says so where the other side looks for it.
fn passed(stage: &str) {
    println!("passed: {stage}");
}

#[test]
#[ignore = "runs in the guest"]
fn stage_1_the_readings_of_a_mesh() {
    mesh::lay();
    mesh::converge();
    readings::compare();
    passed("the readings of a mesh");
}

#[test]
#[ignore = "runs in the guest"]
fn stage_2_onboarding() {
    let cast = onboarding::Cast::assemble();
    cast.overlay();
    cast.topology();
    cast.probes();
    cast.settings();
    cast.memory();
    cast.cut_off();
    onboarding::no_secrets_in_logs();
    passed("onboarding");
}
