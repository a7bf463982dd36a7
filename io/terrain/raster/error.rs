//! Reasons for refusing a GeoTIFF file.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reason for refusing a GeoTIFF file of heights.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RasterError {
    /// The file cannot be read, or is no TIFF file.
    #[error("terrain file {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system or the decoder, with the offset where it has one.
        reason: String,
    },
    /// A property is not supported or makes no sense.
    #[error("terrain file {}: invalid {what}: found {found}, allowed {allowed}", path.display())]
    Property {
        /// The file.
        path: PathBuf,
        /// The property, with the number of its tag or key.
        what: &'static str,
        /// Value of the property.
        found: String,
        /// Values that are allowed.
        allowed: String,
    },
    /// Posts cannot be decoded.
    #[error(
        "terrain file {}: rows {} to {}, columns {} to {}: {reason}",
        path.display(), rows[0], rows[1], columns[0], columns[1]
    )]
    Block {
        /// The file.
        path: PathBuf,
        /// First and last row.
        rows: [usize; 2],
        /// First and last column.
        columns: [usize; 2],
        /// Error of the decoder.
        reason: String,
    },
}

impl RasterError {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Read { path, .. } | Self::Property { path, .. } | Self::Block { path, .. } => {
                path
            }
        }
    }

    pub(super) fn property(
        path: &Path,
        what: &'static str,
        value: impl ToString,
        allowed: impl ToString,
    ) -> Self {
        Self::Property {
            path: path.to_owned(),
            what,
            found: value.to_string(),
            allowed: allowed.to_string(),
        }
    }
}
