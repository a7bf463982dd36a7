//! Sites as they are shown.

/// A place with a name, marked on maps and listed beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Identifier; shown beside the mark without a label.
    pub name: String,
    /// Name for people, as it was written.
    pub label: Option<String>,
    /// Latitude (degrees).
    pub lat_deg: f64,
    /// Longitude (degrees).
    pub lon_deg: f64,
    /// Further properties, in the order of the keys: shown in the site list and in the balloon of
    /// the overlay.
    pub properties: serde_json::Map<String, serde_json::Value>,
    /// Main lobe of a directive antenna, drawn as a wedge; `None` for all others.
    pub sector: Option<Sector>,
}

/// Main lobe of a directive antenna, seen from above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sector {
    /// Boresight, clockwise from true north (degrees).
    pub azimuth_deg: f64,
    /// Half-power beamwidth in azimuth (degrees, (0, 360)).
    pub beamwidth_deg: f64,
}

impl Site {
    /// A site of which nothing but its place is known.
    #[must_use]
    pub fn new(name: impl Into<String>, lat_deg: f64, lon_deg: f64) -> Self {
        let properties = serde_json::Map::new();
        Self { name: name.into(), label: None, lat_deg, lon_deg, properties, sector: None }
    }

    /// Text beside the mark and in lists.
    #[must_use]
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}
