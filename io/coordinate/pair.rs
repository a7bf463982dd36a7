//! Two angles in one text.

use super::angle::{Angle, Degrees, is_mark, parse};

/// Latitude and longitude, in this order unless letters name the axes.
pub(crate) fn degrees(text: &str) -> Degrees {
    let text = text.trim_matches(|at| matches!(at, '(' | ')' | '[' | ']'));
    let text = match uri(text) {
        Some(uri) => return of_uri(uri),
        None => text,
    };
    let splits = [by_semicolon, by_comma, by_letter, by_space];
    let [one, other] = splits.iter().find_map(|split| split(text))?;
    Some(ordered(one, other))
}

/// A point of well-known text, longitude first: `POINT(11.9 57.7)`, also with a third number, which is an altitude and
/// no height above ground, and with `SRID=4326;` before it.
pub(crate) fn well_known_text(text: &str) -> Degrees {
    let upper = text.trim().to_ascii_uppercase();
    let (srid, shape) = match upper.split_once(';') {
        Some((head, shape)) => (Some(head.trim().strip_prefix("SRID=")?), shape.trim()),
        None => (None, upper.as_str()),
    };
    let (kind, inside) = shape.strip_suffix(')')?.split_once('(')?;
    let kind = kind.trim();
    if !kind.chars().all(|letter| letter.is_ascii_alphabetic() || letter == ' ') {
        return None;
    }
    const SHAPES: [&str; 6] = [
        "LINESTRING",
        "POLYGON",
        "MULTIPOINT",
        "MULTILINESTRING",
        "MULTIPOLYGON",
        "GEOMETRYCOLLECTION",
    ];
    let name = kind.split(' ').next().unwrap_or_default();
    let dimensions = kind.strip_prefix("POINT").map(str::trim);
    let is_point = dimensions.is_some_and(|rest| ["", "Z", "M", "ZM"].contains(&rest));
    if !is_point && !SHAPES.contains(&name) && !name.starts_with("POINT") {
        return None;
    }
    let allowed = "a point with the longitude first, POINT(11.9367 57.7142)";
    if !is_point {
        return Some(Err(allowed.to_owned()));
    }
    if srid.is_some_and(|srid| srid.trim() != "4326") {
        return Some(Err("the reference system SRID=4326, degrees of WGS 84".to_owned()));
    }
    let numbers: Vec<&str> = inside.split_whitespace().collect();
    let place = match numbers[..] {
        [lon, lat] | [lon, lat, _] | [lon, lat, _, _] => both(lat, lon, mark_of([lat, lon])),
        _ => None,
    };
    let is_lettered = |angle: &Angle| angle.letter.is_some();
    match place.filter(|angles| !angles.iter().any(is_lettered)) {
        Some([lat, lon]) => Some(Ok([lat.deg, lon.deg])),
        None => Some(Err(allowed.to_owned())),
    }
}

/// The rest of a URI of a place (RFC 5870), whose scheme is written in any case.
pub(crate) fn uri(text: &str) -> Option<&str> {
    let scheme = text.get(..4)?;
    scheme.eq_ignore_ascii_case("geo:").then(|| &text[4..])
}

/// Position of a URI: `57.7,11.9;crs=wgs84;u=35`, or with a query, as telephones write it. An altitude is that above
/// the ellipsoid, and no height above ground.
fn of_uri(uri: &str) -> Degrees {
    let place = uri.split_once('?').map_or(uri, |(place, _)| place);
    let mut parts = place.split(';');
    let numbers: Vec<&str> = parts.next().unwrap_or_default().split(',').collect();
    for parameter in parts {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if name.eq_ignore_ascii_case("crs") && !value.eq_ignore_ascii_case("wgs84") {
            return Some(Err("the reference system wgs84".to_owned()));
        }
    }
    match numbers.as_slice() {
        [lat, lon] => {
            let [one, other] = both(lat, lon, '.')?;
            Some(ordered(one, other))
        }
        [_, _, _] => {
            Some(Err("geo:LAT,LON alone: its altitude is one above the ellipsoid".to_owned()))
        }
        _ => None,
    }
}

fn ordered(one: Angle, other: Angle) -> Result<[f64; 2], String> {
    let is_swapped = one.is_longitude() || other.is_latitude();
    let is_plain = one.is_latitude() || other.is_longitude();
    match (is_swapped, is_plain) {
        (true, true) => Err("one latitude (N, S) and one longitude (E, W)".to_owned()),
        (true, false) => Ok([other.deg, one.deg]),
        _ => Ok([one.deg, other.deg]),
    }
}

fn both(one: &str, other: &str, mark: char) -> Option<[Angle; 2]> {
    Some([parse(one, mark)?, parse(other, mark)?])
}

/// Decimal mark of two parts that another sign separates.
fn mark_of(parts: [&str; 2]) -> char {
    let has_comma = parts.iter().any(|part| part.contains(','));
    if has_comma { ',' } else { '.' }
}

fn by_semicolon(text: &str) -> Option<[Angle; 2]> {
    let (one, other) = text.split_once(';')?;
    both(one, other, mark_of([one, other]))
}

/// `57.7,11.9`; with decimal commas `57,7,11,9`, `57,7 11,9` and `57,7, 11,9`.
fn by_comma(text: &str) -> Option<[Angle; 2]> {
    let commas: Vec<usize> = text.match_indices(',').map(|(at, _)| at).collect();
    match commas[..] {
        [at] => both(&text[..at], &text[at + 1..], '.'),
        [_, at, _] if !text.contains('.') => both(&text[..at], &text[at + 1..], ','),
        _ => None,
    }
}

/// `57°42'51"N 11°56'12"E`, `N57.7 E11.9`, without a separator or with space.
fn by_letter(text: &str) -> Option<[Angle; 2]> {
    let is_letter = |at: char| "NSEWnsew".contains(at);
    let letters: Vec<usize> = text.match_indices(is_letter).map(|(at, _)| at).collect();
    let [first, second] = letters[..] else {
        return None;
    };
    let cut = if first == 0 { second } else { first + 1 };
    let (one, other) = text.split_at(cut);
    both(one, other, mark_of([one, other]))
}

/// `57.7 11.9`, `57 42 51 11 56 12`: as many parts on both sides.
fn by_space(text: &str) -> Option<[Angle; 2]> {
    let starts: Vec<usize> = parts(text);
    if starts.is_empty() || !starts.len().is_multiple_of(2) {
        return None;
    }
    let (one, other) = text.split_at(starts[starts.len() / 2]);
    both(one, other, mark_of([one, other]))
}

/// Where the numbers of a text begin, with their signs.
fn parts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut is_between = true;
    for (at, letter) in text.char_indices() {
        let is_gap = letter.is_whitespace() || is_mark(letter);
        if is_between && !is_gap {
            starts.push(at);
        }
        is_between = is_gap;
    }
    starts
}
