//! Cameras: one upstream each, many viewers.

mod feed;
pub mod hub;
pub mod source;
pub mod stream;
