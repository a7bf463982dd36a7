//! Read back by an independent decoder, and by eye where it matters to clients.

use std::fs;
use std::io;

use groundwave_needs::needs;
use groundwave_test_data::fetched;
use tempfile::TempDir;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;

use super::*;

fn geometry(cols: u32, rows: u32) -> GridGeometry {
    GridGeometry {
        west_deg: 11.0,
        north_deg: 58.0,
        cell_lon_deg: 1.0 / 3600.0,
        cell_lat_deg: 1.0 / 7200.0,
        cols,
        rows,
    }
}

/// A value that encodes its position, with holes.
fn cell(band: u32, row: u32, col: u32) -> f32 {
    if (row / 7 + col / 11).is_multiple_of(5) {
        return f32::NAN;
    }
    ((row * 31 + col * 17 + band * 1001) % 2503) as f32 / 10.0
}

fn source(bands: u32, cols: u32) -> impl FnMut(u32, &mut [f32]) -> io::Result<()> {
    move |row, out| {
        for band in 0..bands {
            for col in 0..cols {
                out[(band * cols + col) as usize] = cell(band, row, col);
            }
        }
        Ok(())
    }
}

fn layout(samples: Samples, bands: u32, resampling: Resampling) -> CogLayout {
    let mut layout = CogLayout::single(samples, "margin", "dB", resampling);
    layout.bands = vec![layout.bands[0].clone(); bands as usize];
    layout
}

fn write(layout: &CogLayout, cols: u32, rows: u32) -> (TempDir, Vec<u8>, CogFacts) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.tif");
    let mut rows_of = source(layout.bands.len() as u32, cols);
    let facts = write_cog(&path, geometry(cols, rows), layout, &mut rows_of).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, facts.bytes);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    (dir, bytes, facts)
}

fn decoder(bytes: &[u8]) -> Decoder<io::Cursor<&[u8]>> {
    Decoder::new(io::Cursor::new(bytes)).unwrap().with_limits(Limits::unlimited())
}

