//! The one error of this module.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::geometry::BadGeometry;
use crate::scene::PictureError;

/// Reason why a file was not written. No file is left under its name.
#[derive(Debug, Error)]
pub enum RasterError {
    /// The raster cannot lie on the globe.
    #[error(transparent)]
    Geometry(#[from] BadGeometry),
    /// The area does not lie in the zone of UTM.
    #[error(
        "invalid reference system: found EPSG:{found}, allowed zones whose central meridian lies within 15 \
         degrees of the whole area; its middle lies in EPSG:{own}"
    )]
    Zone {
        /// Code found.
        found: u16,
        /// Code of the zone that holds the middle of the area.
        own: u16,
    },
    /// The source of the cells failed.
    #[error("read row {row} of the raster")]
    ReadRow {
        /// Counted from the north.
        row: u32,
        /// Error of the source.
        #[source]
        source: io::Error,
    },
    /// A cell that the file cannot hold: infinite, outside the sample type, or equal to what
    /// stands for "no data" there.
    #[error(
        "cell in row {row}, column {col} of band {band} is {value}, which {samples} cannot hold"
    )]
    BadCell {
        /// Counted from the north.
        row: u32,
        /// Counted from the west.
        col: u32,
        /// Counted from 0.
        band: usize,
        /// The value found.
        value: f32,
        /// The sample type of the file.
        samples: &'static str,
    },
    /// A text that the file cannot hold, or a layout that makes no sense.
    #[error("{what} cannot be written: {why}")]
    Unwritable {
        /// The thing at fault.
        what: String,
        /// The reason.
        why: &'static str,
    },
    /// A picture that cannot be rendered or encoded.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The disk, or another process that writes the same file.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl RasterError {
    /// The error of the disk itself where there is one: its kind distinguishes a full disk from others.
    #[must_use]
    pub fn into_io(self) -> io::Error {
        match self {
            Self::Write { source, .. } => source,
            error => io::Error::other(error),
        }
    }

    /// For `map_err` on operations on one file.
    pub(super) fn write(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::Write { path: path.to_owned(), source }
    }
}
