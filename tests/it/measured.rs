//! Recordings of others: read, replayed, compared with the model, calibrated with, written again.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_needs::needs;
use groundwave_test_data::shared;
use serde_json::Value;

use crate::support::{self, groundwave, stdout};

fn json(words: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend(words);
    serde_json::from_str(&stdout(&groundwave(&all))).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Twelve links side by side on one frequency, each measured once a minute; the model is off by
/// `off_db` there, and one link is out of order.
pub fn levels(folder: &Path, off_db: f64) -> [String; 2] {
    let mut nodes = String::from("id,lat,lon\n");
    for at in 0..24 {
        let (lat, lon) = (57.5 + f64::from(at / 2) * 0.2, 11.0 + f64::from(at % 2) * 0.012);
        nodes += &format!("n{at},{lat},{lon}\n");
    }
    std::fs::write(folder.join("nodes.csv"), nodes).unwrap();
    let mapping = "title = \"a made-up survey\"\nstep_s = 60\nrange_m = 2000\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n\
                   [link]\nfrom = \"tx\"\nto = \"rx\"\n[values]\npath_loss_db = \"loss\"\n\
                   [nodes]\nfile = \"nodes.csv\"\nname = \"id\"\nlat_deg = \"lat\"\nlon_deg = \"lon\"\n\
                   [station]\nheight_agl_m = 10\nradio = \"wifi_5g_mesh\"\nantenna = \"omni_5\"\n";
    let mapping_path = folder.join("survey.toml");
    std::fs::write(&mapping_path, mapping).unwrap();
    // Path losses of the model for these links, as constants.
    let mut rows = String::from("t,tx,rx,loss\n");
    for minute in 0..10 {
        for link in 0..12 {
            let at = link * 2;
            let odd = if link == 3 { 40.0 } else { 0.0 };
            let ripple = f64::from((link * 7 + minute) % 5) * 0.2 - 0.4;
            let model_db = 102.34;
            rows += &format!(
                "{},n{at},n{},{}\n",
                minute * 60,
                at + 1,
                model_db + off_db + odd + ripple
            );
        }
    }
    let table = folder.join("survey.csv");
    std::fs::write(&table, rows).unwrap();
    [text(&table).to_owned(), text(&mapping_path).to_owned()]
}

#[test]
fn a_survey_is_replayed_beside_the_model_and_sets_it_right() {
    let folder = tempfile::tempdir().unwrap();
    let [table, mapping] = levels(folder.path(), 6.0);
    let log = folder.path().join("survey.gwlog");
    let report = json(&["convert", &table, text(&log), "--mapping", &mapping]);
    assert_eq!((&report["nodes"], &report["measurements"]), (&24.into(), &120.into()), "{report}");
    let stat = json(&["log", "stat", text(&log)]);
    assert_eq!(stat["commands"]["link.observe"], 10);
    let replayed = json(&["replay", text(&log), "--check", "--measured"]);
    assert_eq!(replayed["digest"], report["digest"]);
    assert_eq!(replayed["comparison"]["directions"], 12);
    let off_db = replayed["comparison"]["excess_loss_median_db"].as_f64().unwrap();
    let profile = folder.path().join("profile.toml");
    let fitted = json(&["calibrate", text(&log), "-o", text(&profile), "--name", "survey"]);
    let class = &fitted["classes"][0];
    // The class of its distances, and that of all.
    assert_eq!((&class["links"], fitted["classes"].as_array().unwrap().len()), (&12.into(), 2));
    // The link out of order counts no more than any other.
    let loss_db = class["offset"]["loss_db"].as_f64().unwrap();
    let interval_db = class["interval_db"].as_array().unwrap();
    let [low_db, high_db] = [0, 1].map(|end: usize| interval_db[end].as_f64().unwrap());
    assert!((low_db..=high_db).contains(&off_db), "{low_db} to {high_db} for {off_db}");
    assert!((loss_db - off_db).abs() < 3.0, "{loss_db} for {off_db}");
    let before = class["error_before_db"].as_f64().unwrap();
    assert!(class["error_held_out_db"].as_f64().unwrap() < before);
    // A profile is never written over, and never applied without a word.
    support::refusal(&groundwave(&["calibrate", text(&log), "-o", text(&profile)]));
    let link = ["link", "57.5,11.0", "57.5,11.012", "--radio", "wifi_5g_mesh"];
    let plain = json(&link);
    let mut calibrated: Vec<&str> = link.to_vec();
    calibrated.extend(["--calibration", text(&profile)]);
    let calibrated = json(&calibrated);
    assert_eq!(calibrated["calibration"], "survey");
    assert!(plain.get("calibration").is_none());
    // The limits of the fit are in the result, and what the model leaves out.
    let class = &calibrated["assumptions"]["calibration"]["class"];
    assert_eq!(class["loss_db"].as_f64(), Some(loss_db));
    let fit = &fitted["classes"][0];
    assert_eq!(class["interval_db"], fit["interval_db"]);
    // The file has hundredths.
    let spread_db = |of: &Value| of["spread_db"].as_f64().unwrap();
    assert!((spread_db(class) - spread_db(fit)).abs() <= 0.005, "{class}");
    assert_eq!(calibrated["assumptions"]["left_out"][0], "clutter");
    let margins: Vec<f64> = calibrated["percentiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["link_margin_db"].as_f64().unwrap())
        .collect();
    assert!(margins.is_sorted_by(|a, b| a >= b), "{margins:?}");
    let loss = |prediction: &Value| {
        prediction["forward"]["losses"]["total_path_loss_db"].as_f64().unwrap()
    };
    assert!((loss(&calibrated) - loss(&plain) - loss_db).abs() < 1e-9);
    let warnings = calibrated["forward"]["warnings"].as_array().unwrap();
    assert!(warnings.contains(&"calibrated".into()), "{warnings:?}");
    // The profile names the model it corrects; another one has a warning.
    assert_eq!(fitted["fitted"]["model"], "itm");
    let mismatch = Value::from("calibration_mismatch");
    assert!(!warnings.contains(&mismatch), "{warnings:?}");
    assert!(calibrated["assumptions"]["calibration"].get("differences").is_none());
    let words =
        [&link[..], &["--calibration", text(&profile), "--model", "delta-bullington"]].concat();
    let other = json(&words);
    assert!(other["forward"]["warnings"].as_array().unwrap().contains(&mismatch), "{other}");
    let differences = &other["assumptions"]["calibration"]["differences"];
    assert_eq!(differences[0], "itm, here delta_bullington");
    let output = stdout(&groundwave(&words));
    assert!(output.contains("\"survey\" (fitted with itm, here delta_bullington)"), "{output}");
}

/// A drive away from a mast, a row every second, and its mapping as `--sniff` guesses it, with the place of the mast.
fn drive(folder: &Path) -> [String; 2] {
    let mut rows = String::from("time,tx,rx,rssi,lat,lon\n");
    for second in 0..40 {
        let lat = 57.71 + 0.001 * f64::from(second);
        rows += &format!("{second},mast,car,{},{lat},11.9\n", -70 - second / 4);
    }
    let (table, mapping) = (folder.join("drive.csv"), folder.join("drive.toml"));
    std::fs::write(&table, rows).unwrap();
    std::fs::write(folder.join("nodes.csv"), "name,lat,lon\nmast,57.7,11.9\n").unwrap();
    stdout(&groundwave(&["convert", text(&table), text(&mapping), "--sniff"]));
    let mut guess = std::fs::read_to_string(&mapping).unwrap();
    assert!(guess.contains("lat_deg = \"lat\"\nlon_deg = \"lon\""), "{guess}");
    guess +=
        "[nodes]\nfile = \"nodes.csv\"\nname = \"name\"\nlat_deg = \"lat\"\nlon_deg = \"lon\"\n";
    std::fs::write(&mapping, guess).unwrap();
    [text(&table).to_owned(), text(&mapping).to_owned()]
}

#[test]
fn a_drive_is_calibrated_place_by_place() {
    let folder = tempfile::tempdir().unwrap();
    let [table, mapping] = drive(folder.path());
    let log = folder.path().join("drive.gwlog");
    let convert = ["convert", &table, text(&log), "--mapping", &mapping, "--flat-earth"];
    // Gain that reaches the end of the drive.
    json(&[&convert[..], &["--antenna", "omni_9"]].concat());
    let profile = folder.path().join("profile.toml");
    let fitted = json(&["calibrate", text(&log), "-o", text(&profile)]);
    let links: Vec<_> = fitted["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["links"].as_u64().unwrap())
        .collect();
    assert!(links.iter().any(|links| *links > 30), "{fitted}");
    // A plan has no times.
    let plan = folder.path().join("plan.toml");
    let message = support::refusal(&groundwave(&["convert", &table, text(&plan)]));
    assert!(message.contains("rows of levels with times") && !plan.exists(), "{message}");
}

#[test]
fn stations_that_no_document_states_are_those_of_options() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.json");
    let nodes = r#"{"nodes":[{"node_id":"a","hostname":"a","location":{"latitude":57.7,"longitude":11.9}}],"links":[]}"#;
    std::fs::write(&map, nodes).unwrap();
    let plan = folder.path().join("plan.toml");
    json(&[
        "convert",
        text(&map),
        text(&plan),
        "--radio",
        "lora_868_eu",
        "--antenna",
        "omni_2_15",
        "--height",
        "4",
    ]);
    let written = std::fs::read_to_string(&plan).unwrap();
    for part in ["radio = \"lora_868_eu\"", "antenna = \"omni_2_15\"", "height_agl_m = 4.0"] {
        assert!(written.contains(part), "{part} is not in {written}");
    }
    let message = support::refusal(&groundwave(&[
        "convert",
        text(&map),
        "-",
        "--output-format",
        "csv",
        "--radio",
        "x",
    ]));
    assert!(message.contains("invalid --radio: found \"x\""), "{message}");
}

#[test]
fn profile_of_a_scenario_is_named_in_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let profile = "name = \"off by seven\"\n[[class]]\nfrequency_mhz = [10, 100001]\n\
                   distance_km = [0, 1000]\nloss_db = 7\n";
    std::fs::write(folder.path().join("profile.toml"), profile).unwrap();
    let shipped = std::fs::read_to_string(support::scenario_path("failover.toml")).unwrap();
    let run = |text_: &str| {
        let path = folder.path().join("scenario.toml");
        std::fs::write(&path, text_).unwrap();
        json(&["run", text(&path), "--until", "5"])
    };
    let plain = run(&shipped);
    let named = run(&format!("{shipped}\n[calibration]\nfile = \"profile.toml\"\n"));
    assert_eq!(named["environment"]["calibration"]["name"], "off by seven");
    let links = |document: &Value| -> Vec<f64> {
        let links = document["links"].as_array().unwrap().iter();
        links.map(|link| link["budget"]["forward"]["path_loss_db"].as_f64().unwrap()).collect()
    };
    let pairs: Vec<(f64, f64)> = links(&plain).into_iter().zip(links(&named)).collect();
    assert!(!pairs.is_empty());
    for (before, after) in pairs {
        assert!((after - before - 7.0).abs() < 1e-9, "{before} {after}");
    }
    let path = folder.path().join("scenario.toml");
    let output = stdout(&groundwave(&["run", text(&path), "--until", "5"]));
    assert!(output.contains("calibration profile: \"off by seven\""), "{output}");
    std::fs::write(&path, format!("{shipped}\n[calibration]\nfile = \"none.toml\"\n")).unwrap();
    let refused = support::refusal(&groundwave(&["run", text(&path)]));
    assert!(refused.contains("calibration.file"), "{refused}");
}

#[test]
fn a_recording_is_written_for_others_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.gwlog");
    let scenario = support::scenario_path("failover.toml");
    stdout(&groundwave(&["run", text(&scenario), "--record", text(&log)]));
    let to = |name: &str| folder.path().join(name);
    let eel = to("run.eel");
    let report = json(&["convert", text(&log), text(&eel)]);
    assert_eq!(report["assumptions"]["left_out"][0], "clutter");
    assert!(report["written"].as_u64() > Some(5), "{report}");
    let back = to("back.gwlog");
    let report = json(&["convert", text(&eel), text(&back)]);
    assert_eq!(report["nodes"], 5);
    json(&["replay", text(&back), "--check"]);
    for name in ["run.json", "run.xml"] {
        json(&["convert", text(&log), text(&to(name))]);
        let plan = to(&format!("{name}.toml"));
        let report = json(&["convert", text(&to(name)), text(&plan)]);
        // One of the five left on the way.
        assert_eq!(report["nodes"], 4, "{name}");
    }
    let table = to("run.csv");
    json(&["convert", text(&log), text(&table)]);
    let rows = std::fs::read_to_string(&table).unwrap();
    assert!(rows.lines().count() > 10 && rows.starts_with("at_s,from,to,distance_m"));
    let report = json(&["convert", text(&log), text(&to("run.parquet"))]);
    assert_eq!(report["written"], rows.lines().count() - 1);
    let refused = support::refusal(&groundwave(&["convert", text(&log), text(&to("run.pdf"))]));
    assert!(refused.contains(".csv, .eel"), "{refused}");
}

