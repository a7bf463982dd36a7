//! Grids: UTM, MGRS, Maidenhead, plus codes. A square is its centre.

use groundwave_projection::Utm;

use super::BadPosition;
use super::angle::Degrees;

/// Bands of 8 degrees of latitude from 80 degrees south; the last has 12.
const BANDS: &str = "CDEFGHJKLMNPQRSTUVWX";

/// Letters of columns and rows of MGRS.
const LETTERS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ";

/// Digits of plus codes (Open Location Code 1.0).
const PLUS_DIGITS: &str = "23456789CFGHJMPQRVWX";

/// `text` without blanks, in capitals.
fn compact(text: &str) -> String {
    text.chars().filter(|at| !at.is_whitespace()).map(|at| at.to_ascii_uppercase()).collect()
}

fn position(letters: &str, letter: char) -> Option<usize> {
    letters.find(letter)
}

/// Zone and band at the start of a text, and the rest.
fn zone(text: &str) -> Option<(u16, usize, &str)> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    if !(1..=2).contains(&digits) {
        return None;
    }
    let zone: u16 = text[..digits].parse().ok().filter(|zone| (1..=60).contains(zone))?;
    let rest = text[digits..].trim_start();
    let letter = rest.chars().next()?;
    let band = position(BANDS, letter.to_ascii_uppercase())?;
    Some((zone, band, &rest[1..]))
}

/// Southern and northern edge of a band, deg.
fn edges_deg(band: usize) -> [f64; 2] {
    let south = -80.0 + 8.0 * band as f64;
    [south, if band + 1 == BANDS.len() { 84.0 } else { south + 8.0 }]
}

fn is_in_band(lat_deg: f64, band: usize) -> bool {
    let [south, north] = edges_deg(band);
    (south - 0.5..=north + 0.5).contains(&lat_deg)
}

/// Extent of a zone, for messages.
const EXTENT: &str = "an easting of 100000 to 900000 m and a northing of 0 to 10000000 m";

fn is_in_zone(easting_m: f64, northing_m: f64) -> bool {
    (100_000.0..=900_000.0).contains(&easting_m) && (0.0..=1e7).contains(&northing_m)
}

/// Meaning of the letter of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    /// Band of 8 degrees of latitude.
    Band(usize),
    /// Hemisphere: `true` for the south.
    South(bool),
}

/// The meaning of a text beside or behind the number of a zone; N and S are hemispheres there.
fn letter(text: &str) -> Option<Letter> {
    match text.to_ascii_uppercase().as_str() {
        "N" | "NORTH" => Some(Letter::South(false)),
        "S" | "SOUTH" => Some(Letter::South(true)),
        one if one.len() == 1 => position(BANDS, one.chars().next()?).map(Letter::Band),
        _ => None,
    }
}

