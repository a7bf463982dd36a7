//! Recorded kernel messages, and the output of tools at the same moment.

use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/netlink").join(name)
}

/// Text of a fixture.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// Messages of a fixture, headers included.
pub fn messages(name: &str) -> Vec<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let message = |line: &str| line.as_bytes().chunks(2).map(byte).collect();
    text(&format!("{name}.hex")).lines().map(message).collect()
}

/// JSON output of a tool.
pub fn json(name: &str) -> serde_json::Value {
    serde_json::from_str(&text(&format!("{name}.json"))).unwrap()
}
