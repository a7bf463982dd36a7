//! What runs in the guest, in the order of the names.

use crate::{machine, mesh, readings};

#[test]
fn stage_1_the_readings_of_a_mesh() {
    if !machine::inside() {
        return;
    }
    mesh::lay();
    mesh::converge();
    readings::compare();
}
