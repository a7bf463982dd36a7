//! Messages of a real kernel, and what its tools said at the same moment.

use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/netlink")
        .join(name)
}

/// The text of a fixture.
pub(crate) fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// The messages of a fixture, heads and all.
pub(crate) fn messages(name: &str) -> Vec<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let message = |line: &str| line.as_bytes().chunks(2).map(byte).collect();
    text(&format!("{name}.hex")).lines().map(message).collect()
}

/// The JSON that a tool said.
pub(crate) fn json(name: &str) -> serde_json::Value {
    serde_json::from_str(&text(&format!("{name}.json"))).unwrap()
}
