//! Zip archives of many tiles, as Viewfinder Panoramas and the mirrors of SRTM publish them.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;

use super::name::{self, Packing};

/// Maximum entries of an archive that are looked at: tiles of the whole Earth are fewer.
const ENTRIES_MAX: usize = 1 << 17;

/// Names of the tiles in an archive, each as that of an archive of its own; `None` for a file that is no
/// archive, cannot be read, has the name of one tile, or holds none.
pub(super) fn tiles(path: &Path, name: &str) -> Option<Vec<String>> {
    let is_archive = name.to_ascii_lowercase().ends_with(".zip");
    if !is_archive || matches!(name::parse(name), Some(Ok(_))) || !path.is_file() {
        return None;
    }
    let archive = ZipArchive::new(BufReader::new(File::open(path).ok()?)).ok()?;
    let tile = |entry: &str| {
        let base = entry.rsplit(['/', '\\']).next().unwrap_or(entry);
        let is_tile = matches!(name::parse(base), Some(Ok((_, Packing::Plain))));
        is_tile.then(|| format!("{base}.zip"))
    };
    let entries = (0..archive.len().min(ENTRIES_MAX)).filter_map(|at| archive.name_for_index(at));
    let tiles: Vec<String> = entries.filter_map(tile).collect();
    (!tiles.is_empty()).then_some(tiles)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    fn archive(folder: &Path, name: &str, entries: &[&str]) -> std::path::PathBuf {
        let path = folder.join(name);
        let mut writer = ZipWriter::new(File::create(&path).unwrap());
        for entry in entries {
            writer.start_file(*entry, SimpleFileOptions::default()).unwrap();
            writer.write_all(b"posts").unwrap();
        }
        writer.finish().unwrap();
        path
    }

    #[test]
    fn an_archive_of_many_tiles_has_each_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let entries = ["N57/N57E011.hgt", "N57/N57E012.HGT", "readme.txt", "N57/", "N58E011.tif"];
        let path = archive(folder.path(), "N57.zip", &entries);
        let expected = vec!["N57E011.hgt.zip".to_owned(), "N57E012.HGT.zip".to_owned()];
        assert_eq!(tiles(&path, "N57.zip"), Some(expected));
    }

    #[test]
    fn others_are_no_archives_of_many_tiles() {
        let folder = tempfile::tempdir().unwrap();
        let own = archive(folder.path(), "N57E011.zip", &["N57E011.hgt"]);
        assert_eq!(tiles(&own, "N57E011.zip"), None);
        let empty = archive(folder.path(), "photos.zip", &["a.jpg"]);
        assert_eq!(tiles(&empty, "photos.zip"), None);
        let broken = folder.path().join("broken.zip");
        std::fs::write(&broken, b"PK and no more").unwrap();
        assert_eq!(tiles(&broken, "broken.zip"), None);
        assert_eq!(tiles(folder.path(), "folder.zip"), None);
    }
}
