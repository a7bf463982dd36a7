//! Meaning of the samples of a raster.

/// Meaning of the samples of a raster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Contents {
    /// Heights of the ground, whose doubts are logged.
    Ground,
    /// Classes of land cover, or heights of trees and buildings: neighbours may differ by any number.
    Cover,
}
