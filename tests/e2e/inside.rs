//! What runs in the guest, in the order of the names.

use crate::{mesh, readings};

#[test]
#[ignore = "runs in the guest"]
fn stage_1_the_readings_of_a_mesh() {
    mesh::lay();
    mesh::converge();
    readings::compare();
}
