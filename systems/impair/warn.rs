//! What the kernel does silently with an impairment, told beforehand.

use super::observed::Warning;
use super::shape::Impairment;

/// What an impairment meets at its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// MTU of the interface, bytes, without the link-layer header.
    pub mtu_bytes: u32,
    /// Largest super-packet the interface may be handed, bytes.
    pub gso_bytes_max: u32,
    /// Bytes of the link-layer header.
    pub header_bytes: u32,
}

/// Warnings about `impairment` in these `surroundings`.
#[must_use]
pub fn warnings(impairment: &Impairment, surroundings: &Surroundings) -> Vec<Warning> {
    let _ = (impairment, surroundings);
    Vec::new()
}
