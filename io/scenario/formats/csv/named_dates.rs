//! Dates with the names of months, days of the week and zones, in numbers.

/// Names of months in English, of which the first three letters are enough.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Beginnings of the names of days.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Letters of a name of a month that tell it from the others.
const LETTERS_MIN: usize = 3;

/// Names of zones that are those of one offset, with its hours.
const ZONES: [(&str, f64); 17] = [
    ("UTC", 0.0),
    ("GMT", 0.0),
    ("WET", 0.0),
    ("WEST", 1.0),
    ("CET", 1.0),
    ("MEZ", 1.0),
    ("CEST", 2.0),
    ("MESZ", 2.0),
    ("EET", 2.0),
    ("EEST", 3.0),
    ("EDT", -4.0),
    ("EST", -5.0),
    ("CDT", -5.0),
    ("MDT", -6.0),
    ("MST", -7.0),
    ("PDT", -7.0),
    ("PST", -8.0),
];

/// Number of the month of a name.
fn month(word: &str) -> Option<usize> {
    let word = word.trim_end_matches('.').to_lowercase();
    let is_name = word.len() >= LETTERS_MIN;
    let month = MONTHS.iter().position(|name| is_name && name.starts_with(&word));
    // An abbreviation of four letters that no name begins with.
    month.or((word == "sept").then_some(8)).map(|index| index + 1)
}

/// True for the name of a day of the week.
fn is_day(word: &str) -> bool {
    let word = word.to_lowercase();
    word.chars().all(char::is_alphabetic) && DAYS.iter().any(|day| word.starts_with(day))
}

/// A date and time whose month is a number, with the seconds that its zone is ahead of UTC; `None` for a text without
/// the name of a month or a zone.
pub(super) fn in_numbers(cell: &str) -> Option<(String, f64)> {
    // Browsers write the name of the zone behind it.
    let plain = cell.split('(').next().unwrap_or_default().replace(", ", " ");
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    if words.first().is_some_and(|word| is_day(word)) {
        words.remove(0);
    }
    // `01-Jan-2024` and `01/Jan/2024`.
    if let Some(first) = words.first().copied()
        && first.contains(['-', '/'])
        && first.contains(char::is_alphabetic)
    {
        words.splice(0..1, first.split(['-', '/']));
    }
    let mut ahead_s = None;
    for word in &mut words {
        let own = *word;
        // `GMT+0200`.
        let numbers = own.strip_prefix("GMT").or(own.strip_prefix("UTC"));
        if let Some(zone) = numbers.filter(|rest| rest.starts_with(['+', '-'])) {
            *word = zone;
        } else if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == own) {
            ahead_s = Some(hours * 3_600.0);
            *word = "";
        }
    }
    words.retain(|word| !word.is_empty());
    let at = words.iter().take(2).position(|word| month(word).is_some());
    let Some(at) = at else {
        return ahead_s.map(|ahead_s| (words.join(" "), ahead_s));
    };
    let month = month(words.remove(at))?;
    let year = words
        .iter()
        .position(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()))?;
    let year = words.remove(year);
    let day: u8 = words.first()?.trim_end_matches('.').parse().ok()?;
    words.remove(0);
    let text = format!("{year}-{month:02}-{day:02} {}", words.join(" "));
    Some((text, ahead_s.unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers() {
        for (cell, text, hours) in [
            ("May 1, 2024 12:00:00 PM", "2024-05-01 12:00:00 PM", 0.0),
            ("1 Jan 2024 12:00:00", "2024-01-01 12:00:00", 0.0),
            ("01-Sep-2024 12:01", "2024-09-01 12:01", 0.0),
            ("2024-Sep-01 12:01", "2024-09-01 12:01", 0.0),
            ("Wed, 01 May 2024 12:00:00 +0200", "2024-05-01 12:00:00 +0200", 0.0),
            ("Wed May  1 12:00:00 2024", "2024-05-01 12:00:00", 0.0),
            ("Wed May 01 2024 12:00:00 GMT+0200 (CEST)", "2024-05-01 12:00:00 +0200", 0.0),
            ("Wed May  1 12:00:00 CEST 2024", "2024-05-01 12:00:00", 2.0),
            ("2024-05-01 12:00:00 PDT", "2024-05-01 12:00:00", -7.0),
        ] {
            assert_eq!(in_numbers(cell), Some((text.to_owned(), hours * 3_600.0)), "{cell}");
        }
        for cell in
            ["2024-05-01 12:00", "noon", "", "Monday", "1 Foo 2024", "May 1 24", "2024-05-01 CST"]
        {
            assert_eq!(in_numbers(cell), None, "{cell}");
        }
    }
}
