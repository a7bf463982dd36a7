//! Map projections that need nothing else of this project: positions are read by pages and routers too.
//!
#![doc = include_str!("README.md")]

mod utm;

pub use utm::Utm;
