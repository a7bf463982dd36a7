//! Levels, columns and drawing of the maps of sweeps.

use std::path::Path;

use groundwave_model::radio::Workspace;
use groundwave_model::terrain::Flat;
use groundwave_simulation::link::{Inputs, judge, trace};
use groundwave_sweep::{Column, Level, Sweep};

use super::{FLAT, files, sweep};
use crate::support::{self, refusal, stdout};

#[test]
fn levels_of_cells_are_those_of_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let out = folder.path().join("out");
    let products = "path_loss,field_strength,rate";
    stdout(&sweep(&scenario, &out, &["--products", products]));
    for file in ["path_loss_db.tif", "field_strength_dbuv_m.tif", "rate_bps.tif", "rate.png"] {
        assert!(out.join(file).exists(), "{file}");
    }
    let work = Sweep::find(&out).unwrap();
    let plan = &work.plan;
    let terrain = Flat { elevation_msl_m: 10.0 };
    let inputs = Inputs {
        terrain: &terrain,
        environment: &plan.environment,
        packet_bytes: plan.packet_bytes,
        spacing_m: plan.sample_spacing_m,
    };
    let mut compared = 0;
    for unit in plan.units() {
        let window = plan.grid.window(unit.row, unit.col);
        for packed in work.read(unit).unwrap().sites() {
            let packed = packed.unwrap();
            let site = &plan.sites[usize::from(packed.site)];
            let tile = packed.tile(&plan.columns).unwrap();
            for cell in (0..tile.answers.cells()).step_by(7) {
                if tile.answers.margin_db(cell).is_none() {
                    continue;
                }
                let (row, col) = (cell as u32 / window.cols, cell as u32 % window.cols);
                let to = plan.grid.centre(window.top + row, window.left + col).unwrap();
                let profile = trace(&inputs, site.position, to, plan.samples);
                let from = (site.position, &site.station);
                let ends = (to, &site.receiver);
                let verdict = judge(&inputs, &profile, from, ends, &mut Workspace::default());
                let link = verdict.unwrap().0;
                for (column, value) in [
                    (Column::PathLoss, link.losses.total_path_loss_db),
                    (Column::FieldStrength, link.field_strength_dbuv_m()),
                    (Column::Rate, link.rate.data_rate_bps),
                ] {
                    let level = tile.level(Level::Column(column))[cell];
                    // Rounded to f32 on both sides of 1e-9 dB.
                    let near = (f64::from(level) - value).abs() <= value.abs() * 6e-8 + 1e-9;
                    assert!(near, "{column:?} of cell {cell}: {level}, not {value}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared} cells");
}

#[test]
fn maps_have_the_requested_options() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    let maps = "[coverage.maps.margin]\nrange = [0, 30]\nstep = 5\nclear_below = 12\n";
    std::fs::write(&scenario, format!("{FLAT}{maps}")).unwrap();
    let (out, plain) = (folder.path().join("out"), folder.path().join("plain"));
    let products = ["--products", "margin,overlay,kmz"];
    stdout(&sweep(&scenario, &out, &products));
    let chosen = files(&out);
    // A merge draws as the scenario wants it.
    stdout(&support::groundwave(
        &[&["sweep", "merge", out.to_str().unwrap()], &products[..]].concat(),
    ));
    assert_eq!(chosen, files(&out));
    std::fs::write(&scenario, FLAT).unwrap();
    stdout(&sweep(&scenario, &plain, &products));
    let usual = files(&plain);
    let same = |place: &str| chosen[Path::new(place)] == usual[Path::new(place)];
    assert!(same("manifest.json") && same("margin_db.tif") && same("summary.json"));
    assert!(!same("margin.png") && !same("overlay.png") && !same("coverage.kmz"));
    // Options stand above the scenario.
    let options = ["--scale", "margin=0..30/5", "--clear-below", "margin=12"];
    stdout(&sweep(&scenario, &plain, &[&products[..], &options].concat()));
    assert!(files(&plain)[Path::new("margin.png")] == chosen[Path::new("margin.png")]);
    for (option, value, why) in [
        ("--scale", "margin=40..0", "invalid range 40 to 0; allowed"),
        ("--scale", "loss=0..40", "allowed: margin, power, path_loss"),
        ("--palette", "margin=jet", "allowed: viridis"),
        ("--clear-below", "margin=low", "allowed: a finite number"),
        ("--clear-below", "margin", "no LAYER="),
    ] {
        let refused = refusal(&sweep(&scenario, &plain, &[option, value]));
        assert!(refused.contains(why), "{option} {value}: {refused}");
    }
}

#[test]
fn each_site_has_a_map_and_an_overlay_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let out = folder.path().join("out");
    stdout(&sweep(&scenario, &out, &["--products", "site_maps"]));
    let contents = files(&out);
    let sites = Sweep::find(&out).unwrap().plan.sites.clone();
    assert!(sites.len() > 1);
    let names = |ending: &str| {
        let of_sites = contents.keys().filter(|path| path.starts_with("sites"));
        let ended =
            of_sites.filter(|path| path.extension().is_some_and(|extension| extension == ending));
        ended.cloned().collect::<Vec<_>>()
    };
    assert_eq!(names("kmz").len(), sites.len());
    assert_eq!(names("png").len(), sites.len());
    assert_eq!(names("pgw").len(), sites.len());
    assert_eq!(names("tif").len(), 0);
    // Each is of its own site.
    for ending in ["kmz", "png"] {
        let of_sites = names(ending);
        assert!(contents[&of_sites[0]] != contents[&of_sites[1]], "{ending}");
        for (site, path) in sites.iter().zip(&of_sites) {
            let name = path.file_stem().unwrap().to_string_lossy();
            assert!(name.ends_with(&site.name), "{name} is of {}", site.name);
        }
    }
    let merge = ["sweep", "merge", out.to_str().unwrap()];
    stdout(&support::groundwave(&[&merge[..], &["--products", "site_maps,sites"]].concat()));
    let merged = files(&out);
    for name in [names("png"), names("kmz")].concat() {
        assert!(merged[&name] == contents[&name], "{}", name.display());
    }
}

#[test]
fn an_automatic_scale_is_the_same_for_all_variants() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("grid.toml");
    // Two powers 20 dB apart that no scale of one alone would hold.
    let vary = "[coverage.vary]\ntx_power_dbm = [0, 20]\n";
    std::fs::write(&scenario, format!("{FLAT}{vary}")).unwrap();
    let run = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let products = ["--products", "margin,sheet"];
        stdout(&sweep(&scenario, &out, &[&products[..], more].concat()));
        files(&out)
    };
    let auto = run("auto", &["--scale", "margin=auto"]);
    // Margins of the best server of all cells of both variants.
    let work = Sweep::find(&folder.path().join("auto")).unwrap();
    let mut margins = Vec::new();
    for unit in work.plan.units() {
        let mut read = work.read(unit).unwrap();
        let sites = read.sites().map(|site| site.unwrap().answers().unwrap());
        let sites: Vec<_> = sites.collect();
        for cell in 0..sites[0].cells() {
            let best = sites.iter().filter_map(|site| site.margin_db(cell));
            margins.extend(best.map(f64::from).reduce(f64::max));
        }
    }
    margins.sort_by(f64::total_cmp);
    let at = |share: f64| margins[(share * (margins.len() - 1) as f64).round() as usize];
    let [low, high] = [at(0.02), at(0.98)];
    let is_range = |step: &f64| {
        let [low, high] = [(low / step).floor() * step, (high / step).ceil() * step];
        let scale = format!("margin={low}..{high}/{step}");
        let fixed = run(&format!("by_{step}"), &["--scale", &scale]);
        let same = |place: &str| fixed[Path::new(place)] == auto[Path::new(place)];
        let maps = ["p0/margin.png", "p20/margin.png", "contact_sheet.png"].map(same);
        assert!(maps == [true; 3] || maps == [false; 3], "{scale}: {maps:?}");
        maps[0]
    };
    assert!([2.0, 2.5, 5.0, 10.0].iter().any(is_range), "{low} to {high}");
}