/// Report of a replay of `log`, written as `page`.
fn report(log: &Path, page: &Path) -> String {
    stdout(&groundwave(&["replay", text(log), "--report", text(page)]));
    std::fs::read_to_string(page).unwrap()
}

#[test]
fn report_has_failures_routes_and_measurements() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.gwlog");
    let scenario = support::scenario_path("failover.toml");
    stdout(&groundwave(&["run", text(&scenario), "--record", text(&log)]));
    let page = folder.path().join("page.html");
    let html = report(&log, &page);
    for title in ["Routes of flows", "Failures and their effects", "Outages"] {
        assert!(html.contains(title), "{title}");
    }
    assert!(!html.contains("Measurements"));
    let [table, mapping] = levels(folder.path(), 0.0);
    let log = folder.path().join("survey.gwlog");
    stdout(&groundwave(&["convert", &table, text(&log), "--mapping", &mapping]));
    let html = report(&log, &page);
    assert!(html.contains("Measurements") && html.contains("120 measurements of 12 directions"));
}

#[test]
fn nothing_is_compared_with_the_model_at_places_that_were_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..12)
        .map(|link| {
            format!("0.0 nem:{} pathloss nem:{},{}\n", 2 * link + 1, 2 * link + 2, 80 + link)
        })
        .collect();
    let eel = folder.path().join("unplaced.eel");
    std::fs::write(&eel, rows).unwrap();
    let log = folder.path().join("unplaced.gwlog");
    let report = json(&["convert", text(&eel), text(&log)]);
    assert_eq!((&report["nodes"], &report["unplaced"]), (&24.into(), &24.into()));
    let profile = folder.path().join("profile.toml");
    for words in [
        vec!["calibrate", text(&log), "-o", text(&profile)],
        vec!["replay", text(&log), "--measured"],
    ] {
        let report = support::refusal(&groundwave(&words));
        assert!(
            report.contains("24 of 24 measured nodes have no position")
                && report.contains("--places"),
            "{report}"
        );
    }
    assert!(!profile.exists());
    json(&["replay", text(&log), "--check"]);
    let page = folder.path().join("page.html");
    stdout(&groundwave(&["replay", text(&log), "--report", text(&page)]));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("not compared with the model") && !html.contains("excess dB"));
}

