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
