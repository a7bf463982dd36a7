//! File names of tiles.
//!
//! `N57E011.hgt`, in any letter case, perhaps with a product label before the extension
//! (`N57E011.SRTMGL1.hgt`, NASA's naming) and perhaps packed (`.zip`, `.gz`). A zip may leave
//! `.hgt` out (`N57E011.zip`). Anything else that looks like a tile, such as
//! `N38W093T97.hgt`, is not guessed at: the directory scan lists it as ignored.

use groundwave_model::terrain::TileId;
use thiserror::Error;

/// File format of a tile, ordered by cost of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Packing {
    /// The bare posts.
    Plain,
    /// One entry of a zip archive.
    Zip,
    /// A gzip stream.
    Gzip,
}

/// Reasons for refusing a file name that has the extension of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum BadName {
    /// The part before the first dot is no tile.
    #[error(transparent)]
    Tile(#[from] groundwave_model::terrain::BadTileName),
    /// The part before the packing is not `.hgt`.
    #[error("{0:?} is packed but holds no .hgt by its name")]
    NotHgt(String),
}

/// Reads a file name. `None` when the name has no extension of a tile and so claims nothing.
pub(super) fn parse(name: &str) -> Option<Result<(TileId, Packing), BadName>> {
    let lower = name.to_ascii_lowercase();
    let (inner, packing) = if let Some(inner) = lower.strip_suffix(".zip") {
        (inner, Packing::Zip)
    } else if let Some(inner) = lower.strip_suffix(".gz") {
        (inner, Packing::Gzip)
    } else if lower.ends_with(".hgt") {
        (lower.as_str(), Packing::Plain)
    } else {
        return None;
    };
    let (tile, rest) = inner.split_once('.').unwrap_or((inner, ""));
    let is_hgt = rest == "hgt" || rest.ends_with(".hgt");
    let is_bare_zip = rest.is_empty() && packing == Packing::Zip;
    if !is_hgt && !is_bare_zip {
        return Some(Err(BadName::NotHgt(name.to_owned())));
    }
    // From the original text, so that the error shows what the file is called.
    let tile = name.get(..tile.len()).unwrap_or(name).parse();
    Some(tile.map(|id| (id, packing)).map_err(BadName::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_use_are_understood() {
        for (name, packing) in [
            ("N57E011.hgt", Packing::Plain),
            ("n57e011.HGT", Packing::Plain),
            ("N57E011.SRTMGL1.hgt", Packing::Plain),
            ("N57E011.hgt.zip", Packing::Zip),
            ("N57E011.SRTMGL3.hgt.zip", Packing::Zip),
            ("N57e011.Zip", Packing::Zip),
            ("N57E011.hgt.GZ", Packing::Gzip),
        ] {
            let id = TileId::new(57, 11).unwrap();
            assert_eq!(parse(name), Some(Ok((id, packing))), "{name}");
        }
    }

    #[test]
    fn near_misses_are_errors_and_strangers_are_nothing() {
        for name in [
            "N38W093T97.hgt",
            "sample.hgt",
            ".hgt",
            "N57E011.gz",
            "N57E011.tif.gz",
            "backup.zip",
            "S00E010.hgt",
            "é7E0110.hgt",
            "N57E011.tar.zip",
        ] {
            assert!(matches!(parse(name), Some(Err(_))), "{name}");
        }
        let text = parse("N38W093T97.hgt").unwrap().unwrap_err().to_string();
        assert!(text.starts_with("\"N38W093T97\" names no tile"), "{text}");
        for name in ["PROVENANCE.md", "N57E011", "N57E011.tif", "", "N57E011.hgt.xz"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }
}