/// All samples of an image, the bands of a cell together.
fn samples(bytes: &[u8], image: usize) -> Vec<f32> {
    let mut decoder = decoder(bytes);
    decoder.seek_to_image(image).unwrap();
    match decoder.read_image().unwrap() {
        DecodingResult::F32(values) => values,
        DecodingResult::U8(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::U16(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::I16(values) => values.into_iter().map(f32::from).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_cell_reads_back() {
    let check = |kind: Samples, bands: u32, cols: u32, rows: u32, big: bool| {
        let mut layout = layout(kind, bands, Resampling::Mean);
        layout.always_big = big;
        let (_dir, bytes, facts) = write(&layout, cols, rows);
        assert_eq!(facts.is_big, big);
        let values = samples(&bytes, 0);
        assert_eq!(values.len() as u32, bands * cols * rows);
        let nodata: f32 = kind.nodata().parse().unwrap();
        for (at, &got) in values.iter().enumerate() {
            let at = at as u32;
            let (band, pixel) = (at % bands, at / bands);
            let want = cell(band, pixel / cols, pixel % cols);
            let want = match kind {
                _ if want.is_nan() => nodata,
                Samples::F32 => want,
                _ => want.round(),
            };
            let is_same = got.to_bits() == want.to_bits();
            assert!(is_same, "{kind:?} {cols}x{rows} sample {at}: {got}, not {want}");
        }
    };
    check(Samples::F32, 1, 1, 1, false);
    check(Samples::F32, 1, 511, 513, false);
    check(Samples::F32, 1, 700, 1100, true);
    check(Samples::U16, 1, 513, 600, false);
    check(Samples::I16, 1, 513, 40, true);
    check(Samples::U8, 1, 100, 514, false);
    // The decoder reads the floating-point predictor of single bands only.
    check(Samples::U16, 3, 530, 20, false);
    check(Samples::F32, 3, 530, 20, false);
}

/// GDAL's driver reads both; the decoder of these tests supports Deflate only.
#[test]
fn zstandard_holds_what_deflate_does() {
    let mut layout = layout(Samples::F32, 2, Resampling::Mean);
    let (_dir, deflate, _) = write(&layout, 300, 270);
    layout.compression = Compression::Zstd;
    let (_dir, zstd, _) = write(&layout, 300, 270);
    let tiles = |bytes: &[u8], unpack: fn(&[u8]) -> Vec<u8>| -> Vec<Vec<u8>> {
        let mut decoder = decoder(bytes);
        let offsets = decoder.get_tag_u64_vec(Tag::TileOffsets).unwrap();
        let counts = decoder.get_tag_u64_vec(Tag::TileByteCounts).unwrap();
        let tiles = offsets.iter().zip(counts);
        tiles.map(|(&at, len)| unpack(&bytes[at as usize..][..len as usize])).collect()
    };
    let inflate = |bytes: &[u8]| miniz_oxide::inflate::decompress_to_vec_zlib(bytes).unwrap();
    let expand = |bytes: &[u8]| zstd::bulk::decompress(bytes, 1 << 22).unwrap();
    assert_eq!(tiles(&deflate, inflate), tiles(&zstd, expand));
    let compression = |bytes: &[u8]| decoder(bytes).get_tag_u32(Tag::Compression).unwrap();
    assert_eq!((compression(&deflate), compression(&zstd)), (8, 50_000));
}

/// All samples of an image by the reader of terrain, which supports every codec.
fn read(bytes: &[u8], image: usize) -> Vec<f32> {
    let file = tiff_reader::TiffFile::from_bytes(bytes.to_vec()).unwrap();
    file.read_image::<f32>(image).unwrap().into_iter().collect()
}

/// Values of [`cell`]; smooth values above ones too large to be quantised; a constant; no data.
fn hard_cell(band: u32, row: u32, col: u32) -> f32 {
    match band {
        1 if row > 300 => (row * col) as f32 * 1e5 + 0.5,
        1 => (cell(0, row, col) * 1.37 - 150.0).sin() * 80.0,
        2 => 5.25,
        3 => f32::NAN,
        _ => cell(band, row, col),
    }
}

#[test]
fn lerc_reads_back_as_deflate_does_in_every_band_and_overview() {
    for (bands, is_rounded) in [(1, true), (4, true), (4, false), (1, false)] {
        let mut layout = layout(Samples::F32, bands, Resampling::Mean);
        layout.is_rounded = is_rounded;
        let write = |codec: Compression| {
            let (dir, mut layout) = (tempfile::tempdir().unwrap(), layout.clone());
            layout.compression = codec;
            let path = dir.path().join("out.tif");
            let mut rows = |row: u32, out: &mut [f32]| {
                for (at, value) in out.iter_mut().enumerate() {
                    *value = hard_cell(at as u32 / 530, row, at as u32 % 530);
                }
                Ok(())
            };
            let facts = write_cog(&path, geometry(530, 600), &layout, &mut rows).unwrap();
            (fs::read(&path).unwrap(), facts)
        };
        let ((deflate, _), (lerc, facts)) = (write(Compression::Deflate), write(Compression::Lerc));
        for image in 0..=facts.overviews {
            let pairs = read(&lerc, image).into_iter().zip(read(&deflate, image));
            for (at, (got, want)) in pairs.enumerate() {
                let same = got == want || got.is_nan() && want.is_nan();
                assert!(same, "image {image}, sample {at}: {got}, not {want}");
            }
        }
        let mut decoder = decoder(&lerc);
        assert_eq!(decoder.get_tag_u32(Tag::Compression).unwrap(), 34_887);
        let parameters = decoder.get_tag_u32_vec(Tag::Unknown(50_674)).unwrap();
        assert_eq!(parameters, [4, 2]);
        assert!(decoder.find_tag(Tag::Predictor).unwrap().is_none());
    }
}

#[needs(gdal)]
#[test]
fn gdal_reads_lerc_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let mut layout = layout(Samples::F32, 4, Resampling::Mean);
    layout.compression = Compression::Lerc;
    let path = dir.path().join("out.tif");
    let mut cells = Vec::new();
    let mut rows = |row: u32, out: &mut [f32]| {
        for (at, value) in out.iter_mut().enumerate() {
            *value = hard_cell(at as u32 / 530, row, at as u32 % 530);
        }
        cells.extend(out.iter().flat_map(|value| value.to_le_bytes()));
        Ok(())
    };
    write_cog(&path, geometry(530, 600), &layout, &mut rows).unwrap();
    fs::write(path.with_extension("f32"), cells).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checked = std::process::Command::new(fetched("gis/bin/python"))
        .arg(folder.join("../../tests/it/cog_check.py"))
        .arg(&path)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&checked.stdout).into_owned();
    let errors = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{output}{errors}");
}

#[test]
fn whole_numbers_stay_deflate_under_lerc() {
    for samples in [Samples::U8, Samples::U16, Samples::I16] {
        let mut layout = layout(samples, 1, Resampling::Mode);
        let (_dir, deflate, _) = write(&layout, 300, 270);
        layout.compression = Compression::Lerc;
        let (_dir, lerc, _) = write(&layout, 300, 270);
        assert!(deflate == lerc, "{samples:?}");
    }
}

#[test]
fn rounded_raster_states_its_step_and_stays_within_it() {
    let mut layout = layout(Samples::F32, 1, Resampling::Mean);
    layout.is_rounded = true;
    let (_dir, bytes, _) = write(&layout, 300, 20);
    for (at, got) in samples(&bytes, 0).into_iter().enumerate() {
        let want = cell(0, at as u32 / 300, at as u32 % 300);
        assert!((got - want).abs() <= 1.0 / 256.0 || got.is_nan() && want.is_nan());
        assert!(got.is_nan() || (got * 128.0).fract() == 0.0);
    }
    let text = |layout: &CogLayout| {
        let (_dir, bytes, _) = write(layout, 3, 2);
        decoder(&bytes).get_tag_ascii_string(Tag::Unknown(42112)).unwrap()
    };
    assert!(text(&layout).contains("multiples of 2^-7"));
    layout.is_rounded = false;
    assert!(!text(&layout).contains("2^-7"));
}

#[test]
fn overviews_halve_until_one_tile_holds_them() {
    let (_dir, bytes, facts) = write(&layout(Samples::F32, 1, Resampling::Mean), 1301, 2050);
    assert_eq!(facts.overviews, 4);
    let sizes: Vec<_> = (0..=4)
        .map(|image| {
            let mut decoder = decoder(&bytes);
            decoder.seek_to_image(image).unwrap();
            decoder.dimensions().unwrap()
        })
        .collect();
    assert_eq!(sizes, [(1301, 2050), (651, 1025), (326, 513), (163, 257), (82, 129)]);
    let half = samples(&bytes, 1);
    let check = |row: u32, col: u32| {
        let block = [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(r, c)| (2 * row + r, 2 * col + c))
            .into_iter()
            .filter(|&(r, c)| r < 2050 && c < 1301)
            .map(|(r, c)| cell(0, r, c))
            .filter(|v| !v.is_nan())
            .map(f64::from);
        let values: Vec<f64> = block.collect();
        let want = (values.iter().sum::<f64>() / values.len() as f64) as f32;
        let got = half[(row * 651 + col) as usize];
        assert!(got == want || got.is_nan() && want.is_nan(), "{row} {col}: {got}, not {want}");
    };
    for row in [0, 1, 255, 256, 511, 512, 1024] {
        for col in [0, 5, 255, 256, 649, 650] {
            check(row, col);
        }
    }
}

#[test]
fn categories_are_never_mixed() {
    let (_dir, bytes, _) = write(&layout(Samples::U8, 1, Resampling::Mode), 600, 600);
    let present: std::collections::BTreeSet<u32> =
        samples(&bytes, 0).iter().map(|&v| v as u32).collect();
    assert!(samples(&bytes, 1).iter().all(|&v| present.contains(&(v as u32))));
}

#[test]
fn directories_come_first_and_the_smallest_overview_before_the_rest() {
    let (_dir, bytes, facts) = write(&layout(Samples::F32, 2, Resampling::Mean), 1100, 1030);
    let structure = String::from_utf8_lossy(&bytes[8..191]);
    assert!(structure.starts_with("GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\n"));
    assert!(structure.ends_with("KNOWN_INCOMPATIBLE_EDITION=NO\n "));
    let mut decoder = decoder(&bytes);
    let mut expect = None;
    for image in (0..=facts.overviews).rev() {
        decoder.seek_to_image(image).unwrap();
        let offsets = decoder.get_tag_u64_vec(Tag::TileOffsets).unwrap();
        let counts = decoder.get_tag_u64_vec(Tag::TileByteCounts).unwrap();
        let is_overview = decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType).unwrap();
        assert_eq!(is_overview, (image > 0).then_some(1));
        for (&offset, &count) in offsets.iter().zip(&counts) {
            let (at, len) = (offset as usize, count as usize);
            assert_eq!(bytes[at - 4..at], (count as u32).to_le_bytes());
            assert_eq!(bytes[at + len..at + len + 4], bytes[at + len - 4..at + len]);
            assert_eq!(*expect.get_or_insert(offset), offset, "tiles lie one after another");
            expect = Some(offset + count + 8);
        }
    }
    assert_eq!(expect, Some(facts.bytes + 4), "and end with the file");
}

#[test]
fn raster_has_its_position_and_metadata() {
    let mut layout = layout(Samples::F32, 1, Resampling::Mean);
    layout.remarks = vec![("SITE_1".into(), "Fish & <Chips>".into())];
    let (_dir, bytes, _) = write(&layout, 3, 2);
    let mut decoder = decoder(&bytes);
    let mut doubles = |tag| decoder.get_tag_f64_vec(Tag::Unknown(tag)).unwrap();
    assert_eq!(doubles(33550), [1.0 / 3600.0, 1.0 / 7200.0, 0.0]);
    assert_eq!(doubles(33922), [0.0, 0.0, 0.0, 11.0, 58.0, 0.0]);
    let keys = decoder.get_tag_u16_vec(Tag::Unknown(34735)).unwrap();
    assert!(keys.as_chunks::<4>().0.contains(&[2048, 0, 1, 4326]));
    assert!(keys.as_chunks::<4>().0.contains(&[1025, 0, 1, 1]));
    assert_eq!(decoder.get_tag_ascii_string(Tag::Unknown(42113)).unwrap(), "nan");
    let metadata = decoder.get_tag_ascii_string(Tag::Unknown(42112)).unwrap();
    for part in [
        // GDAL escapes twice.
        "<Item name=\"SITE_1\">Fish &amp;amp; &amp;lt;Chips&amp;gt;</Item>",
        "role=\"description\">margin<",
        "role=\"unittype\">dB<",
    ] {
        assert!(metadata.contains(part), "{metadata}");
    }
}

#[test]
fn bytes_do_not_depend_on_threads_or_on_the_run() {
    let layout = layout(Samples::F32, 1, Resampling::Mean);
    let (_dir, first, _) = write(&layout, 1600, 700);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (_dir, second, _) = pool.install(|| write(&layout, 1600, 700));
        assert!(first == second, "{threads} threads");
    }
}

#[test]
fn failure_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.tif");
    let layout = layout(Samples::U8, 1, Resampling::Mean);
    let mut fails = |row: u32, out: &mut [f32]| {
        out.fill(1.0);
        if row == 600 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    };
    let error = write_cog(&path, geometry(8, 900), &layout, &mut fails).unwrap_err();
    assert!(matches!(error, RasterError::ReadRow { row: 600, .. }), "{error}");
    let mut too_high = |row: u32, out: &mut [f32]| {
        out.fill(1.0);
        out[5] = if row == 3 { 255.0 } else { 2.0 };
        Ok(())
    };
    let error = write_cog(&path, geometry(8, 9), &layout, &mut too_high).unwrap_err();
    assert_eq!(error.to_string(), "cell in row 3, column 5 of band 0 is 255, which u8 cannot hold");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
