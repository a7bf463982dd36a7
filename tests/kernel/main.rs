//! The kernel in the loop: interfaces shaped and measured.
#![cfg(target_os = "linux")]

mod arrival;
mod guest;
mod packets;
mod wire;

use std::time::Duration;

/// Measurements with packets.
static PACKETS: guest::Group = guest::Group::new(
    "packets",
    "drivers/net/veth,net/sched/sch_netem,net/sched/sch_tbf,net/sched/sch_prio",
    Duration::from_secs(120),
);
