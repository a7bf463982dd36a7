//! One angle: decimals, or degrees, minutes and seconds, with a sign or a letter of the hemisphere.

/// Degrees of a position, or what is allowed in their place; `None` for another spelling.
pub(crate) type Degrees = Option<Result<[f64; 2], String>>;

/// An angle and the letter of its hemisphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Angle {
    /// Value, deg, south and west negative.
    pub deg: f64,
    /// Letter of the hemisphere.
    pub letter: Option<char>,
}

impl Angle {
    /// True for a latitude by its letter.
    pub fn is_latitude(self) -> bool {
        matches!(self.letter, Some('N' | 'S'))
    }

    /// True for a longitude by its letter.
    pub fn is_longitude(self) -> bool {
        matches!(self.letter, Some('E' | 'W'))
    }
}

/// True for a mark of degrees, minutes or seconds.
pub(crate) fn is_mark(letter: char) -> bool {
    matches!(letter, '°' | 'º' | '˚' | '\'' | '’' | '′' | '`' | '"' | '”' | '″' | ':')
}

/// Reads an angle whose decimal mark is `mark`.
pub(crate) fn parse(text: &str, mark: char) -> Option<Angle> {
    let mut text = text.trim();
    let mut letter = None;
    let hemisphere = |at: Option<char>| {
        at.map(|letter| letter.to_ascii_uppercase()).filter(|letter| "NSEW".contains(*letter))
    };
    if let Some(first) = hemisphere(text.chars().next()) {
        (letter, text) = (Some(first), text[1..].trim_start());
    } else if let Some(last) = hemisphere(text.chars().last()) {
        (letter, text) = (Some(last), text[..text.len() - 1].trim_end());
    }
    let is_negative = text.starts_with(['-', '−']);
    let unsigned = text.strip_prefix(['-', '−', '+']).unwrap_or(text);
    // A sign and a letter that says the same or the opposite: which counts?
    if letter.is_some() && unsigned.len() != text.len() {
        return None;
    }
    let parts: Vec<&str> = unsigned
        .split(|at: char| is_mark(at) || at.is_whitespace())
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() || parts.len() > 3 {
        return None;
    }
    let mut deg = 0.0;
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        let digits = |at: char| at.is_ascii_digit() || (is_last && at == mark);
        let starts_with_digit = part.starts_with(|at: char| at.is_ascii_digit());
        if !part.chars().all(digits) || !starts_with_digit {
            return None;
        }
        let value: f64 = part.replace(mark, ".").parse().ok()?;
        if at > 0 && value >= 60.0 {
            return None;
        }
        deg += value / 60_f64.powi(at as i32);
    }
    let is_south = matches!(letter, Some('S' | 'W'));
    Some(Angle { deg: if is_negative || is_south { -deg } else { deg }, letter })
}

fn column_deg(text: &str, is_own: fn(Angle) -> bool) -> Option<f64> {
    let mark = if text.contains('.') { '.' } else { ',' };
    let angle = parse(text, mark)?;
    (angle.letter.is_none() || is_own(angle)).then_some(angle.deg)
}

/// A latitude of a column of its own, deg, with a decimal point or comma.
#[must_use]
pub fn latitude_deg(text: &str) -> Option<f64> {
    column_deg(text, Angle::is_latitude)
}

/// A longitude of a column of its own, deg, with a decimal point or comma.
#[must_use]
pub fn longitude_deg(text: &str) -> Option<f64> {
    column_deg(text, Angle::is_longitude)
}
