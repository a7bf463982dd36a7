//! `log diff`: first difference of two logs.

use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_engine::Engine;
use groundwave_engine::log::Entry;
use groundwave_gateway::Snapshot;
use groundwave_http::Failure;
use serde::Serialize;
use serde_json::Value;

use super::redact::redact;
use super::{LogFile, decoder, open};
use crate::cli::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave log cut run.gwlog -o first-minute.gwlog --to 60
  groundwave log diff run.gwlog first-minute.gwlog";

/// Show the first difference of two logs; exit code 1 where they differ
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Diff {
    /// First log
    left: PathBuf,

    /// Second log
    right: PathBuf,
}

#[derive(Serialize)]
struct Document {
    equal: bool,
    /// Number of equal entries before the first difference.
    common_entries: u64,
    /// Differences of the headers: key, left, right.
    headers: Vec<(String, String, String)>,
    /// First different entry; absent at the end of a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<Value>,
}

impl Diff {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let (mut left, mut right) = (open(&self.left)?, open(&self.right)?);
        let engine = decoder(left.header())?;
        let headers = headers(&left, &right);
        let mut common_entries = 0;
        let (one, other) = loop {
            let pair = (next(&mut left, &self.left)?, next(&mut right, &self.right)?);
            match pair {
                (None, None) => break (None, None),
                // A digest with its parts and one without are the same digest.
                (Some(one), Some(other))
                    if document_of(&engine, &one) == document_of(&engine, &other) =>
                {
                    common_entries += 1;
                }
                (one, other) => break (one, other),
            }
        };
        let show = |entry: Option<Entry>| entry.map(|entry| document_of(&engine, &entry));
        let (left, right) = (show(one), show(other));
        let document = Document {
            equal: headers.is_empty() && left.is_none() && right.is_none(),
            common_entries,
            headers,
            left,
            right,
        };
        match output.json {
            true => output.json(&document)?,
            false => output.text(&text(&document))?,
        }
        match document.equal {
            true => Ok(()),
            false => Err(Failure::Exit { message: "the logs differ".to_owned(), code: 1 }),
        }
    }
}

fn next(log: &mut LogFile, path: &Path) -> Result<Option<Entry>, Failure> {
    log.next_entry().map_err(|err| Failure::Input(format!("log {}: {err}", path.display())))
}

fn headers(left: &LogFile, right: &LogFile) -> Vec<(String, String, String)> {
    let (left, right) = (left.header(), right.header());
    let mut pairs = vec![
        ("seed".to_owned(), left.seed.to_string(), right.seed.to_string()),
        ("step_ns".to_owned(), left.step_ns.to_string(), right.step_ns.to_string()),
    ];
    let keys: std::collections::BTreeSet<&String> =
        left.inputs.keys().chain(right.inputs.keys()).collect();
    let value = |inputs: &std::collections::BTreeMap<String, String>, key: &String| {
        inputs.get(key).cloned().unwrap_or_else(|| "–".to_owned())
    };
    pairs.extend(
        keys.into_iter()
            .map(|key| (key.clone(), value(&left.inputs, key), value(&right.inputs, key))),
    );
    pairs.retain(|(_, left, right)| left != right);
    pairs
}

fn document_of(engine: &Engine<Snapshot>, entry: &Entry) -> Value {
    match entry {
        Entry::Command(record) => {
            let body = engine.registry().to_json(&record.name, &record.body);
            // A command without a decoder in this version still differs by its bytes.
            let body = body.unwrap_or_else(|_| Value::from(record.body.clone()));
            let body = redact(&record.name, body);
            serde_json::json!({ "tick": record.tick, "command": record.name, "body": body })
        }
        Entry::Checkpoint(part) => {
            let crc32 = groundwave_engine::parts_of([&part.body])[0];
            let number = part.number;
            serde_json::json!({ "tick": part.tick, "checkpoint_part": number, "crc32": crc32 })
        }
        Entry::Mark(mark) => serde_json::json!({ "tick": mark.tick, "digest": mark.digest }),
    }
}

fn text(document: &Document) -> String {
    let mut out = String::new();
    for (key, left, right) in &document.headers {
        out += &format!("{key}: {left} | {right}\n");
    }
    let common = document.common_entries;
    if document.equal {
        return format!("equal: {common} entries\n");
    }
    if document.left.is_none() && document.right.is_none() {
        return format!("{out}{common} equal entries\n");
    }
    out += &format!("first {common} entries equal; then\n");
    for (side, entry) in [("<", &document.left), (">", &document.right)] {
        let entry = entry.as_ref().map_or("(end of log)".to_owned(), Value::to_string);
        out += &format!("{side} {entry}\n");
    }
    out
}
