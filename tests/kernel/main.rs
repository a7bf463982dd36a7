//! The kernel in the loop: interfaces shaped and measured.
//!
//! A case is written once and runs over the model of the kernel (`fake`), over the kernel of this
//! machine in a namespace of its own (`host`, needs root), over a user-mode kernel that has netem
//! whatever this machine has (`uml`), and, where times are measured, over a stock kernel in a virtual
//! machine whose clock counts instructions (`vm`): Debian's user-mode kernel has no virtual time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "what was set beside what was measured is shown"
)]

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

use std::time::Duration;

use guest::{Group, Machine};

/// The desired state is in force.
static CONTRACT: Group = Group::new(
    "contract",
    Machine::UserMode("drivers/net/veth,net/sched/sch_netem,net/sched/sch_tbf,net/sched/sch_prio"),
    Duration::from_secs(180),
);

/// Delay, rate, loss and order as packets see them: measured in time that the load of this machine does
/// not stretch.
static PACKETS: Group = Group::new("packets", Machine::VirtualTime, Duration::from_secs(900));

/// A kernel without netem.
static BARE: Group = Group::new(
    "bare",
    Machine::UserMode("drivers/net/veth,net/sched/sch_tbf"),
    Duration::from_secs(60),
);

/// The program.
static DAEMON: Group = Group::new(
    "daemon",
    Machine::UserMode("drivers/net/veth,net/sched/sch_netem,net/sched/sch_tbf"),
    Duration::from_secs(120),
);

/// The program under load, in time that the load of this machine does not stretch.
static LOADED: Group = Group::new(
    "daemon::loaded",
    Machine::VirtualTime,
    Duration::from_secs(600),
);

/// A bus with a sensor, whose registers are memory.
static SENSORS: Group = Group::new(
    "sensors",
    Machine::UserMode(
        "drivers/i2c/i2c-core,drivers/i2c/i2c-dev,drivers/i2c/i2c-stub:chip_addr=0x76",
    ),
    Duration::from_secs(120),
);

/// Sensors and GPIO lines behind a bridge in user space; the driver waits out limits of seconds, which
/// an idle processor with a clock of its own skips.
static DEVICES: Group = Group::new("devices", Machine::VirtualTime, Duration::from_secs(600));

/// All groups, those that take longest first.
static GROUPS: [&Group; 16] = [
    &testbed::segment::GROUP,
    &testbed::babel::GROUP,
    &PACKETS,
    &testbed::batman::GROUP,
    &testbed::crash::GROUP,
    &testbed::page::GROUP,
    &testbed::soak::GROUP,
    &LOADED,
    &testbed::foreign::GROUP,
    &testbed::bound::GROUP,
    &testbed::measured::GROUP,
    &CONTRACT,
    &DEVICES,
    &DAEMON,
    &SENSORS,
    &BARE,
];
