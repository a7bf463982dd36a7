//! Channel numbers of IEEE 802.11.

/// Channel number of a frequency, MHz (IEEE 802.11-2020, annex E; 6 GHz of 802.11ax), `None` for
/// frequencies between channels.
#[must_use]
pub fn number(freq_mhz: u32) -> Option<u32> {
    let above = |start: u32| (freq_mhz - start).is_multiple_of(5).then(|| (freq_mhz - start) / 5);
    match freq_mhz {
        2484 => Some(14),
        2412..=2472 => above(2407),
        4910..=4980 => above(4000),
        5935 => Some(2),
        5005..=5925 => above(5000),
        5955..=7115 => above(5950),
        58320..=70200 => (freq_mhz - 56160).is_multiple_of(2160).then(|| (freq_mhz - 56160) / 2160),
        _ => None,
    }
}

/// Name of the band of a frequency, MHz.
#[must_use]
pub fn band(freq_mhz: u32) -> &'static str {
    match freq_mhz {
        700..1000 => "s1g",
        2000..3000 => "2.4GHz",
        4900..5935 => "5GHz",
        5935..7200 => "6GHz",
        57000..71000 => "60GHz",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_those_of_the_standard() {
        let pairs = [
            (2412, 1),
            (2437, 6),
            (2472, 13),
            (2484, 14),
            (5180, 36),
            (5745, 149),
            (5825, 165),
            (5955, 1),
            (6115, 33),
            (7115, 233),
            (58320, 1),
        ];
        for (freq, channel) in pairs {
            assert_eq!(number(freq), Some(channel), "{freq} MHz");
        }
        assert_eq!(number(2413), None);
        assert_eq!(number(0), None);
        assert_eq!(
            (band(2412), band(5180), band(5955), band(902)),
            ("2.4GHz", "5GHz", "6GHz", "s1g")
        );
    }
}
