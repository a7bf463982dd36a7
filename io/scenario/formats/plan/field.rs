//! Columns of tables, with their aliases in other programs.

use super::unit::{Quantity, Scale, is_unit, scale};

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Id,
    Name,
    Role,
    Lat,
    Lon,
    Height,
    /// Antenna height above mean sea level.
    HeightMsl,
    Radio,
    Antenna,
    Frequency,
    Bandwidth,
    TxPower,
    /// Power radiated beyond an isotropic antenna and beyond a half-wave dipole; read alone.
    Eirp,
    Erp,
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
    /// Tilt downwards of an antenna as it is mounted; read alone.
    Tilt,
    Polarization,
    Pattern,
    PointingAzimuth,
    PointingElevation,
    Surroundings,
    Indoor,
    WoodlandDepth,
    Position,
    Deployment,
}

/// Every column with its name, in the order in which tables have them.
pub(crate) const FIELDS: [(Field, &str); 34] = [
    (Field::Id, "id"),
    (Field::Name, "name"),
    (Field::Role, "role"),
    (Field::Lat, "lat"),
    (Field::Lon, "lon"),
    (Field::Height, "height_agl_m"),
    (Field::HeightMsl, "height_msl_m"),
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
    (Field::WoodlandDepth, "woodland_depth_m"),
];

/// Aliases of columns, with a note where they are ambiguous.
const ALIASES: [(&str, Field, &str); 45] = [
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
    ("msl_m", Field::HeightMsl, ""),
    ("amsl", Field::HeightMsl, ""),
    ("amsl_m", Field::HeightMsl, ""),
    ("height_amsl", Field::HeightMsl, ""),
    ("height_msl", Field::HeightMsl, ""),
    ("height_above_sea_level", Field::HeightMsl, ""),
    ("uuid", Field::Id, ""),
    ("alt_agl", Field::Height, ""),
    ("altitude_agl", Field::Height, ""),
    ("elevation_agl", Field::Height, ""),
    ("rad_center", Field::Height, ABOVE_GROUND),
    ("radiation_center", Field::Height, ABOVE_GROUND),
    ("rad_center_agl", Field::Height, ""),
    ("freq", Field::Frequency, "freq is taken in MHz"),
    ("gain", Field::Gain, "gain is taken in dBi"),
    ("antenna_gain", Field::Gain, "gain is taken in dBi"),
    ("tilt", Field::Tilt, "tilt is taken in degrees downwards"),
    ("downtilt", Field::Tilt, ""),
];

/// Aliases of columns in other languages and programs, with letters of their alphabets as plain ones.
const FOREIGN: [(&str, Field); 64] = [
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
    ("wkt_geom", Field::Position),
    ("geometry", Field::Position),
    ("geom", Field::Position),
    ("the_geom", Field::Position),
    ("coords", Field::Position),
    ("lat_lon", Field::Position),
    ("latlon", Field::Position),
    ("utm", Field::Position),
    ("plus_code", Field::Position),
    ("lon_lat", Field::Position),
    ("longitude_latitude", Field::Position),
    // CloudRF.
    ("nam", Field::Name),
    ("frq", Field::Frequency),
    ("txh", Field::Height),
    ("antenna_hgt", Field::Height),
    ("ant_height", Field::Height),
    ("hgt", Field::Height),
    ("txw", Field::TxPower),
    ("erp", Field::Erp),
    ("txg", Field::Gain),
    ("azi", Field::PointingAzimuth),
    ("tlt", Field::Tilt),
    ("bwi", Field::Bandwidth),
    ("hbw", Field::AzimuthBeamwidth),
    ("vbw", Field::ElevationBeamwidth),
    ("pol", Field::Polarization),
];

/// Columns that are read only with a unit after their names: without one they may be in another.
const WITH_UNIT: [(&str, Field); 15] = [
    ("power", Field::TxPower),
    ("tx_power", Field::TxPower),
    ("txpower", Field::TxPower),
    ("transmit_power", Field::TxPower),
    ("transmitter_power", Field::TxPower),
    ("output_power", Field::TxPower),
    ("rf_power", Field::TxPower),
    ("leistung", Field::TxPower),
    ("sendeleistung", Field::TxPower),
    ("puissance", Field::TxPower),
    ("potencia", Field::TxPower),
    ("eirp", Field::Eirp),
    ("bandwidth", Field::Bandwidth),
    ("channel_width", Field::Bandwidth),
    ("bandbreite", Field::Bandwidth),
];

/// Units of columns whose names state them.
const OWN_UNITS: [(&str, &str); 3] = [("txw", "w"), ("erp", "w"), ("bwi", "mhz")];

/// A plain name without the unit after it, and that unit in small letters.
struct Split {
    name: String,
    unit: String,
    /// The unit names the ground as the datum, or the level of the sea.
    is_above_ground: bool,
    is_above_sea: bool,
}

