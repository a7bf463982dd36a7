//! Firmware endpoints: images, roll-outs.

pub mod images;
pub mod range;
pub mod rollouts;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        images::firmware_images,
        images::firmware_image_upload,
        images::firmware_image_fetch,
        images::firmware_image_delete,
        images::firmware_image_content,
        rollouts::rollouts,
        rollouts::rollout_create,
        rollouts::rollout_fetch,
        rollouts::rollout_dry_run,
        rollouts::rollout_cancel,
        rollouts::rollout_retry,
        rollouts::rollout_delete,
    ))
}
