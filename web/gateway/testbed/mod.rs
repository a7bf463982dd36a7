//! Testbed endpoints: operations of its controller, passed on to its control socket.

pub mod steer;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        steer::testbed_show,
        steer::testbed_place,
        steer::testbed_fail,
        steer::testbed_repair,
        steer::testbed_equip,
        steer::testbed_cut,
        steer::testbed_mend,
        steer::testbed_pace,
        steer::testbed_step,
    ))
}
