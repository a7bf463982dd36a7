//! Numbers as people read them, and how much room words take.

/// Width to allow for `content` in units of the font height. The page chooses the font; these are
/// widths of wide ones (DejaVu Sans, Verdana), so that text set in any usual font stays within.
pub(super) fn width_em(content: &str, bold: bool) -> f64 {
    let em: f64 = content.chars().map(char_em).sum();
    if bold { em * 1.12 } else { em }
}

fn char_em(c: char) -> f64 {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => 0.0,
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '·' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '→' => 1.0,
        'A'..='Z' => 0.74,
        '−' | '+' | '=' | '×' => 0.84,
        '\0'..='\u{7f}' => 0.64,
        // Latin, Greek, Cyrillic and their neighbours; beyond lie wide scripts and pictographs.
        '\u{80}'..='\u{10ff}' => 0.8,
        _ => 1.1,
    }
}

/// `content`, cut with an ellipsis where it is wider than `room_em`.
pub(super) fn fit(content: &str, bold: bool, room_em: f64) -> String {
    if width_em(content, bold) <= room_em {
        return content.to_owned();
    }
    let mut kept = String::new();
    let mut with_ellipsis = String::from("…");
    for c in content.chars() {
        kept.push(c);
        let longer = format!("{}…", kept.trim_end());
        if width_em(&longer, bold) > room_em {
            break;
        }
        with_ellipsis = longer;
    }
    with_ellipsis
}

/// `words` in lines of at most `room_em`; a word that is wider alone is cut.
pub(super) fn wrap(words: &[String], between: &str, room_em: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let longer = lines.last().map(|line| format!("{line}{between}{word}"));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(line)) if width_em(&longer, false) <= room_em => *line = longer,
            _ => lines.push(fit(word, false, room_em)),
        }
    }
    lines
}

/// From here on numbers are told by their power of ten, as no figure should need.
const LARGE: f64 = 1e9;

/// A number with `decimals` places and a true minus; `–` for what is no number.
pub(super) fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = if value.abs() < LARGE {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    };
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|b| b == b'0' || b == b'.') => zero.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// As [`number`], with a plus where it is positive.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    if value > 0.0 && value.is_finite() {
        format!("+{text}")
    } else {
        text
    }
}

/// A height, at 0.1 m.
pub(super) fn metres(value_m: f64) -> String {
    format!("{} m", number(value_m, 1))
}

/// A distance, m below 1 km.
pub(super) fn distance(value_m: f64) -> String {
    match value_m {
        m if m < 9.995 => format!("{} m", number(m, 2)),
        m if m < 999.95 => metres(m),
        m if m < 99_995.0 => format!("{} km", number(m / 1e3, 2)),
        m => format!("{} km", number(m / 1e3, 1)),
    }
}

/// A frequency, MHz below 1 GHz.
pub(super) fn frequency(value_mhz: f64) -> String {
    if value_mhz < 1_000.0 {
        format!("{} MHz", trimmed(value_mhz, 3))
    } else {
        format!("{} GHz", trimmed(value_mhz / 1e3, 3))
    }
}

/// A value with the prefix that suits it (none, k, M or G), three significant digits or more.
pub(super) fn prefixed(value: f64, unit: &str) -> String {
    let (scaled, prefix) = match value {
        v if v >= 999.5e6 => (v / 1e9, "G"),
        v if v >= 999.5e3 => (v / 1e6, "M"),
        v if v >= 999.5 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let decimals = match scaled {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{} {prefix}{unit}", trimmed(scaled, decimals))
}

/// A number with at most `decimals` places.
pub(super) fn trimmed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// `ItmTxHorizonDistance1` as `itm_tx_horizon_distance_1`: the name a value of an enumeration has
/// in documents, from the name it has in the code.
pub(super) fn snake_case(camel: &str) -> String {
    let mut snake = String::new();
    let mut before: Option<char> = None;
    for c in camel.chars() {
        let begins = match before {
            None => false,
            Some(b) => {
                (c.is_ascii_uppercase() && !b.is_ascii_digit())
                    || (c.is_ascii_digit() && !b.is_ascii_digit())
            }
        };
        if begins {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        before = Some(c);
    }
    snake
}
