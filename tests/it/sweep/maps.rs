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
    let products = "path_loss,field_strength,rate,probability";
    stdout(&sweep(&scenario, &out, &["--products", products]));
    for file in [
        "path_loss_db.tif",
        "field_strength_dbuv_m.tif",
        "rate_bps.tif",
        "rate.png",
        "link_probability_percent.tif",
        "link_probability.png",
    ] {
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
                let percent = f64::from(tile.level(Level::Column(Column::Probability))[cell]);
                // Cells have the deciles of the received power in 32 bits.
                let apart = (percent - 100.0 * link.prediction.link_prob).abs();
                assert!(apart < 1e-3, "cell {cell}: {percent} %, {apart} apart");
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
        ("--scale", "margin=40..0", "allowed MIN below MAX"),
        ("--scale", "loss=0..40", "allowed margin, power, path_loss"),
        ("--palette", "margin=jet", "allowed viridis"),
        ("--clear-below", "margin=low", "allowed a finite number"),
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

/// Scenario in which ground is covered from `margin_db` on, which part of it is not.
fn partly_covered(margin_db: u32) -> String {
    FLAT.replace("cell_arcsec = 9", &format!("cell_arcsec = 9\nmargin_db = {margin_db}"))
}

/// Pixels of a picture, RGBA, row by row.
fn pixels(bytes: &[u8]) -> Vec<[u8; 4]> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut octets = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut octets).unwrap();
    octets.as_chunks::<4>().0.to_vec()
}

#[test]
fn cells_that_are_not_covered_are_clear_in_the_overlay_and_covered_ones_opaque() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, partly_covered(15)).unwrap();
    let out = folder.path().join("out");
    stdout(&sweep(&scenario, &out, &["--products", "overlay,margin"]));
    let work = Sweep::find(&out).unwrap();
    let alpha = |out: &Path| -> Vec<u8> {
        let bytes = std::fs::read(out.join("overlay.png")).unwrap();
        pixels(&bytes).iter().map(|pixel| pixel[3]).collect()
    };
    let overlay = alpha(&out);
    let cols = work.plan.grid.cols as usize;
    assert_eq!(overlay.len(), cols * work.plan.grid.rows as usize, "one pixel a cell");
    let mut counts = [0, 0];
    for unit in work.plan.units() {
        let window = work.plan.grid.window(unit.row, unit.col);
        let mut read = work.read(unit).unwrap();
        let sites: Vec<_> = read.sites().map(|site| site.unwrap().answers().unwrap()).collect();
        for cell in 0..sites[0].cells() {
            let best = sites.iter().filter_map(|site| site.margin_db(cell)).reduce(f32::max);
            let is_covered = best.is_some_and(|margin_db| margin_db >= 15.0);
            let (row, col) = (cell / window.cols as usize, cell % window.cols as usize);
            let at = (window.top as usize + row) * cols + window.left as usize + col;
            assert_eq!(overlay[at], if is_covered { 255 } else { 0 }, "row {row}, column {col}");
            counts[usize::from(is_covered)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    // A level of one's own shows more.
    stdout(&sweep(&scenario, &out, &["--products", "overlay", "--clear-below", "margin=-10"]));
    let opaque = |alpha: &[u8]| alpha.iter().filter(|alpha| **alpha == 255).count();
    assert!(opaque(&alpha(&out)) > opaque(&overlay) + 100);
}

#[test]
fn maps_of_levels_show_what_is_covered_and_a_date_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, partly_covered(30)).unwrap();
    let out = folder.path().join("out");
    let map = |more: &[&str], name: &str| {
        stdout(&sweep(&scenario, &out, &[&["--products", "margin,power,servers"], more].concat()));
        files(&out).remove(Path::new(name)).unwrap()
    };
    // Everything is above -500 dBm: a choice of one's own draws what is not covered as well.
    let power = map(&[], "rx_power.png");
    assert!(power != map(&["--clear-below", "power=-500"], "rx_power.png"));
    assert!(power == map(&["--clear-below", "margin=-10"], "rx_power.png"));
    let dated = map(&["--date", "2026-05-17"], "rx_power.png");
    assert!(power != dated && dated == map(&["--date", "2026-05-17"], "rx_power.png"));
    for wrong in ["2026-02-30", "17.5.2026", "2026-5-7"] {
        let error = refusal(&sweep(&scenario, &out, &["--date", wrong]));
        assert!(error.contains("YYYY-MM-DD"), "{error}");
    }
}

