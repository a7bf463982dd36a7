//! Packed, damaged, renamed and hostile tile files.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const SIZE: usize = 2_884_802;

fn n57e011() -> TileId {
    TileId::new(57, 11).unwrap()
}

/// Posts that differ, so that a wrong order would show.
fn posts() -> Vec<u8> {
    (0..SIZE / 2).flat_map(|i| i16::try_from(i % 3001).unwrap().to_be_bytes()).collect()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(name: &str, packing: Packing, content: &[u8]) -> Result<Tile, HgtError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    read_tile(&path, n57e011(), packing, None)
}

#[test]
fn every_packing_gives_the_same_tile() {
    let posts = posts();
    let tile = Tile::decode(&posts).unwrap();
    let whole =
        zipped(&[("read.me", b"x"), ("__MACOSX/._N57E011.hgt", b"y"), ("a/n57e011.HGT", &posts)]);
    assert_eq!(read("N57E011.hgt", Packing::Plain, &posts).unwrap(), tile);
    // Bands of a plain file are decoded apart: a void and the greatest height may lie in any.
    for at in [0, SIZE / 2 - 1, SIZE - 2] {
        for post in [i16::MIN, 32_767, 20_000, 8_848] {
            let mut posts = posts.clone();
            posts[at & !1..][..2].copy_from_slice(&post.to_be_bytes());
            let tile = Tile::decode(&posts).unwrap();
            assert_eq!(read("N57E011.hgt", Packing::Plain, &posts).unwrap(), tile);
        }
    }
    assert_eq!(read("N57E011.hgt.gz", Packing::Gzip, &gz(&posts)).unwrap(), tile);
    assert_eq!(read("N57E011.hgt.zip", Packing::Zip, &whole).unwrap(), tile);
    // The last member claims its own size: that of no tile, and that of the other kind of tile.
    let (north, south) = posts.split_at(SIZE / 3);
    let parts = [gz(north), gz(south)].concat();
    assert_eq!(read("N57E011.hgt.gz", Packing::Gzip, &parts).unwrap(), tile);
    let fine = vec![1; 25_934_402];
    let (north, south) = fine.split_at(fine.len() - SIZE);
    let parts = [gz(north), gz(south)].concat();
    let tile = read("N57E011.hgt.gz", Packing::Gzip, &parts).unwrap();
    assert_eq!(tile, Tile::decode(&fine).unwrap());
}

