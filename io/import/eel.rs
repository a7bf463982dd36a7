//! Event logs of EMANE: path losses and places.

use groundwave_systems::measure::Measured;
use groundwave_systems::terrain::GeoPoint;

use super::{Recording, What};

/// EMANE writes a loss of 0 dB for what is not out of the ordinary, and also where nothing was
/// computed; no path loses less than this, dB.
const LOSS_DB_MIN: f64 = 1.0;

/// Reads `pathloss` and `location` events. `30.0 nem:1 pathloss nem:2,69.2 nem:3,72.8` is the loss
/// of what 1 hears of 2 and of 3; the reverse, where the second value is given, is taken too.
pub(super) fn read(bytes: &[u8], recording: &mut Recording) {
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let at = number + 1;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(time), Some(nem), Some(event)) = (words.next(), words.next(), words.next())
        else {
            recording.drop("a line without time, NEM and event", at);
            continue;
        };
        let Some(at_s) = time.parse::<f64>().ok().filter(|s| s.is_finite()) else {
            recording.drop("a time that is no number", at);
            continue;
        };
        let nem = named(nem);
        match event {
            "pathloss" => {
                for word in words {
                    loss(recording, at_s, &nem, word, at);
                }
            }
            "location" => location(recording, at_s, &nem, words, at),
            other => {
                let other: String = other.chars().take(40).collect();
                recording.drop(&format!("event {other}: not used"), at);
            }
        }
    }
}

/// `nem:4` as a name.
fn named(word: &str) -> String {
    word.replace(':', "-")
}

fn loss(recording: &mut Recording, at_s: f64, nem: &str, word: &str, line: usize) {
    let mut parts = word.split(',');
    let (Some(other), Some(forward)) = (parts.next(), parts.next()) else {
        return recording.drop("a path loss that cannot be read", line);
    };
    let other = named(other);
    let ways = [
        (other.as_str(), nem, Some(forward)),
        (nem, other.as_str(), parts.next()),
    ];
    for (from, to, text) in ways {
        let Some(text) = text else { continue };
        match text.parse::<f64>() {
            Ok(db) if db < LOSS_DB_MIN => {
                recording.drop("a path loss below 1 dB: nobody measured it", line);
            }
            Ok(db) => {
                let values = Measured {
                    path_loss_db: Some(db),
                    ..Measured::default()
                };
                recording.observe(at_s, (from, to), values, line);
            }
            Err(_) => recording.drop("a path loss that cannot be read", line),
        }
    }
}

fn location<'a>(
    recording: &mut Recording,
    at_s: f64,
    nem: &str,
    mut words: impl Iterator<Item = &'a str>,
    line: usize,
) {
    let place = words.next().filter(|word| *word == "gps").and(words.next());
    let mut numbers = place.unwrap_or_default().split(',').map(str::parse::<f64>);
    let (Some(Ok(lat)), Some(Ok(lon))) = (numbers.next(), numbers.next()) else {
        return recording.drop("a location that cannot be read", line);
    };
    if numbers.next().is_some() {
        recording.drop("an altitude: nodes stand above ground", line);
    }
    let Ok(position) = GeoPoint::new(lat, lon) else {
        return recording.drop("no such latitude and longitude", line);
    };
    if let Some(node) = recording.node(nem, line) {
        recording.event(at_s, What::Move(node, position), line);
    }
}
