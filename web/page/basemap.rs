//! Base map of the page: one PMTiles archive, read by ranges.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::{HeaderValue, header};
use tower_http::services::ServeFile;
use tower_http::set_header::SetResponseHeaderLayer;

/// Path of the archive at the address of the page.
pub(super) const PATH: &str = "/basemap.pmtiles";

/// First octets of an archive of version 3.
const BEGIN: &[u8; 8] = b"PMTiles\x03";

/// A PMTiles archive of version 3.
#[derive(Debug, Clone)]
pub struct Basemap(PathBuf);

impl Basemap {
    /// An archive whose beginning has been looked at.
    ///
    /// # Errors
    /// When the file cannot be read or is no PMTiles archive of version 3.
    pub fn open(path: &Path) -> Result<Self, String> {
        let mut begin = [0; BEGIN.len()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
        let fault = |reason: String| {
            let allowed = "allowed a PMTiles archive of version 3";
            format!("invalid --basemap {}: {reason}, {allowed}", path.display())
        };
        read.map_err(|why| fault(why.to_string()))?;
        match &begin == BEGIN {
            true => Ok(Self(path.to_owned())),
            false => Err(fault("found another beginning".to_owned())),
        }
    }

    /// Router of the archive, whole or by ranges.
    pub(super) fn routes(&self) -> Router {
        let kind = HeaderValue::from_static("application/vnd.pmtiles");
        let no_cache = HeaderValue::from_static("no-cache");
        let set = SetResponseHeaderLayer::overriding;
        Router::new()
            .route_service(PATH, ServeFile::new(&self.0))
            .layer(set(header::CONTENT_TYPE, kind))
            .layer(set(header::CACHE_CONTROL, no_cache))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_known_by_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pmtiles");
        let missing = Basemap::open(&path).unwrap_err();
        assert!(missing.contains("a.pmtiles"), "{missing}");
        for (text, is_archive) in [
            (&b"PMTiles\x03 and more"[..], true),
            (b"PMTiles\x02 and more", false),
            (b"PMTi", false),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Basemap::open(&path).is_ok(), is_archive, "{text:?}");
        }
    }
}