#[test]
fn octets_in_the_wrong_order_are_an_error_that_names_the_file() {
    let mut swapped = posts();
    for post in swapped.as_chunks_mut::<2>().0 {
        post.reverse();
    }
    for (name, packing, file) in [
        ("N57E011.hgt", Packing::Plain, swapped.clone()),
        ("N57E011.hgt.gz", Packing::Gzip, gz(&swapped)),
    ] {
        let error = read(name, packing, &file).unwrap_err();
        assert!(matches!(error, HgtError::Octets { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(name) && text.contains("wrong order"), "{text}");
    }
    // Some rows of a plain file give the same error.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("N57E011.hgt");
    fs::write(&path, swapped).unwrap();
    let rows = read_tile(&path, n57e011(), Packing::Plain, Some([0.5, 0.51]));
    assert!(matches!(rows, Err(HgtError::Octets { .. })));
}

#[test]
fn cut_or_odd_tile_gives_found_and_allowed_sizes() {
    for size in [0, 102_400, SIZE - 1, SIZE + 1] {
        let content = vec![0; size];
        for (name, packing, file) in [
            ("N57E011.hgt", Packing::Plain, content.clone()),
            ("N57E011.hgt.gz", Packing::Gzip, gz(&content)),
            ("N57E011.hgt.zip", Packing::Zip, zipped(&[("N57E011.hgt", &content)])),
        ] {
            let error = read(name, packing, &file).unwrap_err();
            assert!(matches!(error, HgtError::Size { .. }), "{error}");
            let text = error.to_string();
            for part in [name, &size.to_string(), "2884802", "25934402"] {
                assert!(text.contains(part), "{text} lacks {part}");
            }
        }
    }
}

#[test]
fn damaged_packings_are_errors() {
    let posts = posts();
    let (gzipped, archived) = (gz(&posts), zipped(&[("N57E011.hgt", &posts)]));
    let mut bad_checksum = gzipped.clone();
    let end = bad_checksum.len() - 8;
    bad_checksum[end] ^= 1;
    for content in [&gzipped[..gzipped.len() / 2], &bad_checksum, b"not gzip", b""] {
        let error = read("N57E011.hgt.gz", Packing::Gzip, content).unwrap_err();
        assert!(matches!(error, HgtError::Read { .. }), "{error}");
    }
    for content in [&archived[..archived.len() / 2], b"not zip", b""] {
        let error = read("N57E011.hgt.zip", Packing::Zip, content).unwrap_err();
        assert!(matches!(error, HgtError::Archive { .. }), "{error}");
    }
    let mut flipped = archived;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    assert!(read("N57E011.hgt.zip", Packing::Zip, &flipped).is_err());
}

#[test]
fn an_archive_holds_its_own_tile_once() {
    let posts = posts();
    for (entries, count) in [
        (vec![("N58E011.hgt", &posts[..])], 0),
        (vec![("read.me", &b""[..])], 0),
        (vec![], 0),
        (vec![("a/N57E011.hgt", &b""[..]), ("b/N57E011.hgt", &b""[..])], 2),
    ] {
        let error = read("N57E011.zip", Packing::Zip, &zipped(&entries)).unwrap_err();
        assert!(
            matches!(error, HgtError::Entries { found: entries, .. } if entries == count),
            "{error}"
        );
        assert!(error.to_string().contains("N57E011.hgt"), "{error}");
    }
}

#[test]
fn a_bomb_is_not_unpacked() {
    // One byte more than the largest tile, and 16 times as much in two gzip members.
    let large = vec![0; 25_934_403];
    let error = read("N57E011.hgt.gz", Packing::Gzip, &gz(&large)).unwrap_err();
    assert!(matches!(error, HgtError::TooLong { .. }), "{error}");
    assert!(error.to_string().contains("25934402"), "{error}");
    let bomb = gz(&large).repeat(16);
    assert!(bomb.len() < 2_000_000);
    let error = read("N57E011.hgt.gz", Packing::Gzip, &bomb).unwrap_err();
    assert!(matches!(error, HgtError::TooLong { .. }), "{error}");
    let error = read("N57E011.zip", Packing::Zip, &zipped(&[("N57E011.hgt", &large)])).unwrap_err();
    assert!(matches!(error, HgtError::TooLong { .. }), "{error}");
}

#[test]
fn an_absent_file_is_an_error_with_its_name() {
    let error =
        read_tile(Path::new("/nowhere/N57E011.hgt"), n57e011(), Packing::Plain, None).unwrap_err();
    assert!(matches!(error, HgtError::Read { .. }));
    assert!(error.to_string().contains("/nowhere/N57E011.hgt"), "{error}");
}

#[test]
fn file_size_gives_the_resolution_before_decoding() {
    let folder = tempfile::tempdir().unwrap();
    let (coarse, fine) = (vec![0; SIZE], vec![0; 25_934_402]);
    for (bytes, resolution) in [
        (&coarse, Some(Resolution::ThreeArcSeconds)),
        (&fine, Some(Resolution::OneArcSecond)),
        (&vec![0; 7], None),
    ] {
        for (packing, content) in [
            (Packing::Plain, bytes.clone()),
            (Packing::Gzip, gz(bytes)),
            (Packing::Zip, zipped(&[("N57E011.hgt", bytes)])),
        ] {
            let path = folder.path().join("tile");
            fs::write(&path, content).unwrap();
            assert_eq!(probe(&path, n57e011(), packing), resolution);
        }
    }
    assert_eq!(probe(&folder.path().join("absent"), n57e011(), Packing::Plain), None);
}
