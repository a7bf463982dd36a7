//! Sentences of receivers: dates and kinds of fixes.

use groundwave_model::sample::station;
use groundwave_model::terrain::GeoPoint;

use super::super::{Dataset, Event, Height, ReadOptions, Source, identify, nmea};

/// A sentence with its checksum.
fn sentence(body: &str) -> String {
    let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
    format!("${body}*{sum:02X}\r\n")
}

/// A fix whose place differs from that of another second.
fn gga(time: &str) -> String {
    let minutes = &time[4..6];
    sentence(&format!("GPGGA,{time},57{minutes}.000,N,01154.000,E,1,08,0.9,12.0,M,35,M,,"))
}

fn read(text: &str) -> Dataset {
    let source = Source::of(text.into());
    assert_eq!(identify(&source), Ok(&nmea::FORMAT));
    nmea::FORMAT.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Times of the fixes since the Unix epoch, s.
fn times(dataset: &Dataset) -> Vec<f64> {
    let fixes = dataset.events.iter().filter(|event| matches!(event.1, Event::Fix(..)));
    fixes.map(|event| event.0).collect()
}

/// 2024-05-01, s since the Unix epoch.
const DAY_S: f64 = 1_714_521_600.0;

#[test]
fn fixes_before_the_first_date_have_it_too() {
    let date = "GPRMC,000004.00,A,5742.000,N,01154.000,E,0.0,0.0,010524,,,A";
    let later = sentence("GPZDA,000004.00,01,05,2024,00,00");
    let expected = [DAY_S - 4.0, DAY_S - 2.0, DAY_S + 2.0];
    for dated in [sentence(date), later] {
        let text = ["235956.00", "235958.00", "000002.00"].map(gga).concat() + &dated;
        let dataset = read(&text);
        assert_eq!(times(&dataset)[..3], expected, "{dated}");
        assert_eq!(dataset.begin_unix_s, Some(DAY_S - 4.0));
    }
    // A date of ZDA is that of the sentences behind it.
    let text = sentence("GPZDA,235959.00,30,04,2024,00,00") + &gga("000001.00");
    assert_eq!(times(&read(&text)), [DAY_S + 1.0]);
}

#[test]
fn positions_of_gns_and_gll_are_fixes() {
    let text = sentence("GPZDA,100000.00,01,05,2024,00,00")
        + &sentence("GNGNS,100001.00,5742.000,N,01154.000,E,AAN,12,0.9,45.5,35.0,,")
        + &sentence("GNGNS,100002.00,,,,,NNN,00,,,,,")
        + &sentence("GPGLL,5742.600,N,01154.000,E,100003.00,A,A");
    let dataset = read(&text);
    assert_eq!(times(&dataset), [DAY_S + 36_001.0, DAY_S + 36_003.0]);
    let height = (DAY_S + 36_001.0, Event::Height(0, Height::Sea(45.5)));
    assert!(dataset.events.contains(&height), "{:?}", dataset.events);
    let last = dataset.courses()[&0].last().copied();
    assert_eq!(last, Some((2.0, GeoPoint::new(57.71, 11.9).unwrap())));
}
