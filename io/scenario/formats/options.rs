//! Options of the command line in texts of readers: they stand in brackets, and are left out where there is none.

/// Options of the command line that texts name. Those of other programs, such as `--fcd-output` of SUMO, stay.
const OPTIONS: [&str; 11] = [
    "--dialect",
    "--drop",
    "--flat-earth",
    "--format",
    "--geoid",
    "--height",
    "--land-cover",
    "--mapping",
    "--origin",
    "--srtm-dir",
    "--step",
];

/// A text without its brackets that name options of the command line, for clients of a server and for the page.
#[must_use]
pub fn without_options(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(" (") {
        let Some(end) = rest[begin..].find(')').map(|length| begin + length + 1) else { break };
        kept.push_str(&rest[..begin]);
        let bracket = &rest[begin..end];
        if !OPTIONS.iter().any(|option| bracket.contains(option)) {
            kept.push_str(bracket);
        }
        rest = &rest[end..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::super::{FORMATS, Source, identify};
    use super::{OPTIONS, without_options};

    #[test]
    fn brackets_with_options_leave_and_others_stay() {
        for (text, expected) in [
            ("positions without a time: 1 s apart (--step)", "positions without a time: 1 s apart"),
            ("a geoid (--geoid): not used", "a geoid: not used"),
            ("taken (--drop implausible leaves it out) (3 times)", "taken (3 times)"),
            ("floating car data (--fcd-output): cars", "floating car data (--fcd-output): cars"),
            ("open (--step", "open (--step"),
            ("none", "none"),
        ] {
            assert_eq!(without_options(text), expected);
        }
    }

    #[test]
    fn descriptions_and_refusals_of_formats_name_options_in_brackets_alone() {
        let unknown = identify(&Source::of(b"a text".to_vec())).unwrap_err().to_string();
        assert!(unknown.contains("--format"), "{unknown}");
        let levels = b"time,lat,lon,rssi\n2026-01-01T00:00:00Z,57.7,11.9,-90\n2026-01-01T00:00:01Z,57.71,11.9,-91\n".to_vec();
        let refusal = super::super::csv::FORMAT.read(
            &Source::of(levels),
            &super::super::ReadOptions::new(groundwave_model::sample::station()),
        );
        let refusal = refusal.map(drop).unwrap_err().to_string();
        assert!(refusal.contains("--mapping"), "{refusal}");
        let descriptions = FORMATS.into_iter().map(|format| format.description.to_owned());
        for text in descriptions.chain([unknown, refusal]) {
            let shown = without_options(&text);
            assert!(OPTIONS.iter().all(|option| !shown.contains(option)), "{shown}");
            assert!(!shown.contains("groundwave "), "{shown}");
        }
    }
}
