//! Snapshots of a mesh, as its nodes or its map tell them: one document, several lines of a file, or
//! the files of a folder.

use std::collections::BTreeSet;
use std::fmt;

use groundwave_systems::measure::Measured;
use groundwave_systems::terrain::GeoPoint;
use jiff::Timestamp;
use serde_json::Value;

use super::{ImportError, Recording, mesh};

/// What a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotKind {
    /// What `batctl oj` or `nj` says.
    Batctl,
    /// What OLSRd's jsoninfo says.
    Olsrd,
    /// Neighbours as respondd tells them, or links of a meshviewer.
    Respondd,
    /// A NetJSON NetworkGraph.
    NetJson,
}

impl fmt::Display for SnapshotKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Batctl => "batctl",
            Self::Olsrd => "OLSRd",
            Self::Respondd => "respondd",
            Self::NetJson => "NetJSON",
        })
    }
}

impl SnapshotKind {
    /// What a document is, if it is a snapshot of a mesh.
    #[must_use]
    pub fn of(document: &Value) -> Option<Self> {
        let first = document.as_array().and_then(|all| all.first());
        let has = |of: &Value, key: &str| !of[key].is_null();
        if first.is_some_and(|row| has(row, "neigh_address")) {
            return Some(Self::Batctl);
        }
        if document["type"] == "NetworkGraph" {
            return Some(Self::NetJson);
        }
        let olsr = document["topology"]
            .as_array()
            .or(document["links"].as_array());
        let olsr = olsr.and_then(|rows| rows.first());
        if olsr.is_some_and(|row| has(row, "lastHopIP") || has(row, "remoteIP")) {
            return Some(Self::Olsrd);
        }
        let tells = |of: &Value| has(of, "neighbours") || has(of, "neighbors");
        let linked = document["links"].as_array().and_then(|rows| rows.first());
        let linked = linked.is_some_and(|row| has(row, "source_tq") || has(row, "source"));
        let told = match &document["nodes"] {
            Value::Array(all) => all.iter().any(tells),
            Value::Object(all) => all.values().any(tells),
            _ => first.is_some_and(tells) || tells(document),
        };
        (told || linked).then_some(Self::Respondd)
    }
}

/// What a snapshot says.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// From, to, what was measured, and where it stands.
    pub links: Vec<(String, String, Measured)>,
    /// Where nodes are.
    pub places: Vec<(String, GeoPoint)>,
    /// When it was made, s since the Unix epoch.
    pub at_unix_s: Option<f64>,
    /// What was not used.
    pub dropped: Vec<String>,
}

/// Reads documents, each a snapshot or several, one a line. Those that do not say when they were
/// made are `step_s` apart.
///
/// # Errors
/// See [`ImportError`]; documents that are no snapshots are told and passed over.
pub fn read(
    title: &str,
    documents: &[(String, Vec<u8>)],
    step_s: f64,
) -> Result<Recording, ImportError> {
    let mut recording = Recording::new(title, step_s);
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    let mut before: Option<SnapshotKind> = None;
    let mut count = 0_usize;
    for (_, bytes) in documents {
        // A document after the other is one a line as well as one alone.
        let stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        for document in stream {
            count += 1;
            let Ok(document) = document else {
                recording.drop("a document that is no JSON", count);
                break;
            };
            let Some(kind) = SnapshotKind::of(&document) else {
                recording.drop("a document that is no snapshot of a mesh", count);
                continue;
            };
            if before.is_some_and(|before| before != kind) {
                recording.drop("a snapshot of another kind than the first", count);
                continue;
            }
            before = Some(kind);
            let found = mesh::read(kind, &document);
            take(found, count, &mut known, &mut recording);
        }
    }
    recording.finish()
}

fn take(
    found: Found,
    number: usize,
    known: &mut BTreeSet<(String, String)>,
    recording: &mut Recording,
) {
    for what in found.dropped {
        recording.drop(&what, number);
    }
    let elapsed_s = (number - 1) as f64 * recording.step_s;
    if recording.begin_unix_s.is_none() && number == 1 {
        recording.begin_unix_s = found.at_unix_s;
    }
    let at_s = match (found.at_unix_s, recording.begin_unix_s) {
        (Some(at_s), Some(_)) => at_s,
        (_, begin) => begin.unwrap_or(0.0) + elapsed_s,
    };
    for (name, position) in found.places {
        if let Some(node) = recording.node(&name, number) {
            recording.nodes[node as usize]
                .position
                .get_or_insert(position);
        }
    }
    let mut now = BTreeSet::new();
    for (from, to, values) in found.links {
        recording.observe(at_s, (&from, &to), values, number);
        now.insert((from, to));
    }
    // What was there before and is not any more has gone.
    let gone = Measured {
        delivery_prob: Some(0.0),
        ..Measured::default()
    };
    for (from, to) in known.difference(&now) {
        recording.observe(at_s, (from, to), gone, number);
    }
    *known = now;
}

/// A time in one of the forms documents have.
pub(super) fn time(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let zoned = text.parse::<Timestamp>();
            let time = zoned
                .or_else(|_| format!("{text}Z").parse::<Timestamp>())
                .ok()?;
            Some(time.as_nanosecond() as f64 / 1e9)
        }
        _ => None,
    }
}
