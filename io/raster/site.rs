//! Sites as they are shown.

/// A place with a name, marked on maps and listed beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Shown beside the mark.
    pub name: String,
    /// Latitude (degrees).
    pub lat_deg: f64,
    /// Longitude (degrees).
    pub lon_deg: f64,
    /// Further properties, in the order of the keys: shown in the site list and in the balloon of
    /// the overlay.
    pub properties: serde_json::Map<String, serde_json::Value>,
}

impl Site {
    /// A site of which nothing but its place is known.
    #[must_use]
    pub fn new(name: impl Into<String>, lat_deg: f64, lon_deg: f64) -> Self {
        Self { name: name.into(), lat_deg, lon_deg, properties: serde_json::Map::new() }
    }
}
