//! Columns of tables, with their aliases in other programs.

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Id,
    Name,
    Role,
    Lat,
    Lon,
    Height,
    Radio,
    Antenna,
    Frequency,
    Bandwidth,
    TxPower,
    NoiseFigure,
    FeederLoss,
    Waveform,
    SpatialStreams,
    MacEfficiency,
    SpreadingFactor,
    CodingRate,
    BitRate,
    Sensitivity,
    Gain,
    AzimuthBeamwidth,
    ElevationBeamwidth,
    FrontToBack,
    Polarization,
    PointingAzimuth,
    PointingElevation,
    Deployment,
}

/// Every column with its name, in the order in which tables have them.
pub(crate) const FIELDS: [(Field, &str); 28] = [
    (Field::Id, "id"),
    (Field::Name, "name"),
    (Field::Role, "role"),
    (Field::Lat, "lat"),
    (Field::Lon, "lon"),
    (Field::Height, "height_agl_m"),
    (Field::Radio, "radio"),
    (Field::Antenna, "antenna"),
    (Field::Frequency, "frequency_mhz"),
    (Field::Bandwidth, "bandwidth_hz"),
    (Field::TxPower, "tx_power_dbm"),
    (Field::NoiseFigure, "noise_figure_db"),
    (Field::FeederLoss, "feeder_loss_db"),
    (Field::Waveform, "waveform"),
    (Field::SpatialStreams, "spatial_streams"),
    (Field::MacEfficiency, "mac_efficiency_prob"),
    (Field::SpreadingFactor, "spreading_factor"),
    (Field::CodingRate, "coding_rate"),
    (Field::BitRate, "bit_rate_bps"),
    (Field::Sensitivity, "sensitivity_dbm"),
    (Field::Gain, "gain_dbi"),
    (Field::AzimuthBeamwidth, "azimuth_beamwidth_deg"),
    (Field::ElevationBeamwidth, "elevation_beamwidth_deg"),
    (Field::FrontToBack, "front_to_back_db"),
    (Field::Polarization, "polarization"),
    (Field::PointingAzimuth, "pointing_azimuth_deg"),
    (Field::PointingElevation, "pointing_elevation_deg"),
    (Field::Deployment, "deployment"),
];

/// Aliases of columns, with a note where they are ambiguous.
const ALIASES: [(&str, Field, &str); 22] = [
    ("title", Field::Name, ""),
    ("label", Field::Name, ""),
    ("latitude", Field::Lat, ""),
    ("lat_deg", Field::Lat, ""),
    ("y", Field::Lat, "y is taken as the latitude in degrees"),
    ("lng", Field::Lon, ""),
    ("long", Field::Lon, ""),
    ("longitude", Field::Lon, ""),
    ("lon_deg", Field::Lon, ""),
    ("x", Field::Lon, "x is taken as the longitude in degrees"),
    ("height", Field::Height, ABOVE_GROUND),
    ("height_m", Field::Height, ABOVE_GROUND),
    ("antenna_height", Field::Height, ABOVE_GROUND),
    ("antenna_height_m", Field::Height, ABOVE_GROUND),
    ("height_agl", Field::Height, ""),
    ("agl_m", Field::Height, ""),
    ("agl", Field::Height, ""),
    ("frequency", Field::Frequency, "frequency is taken in MHz"),
    ("freq_mhz", Field::Frequency, ""),
    ("azimuth_deg", Field::PointingAzimuth, ""),
    ("azimuth", Field::PointingAzimuth, "azimuth is taken from true north"),
    ("uuid", Field::Id, ""),
];

const ABOVE_GROUND: &str = "a height without a datum is taken as m above ground";

/// Names of heights above something else than the ground.
const NOT_ABOVE_GROUND: [&str; 8] =
    ["alt", "altitude", "altitude_m", "ele", "elevation", "elevation_m", "z", "msl_m"];

/// Meaning of the name of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The column itself, or an alias without a note.
    Known { field: Field, own: bool },
    /// An alias with a note.
    Noted(Field, &'static str),
    /// A height above something else than the ground.
    OtherHeight,
    /// Unused.
    Unknown,
}

impl Field {
    /// Name of the field in documents.
    pub(crate) fn name(self) -> &'static str {
        let entry = FIELDS.iter().find(|(field, _)| *field == self);
        entry.map_or("", |(_, name)| name)
    }

    /// Meaning of a column of this name. Letter case is ignored; blanks and hyphens equal
    /// underscores.
    pub(crate) fn of(name: &str) -> Meaning {
        let plain: String = name
            .trim()
            .chars()
            .map(|c| match c {
                ' ' | '-' => '_',
                other => other.to_ascii_lowercase(),
            })
            .collect();
        if let Some((field, _)) = FIELDS.iter().find(|(_, name)| *name == plain) {
            return Meaning::Known { field: *field, own: true };
        }
        let alias = ALIASES.iter().find(|(name, _, _)| *name == plain);
        match alias {
            Some((_, field, "")) => Meaning::Known { field: *field, own: false },
            Some((_, field, note)) => Meaning::Noted(*field, note),
            None if NOT_ABOVE_GROUND.contains(&plain.as_str()) => Meaning::OtherHeight,
            None => Meaning::Unknown,
        }
    }
}

/// The column of a key of the model, such as `radio.waveform.coding_rate`.
pub(crate) fn column(key: &str) -> &str {
    match key {
        "pointing.azimuth_deg" => "pointing_azimuth_deg",
        "pointing.elevation_deg" => "pointing_elevation_deg",
        other => other.rsplit('.').next().unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_names_and_those_of_others() {
        for (field, name) in FIELDS {
            assert_eq!(Field::of(name), Meaning::Known { field, own: true });
            assert_eq!(field.name(), name);
        }
        let lat = Field::Lat;
        let meaning = Meaning::Known { field: lat, own: false };
        assert_eq!(Field::of(" Latitude "), meaning);
        assert!(matches!(Field::of("Y"), Meaning::Noted(Field::Lat, _)));
        assert_eq!(Field::of("Elevation"), Meaning::OtherHeight);
        assert_eq!(Field::of("shop"), Meaning::Unknown);
        assert_eq!(column("radio.waveform.coding_rate"), "coding_rate");
        assert_eq!(column("pointing.azimuth_deg"), "pointing_azimuth_deg");
    }
}