#[test]
fn sites_have_their_labels_and_properties_and_labels_change_no_unit() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    let sector = "label = \"Öster, сектор\"\npointing = { azimuth_deg = 75 }\nname = \"east\"";
    let text = FLAT.replace("name = \"east\"", sector).replacen("omni_5", "omni_9", 1);
    std::fs::write(&scenario, text.replace("omni_5", "sector_17_90")).unwrap();
    let out = folder.path().join("out");
    let products = ["--products", "outlines,site_maps,kmz"];
    stdout(&sweep(&scenario, &out, &products));
    let labelled = files(&out);
    let json: serde_json::Value =
        serde_json::from_slice(&labelled[Path::new("sites.geojson")]).unwrap();
    let [west, east] = [0, 1].map(|site| json["features"][site]["properties"].clone());
    assert_eq!((&west["name"], &west["label"]), (&"west".into(), &"west".into()));
    assert_eq!((&east["name"], &east["label"]), (&"east".into(), &"Öster, сектор".into()));
    assert_eq!(west["antenna"], "omni_9");
    assert_eq!((&east["antenna"], &east["azimuth_deg"]), (&"sector_17_90".into(), &75.0.into()));
    assert_eq!((&west["height_agl_m"], &east["height_agl_m"]), (&20.0.into(), &30.0.into()));
    assert!(west["azimuth_deg"].is_null() && west["frequency_mhz"].as_f64().unwrap() > 2_400.0);
    let sum =
        ["tx_power_dbm", "gain_dbi"].map(|key| east[key].as_f64().unwrap()).iter().sum::<f64>()
            - east["feeder_loss_db"].as_f64().unwrap();
    assert!((east["eirp_dbm"].as_f64().unwrap() - sum).abs() < 1e-6);
    // A merge draws with the labels; without them the plan and its units are the same.
    let merge = ["sweep", "merge", out.to_str().unwrap()];
    stdout(&support::groundwave(&[&merge[..], &products].concat()));
    assert!(files(&out) == labelled);
    let plain = std::fs::read_to_string(&scenario).unwrap();
    std::fs::write(&scenario, plain.replace("label = \"Öster, сектор\"\n", "")).unwrap();
    stdout(&sweep(&scenario, &out, &products));
    let bare = files(&out);
    let same = |place: &str| bare[Path::new(place)] == labelled[Path::new(place)];
    assert!(same("manifest.json") && same("summary.json"));
    assert!(!same("sites.geojson") && !same("sites/001_east.png"));
    assert!(!bare.contains_key(Path::new("labels.json")));
}

#[test]
fn outlines_have_the_threshold_and_those_that_were_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, partly_covered(30)).unwrap();
    let out = folder.path().join("out");
    let options = ["--scale", "margin=25,40", "--scale", "power=-80,-60"];
    stdout(&sweep(&scenario, &out, &[&["--products", "outlines,power"], &options[..]].concat()));
    let features = |file: &str| {
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join(file)).unwrap()).unwrap();
        json["features"].as_array().unwrap().clone()
    };
    let levels = |file: &str, key: &str| -> Vec<f64> {
        features(file).iter().map(|one| one["properties"][key].as_f64().unwrap()).collect()
    };
    let margins = [0.0, 3.0, 10.0, 20.0, 25.0, 30.0, 40.0];
    assert_eq!(levels("contours.geojson", "at_least"), margins);
    assert_eq!(levels("contour_lines.geojson", "level"), margins);
    assert_eq!(levels("rx_power_contours.geojson", "at_least"), [-80.0, -60.0]);
    let covered = |one: &serde_json::Value| one["properties"]["covered"] == true;
    let lines = features("contour_lines.geojson");
    let threshold: Vec<_> = lines.iter().filter(|one| covered(one)).collect();
    assert_eq!(threshold.len(), 1);
    assert_eq!(threshold[0]["properties"]["level"], 30.0);
    assert!(!threshold[0]["geometry"]["coordinates"].as_array().unwrap().is_empty());
    assert_eq!(features("rx_power_contour_lines.geojson")[0]["properties"]["unit"], "dBm");
}
