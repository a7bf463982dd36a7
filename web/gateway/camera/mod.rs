//! Camera endpoints: detection, definitions, start and stop, stream and snapshot.

pub mod cameras;
pub mod control;
pub mod view;
pub mod watch;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        control::camera_detect,
        cameras::cameras,
        cameras::camera_create,
        cameras::camera_fetch,
        cameras::camera_patch,
        cameras::camera_remove,
        control::camera_status,
        control::camera_start,
        control::camera_stop,
        watch::camera_stream,
        watch::camera_snapshot,
    ))
}
