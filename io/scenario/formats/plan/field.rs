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
    ElectricalTilt,
    Polarization,
    Pattern,
    PointingAzimuth,
    PointingElevation,
    Surroundings,
    Indoor,
    Position,
    Deployment,
}

/// Every column with its name, in the order in which tables have them.
pub(crate) const FIELDS: [(Field, &str); 32] = [
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
    (Field::ElectricalTilt, "electrical_tilt_deg"),
    (Field::Surroundings, "surroundings"),
    (Field::Indoor, "indoor"),
    (Field::Pattern, "antenna_pattern"),
    (Field::Deployment, "deployment"),
];

/// Aliases of columns, with a note where they are ambiguous.
const ALIASES: [(&str, Field, &str); 28] = [
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
    ("height_above_ground", Field::Height, ""),
    ("height_above_ground_level", Field::Height, ""),
    ("antenna_height_agl", Field::Height, ""),
    ("antenna_height_above_ground", Field::Height, ""),
    ("tower_height_agl", Field::Height, ""),
    ("mast_height_agl", Field::Height, ""),
    ("frequency", Field::Frequency, "frequency is taken in MHz"),
    ("freq_mhz", Field::Frequency, ""),
    ("azimuth_deg", Field::PointingAzimuth, ""),
    ("azimuth", Field::PointingAzimuth, "azimuth is taken from true north"),
    ("uuid", Field::Id, ""),
];

/// Aliases of columns in other languages and programs, with letters of their alphabets as plain ones.
const FOREIGN: [(&str, Field); 45] = [
    ("site", Field::Name),
    ("site_name", Field::Name),
    ("node", Field::Name),
    ("bezeichnung", Field::Name),
    ("standort", Field::Name),
    ("nom", Field::Name),
    ("nombre", Field::Name),
    ("nome", Field::Name),
    ("breite", Field::Lat),
    ("breitengrad", Field::Lat),
    ("geographische_breite", Field::Lat),
    ("latitud", Field::Lat),
    ("latitudine", Field::Lat),
    ("laenge", Field::Lon),
    ("lange", Field::Lon),
    ("laengengrad", Field::Lon),
    ("langengrad", Field::Lon),
    ("geographische_laenge", Field::Lon),
    ("longitud", Field::Lon),
    ("longitudine", Field::Lon),
    ("hoehe", Field::Height),
    ("hohe", Field::Height),
    ("antennenhoehe", Field::Height),
    ("antennenhohe", Field::Height),
    ("masthoehe", Field::Height),
    ("hauteur", Field::Height),
    ("altura", Field::Height),
    ("tower_height", Field::Height),
    ("mast_height", Field::Height),
    ("frequenz", Field::Frequency),
    ("frequence", Field::Frequency),
    ("frecuencia", Field::Frequency),
    ("position", Field::Position),
    ("coordinates", Field::Position),
    ("koordinaten", Field::Position),
    ("locator", Field::Position),
    ("mgrs", Field::Position),
    ("wkt", Field::Position),
    ("lon_lat", Field::Position),
    ("longitude_latitude", Field::Position),
    // CloudRF.
    ("nam", Field::Name),
    ("frq", Field::Frequency),
    ("txh", Field::Height),
    ("antenna_hgt", Field::Height),
    ("ant_height", Field::Height),
];

/// Factors to metres of units that a header may have after its name.
const UNITS: [(&str, f64); 12] = [
    ("m", 1.0),
    ("meter", 1.0),
    ("meters", 1.0),
    ("metre", 1.0),
    ("metres", 1.0),
    ("m agl", 1.0),
    ("ft agl", 0.3048),
    ("foot", 0.3048),
    ("'", 0.3048),
    ("ft", 0.3048),
    ("feet", 0.3048),
    ("fuss", 0.3048),
];

/// The name of a column without a unit after it, in brackets or after an underscore for feet, and the factor
/// of that unit to metres.
pub(crate) fn unit(name: &str) -> (&str, f64) {
    let name = name.trim();
    let bracketed = name.strip_suffix([')', ']']).and_then(|inner| inner.rsplit_once(['(', '[']));
    let split = bracketed
        .or_else(|| name.rsplit_once('_').filter(|(_, unit)| ["ft", "feet"].contains(unit)));
    let Some((plain, unit)) = split else {
        return (name, 1.0);
    };
    let unit = unit.trim().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(known, _)| *known == unit);
    factor.map_or((name, 1.0), |(_, factor)| (plain.trim_end(), *factor))
}

/// A name in small letters without marks, `_` for blanks and hyphens.
fn plain_name(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.trim().to_lowercase().chars() {
        match letter {
            ' ' | '-' | ',' | '/' | ';' if plain.ends_with('_') => {}
            ' ' | '-' | ',' | '/' | ';' => plain.push('_'),
            'ä' | 'à' | 'á' | 'â' => plain.push('a'),
            'ö' | 'ó' | 'ô' => plain.push('o'),
            'ü' | 'ú' => plain.push('u'),
            'é' | 'è' | 'ê' => plain.push('e'),
            'ß' => plain.push_str("ss"),
            other => plain.push(other),
        }
    }
    plain
}

const ABOVE_GROUND: &str = "a height without a datum is taken as m above ground";

/// Names of heights above something else than the ground.
const NOT_ABOVE_GROUND: [&str; 13] = [
    "alt",
    "altitude",
    "altitude_m",
    "ele",
    "elevation",
    "elevation_m",
    "z",
    "msl_m",
    "amsl",
    "amsl_m",
    "height_amsl",
    "height_msl",
    "height_above_sea_level",
];

/// Columns of CloudRF beside latitude and longitude (CloudRF API, "transmitter" and "antenna"): two of them
/// make a table one of its own, in which `alt` is the height above ground.
const CLOUD_RF: [&str; 12] =
    ["nam", "frq", "txw", "txg", "txh", "rxh", "rxg", "rxs", "azi", "tlt", "bwi", "erp"];

/// Note about the column `alt` of CloudRF.
pub(crate) const CLOUD_RF_ALT: &str =
    "alt of a table of CloudRF is taken as the height above ground";

/// True for the column of the height in a table of CloudRF with columns of these names.
pub(crate) fn is_cloud_rf_height(name: &str, names: &[String]) -> bool {
    let own = names.iter().filter(|name| CLOUD_RF.contains(&plain_name(unit(name).0).as_str()));
    plain_name(unit(name).0) == "alt" && own.count() >= 2
}

/// True for a column of positions with the longitude first.
pub(crate) fn is_longitude_first(name: &str) -> bool {
    plain_name(name).starts_with("lon")
}

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

    /// Meaning of a column of this name. Letter case, marks of letters and a unit in brackets are ignored;
    /// blanks and hyphens equal underscores.
    pub(crate) fn of(name: &str) -> Meaning {
        let plain = plain_name(unit(name).0);
        if let Some((field, _)) = FIELDS.iter().find(|(_, name)| *name == plain) {
            return Meaning::Known { field: *field, own: true };
        }
        let alias = ALIASES.iter().find(|(name, _, _)| *name == plain);
        match alias {
            Some((_, field, "")) => Meaning::Known { field: *field, own: false },
            Some((_, field, note)) => Meaning::Noted(*field, note),
            None if NOT_ABOVE_GROUND.contains(&plain.as_str()) => Meaning::OtherHeight,
            None => match FOREIGN.iter().find(|(name, _)| *name == plain) {
                None => Meaning::Unknown,
                Some((_, Field::Height)) => Meaning::Noted(Field::Height, ABOVE_GROUND),
                Some((_, field)) => Meaning::Known { field: *field, own: false },
            },
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
