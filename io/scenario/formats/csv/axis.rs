//! Coordinates in several columns: degrees, minutes, seconds, and the letter of the hemisphere.

use csv::StringRecord;

use super::super::plan::values;

/// Latitude or longitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Latitude,
    Longitude,
}

/// Part of a coordinate that has a column of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Minutes,
    Seconds,
    Hemisphere,
}

/// Columns of the parts of a coordinate beside its degrees, by [`Part`].
pub(super) type Parts = [Option<usize>; 3];

const LATITUDES: [&str; 2] = ["latitude", "lat"];
const LONGITUDES: [&str; 4] = ["longitude", "long", "lon", "lng"];
const MINUTES: [&str; 3] = ["min", "minute", "minutes"];
const SECONDS: [&str; 3] = ["sec", "second", "seconds"];
const HEMISPHERES: [&str; 8] = ["dir", "direction", "hem", "hemi", "hemisphere", "ns", "ew", "ref"];

/// Letters and digits of a name, in lower case.
pub(super) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The part of a coordinate that a column holds by its name: `lat_min`, `lon_dir`, `N/S`.
pub(super) fn part_of(name: &str) -> Option<(Axis, Part)> {
    let name = letters(name);
    match name.as_str() {
        "ns" | "northsouth" => return Some((Axis::Latitude, Part::Hemisphere)),
        "ew" | "eastwest" | "we" => return Some((Axis::Longitude, Part::Hemisphere)),
        _ => {}
    }
    let of = |axis, names: &[&str]| {
        let rest = names.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        let part = match rest {
            rest if MINUTES.contains(&rest) => Part::Minutes,
            rest if SECONDS.contains(&rest) => Part::Seconds,
            rest if HEMISPHERES.contains(&rest) => Part::Hemisphere,
            _ => return None,
        };
        Some((axis, part))
    };
    of(Axis::Latitude, &LATITUDES).or_else(|| of(Axis::Longitude, &LONGITUDES))
}

/// The parts of latitude and longitude that the columns of a header hold.
pub(super) fn parts(header: &StringRecord) -> [Parts; 2] {
    let mut parts = [Parts::default(); 2];
    for (index, name) in header.iter().enumerate() {
        if let Some((axis, part)) = part_of(name) {
            parts[axis as usize][part as usize] = Some(index);
        }
    }
    parts
}

/// The parts of the coordinate in a column: those of the same prefix or ending, as `rx_ns` beside `rx_lat`; those
/// without one where it is the only coordinate of the table.
pub(super) fn parts_beside(
    header: &StringRecord,
    column: usize,
    axis: Axis,
    is_only: bool,
) -> Parts {
    let own = letters(header.get(column).unwrap_or_default());
    let words = match axis {
        Axis::Latitude => &LATITUDES[..],
        Axis::Longitude => &LONGITUDES[..],
    };
    let around = |word: &&str| own.split_once(*word);
    let of = |prefix: &str, ending: &str| {
        let mut parts = Parts::default();
        for (index, name) in header.iter().enumerate() {
            let name = letters(name);
            let core = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(ending));
            if let Some((of, part)) = core.and_then(part_of)
                && of == axis
                && index != column
            {
                parts[part as usize] = Some(index);
            }
        }
        parts
    };
    let beside = words.iter().find_map(around).map(|(prefix, ending)| {
        let ending = ending.strip_prefix("deg").unwrap_or(ending);
        of(prefix, ending.strip_suffix("deg").unwrap_or(ending))
    });
    match beside.filter(|parts| *parts != Parts::default()) {
        Some(parts) => parts,
        None if is_only => parts(header)[axis as usize],
        None => Parts::default(),
    }
}

impl Axis {
    /// Degrees of a text of degrees, or of degrees, minutes and seconds.
    fn read(self, text: &str) -> Option<f64> {
        let number = values::parse(text).ok();
        number.or_else(|| match self {
            Self::Latitude => groundwave_coordinate::latitude_deg(text),
            Self::Longitude => groundwave_coordinate::longitude_deg(text),
        })
    }