/// Splits the unit from the name of a column: in brackets, or a known one after an underscore or a blank.
fn split(name: &str) -> Option<Split> {
    let name = name.trim();
    let bracketed = name.strip_suffix([')', ']']).and_then(|inner| inner.rsplit_once(['(', '[']));
    if let Some((name, unit)) = bracketed {
        let unit = unit.trim().to_lowercase();
        let datum = |words: &[&str]| words.iter().any(|word| unit.ends_with(word));
        let is_above_ground = datum(&["agl", "above ground", "a.g.l."]);
        let is_above_sea = datum(&["amsl", "asl", "msl", "above sea level"]);
        let bare = ["agl", "above ground", "a.g.l.", "amsl", "asl", "msl", "above sea level"]
            .iter()
            .find_map(|datum| unit.strip_suffix(datum))
            .unwrap_or(&unit);
        let unit = bare.trim().to_owned();
        return Some(Split { name: plain_name(name), unit, is_above_ground, is_above_sea });
    }
    let plain = plain_name(name);
    let (plain, is_above_ground) =
        plain.strip_suffix("_agl").map_or((plain.as_str(), false), |plain| (plain, true));
    let (plain, unit) = plain.rsplit_once('_').filter(|(_, unit)| is_unit(unit))?;
    let (name, unit) = (plain.to_owned(), unit.to_owned());
    Some(Split { name, unit, is_above_ground, is_above_sea: false })
}

/// Conversion of the values of a column of this name to the unit of `field`.
pub(crate) fn scale_of(name: &str, field: Field) -> Scale {
    let plain = plain_name(name);
    let own = OWN_UNITS.iter().find(|(own, _)| *own == plain).map(|(_, unit)| *unit);
    let is_whole = own.is_none() && lookup(&plain) != Meaning::Unknown;
    let split = split(name).filter(|_| !is_whole);
    let unit = own.or_else(|| split.as_ref().map(|split| split.unit.as_str()));
    unit.and_then(|unit| field.scale(unit)).unwrap_or(Scale::Times(1.0))
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
const NOT_ABOVE_GROUND: [&str; 7] =
    ["alt", "altitude", "altitude_m", "ele", "elevation", "elevation_m", "z"];

/// Columns of CloudRF beside latitude and longitude (CloudRF API, "transmitter" and "antenna"): two of them
/// make a table one of its own, in which `alt` is the height above ground.
const CLOUD_RF: [&str; 12] =
    ["nam", "frq", "txw", "txg", "txh", "rxh", "rxg", "rxs", "azi", "tlt", "bwi", "erp"];

/// Note about the column `alt` of CloudRF.
pub(crate) const CLOUD_RF_ALT: &str =
    "alt of a table of CloudRF is taken as the height above ground";

/// True for the column of the height in a table of CloudRF with columns of these names.
pub(crate) fn is_cloud_rf_height(name: &str, names: &[String]) -> bool {
    let plain = |name: &str| split(name).map_or_else(|| plain_name(name), |split| split.name);
    let own = names.iter().filter(|name| CLOUD_RF.contains(&plain(name).as_str()));
    plain(name) == "alt" && own.count() >= 2
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
        match self {
            Self::Eirp => "eirp",
            Self::Erp => "erp",
            Self::Tilt => "tilt",
            _ => FIELDS.iter().find(|(field, _)| *field == self).map_or("", |(_, name)| name),
        }
    }

    /// Conversion of a unit, in small letters; `None` where the column has no such unit.
    fn scale(self, unit: &str) -> Option<Scale> {
        scale(self.quantity()?, unit)
    }

    /// Quantity of its values; `None` of names and numbers without a unit.
    pub(crate) const fn quantity(self) -> Option<Quantity> {
        Some(match self {
            Self::Height | Self::HeightMsl => Quantity::Metres,
            Self::Frequency => Quantity::Megahertz,
            Self::Bandwidth => Quantity::Hertz,
            Self::BitRate => Quantity::BitsPerSecond,
            Self::TxPower | Self::Eirp | Self::Erp | Self::Sensitivity => Quantity::PowerDbm,
            Self::Gain => Quantity::GainDbi,
            Self::NoiseFigure | Self::FeederLoss | Self::FrontToBack => Quantity::LevelDb,
            Self::Lat
            | Self::Lon
            | Self::AzimuthBeamwidth
            | Self::ElevationBeamwidth
            | Self::ElectricalTilt
            | Self::PointingAzimuth
            | Self::PointingElevation => Quantity::Degrees,
            _ => return None,
        })
    }

    /// Meaning of a column of this name. Letter case and marks of letters are ignored; blanks and hyphens equal
    /// underscores. A unit may follow, in brackets or after an underscore; a column in a unit that is not one of
    /// its quantity is unknown.
    pub(crate) fn of(name: &str) -> Meaning {
        let whole = lookup(&plain_name(name));
        if whole != Meaning::Unknown {
            return whole;
        }
        let Some(split) = split(name) else { return Meaning::Unknown };
        let with_unit = || WITH_UNIT.iter().find(|(name, _)| *name == split.name);
        let meaning = match (lookup(&split.name), with_unit()) {
            (Meaning::Unknown, Some((_, field))) if !split.unit.is_empty() => {
                Meaning::Known { field: *field, own: false }
            }
            (meaning, _) => meaning,
        };
        let height = Meaning::Known { field: Field::Height, own: false };
        let has_unit = |field: Field| split.unit.is_empty() || field.scale(&split.unit).is_some();
        match meaning {
            Meaning::OtherHeight if split.is_above_ground && has_unit(Field::Height) => height,
            Meaning::Known { field: Field::Height, .. } | Meaning::Noted(Field::Height, _)
                if split.is_above_sea && has_unit(Field::Height) =>
            {
                Meaning::Known { field: Field::HeightMsl, own: false }
            }
            Meaning::Noted(Field::Height, _)
                if split.is_above_ground && has_unit(Field::Height) =>
            {
                height
            }
            Meaning::Known { field, .. } | Meaning::Noted(field, _) if !has_unit(field) => {
                Meaning::Unknown
            }
            Meaning::Noted(Field::Frequency | Field::Gain, _) if split.unit.is_empty() => meaning,
            Meaning::Noted(field @ (Field::Frequency | Field::Gain), _) => {
                Meaning::Known { field, own: false }
            }
            Meaning::Known { field, .. } => Meaning::Known { field, own: false },
            meaning => meaning,
        }
    }
}