/// Latitude and longitude, deg, of UTM in columns of their own: the zone with its band or hemisphere (`32V`, `32N`,
/// `UTM 32`), easting and northing, m. `hemisphere` is a column with one of both, or empty.
///
/// # Errors
/// For a zone that none has, or whose hemisphere is unknown or has two meanings: the S of `30S` is a band of the north,
/// or the south.
pub fn utm_degrees(
    zone: &str,
    hemisphere: &str,
    easting_m: f64,
    northing_m: f64,
) -> Result<[f64; 2], BadPosition> {
    let (zone, hemisphere) = (zone.trim(), hemisphere.trim());
    let bad = |allowed: String| {
        let columns = [zone, hemisphere, &easting_m.to_string(), &northing_m.to_string()]
            .map(str::to_owned)
            .into_iter()
            .filter(|part| !part.is_empty());
        BadPosition { found: columns.collect::<Vec<_>>().join(" "), allowed }
    };
    let plain = zone.to_ascii_uppercase();
    let plain = plain.strip_prefix("UTM").unwrap_or(&plain).trim_start();
    let plain = plain.strip_prefix("ZONE").unwrap_or(plain).trim_start();
    let digits = plain.chars().take_while(char::is_ascii_digit).count();
    let (number, rest) = plain.split_at(digits);
    let number = number.parse::<u16>().ok().filter(|number| (1..=60).contains(number));
    let of_zone = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(letter);
    let of_column = Some(hemisphere).filter(|text| !text.is_empty()).map(letter);
    let (Some(number), false) = (number, of_zone == Some(None) || of_column == Some(None)) else {
        return Err(
            bad("a zone of 1 to 60 with its band or hemisphere, such as 32V or 32N".into()),
        );
    };
    if !is_in_zone(easting_m, northing_m) {
        return Err(bad(EXTENT.to_owned()));
    }
    let degrees = |is_south: bool| Utm::zone(number, is_south).unproject(easting_m, northing_m);
    let of_band = |band: usize| {
        let [south_deg, north_deg] = edges_deg(band);
        let degrees = degrees(south_deg < 0.0);
        let letter = &BANDS[band..=band];
        let allowed = || format!("a northing in band {letter}, {south_deg} to {north_deg} deg");
        is_in_band(degrees[0], band).then_some(degrees).ok_or_else(|| bad(allowed()))
    };
    let is_south = |letter: Letter| match letter {
        Letter::Band(band) => edges_deg(band)[0] < 0.0,
        Letter::South(is_south) => is_south,
    };
    // The S of a zone is a band of the north as well.
    let of_band_s = || position(BANDS, 'S').and_then(|band| of_band(band).ok());
    let both_sides = || bad("a zone and a hemisphere on one side of the equator".to_owned());
    let place = match (of_zone.flatten(), of_column.flatten()) {
        (None, None) => {
            return Err(bad(format!(
                "a zone with its band or hemisphere, such as {number}V or {number}N"
            )));
        }
        (Some(Letter::South(true)), None) if of_band_s().is_some() => {
            return Err(bad(format!(
                "a hemisphere in a column of its own, N or S: {number}S is a band of the north, or the south"
            )));
        }
        (Some(Letter::South(true)), Some(other)) if !is_south(other) => {
            of_band_s().ok_or_else(both_sides)?
        }
        (Some(one), Some(other)) if is_south(one) != is_south(other) => return Err(both_sides()),
        (Some(Letter::Band(band)), _) | (_, Some(Letter::Band(band))) => of_band(band)?,
        (Some(Letter::South(is_south)), _) | (None, Some(Letter::South(is_south))) => {
            degrees(is_south)
        }
    };
    super::on_earth(place).map_err(bad)
}

/// `32V 674934 6400683`: zone, band, easting and northing, m.
pub(crate) fn utm(text: &str) -> Degrees {
    let (zone, band, rest) = zone(text)?;
    let mut words = rest.split([' ', ',', ';']).filter(|word| !word.is_empty());
    let number = |word: &str| {
        let digits = word.trim_end_matches(['m', 'M', 'E', 'N', 'e', 'n']);
        digits.parse::<f64>().ok().filter(|value| value.is_finite())
    };
    let (easting_m, northing_m) = (number(words.next()?)?, number(words.next()?)?);
    // Small numbers are degrees and minutes after a hemisphere: `45N 12 30E`.
    if words.next().is_some() || easting_m < 1_000.0 {
        return None;
    }
    if !is_in_zone(easting_m, northing_m) {
        return Some(Err(EXTENT.to_owned()));
    }
    let is_south = edges_deg(band)[0] < 0.0;
    let degrees = Utm::zone(zone, is_south).unproject(easting_m, northing_m);
    if is_in_band(degrees[0], band) {
        return Some(Ok(degrees));
    }
    let letter = &BANDS[band..=band];
    let [south, north] = edges_deg(band);
    Some(Err(format!(
        "a northing in band {letter}, {south} to {north} deg; the letter is a band, not a hemisphere"
    )))
}

