//! A testbed in the guest: six nodes on real terrain, with routing programs that know nothing of
//! any of it.
//!
//! Nothing here depends on how fast the machine is: what takes time is waited for, with bounds of
//! minutes, and how long it took is printed.

mod babel;
mod batman;
mod bed;
mod bound;
mod crash;
mod measured;
mod page;
mod segment;

/// Tests that run in the guest: `guest!(body, …)` makes `body::uml`.
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
