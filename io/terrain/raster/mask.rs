//! Masks: which posts of a GeoTIFF file have a height.
//!
//! TIFF 6.0, section 8, NewSubfileType; GDAL writes a mask as an image of the file, as a file of its own
//! beside it (`.msk`), or as an alpha band. A value of 0 is a post without a height.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tiff_reader::{ExtraSample, Ifd, TiffError, TiffFile};

use super::error::RasterError;
use super::open::{open, open_file};

const NEW_SUBFILE_TYPE: u16 = 254;

/// Bits of NewSubfileType: a reduced image, a mask.
const REDUCED: u64 = 1;
const MASK: u64 = 4;

/// Mask of the first image of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mask {
    /// None: every post may have a height.
    #[default]
    None,
    /// Image of the file, by its number.
    Image(usize),
    /// First image of the file beside it.
    File,
    /// Band of the image, by its number.
    Alpha(usize),
}

/// Path of the file with the mask of another.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".msk");
    name.into()
}

/// True for the mask of a whole image.
fn is_mask(ifd: &Ifd) -> bool {
    let subfile = ifd.tag(NEW_SUBFILE_TYPE).and_then(|tag| tag.value.as_u64());
    subfile.is_some_and(|bits| bits & MASK != 0 && bits & REDUCED == 0)
}

/// Fails unless a mask has the size of the image and samples of one band.
fn check(mask: &Ifd, image: &Ifd, path: &Path) -> Result<(), RasterError> {
    let broken =
        |reason: TiffError| RasterError::Read { path: path.to_owned(), reason: reason.to_string() };
    let layout = mask.raster_layout().map_err(broken)?;
    let size = (layout.width, layout.height);
    let allowed = (image.width() as usize, image.height() as usize);
    let is_whole = layout.sample_format == 1 && layout.bits_per_sample <= 8;
    if size != allowed || layout.samples_per_pixel != 1 || !is_whole {
        let (bits, bands) = (layout.bits_per_sample, layout.samples_per_pixel);
        let actual = format!("{} x {} posts, {bands} bands of {bits} bits", size.0, size.1);
        let allowed = format!("{} x {} posts, one band of 1 to 8 bits", allowed.0, allowed.1);
        return Err(RasterError::property(path, "mask", actual, allowed));
    }
    Ok(())
}

/// The mask of the first image of a file.
///
/// # Errors
/// A mask that cannot be applied, or bands beside the heights that are not a mask.
pub(super) fn find(file: &TiffFile, path: &Path) -> Result<Mask, RasterError> {
    let broken =
        |reason: TiffError| RasterError::Read { path: path.to_owned(), reason: reason.to_string() };
    let image = file.ifd(0).map_err(broken)?;
    let bands = usize::from(image.samples_per_pixel());
    if bands != 1 {
        let extra = image.extra_samples().map_err(broken)?;
        let alpha = [ExtraSample::AssociatedAlpha, ExtraSample::UnassociatedAlpha];
        if bands == 2 && extra.last().is_some_and(|sample| alpha.contains(sample)) {
            return Ok(Mask::Alpha(1));
        }
        let allowed = "one band of heights, with an alpha band at most";
        return Err(RasterError::property(path, "SamplesPerPixel (277)", bands, allowed));
    }
    let own = file.ifds().iter().enumerate().skip(1).find(|(_, ifd)| is_mask(ifd));
    if let Some((number, mask)) = own {
        check(mask, image, path)?;
        return Ok(Mask::Image(number));
    }
    let other = beside(path);
    if !other.is_file() {
        return Ok(Mask::None);
    }
    let mask = open(&other)?;
    check(mask.ifd(0).map_err(broken)?, image, &other)?;
    Ok(Mask::File)
}

impl Mask {
    /// Values of the mask at `[row, column, rows, columns]`, row by row: 0 without a height; `None` where
    /// every post may have one.
    ///
    /// # Errors
    /// When the mask cannot be decoded.
    pub fn window(
        self,
        file: &TiffFile,
        path: &Path,
        [row, column, rows, columns]: [usize; 4],
    ) -> Result<Option<Vec<u8>>, TiffError> {
        let values = match self {
            Self::None => return Ok(None),
            Self::Image(number) => {
                file.read_window_from_ifd::<u8>(file.ifd(number)?, row, column, rows, columns)?
            }
            Self::File => {
                let other = open_file(&beside(path))?;
                other.read_window_from_ifd::<u8>(other.ifd(0)?, row, column, rows, columns)?
            }
            // The band has the kind of samples of the heights: only whether it is 0 counts.
            Self::Alpha(band) => {
                let image = file.ifd(0)?;
                let bytes =
                    file.read_band_window_bytes_from_ifd(image, band, row, column, rows, columns)?;
                let sample_bytes = (bytes.len() / (rows * columns).max(1)).max(1);
                let is_set = |sample: &[u8]| u8::from(sample.iter().any(|byte| *byte != 0));
                return Ok(Some(bytes.chunks(sample_bytes).map(is_set).collect()));
            }
        };
        Ok(Some(values.iter().copied().collect()))
    }
}
