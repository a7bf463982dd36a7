//! A testbed in the virtual machine: six nodes on real terrain, with unmodified routing programs.
//!
//! Nothing here depends on the speed of the machine: events are waited for, with bounds of minutes,
//! and the time they took is printed.

pub mod babel;
pub mod batman;
mod bed;
pub mod bound;
pub mod crash;
pub mod foreign;
pub mod measured;
pub mod page;
pub mod segment;
pub mod soak;

use std::time::Duration;

use crate::guest::Machine;

/// Kernel of each group.
const KERNEL: Machine = Machine::UserMode(
    "drivers/net/veth,net/sched/sch_netem,net/sched/sch_tbf,net/sched/sch_prio,net/sched/cls_flower,net/sched/sch_htb,\
     lib/crc-ccitt,net/ipv6/ipv6,net/llc/llc,net/802/stp,net/bridge/bridge,net/batman-adv/batman-adv",
);

/// Limit of each group.
const LIMIT: Duration = Duration::from_secs(900);

/// Tests that run in the virtual machine: the macro makes `body::uml` of each body.
/// Each file is a group of its own: routing programs take a minute to agree, and several machines wait
/// at a time.
macro_rules! guest {
    ($module:literal: $($body:ident),+ $(,)?) => {
        /// The tests of this file.
        pub static GROUP: $crate::guest::Group =
            $crate::guest::Group::new($module, super::KERNEL, super::LIMIT);

        $(mod $body {
            #[groundwave_needs::needs(user_mode_linux, routing_programs, terrain)]
            #[test]
            fn uml() {
                if $crate::guest::inside() {
                    super::$body();
                } else {
                    let case = concat!(module_path!(), "::uml");
                    // The name of a test has no name of its crate.
                    let (_, case) = case.split_once("::").unwrap();
                    super::GROUP.assert(case);
                }
            }
        })+
    };
}
pub(crate) use guest;
