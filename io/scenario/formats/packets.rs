//! Packets as JSON of MQTT clients: one a line, with or without its topic, or values over several lines and in arrays.

use serde_json::Value;

use super::Sample;
use super::text::Lines;

/// Lines looked at for a packet.
const LINES_SNIFFED: usize = 20;

/// The packet of a line; its topic, of `mosquitto_sub -v`, stands before it.
fn packet(line: &str, is_packet: fn(&Value) -> bool) -> Option<Value> {
    let begin = line.find('{')?;
    let packet: Value = serde_json::from_str(&line[begin..]).ok()?;
    is_packet(&packet).then_some(packet)
}

/// True for a text with packets of a line each.
fn has_lines(text: &str, is_packet: fn(&Value) -> bool) -> bool {
    text.lines().take(LINES_SNIFFED).any(|line| packet(line, is_packet).is_some())
}

/// True for a document of packets.
pub(super) fn are_packets(sample: &Sample<'_>, is_packet: fn(&Value) -> bool) -> bool {
    let document = sample.json();
    has_lines(sample.text(), is_packet) || is_packet(document) || is_packet(&document[0])
}

/// Packets with their lines and the text before them; `None` for anything else.
pub(super) fn packets(
    text: &str,
    is_packet: fn(&Value) -> bool,
) -> Vec<(usize, &str, Option<Value>)> {
    if has_lines(text, is_packet) {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        return lines.map(|(index, line)| (index + 1, line, packet(line, is_packet))).collect();
    }
    let lines = Lines::of(text);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut all = Vec::new();
    loop {
        // White space stands before a value.
        let rest = &text[values.byte_offset()..];
        let line = lines.line(text.len() - rest.trim_start().len());
        match values.next() {
            None => return all,
            Some(Ok(Value::Array(several))) => {
                let packets = several.into_iter().map(|value| Some(value).filter(is_packet));
                all.extend(packets.map(|packet| (line, "", packet)));
            }
            Some(Ok(value)) => all.push((line, "", Some(value).filter(is_packet))),
            Some(Err(_)) => {
                all.push((line, "", None));
                return all;
            }
        }
    }
}