/// Links of the LoRaWAN survey of Brno, spreading factors 7 to 12, to one gateway on level ground: distance, km,
/// and the medians of power, dBm, and SNR, dB.
fn survey_links() -> Vec<[f64; 3]> {
    let file = shared("data/rf_measured2/brno_lpwan/lorawan_brno.csv");
    let rows = std::fs::read_to_string(file).unwrap();
    let mut levels: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
    for row in rows.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [Ok(rx_power_dbm), Ok(snr_db)] = [fields[2].parse(), fields[3].parse()] else {
            continue;
        };
        let place = [fields[0], fields[1], fields[4]].join(",");
        levels.entry(place).or_default().push([rx_power_dbm, snr_db]);
    }
    let link = |(place, mut levels): (String, Vec<[f64; 2]>)| {
        let distance_km: f64 = place.rsplit(',').next()?.parse().ok()?;
        levels.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let [rx_power_dbm, snr_db] = levels[levels.len() / 2];
        (distance_km > 0.1).then_some([distance_km, rx_power_dbm, snr_db])
    };
    levels.into_iter().filter_map(link).collect()
}

/// A log of a survey with nodes around a gateway.
fn survey_log(folder: &Path, name: &str, links: &[[f64; 3]]) -> String {
    let (mut rows, mut nodes) =
        (String::from("time,tx,rx,rssi,snr\n"), String::from("name,lat,lon,h\ngw,49.2,16.6,45\n"));
    for (at, [distance_km, rx_power_dbm, snr_db]) in links.iter().enumerate() {
        let (sin, cos) = (at as f64 * 2.4).sin_cos();
        let lat = 49.2 + distance_km / 111.2 * cos;
        let lon = 16.6 + distance_km / 111.2 / 49.2_f64.to_radians().cos() * sin;
        nodes += &format!("n{at},{lat:.6},{lon:.6},1.2\n");
        rows += &format!("{at},n{at},gw,{rx_power_dbm},{snr_db}\n");
    }
    let table = folder.join(format!("{name}.csv"));
    std::fs::write(&table, rows).unwrap();
    std::fs::write(folder.join(format!("{name}_nodes.csv")), nodes).unwrap();
    let mapping = folder.join(format!("{name}.toml"));
    let text_of_mapping = format!(
        "title = \"{name}\"\nstep_s = 1\n[time]\ncolumn = \"time\"\nunit = \"seconds\"\n[link]\nfrom = \"tx\"\n\
         to = \"rx\"\n[values]\nrx_power_dbm = \"rssi\"\nsnr_db = \"snr\"\n[nodes]\nfile = \"{name}_nodes.csv\"\n\
         name = \"name\"\nlat_deg = \"lat\"\nlon_deg = \"lon\"\nheight_agl_m = \"h\"\n[station]\n\
         height_agl_m = 1.2\nradio = \"lora_868_eu\"\nantenna = \"omni_2_15\"\n"
    );
    std::fs::write(&mapping, text_of_mapping).unwrap();
    let log = folder.join(format!("{name}.gwlog"));
    json(&["convert", text(&table), text(&log), "--mapping", text(&mapping), "--flat-earth"]);
    text(&log).to_owned()
}

