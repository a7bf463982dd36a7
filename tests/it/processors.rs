//! The same bits on every processor: on this one, and on emulated ones with narrower vectors.

use std::process::Output;

use groundwave_needs::needs;

#[path = "../../systems/model/examples/bits/digests.rs"]
mod digests;

use crate::support::{self, stdout};
use crate::sweep::assert_same;

/// Emulated processors: one with AVX2 and without AVX-512, one with SSE 4.2 alone.
const EMULATED: [&str; 2] = ["max", "Nehalem"];

/// A site on rough ground, cells near and far and maps of all kinds.
const SWEEP: &str = "[scenario]\ntitle = \"a site\"\nduration_s = 1\n\
    [terrain]\ntiles = [\"N57E011\"]\n\
    [[node]]\nname = \"mast\"\nlat_deg = 57.7\nlon_deg = 11.85\nheight_agl_m = 20\n\
    radio = \"wifi_2g4_mesh\"\nantenna = \"omni_5\"\n\
    [coverage]\nradius_km = 6\ncell_arcsec = 3\n";

/// The program, on another processor if one is named.
fn groundwave(processor: Option<&str>, arguments: &[&str]) -> Output {
    let native = support::command(arguments);
    let mut command = match processor {
        None => native,
        Some(processor) => {
            let mut emulated = support::launcher("qemu-x86_64");
            emulated.args(["-cpu", processor]).arg(native.get_program());
            emulated.args(native.get_args());
            emulated
        }
    };
    command.output().unwrap()
}

#[needs(terrain, emulator)]
#[test]
fn a_sweep_leaves_the_same_bytes_on_processors_with_narrower_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("site.toml");
    std::fs::write(&scenario, SWEEP).unwrap();
    let sweep = |processor: Option<&str>| {
        let out = folder.path().join(processor.unwrap_or("native"));
        let (scenario, to) = (scenario.to_str().unwrap(), out.to_str().unwrap());
        stdout(&groundwave(processor, &["sweep", scenario, "-o", to]));
        out
    };
    let native = sweep(None);
    for processor in EMULATED {
        assert_same(&native, &sweep(Some(processor)));
    }
}

/// Links and coverages by all models, on ground made of products: those of the binary for Arm.
#[needs(aarch64)]
#[test]
fn links_and_cells_have_the_same_bits_on_aarch64() {
    const TARGET: &str = "aarch64-unknown-linux-musl";
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("aarch64");
    let build = std::process::Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "groundwave-model", "--example", "bits"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&target)
        .current_dir(support::root())
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld")
        .env("RUSTFLAGS", "")
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let program = target.join(TARGET).join("debug/examples/bits");
    let emulated = std::process::Command::new("qemu-aarch64").arg(program).output().unwrap();
    let text = stdout(&emulated);
    let emulated: Vec<&str> = text.lines().collect();
    assert_eq!(emulated.len(), groundwave_model::radio::Model::ALL.len());
    assert_eq!(emulated, digests::lines());
}

#[needs(terrain, emulator)]
#[test]
fn a_moving_mesh_comes_to_the_same_digest_on_processors_with_narrower_vectors() {
    let path = support::scenario_path("manet50.toml");
    let run = ["run", path.to_str().unwrap(), "--until", "3", "--json"];
    let digest = |processor| {
        let text = stdout(&groundwave(processor, &run));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["digest"].as_str().unwrap().to_owned()
    };
    let native = digest(None);
    for processor in EMULATED {
        assert_eq!(digest(Some(processor)), native, "{processor}");
    }
}