#[test]
fn columns_are_stored_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let (plain, rich) = (folder.path().join("plain"), folder.path().join("rich"));
    stdout(&sweep(&scenario, &plain, &["--products", "margin"]));
    stdout(&sweep(&scenario, &rich, &["--products", "margin,rate"]));
    let manifest = |out: &Path| std::fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(!manifest(&plain).contains("columns"), "as plans were before");
    assert!(manifest(&rich).contains("columns"));
    let merge = |out: &Path, products: &str| {
        let out = out.to_str().unwrap();
        support::groundwave(&["sweep", "merge", out, "--products", products])
    };
    let refused = refusal(&merge(&plain, "margin,rate"));
    assert!(refused.contains("groundwave sweep SCENARIO -o DIR --products rate"), "{refused}");
    refusal(&merge(&rich, "path_loss"));
    stdout(&merge(&rich, "rate"));
    // The richer units serve a sweep that asks for less, the others do not serve one for more.
    stdout(&sweep(&scenario, &rich, &["--products", "margin"]));
    assert_eq!(files(&plain)[Path::new("margin_db.tif")], files(&rich)[Path::new("margin_db.tif")]);
    let refused = refusal(&sweep(&scenario, &plain, &["--products", "rate"]));
    assert!(refused.contains("another folder"), "{refused}");
}
