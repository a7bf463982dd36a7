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
pub mod nodes;
pub mod page;
pub mod recording;
pub mod segment;
pub mod soak;
pub mod tcp;

/// Sets of kernel modules of each group.
const MODULES: [&str; 3] = ["network", "netem", "mesh"];

/// Tests that run in the virtual machine: the macro makes `body::vm` of each body.
macro_rules! guest {
    ($module:literal: $($body:ident),+ $(,)?) => {
        /// The tests of this file.
        pub static GROUP: $crate::guest::Group = $crate::guest::Group::new($module, &super::MODULES);

        $(mod $body {
            #[groundwave_needs::needs(virtual_machine, routing_programs, terrain)]
            #[test]
            fn vm() {
                if $crate::guest::inside() {
                    super::$body();
                } else {
                    let case = concat!(module_path!(), "::vm");
                    // The name of a test has no name of its crate.
                    let (_, case) = case.split_once("::").unwrap();
                    super::GROUP.assert(case);
                }
            }
        })+
    };
}
pub(crate) use guest;
