//! Files opened within limits of what they may claim.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tiff_reader::source::{FileSource, TiffSource};
use tiff_reader::{OpenOptions, ParseBudgets, TiffError, TiffFile};

use super::error::RasterError;

/// Maximum posts that are decoded together.
pub(super) const BLOCK_POSTS_MAX: usize = 1 << 25;

/// Limits of what a file may claim.
const LIMITS: OpenOptions = OpenOptions {
    block_cache_bytes: 0,
    block_cache_slots: 1,
    parse_budgets: ParseBudgets {
        max_ifds: 256,
        max_ifd_entries: 4096,
        max_tag_value_bytes: 1 << 26,
        max_metadata_value_bytes: 1 << 27,
    },
    decode_output_bytes: BLOCK_POSTS_MAX * 8,
};

/// Opens a file within limits.
pub(super) fn open(path: &Path) -> Result<TiffFile, RasterError> {
    open_file(path)
        .map_err(|reason| RasterError::Read { path: path.to_owned(), reason: reason.to_string() })
}

/// A file that is read by windows where it is.
pub trait RemoteFile: TiffSource + fmt::Debug {
    /// Address, for messages and names.
    fn url(&self) -> &str;

    /// Digest of what names this version of the file.
    fn digest(&self) -> String;
}

/// Opens a source of bytes within limits; `path` is for messages.
pub(super) fn open_source(
    source: Arc<dyn TiffSource>,
    path: &Path,
) -> Result<TiffFile, RasterError> {
    TiffFile::from_source_with_options(source, LIMITS)
        .map_err(|reason| RasterError::Read { path: path.to_owned(), reason: reason.to_string() })
}

/// Opens a file within limits, with the error of the decoder.
pub(super) fn open_file(path: &Path) -> Result<TiffFile, TiffError> {
    let source: Arc<dyn TiffSource> = Arc::new(FileSource::open(path)?);
    TiffFile::from_source_with_options(source, LIMITS)
}