/// `32VPK7493400683`: zone, band, square of 100 km, easting and northing within it.
pub(crate) fn mgrs(text: &str) -> Degrees {
    let text = compact(text);
    let (zone, band, rest) = zone(&text)?;
    let (square, digits) = rest.split_at_checked(2)?;
    let mut letters = square.chars();
    let column = position(LETTERS, letters.next()?)?;
    let row = position(LETTERS, letters.next()?)?;
    let is_even = digits.len() <= 10 && digits.len().is_multiple_of(2);
    if row >= 20 || !is_even || !digits.chars().all(|at| at.is_ascii_digit()) {
        return None;
    }
    // Columns begin at A, J or S and rows at A or F, by the zone.
    let first = [16, 0, 8][usize::from(zone) % 3];
    let Some(column) = column.checked_sub(first).filter(|column| *column < 8) else {
        let allowed = &LETTERS[first..first + 8];
        return Some(Err(format!("a column of zone {zone}: one of {allowed}")));
    };
    let row = (row + if zone.is_multiple_of(2) { 15 } else { 0 }) % 20;
    let (east, north) = digits.split_at(digits.len() / 2);
    let size_m = 10_f64.powi(5 - east.len() as i32);
    let within = |digits: &str| digits.parse::<f64>().unwrap_or(0.0) * size_m + size_m / 2.0;
    let easting_m = (column + 1) as f64 * 1e5 + within(east);
    let utm = Utm::zone(zone, edges_deg(band)[0] < 0.0);
    // Rows repeat after 2,000 km: the one in the band counts.
    let northings = (0..5).map(|cycle| f64::from(cycle) * 2e6 + row as f64 * 1e5 + within(north));
    let mut places = northings.map(|northing_m| utm.unproject(easting_m, northing_m));
    let place = places.find(|[lat_deg, _]| is_in_band(*lat_deg, band));
    Some(place.ok_or_else(|| format!("a square of band {}", &BANDS[band..=band])))
}

/// `JO57`, `JO57XR`, `JO57XR12`.
pub(crate) fn maidenhead(text: &str) -> Degrees {
    let text = text.to_ascii_uppercase();
    let letters: Vec<u8> = text.bytes().collect();
    if !matches!(letters.len(), 4 | 6 | 8 | 10) {
        return None;
    }
    let (mut lat_deg, mut lon_deg, mut lat_size, mut lon_size) = (-90.0, -180.0, 180.0, 360.0);
    for (at, pair) in letters.chunks(2).enumerate() {
        let (base, count) = match at {
            0 => (b'A', 18),
            at if at % 2 == 1 => (b'0', 10),
            _ => (b'A', 24),
        };
        let digit = |letter: u8| letter.checked_sub(base).filter(|digit| *digit < count);
        let (east, north) = (digit(pair[0])?, digit(pair[1])?);
        lat_size /= f64::from(count);
        lon_size /= f64::from(count);
        lat_deg += f64::from(north) * lat_size;
        lon_deg += f64::from(east) * lon_size;
    }
    Some(Ok([lat_deg + lat_size / 2.0, lon_deg + lon_size / 2.0]))
}

/// `9F9HPW7P+MM`, whole codes alone.
pub(crate) fn plus_code(text: &str) -> Degrees {
    let text = compact(text);
    let at = text.find('+')?;
    if at != 8 {
        let is_short =
            matches!(at, 2 | 4 | 6) && text.chars().all(|at| at == '+' || PLUS_DIGITS.contains(at));
        return is_short.then(|| Err("a whole plus code, with 8 digits before the +".to_owned()));
    }
    let digits: Vec<usize> = text
        .chars()
        .filter(|letter| *letter != '+')
        .map(|letter| position(PLUS_DIGITS, letter))
        .collect::<Option<_>>()?;
    if !(8..=15).contains(&digits.len()) || digits.len() == 9 {
        return None;
    }
    let (mut lat_deg, mut lon_deg, mut lat_size, mut lon_size) = (-90.0, -180.0, 400.0, 400.0);
    for pair in digits[..digits.len().min(10)].chunks(2) {
        lat_size /= 20.0;
        lon_size /= 20.0;
        lat_deg += pair[0] as f64 * lat_size;
        lon_deg += pair[1] as f64 * lon_size;
    }
    // Further digits divide the square into five rows of four.
    for digit in digits.iter().skip(10) {
        lat_size /= 5.0;
        lon_size /= 4.0;
        lat_deg += (digit / 4) as f64 * lat_size;
        lon_deg += (digit % 4) as f64 * lon_size;
    }
    Some(Ok([lat_deg + lat_size / 2.0, lon_deg + lon_size / 2.0]))
}