/// Meaning of a plain name as it stands.
fn lookup(plain: &str) -> Meaning {
    if let Some((field, _)) = FIELDS.iter().find(|(_, name)| *name == plain) {
        return Meaning::Known { field: *field, own: true };
    }
    let alias = ALIASES.iter().find(|(name, _, _)| *name == plain);
    match alias {
        Some((_, field, "")) => Meaning::Known { field: *field, own: false },
        Some((_, field, note)) => Meaning::Noted(*field, note),
        None if NOT_ABOVE_GROUND.contains(&plain) => Meaning::OtherHeight,
        None => match FOREIGN.iter().find(|(name, _)| *name == plain) {
            None => Meaning::Unknown,
            Some((_, Field::Height)) => Meaning::Noted(Field::Height, ABOVE_GROUND),
            Some((_, field)) => Meaning::Known { field: *field, own: false },
        },
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
    fn units_after_names_belong_to_their_quantity() {
        for (name, field, scale) in [
            ("Frequency (GHz)", Field::Frequency, Scale::Times(1e3)),
            ("frequency_ghz", Field::Frequency, Scale::Times(1e3)),
            ("Frequenz (MHz)", Field::Frequency, Scale::Times(1.0)),
            ("Power (W)", Field::TxPower, Scale::Watts(1.0)),
            ("tx power [mW]", Field::TxPower, Scale::Watts(1e-3)),
            ("txw", Field::TxPower, Scale::Watts(1.0)),
            ("EIRP (dBm)", Field::Eirp, Scale::Plus(0.0)),
            ("erp", Field::Erp, Scale::Watts(1.0)),
            ("ERP (kW)", Field::Erp, Scale::Watts(1e3)),
            ("gain_dbd", Field::Gain, Scale::Plus(2.15)),
            ("gain_dbi", Field::Gain, Scale::Times(1.0)),
            ("Height (feet AGL)", Field::Height, Scale::Times(0.3048)),
            ("alt_agl", Field::Height, Scale::Times(1.0)),
            ("Elevation (ft AGL)", Field::Height, Scale::Times(0.3048)),
            ("Rad Center (ft)", Field::Height, Scale::Times(0.3048)),
            ("height_ft_agl", Field::Height, Scale::Times(0.3048)),
            ("hgt", Field::Height, Scale::Times(1.0)),
            ("azi", Field::PointingAzimuth, Scale::Times(1.0)),
            ("Azimuth (°)", Field::PointingAzimuth, Scale::Times(1.0)),
            ("bandwidth_hz", Field::Bandwidth, Scale::Times(1.0)),
            ("Channel Width (MHz)", Field::Bandwidth, Scale::Times(1e6)),
            ("bwi", Field::Bandwidth, Scale::Times(1e6)),
            ("Latitude (deg)", Field::Lat, Scale::Times(1.0)),
        ] {
            let own = match Field::of(name) {
                Meaning::Known { field, .. } | Meaning::Noted(field, _) => field,
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!((own, scale_of(name, own)), (field, scale), "{name}");
        }
        for name in ["power", "eirp", "Frequency (V)", "Height (dBm)", "Bandwidth (%)", "x_m"] {
            assert_eq!(Field::of(name), Meaning::Unknown, "{name}");
        }
        for name in ["Height (m AMSL)", "Height AMSL (m)", "height_msl_ft", "amsl"] {
            let above_sea = Meaning::Known { field: Field::HeightMsl, own: false };
            assert_eq!(Field::of(name), above_sea, "{name}");
        }
        assert_eq!(Field::of("Elevation (m)"), Meaning::OtherHeight);
    }

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
