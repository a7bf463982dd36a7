//! The head of the file: directories, geographic keys, and where each tile lies.

use super::super::pyramid::TILE_SIDE;
use super::field::{Field, directory};
use super::metadata::metadata;
use super::{CogLayout, Compression, Place, lerc};

/// A compressed tile in the spool.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredTile {
    pub spool_offset: u64,
    pub bytes: u32,
}

/// The raster or one of its overviews, with its tiles row by row.
#[derive(Debug)]
pub(super) struct Image {
    pub cols: u32,
    pub rows: u32,
    pub tiles: Vec<StoredTile>,
}

/// Everything before the first tile.
pub(super) struct Header {
    pub bytes: Vec<u8>,
    pub file_bytes: u64,
    pub is_big: bool,
}

/// Around each tile: its size before it, its last four bytes repeated after it.
const LEADER_BYTES: u64 = 4;
const TRAILER_BYTES: u64 = 4;

/// Structural guarantees for readers of GDAL's layout.
const STRUCTURE: &str = "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n\
     BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ";

impl Header {
    /// Places `images`, of which the first is the raster.
    pub fn new(geometry: Place, layout: &CogLayout, images: &[Image]) -> Self {
        let small = Self::with(geometry, layout, images, false);
        if layout.always_big || small.file_bytes > u64::from(u32::MAX) {
            return Self::with(geometry, layout, images, true);
        }
        small
    }

    fn with(geometry: Place, layout: &CogLayout, images: &[Image], is_big: bool) -> Self {
        // The length does not depend on the offsets: a first round finds where tiles begin.
        let blank = bytes(geometry, layout, images, is_big, 0);
        let tiles = images.iter().flat_map(|image| &image.tiles);
        let tile_bytes: u64 =
            tiles.map(|tile| LEADER_BYTES + u64::from(tile.bytes) + TRAILER_BYTES).sum();
        let start = blank.len() as u64;
        Self {
            bytes: bytes(geometry, layout, images, is_big, start),
            file_bytes: start + tile_bytes,
            is_big,
        }
    }
}

fn bytes(
    geometry: Place,
    layout: &CogLayout,
    images: &[Image],
    is_big: bool,
    data_start: u64,
) -> Vec<u8> {
    let structure =
        format!("GDAL_STRUCTURAL_METADATA_SIZE={:06} bytes\n{STRUCTURE}", STRUCTURE.len());
    let mut out = b"II".to_vec();
    let first = if is_big { 16 } else { 8 } + structure.len();
    let first = first.next_multiple_of(8) as u64;
    if is_big {
        out.extend([43, 0, 8, 0, 0, 0]);
        out.extend(first.to_le_bytes());
    } else {
        out.extend([42, 0]);
        out.extend((first as u32).to_le_bytes());
    }
    out.extend(structure.bytes());
    out.resize(first as usize, 0);
    // Tiles of the smallest image come first.
    let mut offset = data_start;
    let mut starts = Vec::new();
    for image in images.iter().rev() {
        let mut offsets = Vec::with_capacity(image.tiles.len());
        for tile in &image.tiles {
            offsets.push(offset + LEADER_BYTES);
            offset += LEADER_BYTES + u64::from(tile.bytes) + TRAILER_BYTES;
        }
        starts.push(offsets);
    }
    for (index, (image, offsets)) in images.iter().zip(starts.iter().rev()).enumerate() {
        let mut fields = image_fields(layout, image, offsets, is_big);
        if index == 0 {
            fields.extend(whole_fields(geometry, layout));
        } else {
            fields.push(Field::longs(254, &[1]));
        }
        fields.sort_by_key(|field| field.tag);
        directory(&mut out, &fields, is_big, index + 1 == images.len());
    }
    out
}

