//! A testbed in the virtual machine: six nodes on real terrain, with unmodified routing programs.
//!
//! Nothing here depends on the speed of the machine: events are waited for, with bounds of minutes,
//! and the time they took is printed.

mod babel;
mod batman;
mod bed;
mod bound;
mod crash;
mod foreign;
mod measured;
mod page;
mod segment;

/// Tests that run in the virtual machine: the macro makes `body::uml` of each body.
macro_rules! guest {
    ($($body:ident),+ $(,)?) => {
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
                    $crate::TESTBED.assert(case);
                }
            }
        })+
    };
}
pub(crate) use guest;
