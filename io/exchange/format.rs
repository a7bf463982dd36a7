//! The formats a plan is exchanged in.

use std::fmt;

use serde::Serialize;

/// A format a plan is written to and read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// GeoJSON (RFC 7946).
    Geojson,
    /// KML 2.2 (OGC 07-147r2).
    Kml,
    /// KML in a zip file.
    Kmz,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// A scenario of this program (`scenarios/README.md`).
    Scenario,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::Geojson,
        Self::Kml,
        Self::Kmz,
        Self::Csv,
        Self::Scenario,
    ];

    /// The format with this name or file extension, letter case ignored.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let known = |format: &Self| name == format.name() || name == format.extension();
        let found = Self::ALL.into_iter().find(known);
        // GeoJSON is often called by the name of what it is made of.
        found.or((name == "json").then_some(Self::Geojson))
    }

    /// The format of this media type, parameters and letter case ignored.
    #[must_use]
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        let bare = |text: &str| {
            let bare = text.split(';').next().unwrap_or_default().trim();
            bare.to_ascii_lowercase()
        };
        let wanted = bare(media_type);
        let known = |format: &Self| bare(format.media_type()) == wanted;
        Self::ALL.into_iter().find(known)
    }

    /// Its name: `geojson`, `kml`, `kmz`, `csv` or `scenario`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Geojson => "geojson",
            Self::Kml => "kml",
            Self::Kmz => "kmz",
            Self::Csv => "csv",
            Self::Scenario => "scenario",
        }
    }

    /// Its file extension without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Scenario => "toml",
            other => other.name(),
        }
    }

    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Geojson => "application/geo+json",
            Self::Kml => "application/vnd.google-earth.kml+xml",
            Self::Kmz => "application/vnd.google-earth.kmz",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Scenario => "application/toml",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name_extension_and_media_type() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
            assert_eq!(Format::from_name(format.extension()), Some(format));
            assert_eq!(Format::from_media_type(format.media_type()), Some(format));
        }
        assert_eq!(Format::from_name("KMZ"), Some(Format::Kmz));
        assert_eq!(Format::from_name("json"), Some(Format::Geojson));
        assert_eq!(Format::from_media_type("Text/CSV"), Some(Format::Csv));
        for unknown in ["", "shp", "kml2", "text/html"] {
            assert_eq!(Format::from_name(unknown), None);
            assert_eq!(Format::from_media_type(unknown), None);
        }
    }
}
