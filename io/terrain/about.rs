//! Data sets: ground, vertical datum, licence and attribution of the files in a folder.
//!
//! A folder states it in `terrain.toml`; without one, the names of files identify common products.

use std::fs;
use std::io;
use std::path::Path;

use groundwave_model::terrain::{Ground, HeightKind, HeightSource, VerticalDatum};
use serde::{Deserialize, Serialize};

/// Name of the file that describes a folder.
pub const ABOUT_FILE: &str = "terrain.toml";

/// Attribution of Copernicus DEM, as its licence words it.
pub(super) const COPERNICUS: &str = "produced using Copernicus WorldDEM-30 © DLR e.V. 2010-2014 and © Airbus \
                              Defence and Space GmbH 2014-2018 provided under COPERNICUS by the European \
                              Union and ESA; all rights reserved";

/// Attribution of ESA WorldCover, as its licence words it.
pub(super) const WORLD_COVER: &str = "© ESA WorldCover project / Contains modified Copernicus Sentinel data processed \
                               by ESA WorldCover consortium";

/// Data set that files belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Name, for example `SRTM`.
    pub name: String,
    /// Ground that the heights describe.
    #[serde(default)]
    pub ground: Ground,
    /// Level from which they are counted.
    #[serde(default)]
    pub vertical_datum: VerticalDatum,
    /// True if the heights at sea are those of its bed; water is taken in their place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sea_bed: bool,
    /// Licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Attribution that results must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
}

impl About {
    fn named(name: &str, ground: Ground, vertical_datum: VerticalDatum) -> Self {
        Self {
            name: name.to_owned(),
            ground,
            vertical_datum,
            sea_bed: false,
            licence: None,
            attribution: None,
        }
    }

    /// SRTM and what is made of it.
    #[must_use]
    pub fn srtm() -> Self {
        Self::named("SRTM", Ground::Surface, VerticalDatum::Egm96)
    }

    /// Copernicus DEM in 30 m.
    #[must_use]
    pub fn glo_30() -> Self {
        Self {
            licence: Some("Copernicus DEM, free of charge with attribution".to_owned()),
            attribution: Some(COPERNICUS.to_owned()),
            ..Self::named("Copernicus GLO-30", Ground::Surface, VerticalDatum::Egm2008)
        }
    }

    /// ESA WorldCover: classes of land cover, no heights.
    #[must_use]
    pub fn world_cover() -> Self {
        Self {
            licence: Some("CC BY 4.0".to_owned()),
            attribution: Some(WORLD_COVER.to_owned()),
            ..Self::named("ESA WorldCover 2021", Ground::Unknown, VerticalDatum::Unknown)
        }
    }

    /// Terrain Tiles: SRTM with its gaps filled by others, and the bed of the sea.
    #[must_use]
    pub fn terrain_tiles() -> Self {
        let attribution = "Terrain Tiles: SRTM and GMTED2010 courtesy of the U.S. Geological Survey, and others \
                           named at https://github.com/tilezen/joerd/blob/master/docs/attribution.md";
        Self {
            sea_bed: true,
            licence: Some("open data, attribution required".to_owned()),
            attribution: Some(attribution.to_owned()),
            ..Self::named("Terrain Tiles (SRTM and others)", Ground::Surface, VerticalDatum::Egm96)
        }
    }

    /// The data set a file of a known product belongs to, by its path: Terrain Tiles are packed tiles in a
    /// folder for each latitude (`N57/N57E011.hgt.gz`, their layout `skadi`).
    #[must_use]
    pub fn of_path(path: &Path, name: &str) -> Self {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let lower = name.to_ascii_lowercase();
        let is_skadi = lower.len() == "n57e011.hgt.gz".len()
            && lower.ends_with(".hgt.gz")
            && lower.get(..3).is_some_and(|latitude| folder.eq_ignore_ascii_case(latitude));
        if is_skadi { Self::terrain_tiles() } else { Self::of_file(name) }
    }

    /// The data set a file of a known product belongs to, by its name.
    #[must_use]
    pub fn of_file(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let starts = |start: &str| lower.starts_with(start);
        if starts("copernicus_dsm_cog_30_") || starts("copernicus_dsm_30_") {
            return Self { name: "Copernicus GLO-90".to_owned(), ..Self::glo_30() };
        }
        if starts("copernicus_dsm_") {
            return Self::glo_30();
        }
        if starts("nasadem_") {
            return Self::named("NASADEM", Ground::Surface, VerticalDatum::Egm96);
        }
        if lower.ends_with(".tif") || lower.ends_with(".tiff") {
            return Self::named("GeoTIFF", Ground::Unknown, VerticalDatum::Unknown);
        }
        Self::srtm()
    }

    /// The description of a folder, if it has one.
    ///
    /// # Errors
    /// When it cannot be read or is invalid.
    pub fn of_folder(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(ABOUT_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let wrong = |error: toml::de::Error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{ABOUT_FILE}: {error}"))
        };
        toml::from_str(&text).map(Some).map_err(wrong)
    }

    /// Ground and datum.
    #[must_use]
    pub fn kind(&self) -> HeightKind {
        HeightKind { ground: self.ground, datum: self.vertical_datum }
    }

    /// The data set with a number of files.
    #[must_use]
    pub fn with_files(&self, files: usize) -> HeightSource {
        HeightSource {
            name: self.name.clone(),
            files,
            ground: self.ground,
            vertical_datum: self.vertical_datum,
            licence: self.licence.clone(),
            attribution: self.attribution.clone(),
        }
    }
}
