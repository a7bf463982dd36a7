//! The header `Range`: one range of bytes (RFC 9110, section 14).

/// Part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// From the first byte to before the second one.
    Range(u64, u64),
    /// Nothing of the document is in the range.
    Unsatisfiable,
}

/// Part of a document of `length` bytes that a header requests; all of it for several ranges, other
/// units and invalid ranges.
#[must_use]
pub fn part(header: Option<&str>, length: u64) -> Part {
    let Some(range) = header.and_then(|header| header.strip_prefix("bytes=")) else {
        return Part::Whole;
    };
    let Some((first, last)) = range.trim().split_once('-') else {
        return Part::Whole;
    };
    let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse::<u64>().ok(),
        false => None,
    };
    let range = match (first, last) {
        ("", last) => number(last).map(|count| (length.saturating_sub(count), length)),
        (first, "") => number(first).map(|first| (first, length)),
        (first, last) => number(first).zip(number(last)).and_then(|(first, last)| {
            (first <= last).then(|| (first, last.saturating_add(1).min(length)))
        }),
    };
    match range {
        None => Part::Whole,
        Some((begin, end)) if begin >= length || begin >= end => Part::Unsatisfiable,
        Some((begin, end)) => Part::Range(begin, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_within_the_document() {
        for (header, expected) in [
            ("bytes=0-0", Part::Range(0, 1)),
            ("bytes=0-99", Part::Range(0, 10)),
            ("bytes=4-", Part::Range(4, 10)),
            ("bytes=-3", Part::Range(7, 10)),
            ("bytes=-99", Part::Range(0, 10)),
            ("bytes=0-18446744073709551615", Part::Range(0, 10)),
            ("bytes=10-", Part::Unsatisfiable),
            ("bytes=10-20", Part::Unsatisfiable),
            ("bytes=-0", Part::Unsatisfiable),
            ("bytes=5-4", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=-", Part::Whole),
            ("items=0-1", Part::Whole),
            ("bytes=", Part::Whole),
        ] {
            assert_eq!(part(Some(header), 10), expected, "{header}");
        }
        assert_eq!(part(None, 10), Part::Whole);
    }
}
