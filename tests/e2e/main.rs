//! A whole mesh: Debian's stock kernel in a virtual machine, three simulated radios in an 802.11s
//! mesh, batman-adv over it, DHCP, a gateway and two agents that it lets in.
//!
//! One boot runs all stages in the order of their names; on this machine each stage shows the
//! report of the virtual machine.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "the report of the virtual machine is shown")]

mod api;
mod machine;
mod mesh;
mod onboarding;
mod qemu;
mod readings;
mod tool;

use groundwave_needs::needs;

#[needs(virtual_machine, mesh_programs)]
#[test]
fn stage_1_the_readings_of_a_mesh() {
    machine::stage("the readings of a mesh", || {
        mesh::lay();
        mesh::converge();
        readings::compare();
    });
}

#[needs(virtual_machine, mesh_programs)]
#[test]
fn stage_2_onboarding() {
    machine::stage("onboarding", || {
        let cast = onboarding::Cast::assemble();
        cast.overlay();
        cast.topology();
        cast.probes();
        cast.settings();
        cast.node_settings();
        cast.memory();
        cast.cut_off();
        onboarding::no_secrets_in_logs();
    });
}