/// Fields of every image.
fn image_fields(layout: &CogLayout, image: &Image, offsets: &[u64], is_big: bool) -> Vec<Field> {
    let (samples, bands) = (layout.samples, layout.bands.len());
    let codec = layout.codec();
    let counts: Vec<u32> = image.tiles.iter().map(|tile| tile.bytes).collect();
    let mut fields = vec![
        Field::longs(256, &[image.cols]),
        Field::longs(257, &[image.rows]),
        Field::shorts(258, &vec![samples.bytes() as u16 * 8; bands]),
        Field::shorts(259, &[codec.tag()]),
        // Photometric: dark is low.
        Field::shorts(262, &[1]),
        Field::shorts(277, &[bands as u16]),
        // The samples of a cell lie together.
        Field::shorts(284, &[1]),
        Field::longs(322, &[TILE_SIDE]),
        Field::longs(323, &[TILE_SIDE]),
        Field::offsets(324, offsets, is_big),
        Field::longs(325, &counts),
        Field::shorts(339, &vec![samples.format(); bands]),
        Field::ascii(42113, samples.nodata()),
    ];
    fields.push(match codec {
        Compression::Lerc => Field::longs(50674, &lerc::PARAMETERS),
        _ => Field::shorts(317, &[samples.predictor()]),
    });
    if bands > 1 {
        fields.push(Field::shorts(338, &vec![0; bands - 1]));
    }
    fields
}

/// Fields of the raster's full-resolution image only.
fn whole_fields(geometry: Place, layout: &CogLayout) -> [Field; 5] {
    let ([cell_x, cell_y], [west, north]) = match geometry {
        Place::Geographic(place) => {
            ([place.cell_lon_deg, place.cell_lat_deg], [place.west_deg, place.north_deg])
        }
        Place::Metric(place) => ([place.cell_m; 2], [place.west_m, place.north_m]),
    };
    let (keys, citation) = match geometry {
        Place::Geographic(_) => (geographic_keys(), "WGS 84|".to_owned()),
        Place::Metric(place) => {
            let citation = format!("{}|", place.zone.name());
            (metric_keys(place.zone.epsg(), citation.len() as u16), citation)
        }
    };
    [
        Field::doubles(33550, &[cell_x, cell_y, 0.0]),
        Field::doubles(33922, &[0.0, 0.0, 0.0, west, north, 0.0]),
        Field::shorts(34735, keys.as_flattened()),
        Field::ascii(34737, &citation),
        Field::ascii(42112, &metadata(layout)),
    ]
}

/// GeoTIFF 1.1: version 1.1.0 and the number of keys, then key, place, count and value of each.
fn geographic_keys() -> [[u16; 4]; 6] {
    [
        [1, 1, 0, 5],
        // GTModelType: geographic.
        [1024, 0, 1, 2],
        // GTRasterType: a value stands for an area.
        [1025, 0, 1, 1],
        // GeodeticCRS: EPSG:4326.
        [2048, 0, 1, 4326],
        // GeodeticCitation, in the texts.
        [2049, 34737, 7, 0],
        // GeogAngularUnits: degree.
        [2054, 0, 1, 9102],
    ]
}

/// The same for a projected reference system of this code; `citation_len` octets name it.
fn metric_keys(epsg: u16, citation_len: u16) -> [[u16; 4]; 6] {
    [
        [1, 1, 0, 5],
        // GTModelType: projected.
        [1024, 0, 1, 1],
        [1025, 0, 1, 1],
        // GTCitation, in the texts.
        [1026, 34737, citation_len, 0],
        // ProjectedCRS.
        [3072, 0, 1, epsg],
        // ProjLinearUnits: metre.
        [3076, 0, 1, 9001],
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::geometry::GridGeometry;
    use super::super::super::grid::Resampling;
    use super::super::Samples;
    use super::*;

    #[test]
    fn offsets_grow_when_the_file_does() {
        let layout = CogLayout::single(Samples::U8, "site", "", Resampling::Mode);
        let geometry = GridGeometry {
            west_deg: 0.0,
            north_deg: 1.0,
            cell_lon_deg: 1e-3,
            cell_lat_deg: 1e-3,
            cols: 1024,
            rows: 1,
        };
        let check = |bytes: u32, is_big: bool| {
            let tiles = vec![StoredTile { spool_offset: 0, bytes }; 2];
            let images = [Image { cols: 1024, rows: 1, tiles }];
            let header = Header::new(geometry.into(), &layout, &images);
            assert_eq!(header.is_big, is_big);
            let head = header.bytes.len() as u64;
            assert_eq!(header.file_bytes, head + 2 * (u64::from(bytes) + 8));
            assert_eq!(header.bytes[2], if is_big { 43 } else { 42 });
        };
        check(1 << 31, true);
        check((1 << 31) - 4096, false);
    }
}