#[needs(shared("data/rf_measured2/brno_lpwan"))]
#[test]
fn nine_of_ten_links_of_a_survey_lie_where_the_calibration_by_others_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let links = survey_links();
    // Of neighbours in the file each fifth is fitted.
    let (fitted, others): (Vec<_>, Vec<_>) =
        links.iter().enumerate().partition(|(at, _)| at % 5 == 0);
    let of = |links: Vec<(usize, &[f64; 3])>| -> Vec<[f64; 3]> {
        links.into_iter().map(|(_, link)| *link).take(150).collect()
    };
    let [fitted, others] = [of(fitted), of(others)];
    let log = survey_log(folder.path(), "fitted", &fitted);
    let profile = folder.path().join("profile.toml");
    let report = json(&["calibrate", &log, "-o", text(&profile)]);
    // Receptions with the highest spreading factors lie below the sensitivity of that of the radio.
    assert!(report["directions_below_sensitivity"].as_u64().unwrap() > 10, "{report}");
    let number = |value: &Value| value.as_f64().unwrap();
    let log = survey_log(folder.path(), "others", &others);
    let replayed = json(&["replay", &log]);
    let predicted: BTreeMap<_, _> = array(&replayed["links"])
        .iter()
        .map(|link| ((link["a"].as_str(), link["b"].as_str()), &link["budget"]))
        .collect();
    let mut inside = 0;
    for level in array(&replayed["measured"]) {
        let (from, to) = (level["from"].as_str(), level["to"].as_str());
        let budget = predicted[&(from.min(to), from.max(to))];
        let direction = if from < to { "forward" } else { "backward" };
        let [rx_power_dbm, snr_db] =
            ["rx_power_dbm", "snr_db"].map(|key| number(&level["values"][key]));
        // The power with the noise in it, less the noise.
        let signal_dbm = rx_power_dbm - 10.0 * (1.0 + 10.0_f64.powf(-snr_db / 10.0)).log10();
        let excess_db = number(&budget[direction]["rx_power_dbm"]) - signal_dbm;
        let distance_km = number(&budget["distance_m"]) * 1e-3;
        let class = array(&report["classes"])
            .iter()
            .find(|class| {
                let [low_km, high_km] =
                    [0, 1].map(|at| number(&class["offset"]["distance_km"][at]));
                (low_km..high_km).contains(&distance_km)
            })
            .unwrap();
        let [low_db, high_db] = [0, 1].map(|at| number(&class["next_link_db"][at]));
        inside += usize::from((low_db..=high_db).contains(&excess_db));
    }
    let share = inside as f64 / others.len() as f64;
    assert!((0.85..=0.97).contains(&share), "{share} {}", report["classes"]);
}
