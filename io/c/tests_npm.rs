//! Answers of the npm package, under node, beside those of the native library: every bit is the same.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use groundwave_bindings::Invalid;
use groundwave_bindings::coverage::{CoverageDocument, coverage};
use groundwave_bindings::document::read;
use groundwave_bindings::elevation::{Elevation, Extent};
use groundwave_bindings::itm::{ItmInputs, loss_db};
use groundwave_bindings::link::{LinkRequest, link, link_over};
use groundwave_bindings::path::{COLUMNS, path};
use groundwave_needs::needs;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SIDE: u32 = 120;
const SAMPLES: usize = 150;
const PATHS: usize = 400;

/// Rough ground without a random number.
fn post(i: usize) -> f64 {
    f64::from((i as u32).wrapping_mul(2_654_435_761) >> 24) * 0.25
}

fn links() -> Vec<Value> {
    let link = |to: [f64; 2], radio: &str, model: &str| {
        json!({
            "from": { "lat_deg": 57.7, "lon_deg": 11.9, "station": { "radio": radio, "height_agl_m": 25 } },
            "to": { "lat_deg": to[0], "lon_deg": to[1], "station": { "radio": radio, "antenna": "omni_5" } },
            "environment": { "model": model, "time_percent": 20.0 },
        })
    };
    vec![
        link([57.74, 11.95], "lora_868_eu", "itm"),
        link([57.66, 11.82], "wifi_2g4_mesh", "p1812"),
        link([57.75, 11.9], "vhf_handheld_5w", "delta_bullington"),
    ]
}

fn coverages() -> Vec<Value> {
    let coverage = |radio: &str, model: &str| {
        json!({
            "site": { "lat_deg": 57.7, "lon_deg": 11.9, "station": { "radio": radio } },
            "environment": { "model": model },
            "radius_km": 3.0,
            "cell_arcsec": 6.0,
        })
    };
    vec![coverage("lora_868_eu", "itm"), coverage("wifi_5g_mesh", "p1812")]
}

/// Texts of the vectors of positions, those that are read and those that are refused.
fn spellings() -> Vec<String> {
    let vectors = include_str!("../../tests/fixtures/coordinate/spellings.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    let texts = ["positions", "refusals"].map(|list| vectors[list].as_array().unwrap().clone());
    texts.concat().iter().map(|vector| vector["text"].as_str().unwrap().to_owned()).collect()
}

fn sha256<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> String {
    let digest = Sha256::digest(numbers.flatten().collect::<Vec<u8>>());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn line(name: &str, document: &impl serde::Serialize, sha256: String) -> Value {
    json!({ "name": name, "document": document, "sha256": sha256 })
}

/// Document of an answer without the names of its arrays.
fn facts(answer: &impl serde::Serialize, names: &str) -> Value {
    let mut document = json!(answer);
    assert!(document.as_object_mut().unwrap().remove(names).is_some());
    document
}

/// The lines of the native library.
fn native(invalid: &[Value]) -> Result<Vec<Value>, Invalid> {
    let none = || sha256(std::iter::empty::<[u8; 8]>());
    let extent: Extent = read(&extent().to_string())?;
    let heights: Vec<f32> = (0..(SIDE * SIDE) as usize).map(|i| post(i) as f32).collect();
    let terrain = Elevation::new(extent, &heights)?;
    let mut lines = Vec::new();
    for request in links() {
        let request: LinkRequest = read(&request.to_string())?;
        lines.push(line("link", &link(&request, &terrain)?, none()));
        let profile = path(&request, &terrain)?;
        let values = profile.values.iter().map(|value| value.to_le_bytes());
        lines.push(line("profile", &facts(&profile, "columns"), sha256(values)));
        let place = COLUMNS.iter().position(|name| *name == "elevation_msl_m").unwrap();
        let heights = &profile.values[place * profile.samples..][..profile.samples];
        lines.push(line("link_over", &link_over(&request, heights)?, none()));
    }
    for request in coverages() {
        let request: CoverageDocument = read(&request.to_string())?;
        let answer = coverage(&request, &terrain)?;
        let values = answer.values.iter().map(|value| value.to_le_bytes());
        let line = line("coverage", &facts(&answer, "planes"), sha256(values));
        // Once by one instance, once by two workers.
        lines.extend([line.clone(), line]);
    }
    let inputs = ItmInputs {
        step_m: 90.0,
        tx_agl_m: 12.0,
        rx_agl_m: 2.0,
        climate: 6,
        refractivity_n_units: 301.0,
        frequency_mhz: 868.0,
        polarization: 1,
        permittivity: 15.0,
        conductivity_s_m: 0.005,
        mdvar: 12,
        time_percent: 90.0,
        location_percent: 50.0,
        situation_percent: 50.0,
    };
    let heights: Vec<f64> = (0..SAMPLES * PATHS).map(post).collect();
    let losses: Result<Vec<f64>, _> =
        heights.chunks(SAMPLES).map(|path| loss_db(path, &inputs)).collect();
    let losses = line("itm", &Value::Null, sha256(losses?.iter().map(|loss| loss.to_le_bytes())));
    // By the module with everything, and by that with ITM alone.
    lines.extend([losses.clone(), losses]);
    for text in spellings() {
        lines.push(match groundwave_coordinate::degrees(&text) {
            Ok(degrees) => {
                let degrees = degrees.iter().map(|deg| deg.to_le_bytes());
                line("position", &Value::Null, sha256(degrees))
            }
            Err(error) => line("error", &format!("RangeError: {error}"), none()),
        });
    }
    for request in invalid {
        let outcome = read::<LinkRequest>(&request.to_string());
        let error = outcome.and_then(|request| link(&request, &terrain)).unwrap_err();
        lines.push(line("error", &format!("RangeError: {error}"), none()));
    }
    Ok(lines)
}

fn extent() -> Value {
    json!({ "west_deg": 11.8, "south_deg": 57.6, "east_deg": 12.0, "north_deg": 57.8, "rows": SIDE, "columns": SIDE })
}

#[needs(npm)]
#[test]
fn answers_under_node_have_the_bits_of_the_native_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let invalid = [
        json!({ "from": { "lat_deg": 97.0, "lon_deg": 11.9 }, "to": { "lat_deg": 57.7, "lon_deg": 11.9 } }),
        json!({ "from": { "lat_deg": 57.5, "lon_deg": 11.9 }, "two": {} }),
    ];
    let requests = json!({
        "elevation": { "bounds": [11.8, 57.6, 12.0, 57.8], "rows": SIDE, "columns": SIDE },
        "links": links(),
        "coverages": coverages(),
        "paths": {
            "samples": SAMPLES,
            "count": PATHS,
            "inputs": {
                "stepM": 90, "txAglM": 12, "rxAglM": 2, "frequencyMhz": 868,
                "climate": "maritime_temperate_land", "timePercent": 90,
            },
        },
        "invalid": invalid,
        "spellings": spellings(),
    });
    let mut node = Command::new("node")
        .arg(root.join("io/c/npm_check.mjs"))
        .arg(root.join("out/npm/package"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    node.stdin.take().unwrap().write_all(requests.to_string().as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let native = native(&invalid).unwrap();
    assert_eq!(lines.len(), native.len());
    for (line, native) in lines.iter().zip(&native) {
        assert!(is_same(line, native), "{line}\n{native}");
    }
}

/// True if two documents have the same numbers, however they write them: JavaScript writes 1 for 1.0.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}