    /// Sign of the letter of a hemisphere: N and E are positive.
    fn sign(self, text: &str) -> Result<f64, (String, String)> {
        let letters = match self {
            Self::Latitude => ["N", "S"],
            Self::Longitude => ["E", "W"],
        };
        let first = text.get(..1).unwrap_or_default().to_ascii_uppercase();
        let is_word = text.len() == 1
            || ["north", "south", "east", "west"].contains(&text.to_ascii_lowercase().as_str());
        match letters.iter().position(|letter| is_word && *letter == first) {
            Some(0) => Ok(1.0),
            Some(_) => Ok(-1.0),
            None => Err((format!("{text:?}"), format!("{} or {}", letters[0], letters[1]))),
        }
    }

    /// Degrees of a coordinate from its cells.
    ///
    /// # Errors
    /// The text found and the forms allowed.
    pub(super) fn degrees<'c>(
        self,
        column: usize,
        parts: Parts,
        cell: impl Fn(usize) -> &'c str,
    ) -> Result<f64, (String, String)> {
        let whole = cell(column).trim();
        let allowed = "degrees, or degrees, minutes and seconds";
        let value = self.read(whole).ok_or_else(|| (format!("{whole:?}"), allowed.to_owned()))?;
        let [minutes, seconds, hemisphere] = parts.map(|part| part.map(|at| cell(at).trim()));
        let mut amount = value.abs();
        for (text, unit) in [(minutes, 60.0), (seconds, 3600.0)] {
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            let number = values::parse(text).ok().filter(|number| (0.0..60.0).contains(number));
            let number = number.ok_or_else(|| (format!("{text:?}"), "0 to below 60".to_owned()))?;
            amount += number / unit;
        }
        // A latitude of -0 degrees and 30 minutes is south.
        let is_negative = value.is_sign_negative() && (value != 0.0 || whole.starts_with('-'));
        match hemisphere {
            None => Ok(if is_negative { -amount } else { amount }),
            Some(letter) if is_negative => {
                let both = format!("{whole:?} beside {letter:?}");
                Err((both, "a sign or a hemisphere".to_owned()))
            }
            Some(letter) => Ok(self.sign(letter)? * amount),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_the_names_of_their_columns() {
        for (name, part) in [
            ("N/S", Some((Axis::Latitude, Part::Hemisphere))),
            ("ew", Some((Axis::Longitude, Part::Hemisphere))),
            ("lat_dir", Some((Axis::Latitude, Part::Hemisphere))),
            ("LongHemi", Some((Axis::Longitude, Part::Hemisphere))),
            ("lat_min", Some((Axis::Latitude, Part::Minutes))),
            ("longitude seconds", Some((Axis::Longitude, Part::Seconds))),
            ("lat", None),
            ("lat_deg", None),
            ("news", None),
        ] {
            assert_eq!(part_of(name), part, "{name}");
        }
    }

    #[test]
    fn parts_of_several_coordinates_are_those_of_their_prefix_or_ending() {
        let header =
            StringRecord::from(vec!["tx_lat", "tx_ns", "rx_lat", "rx_ns", "lat_b", "ns_b"]);
        let hemisphere = |column, is_only| {
            parts_beside(&header, column, Axis::Latitude, is_only)[Part::Hemisphere as usize]
        };
        assert_eq!([0, 2, 4].map(|column| hemisphere(column, false)), [Some(1), Some(3), Some(5)]);
        let header = StringRecord::from(vec!["y", "N/S", "x", "lat_deg_a"]);
        let hemisphere = |column, is_only| {
            parts_beside(&header, column, Axis::Latitude, is_only)[Part::Hemisphere as usize]
        };
        assert_eq!([hemisphere(0, true), hemisphere(0, false)], [Some(1), None]);
        assert_eq!([hemisphere(3, true), hemisphere(3, false)], [Some(1), None]);
    }

    #[test]
    fn hemispheres_minutes_and_seconds_count() {
        let of = |cells: [&'static str; 4]| {
            let parts = [1, 2, 3].map(|at| (!cells[at].is_empty()).then_some(at));
            Axis::Latitude.degrees(0, parts, move |at| cells[at])
        };
        assert_eq!(of(["33.8", "", "", "S"]), Ok(-33.8));
        assert_eq!(of(["33", "48", "", "s"]), Ok(-33.8));
        let value = of(["33", "48", "36", "North"]).unwrap();
        assert!((value - 33.81).abs() < 1e-12);
        assert_eq!(of(["-0", "30", "", ""]), Ok(-0.5));
        for wrong in [["-33.8", "", "", "S"], ["33.8", "", "", "E"], ["33", "75", "", "N"]] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }
}
