//! GPX: tracks of GPS receivers.

use jiff::Timestamp;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Reading, TracksError};

/// Elements inside each other.
const DEPTH_MAX: usize = 64;

/// Where the reader is.
#[derive(Default)]
struct State {
    open: Vec<String>,
    track: usize,
    name: Option<String>,
    /// Latitude and longitude of the point under way, and its time.
    point: Option<((f64, f64), Option<f64>)>,
    text: String,
}

/// Reads all tracks; each becomes a node.
pub(super) fn read(bytes: &[u8], reading: &mut Reading) -> Result<(), TracksError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        TracksError::Syntax {
            line: good.iter().filter(|byte| **byte == b'\n').count() + 1,
            what: "not UTF-8".to_owned(),
        }
    })?;
    let mut xml = Reader::from_str(text);
    let mut state = State::default();
    let mut seen = (0, 1);
    loop {
        let at = usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX);
        // Lines are counted as they pass, not from the start each time.
        let passed = bytes.get(seen.0..at).unwrap_or_default();
        seen = (
            at,
            seen.1 + passed.iter().filter(|byte| **byte == b'\n').count(),
        );
        let line = seen.1;
        let wrong = |what: &str| TracksError::Syntax {
            line,
            what: what.to_owned(),
        };
        match xml.read_event() {
            Err(error) => return Err(wrong(&error.to_string())),
            Ok(Event::Eof) => return Ok(()),
            Ok(Event::DocType(_)) => return Err(wrong("a document type; GPX has none")),
            Ok(Event::Start(start)) => {
                if state.open.is_empty() && start.local_name().as_ref() != "gpx" {
                    return Err(wrong("the first element is not gpx"));
                }
                if state.open.len() >= DEPTH_MAX {
                    return Err(wrong("elements inside each other without end"));
                }
                state.begin(&start);
                state.open.push(start.local_name().as_ref().to_owned());
            }
            Ok(Event::Empty(start)) => {
                state.begin(&start);
                state.end(start.local_name().as_ref(), line, reading);
            }
            Ok(Event::Text(text)) => {
                state.text = text.as_ref().trim().to_owned();
            }
            Ok(Event::CData(text)) => {
                state.text = text.as_ref().trim().to_owned();
            }
            Ok(Event::End(_)) => {
                let name = state.open.pop().unwrap_or_default();
                state.end(&name, line, reading);
            }
            Ok(_) => {}
        }
    }
}

impl State {
    fn begin(&mut self, start: &BytesStart<'_>) {
        self.text.clear();
        match start.local_name().as_ref() {
            "trk" => (self.track, self.name) = (self.track + 1, None),
            "trkpt" => {
                let number = |key: &str| -> Option<f64> {
                    let found = start.try_get_attribute(key).ok()??;
                    found.value.trim().parse().ok()
                };
                let place = number("lat").zip(number("lon"));
                self.point = Some((place.unwrap_or((f64::NAN, f64::NAN)), None));
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, line: usize, reading: &mut Reading) {
        let parent = self.open.last().map(String::as_str);
        match (name, parent) {
            ("name", Some("metadata")) => reading.title = Some(self.text.clone()),
            ("name", Some("trk")) => {
                let clean = self.text.chars().filter(|c| !c.is_control()).take(60);
                self.name = Some(clean.collect());
            }
            ("time", Some("trkpt")) => {
                let time: Option<Timestamp> = self.text.parse().ok();
                if let (Some((_, at)), Some(time)) = (&mut self.point, time) {
                    *at = Some(time.as_nanosecond() as f64 / 1e9);
                }
            }
            ("trkpt", _) => match self.point.take() {
                Some((place, Some(at_s))) => {
                    let track = self.track;
                    let name = self.name.as_deref().filter(|name| !name.is_empty());
                    let name = name.map_or_else(|| format!("track {track}"), str::to_owned);
                    reading.fix(&name, at_s, place, line);
                }
                _ => reading.drop("a track point without a time", line),
            },
            ("wpt" | "rtept", _) => reading.drop("a way or route point: not used", line),
            ("ele", _) => reading.drop("an altitude: nodes stand above ground", line),
            _ => {}
        }
        self.text.clear();
    }
}
