//! Scenarios of CORE: devices and where they stand.

use groundwave_systems::radio::Role;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Found, MapError, Spot};

/// Elements inside each other; CORE's own files reach seven.
const DEPTH_MAX: usize = 64;

/// Reads the devices, if this is a scenario of CORE.
pub(super) fn read(bytes: &[u8]) -> Option<Result<Found, MapError>> {
    let mut xml = Reader::from_str(std::str::from_utf8(bytes).ok()?);
    let mut found = Found::default();
    let mut open: Vec<String> = Vec::new();
    // The device under way: its name, whether its place was said.
    let mut device: Option<(String, bool)> = None;
    let mut known = false;
    loop {
        let at = usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX);
        let event = match xml.read_event() {
            Ok(event) => event,
            Err(_) if !known => return None,
            Err(error) => {
                let before = bytes.get(..at).unwrap_or(bytes);
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let what = error.to_string();
                return Some(Err(MapError::Syntax { line, what }));
            }
        };
        match event {
            Event::Eof => return known.then_some(Ok(found)),
            // Entities of its own are how XML grows without end.
            Event::DocType(_) => return None,
            Event::Start(start) => {
                if open.is_empty() {
                    known = start.name().as_ref() == "scenario";
                    found.title = attribute(&start, "name");
                }
                if !known || open.len() >= DEPTH_MAX {
                    return None;
                }
                begin(&start, &mut device, &mut found);
                open.push(start.name().as_ref().to_owned());
            }
            Event::Empty(start) => {
                begin(&start, &mut device, &mut found);
                end(start.name().as_ref(), &mut device, &mut found);
            }
            Event::End(_) => {
                let name = open.pop().unwrap_or_default();
                end(&name, &mut device, &mut found);
            }
            _ => {}
        }
    }
}

fn begin(start: &BytesStart<'_>, device: &mut Option<(String, bool)>, found: &mut Found) {
    match start.name().as_ref() {
        "device" => {
            let name = attribute(start, "name").or_else(|| attribute(start, "id"));
            *device = Some((name.unwrap_or_default(), false));
        }
        "link" => found.links += 1,
        "position" => {
            let Some((name, placed)) = device else { return };
            let number = |key: &str| attribute(start, key)?.trim().parse::<f64>().ok();
            let (Some(lat_deg), Some(lon_deg)) = (number("lat"), number("lon")) else {
                return;
            };
            *placed = true;
            found.spots.push(Spot {
                name: name.clone(),
                role: Role::default(),
                lat_deg,
                lon_deg,
                place: format!("device {name}"),
            });
        }
        _ => {}
    }
}

fn end(name: &str, device: &mut Option<(String, bool)>, found: &mut Found) {
    if name == "device"
        && let Some((name, false)) = device.take()
    {
        found.drop("no place: dropped", &format!("device {name}"));
    }
}

fn attribute(start: &BytesStart<'_>, key: &str) -> Option<String> {
    let found = start.try_get_attribute(key).ok()??;
    let text = quick_xml::escape::unescape(&found.value).ok()?.into_owned();
    (!text.trim().is_empty()).then_some(text)
}
