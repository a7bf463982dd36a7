//! Models of radio meshes: plain values in, plain values out.
//!
#![doc = include_str!("README.md")]
#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests compare with functions of the platform")
)]
// The public surface is read by people who do not know the code.
#![warn(missing_docs)]

/// Number of the evaluation of links and cells. It grows when results change, so that units and digests of
/// earlier programs are not taken for those of this one.
pub const EVALUATION: u32 = 7;

pub mod advice;
pub mod airtime;
pub mod coverage;
pub mod id;
pub mod link;
pub mod mesh;
pub mod patch;
pub mod radio;
pub mod relay;
pub mod route;
#[doc(hidden)]
pub mod sample;
pub mod sweep;
pub mod terrain;
