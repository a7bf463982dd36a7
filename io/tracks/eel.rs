//! Event logs of EMANE: a time, a NEM, an event, and what it says.

use super::Reading;

/// Reads all `location` events; `pathloss` and others are counted.
pub(super) fn read(bytes: &[u8], reading: &mut Reading) {
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line_number = number + 1;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(time), Some(nem), Some(event)) = (words.next(), words.next(), words.next())
        else {
            reading.drop("a line without time, NEM and event", line_number);
            continue;
        };
        if event != "location" {
            reading.drop(&format!("event {}: not used", short(event)), line_number);
            continue;
        }
        let place = words.next().filter(|word| *word == "gps").and(words.next());
        let mut numbers = place.unwrap_or_default().split(',').map(str::parse::<f64>);
        let (Ok(at_s), Some(Ok(lat)), Some(Ok(lon))) =
            (time.parse::<f64>(), numbers.next(), numbers.next())
        else {
            reading.drop("a location that cannot be read", line_number);
            continue;
        };
        if numbers.next().is_some() {
            reading.drop("an altitude: nodes stand above ground", line_number);
        }
        let name = short(&nem.replace(':', "-"));
        reading.fix(&name, at_s, (lat, lon), line_number);
    }
}

/// A word as long as a name may be.
fn short(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(64).collect()
}
