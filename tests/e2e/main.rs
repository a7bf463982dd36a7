//! A whole mesh: Debian's stock kernel in a virtual machine, three simulated radios in an 802.11s
//! mesh, batman-adv over it, DHCP, a gateway and two agents that it lets in.
//!
//! One boot runs everything below [`inside`] in order; the tests on this machine show what it said.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "what was seen in the guest is shown")]

mod api;
mod inside;
mod machine;
mod mesh;
mod onboarding;
mod readings;
mod tool;

/// The guest's stages, as this machine sees them.
#[test]
fn a_mesh_is_what_its_tools_say() {
    machine::assert("the readings of a mesh");
}

#[test]
fn nodes_are_let_in_fall_silent_and_come_back() {
    machine::assert("onboarding");
}
