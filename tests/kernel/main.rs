//! The kernel in the loop: interfaces shaped and measured.
//!
//! A case is written once and runs over the model of the kernel (`fake`), over the kernel of this
//! machine in a namespace of its own (`host`, needs root), and over a stock kernel that has netem
//! whatever this machine has, in a virtual machine whose clock counts instructions (`vm`): what is
//! measured in it depends neither on the processor of this machine nor on its load.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "what was set beside what was measured is shown")]

mod arrival;
mod bare;
mod bed;
mod contract;
mod daemon;
mod devices;
mod guest;
mod packets;
#[path = "../e2e/qemu.rs"]
mod qemu;
mod sensors;
mod testbed;
mod wire;

use guest::{Boot, Group};

/// Modules of the interfaces and disciplines.
const NETWORK: [&str; 3] = ["network", "netem", "ingress"];

/// The desired state is in force.
static CONTRACT: Group = Group::new("contract", &NETWORK);

/// The same on kernel 6.12.
static NEWER: Group = Group::on_newer("contract", &NETWORK);

/// Delay, rate, loss and order as packets see them.
static PACKETS: Group = Group::new("packets", &NETWORK);

/// Rules and incoming packets on kernel 6.12.
static NEWER_PACKETS: Group = Group::on_newer("packets", &NETWORK);

/// A kernel without netem.
static BARE: Group = Group::new("bare", &["network", "ingress"]);

/// The program, also under load.
static DAEMON: Group = Group::new("daemon", &NETWORK);

/// A bus with a sensor, whose registers are memory.
static SENSORS: Group = Group::new("sensors", &["sensor chip_addr=0x76"]);

/// Sensors and GPIO lines behind a bridge in user space; the driver waits out limits of seconds, which
/// an idle processor with a clock of its own skips.
static DEVICES: Group = Group::new("devices", &["bridge"]);

/// All virtual machines, those that take longest first; the groups of one have the same kernel. A kernel
/// without netem has it from the end of the group on.
static BOOTS: [Boot; 5] = [
    Boot::new(&[&testbed::segment::GROUP]),
    Boot::new(&[
        &testbed::babel::GROUP,
        &testbed::batman::GROUP,
        &testbed::measured::GROUP,
        &testbed::soak::GROUP,
    ]),
    Boot::new(&[
        &testbed::crash::GROUP,
        &testbed::page::GROUP,
        &testbed::recording::GROUP,
        &testbed::foreign::GROUP,
        &testbed::nodes::GROUP,
        &testbed::bound::GROUP,
    ]),
    Boot::new(&[&BARE, &DAEMON, &CONTRACT, &PACKETS, &DEVICES, &SENSORS]),
    Boot::new(&[&NEWER, &NEWER_PACKETS, &testbed::tcp::GROUP]),
];
