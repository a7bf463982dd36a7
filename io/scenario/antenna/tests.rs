use std::fmt::Write as _;

use super::{AntennaFile, load, read};

/// Loss of the horizontal cut of all fixtures, dB: a wedge to the right of the boresight.
fn right_db(right_deg: i32) -> f64 {
    f64::from(if right_deg > 180 { (360 - right_deg) * 2 } else { right_deg }) / 10.0
}

/// Loss of the vertical cut of all fixtures, dB, with its maximum 4 degrees down.
fn down_db(down_deg: i32) -> f64 {
    let signed_deg = if down_deg > 180 { down_deg - 360 } else { down_deg };
    f64::from((signed_deg - 4).abs()) / 10.0
}

fn msi(gain: &str, level: impl Fn(f64) -> String, end: &str) -> String {
    let mut text = format!("NAME Wedge 17{end}make Own{end}FREQUENCY 1900{end}GAIN {gain}{end}");
    text += &format!("TILT ELECTRICAL{end}COMMENT vertical and horizontal{end}HORIZONTAL 360{end}");
    (0..360).for_each(|deg| text += &format!("{deg}.0 {}{end}", level(right_db(deg))));
    text += &format!("VERTICAL 360{end}");
    (0..360).for_each(|deg| text += &format!("{deg}.0\t{}{end}", level(down_db(deg))));
    text
}

fn adf(units: &str, level: impl Fn(f64) -> String) -> String {
    let mut text = format!(
        "REVNUM:,TIA/EIA-804-B\r\nANTMAN:,Own\r\nMODNUM:,Wedge\r\nLOWFRQ:,1850\r\nHGHFRQ:,1950\r\n\
         GUNITS:,{units}\r\nMDGAIN:,17\r\nNUMCUT:,3\r\nPATCUT:,EL ! cross\r\nPOLARI:,H/V\r\nNUPOIN:,4\r\n\
         -180,-30\r\n-90,-30\r\n0,-30\r\n90,-30\r\nPATCUT:,AZ\r\nPOLARI:,V/V\r\nNUPOIN:,360\r\nFSTLST:,-180,179\r\n"
    );
    for deg in -180..180 {
        let _ = write!(text, "{deg},{}\r\n", level(right_db((deg + 360) % 360)));
    }
    text += "PATCUT:,EL\r\nPOLARI:,V/V\r\nNUPOIN:,361\r\n";
    for up_deg in -180..=180 {
        let _ = write!(text, "{up_deg},{}\r\n", level(down_db((360 - up_deg) % 360)));
    }
    text + "ENDFIL:,EOF\r\n"
}

fn radio_mobile(level: impl Fn(f64) -> String) -> String {
    let right = (0..360).map(|deg| level(right_db(deg)));
    let down = (0..360).map(|index| level(down_db((index + 270) % 360)));
    right.chain(down).fold(String::new(), |text, level| text + &level + "\n")
}

/// The antenna has the losses of the fixtures at each degree, to a thousandth.
fn is_wedge(file: &AntennaFile) {
    let cuts = file.pattern.cuts();
    assert_eq!(cuts.horizontal_loss_db.len(), 360);
    for (deg, loss_db) in (0..360).zip(cuts.horizontal_loss_db) {
        assert!((loss_db - right_db(deg)).abs() < 6e-4, "{deg} right: {loss_db}");
    }
    for (deg, loss_db) in (0..360).zip(cuts.vertical_loss_db) {
        assert!((loss_db - down_db(deg)).abs() < 6e-4, "{deg} down: {loss_db}");
    }
    assert_eq!(file.pattern.peaks_deg(), [0.0, 4.0]);
}

#[test]
fn each_format_gives_the_same_pattern() {
    let point = |db: f64| format!("{db:.1}");
    let minus = |db: f64| format!("-{db:.1}");
    let comma = |db: f64| format!("{db:.1}").replace('.', ",");
    let texts = [
        (msi("17 dBi", point, "\n"), "MSI/Planet", Some(17.0)),
        (msi("14.85 dBd", comma, "\r\n"), "MSI/Planet", Some(17.0)),
        (msi("14,85", minus, "\r"), "MSI/Planet", Some(17.0)),
        (adf("DBI/DBR", minus), "TIA/EIA-804", Some(17.0)),
        (adf("DBD/DBR", minus), "TIA/EIA-804", Some(19.15)),
        (adf("DBI/DBI", |db| format!("{:.1}", 17.0 - db)), "TIA/EIA-804", Some(17.0)),
        (radio_mobile(minus), "Radio Mobile", None),
        (radio_mobile(comma), "Radio Mobile", None),
    ];
    for (text, format, gain_dbi) in texts {
        let file = read("a.txt", &format!("\u{feff}{text}")).unwrap();
        assert_eq!((file.format, file.gain_dbi), (format, gain_dbi));
        is_wedge(&file);
    }
    let file = read("a", &adf("DBI/DBR", minus)).unwrap();
    assert_eq!((file.name.as_deref(), file.frequency_mhz), (Some("Own Wedge"), Some(1900.0)));
    let file = read("a", &msi("17 dBi", point, "\n")).unwrap();
    assert_eq!((file.name.as_deref(), file.frequency_mhz), (Some("Wedge 17"), Some(1900.0)));
}

#[test]
fn directions_above_the_gain_of_the_file_raise_it() {
    let file = read("a", &msi("17 dBi", |db| format!("{:.1}", db - 0.5), "\n")).unwrap();
    assert_eq!(file.gain_dbi, Some(17.5));
    is_wedge(&file);
}

#[test]
fn gains_and_frequencies_are_read_as_makers_write_them() {
    let point = |db: f64| format!("{db:.1}");
    let minus = |db: f64| format!("-{db:.1}");
    for (gain, gain_dbi) in [
        ("17.5dBi (typ.)", Some(17.5)),
        ("15.0 dBd +/- 0.5", Some(17.15)),
        ("(dBi) 17", Some(17.0)),
        ("16.33 dBd 18.48 dBi", Some(18.48)),
        ("= 17 dBi", Some(17.0)),
        ("17,5 dBic", Some(17.5)),
        ("14.85", Some(17.0)),
        ("", None),
    ] {
        assert_eq!(read("a", &msi(gain, point, "\n")).unwrap().gain_dbi, gain_dbi, "{gain}");
    }
    assert!(read("a", &msi("17 dB", point, "\n")).is_err());
    for (frequency, frequency_mhz) in [
        ("1710-1880", Some(1795.0)),
        ("1710 - 1880 MHz", Some(1795.0)),
        ("2400,2500", Some(2450.0)),
        ("868,5", Some(868.5)),
        ("5.8", Some(5800.0)),
        ("1.7-1.9 GHz", Some(1800.0)),
        ("0", None),
        ("wideband", None),
    ] {
        let text = msi("17 dBi", point, "\n").replace("1900", frequency);
        assert_eq!(read("a", &text).unwrap().frequency_mhz, frequency_mhz, "{frequency}");
    }
    let standard = adf("DBI/DBR", minus);
    for (from, to, expected) in [
        ("MDGAIN:,17", "MDGAIN:,17,1", (Some(17.0), Some(1900.0))),
        ("MDGAIN:,17", "MDGAIN:,14.85 dBd", (Some(17.0), Some(1900.0))),
        ("MDGAIN:,17", "LWGAIN:,16\r\nHGGAIN:,18", (Some(17.0), Some(1900.0))),
        ("DBI/DBR", "LIN/DBR", (Some(12.304), Some(1900.0))),
        ("NUMCUT:,3", "PATFRE:,1870", (Some(17.0), Some(1870.0))),
        ("PATCUT:,AZ", "PATCUT:,Azimuth", (Some(17.0), Some(1900.0))),
    ] {
        let file = read("a", &standard.replace(from, to)).unwrap();
        assert_eq!((file.gain_dbi, file.frequency_mhz), expected, "{to}");
        is_wedge(&file);
    }
}

#[test]
fn points_may_have_comments_commas_and_other_spaces() {
    let own = msi("17 dBi", |db| format!("{db:.1}"), "\n");
    for text in [
        own.replace("3.0 0.3\n", "3.0 0.3 // right\n").replace("5.0 0.5\n", "5.0 0.5 # more\n"),
        own.replace("3.0 0.3\n", "3.0,0.3\n").replace("5.0 0.5\n", "5,0,0,5\n"),
        own.replace("3.0 0.3\n", "3.0\u{a0}0.3\n"),
        own.replace("HORIZONTAL 360", "HORIZONTAL 360.0 points"),
    ] {
        is_wedge(&read("a", &text).unwrap());
    }
    let twice = format!("{own}{own}");
    let error = read("a", &twice).unwrap_err().to_string();
    assert!(error.contains("found a second one, allowed one HORIZONTAL and"), "{error}");
}

#[test]
fn front_of_a_vertical_cut_is_mirrored_behind() {
    let mut text = "GAIN 5 dBi\nHORIZONTAL 36\n".to_owned();
    (0..36).for_each(|index| {
        let deg = index * 10;
        let _ = writeln!(text, "{deg} {}", f64::from(deg.min(360 - deg)) / 10.0);
    });
    text += "VERTICAL 19\n";
    (-9..=9).for_each(|index: i32| {
        let _ = writeln!(text, "{} {}", index * 10, index.abs());
    });
    let pattern = read("a", &text).unwrap().pattern;
    for (across_deg, up_deg, loss_db) in
        [(0.0, -40.0, 4.0), (180.0, 0.0, 18.0), (180.0, -40.0, 22.0)]
    {
        let actual_db = pattern.loss_db(across_deg, up_deg);
        assert!((actual_db - loss_db).abs() < 1e-9, "{across_deg} {up_deg}: {actual_db}");
    }
}

#[test]
fn uneven_angles_keep_their_points() {
    let text = "GAIN 5 dBi\nHORIZONTAL\n0 0\n0.5 1\n90 10\n180 20\n270 10\nVERTICAL\n0 0\n90 9\n180 20\n270 9\n";
    let pattern = read("a", text).unwrap().pattern;
    assert_eq!(pattern.cuts().horizontal_loss_db.len(), 720);
    assert_eq!(pattern.cuts().vertical_loss_db.len(), 36);
    for (right_deg, loss_db) in [(0.5, 1.0), (0.25, 0.5), (90.0, 10.0), (45.25, 5.5), (-45.0, 5.0)]
    {
        let actual_db = pattern.loss_db(right_deg, 0.0);
        assert!((actual_db - loss_db).abs() < 1e-9, "{right_deg}: {actual_db}");
    }
}

#[test]
fn splat_files_are_the_product_of_azimuth_and_elevation() {
    let folder = tempfile::tempdir().unwrap();
    let ratio = |loss_db: f64| format!("{:.6}", 10.0_f64.powf(-loss_db / 20.0));
    let mut az = "30.0 ; rotation\r\n".to_owned();
    (0..=360).for_each(|deg| {
        let _ = write!(az, "{deg}\t{}\r\n", ratio(right_db(deg % 360)));
    });
    let mut el = "0.0\t0.0\n".to_owned();
    (-10..=90).for_each(|deg| {
        let _ = writeln!(el, "{deg} {}", ratio(down_db((deg + 360) % 360)));
    });
    let (az_path, el_path) = (folder.path().join("site.az"), folder.path().join("site.el"));
    std::fs::write(&az_path, &az).unwrap();
    let level = load(&az_path).unwrap();
    assert_eq!((level.format, level.gain_dbi), ("SPLAT!", None));
    std::fs::write(&el_path, &el).unwrap();
    let both = load(&az_path).unwrap();
    assert_eq!(both, load(&el_path).unwrap());
    for azimuth_deg in [0, 30, 31, 120, 200, 355] {
        let across_deg = f64::from(if azimuth_deg > 180 { azimuth_deg - 360 } else { azimuth_deg });
        let own_db = right_db((azimuth_deg + 330) % 360);
        assert!((level.pattern.loss_db(across_deg, -40.0) - own_db).abs() < 3e-3);
        for (up_deg, down_deg) in [(0, 0), (5, 355), (-4, 4), (-60, 60), (40, 350)] {
            let sum_db = own_db + down_db(down_deg);
            let loss_db = both.pattern.loss_db(across_deg, f64::from(up_deg));
            assert!((loss_db - sum_db).abs() < 3e-3, "{azimuth_deg} {up_deg}: {loss_db} {sum_db}");
        }
    }
    // A tilt of 3 degrees towards the north: down in the north, up in the south.
    let tilted = read("site.el", &el.replace("0.0\t0.0", "3.0 0.0")).unwrap().pattern;
    assert!(tilted.loss_db(0.0, -7.0) < 1e-3 && tilted.loss_db(180.0, -1.0) < 1e-3);
    std::fs::write(&el_path, "0 0 0\n1 1\n").unwrap();
    let error = load(&az_path).unwrap_err().to_string();
    assert!(
        error.contains("site.el: invalid content: found no such pattern, allowed an elevation")
    );
}

#[test]
fn a_beam_of_splat_away_from_north_has_the_mechanical_tilt_in_its_direction() {
    let folder = tempfile::tempdir().unwrap();
    let ratio = |loss_db: f64| format!("{:.6}", 10.0_f64.powf(-loss_db / 20.0));
    let pattern = |rotation_deg: i32, head: &str| {
        let mut az = format!("{rotation_deg}\n");
        // A sector, 0.01 dB for the square of a degree, 25 dB behind.
        (-180..180).for_each(|deg| {
            let loss_db = (f64::from(deg * deg) * 0.01).min(25.0);
            let _ = writeln!(az, "{} {}", (deg + 360) % 360, ratio(loss_db));
        });
        let mut el = format!("{head}\n");
        (-10..=90).for_each(|deg| {
            let loss_db = (f64::from(deg * deg) * 0.2).min(20.0);
            let _ = writeln!(el, "{deg} {}", ratio(loss_db));
        });
        std::fs::write(folder.path().join("s.az"), az).unwrap();
        std::fs::write(folder.path().join("s.el"), el).unwrap();
        load(&folder.path().join("s.az")).unwrap().pattern
    };
    let north = pattern(0, "3 0");
    for (rotation_deg, head) in [(90, "3 90"), (270, "3 270"), (180, "3 180"), (20, "3 20")] {
        let turned = pattern(rotation_deg, head);
        let across_deg =
            f64::from(if rotation_deg > 180 { rotation_deg - 360 } else { rotation_deg });
        for up_deg in [-3.0, 0.0, -8.0, 4.0] {
            let own_db = turned.loss_db(across_deg, up_deg);
            let north_db = north.loss_db(0.0, up_deg);
            assert!(
                (own_db - north_db).abs() < 0.05,
                "{rotation_deg} {up_deg}: {own_db} {north_db}"
            );
        }
    }
    // A tilt across the beam leaves it level.
    let level = pattern(90, "3 0");
    assert!(level.loss_db(90.0, 0.0) < 0.05, "{}", level.loss_db(90.0, 0.0));
}

#[test]
fn half_of_a_vertical_cut_is_mirrored_behind() {
    let text = radio_mobile(|db| format!("-{db:.1}"));
    let half: String = text.lines().take(541).fold(String::new(), |text, line| text + line + "\n");
    let pattern = read("a.ant", &half).unwrap().pattern;
    assert!((pattern.loss_db(0.0, -40.0) - 3.6).abs() < 1e-9);
    // 18 dB more behind, as the horizontal cut has it.
    assert!((pattern.loss_db(180.0, -40.0) - 21.6).abs() < 1e-9);
    let flat = text.lines().take(360).fold(String::new(), |text, line| text + line + "\n");
    let pattern = read("a.ant", &flat).unwrap().pattern;
    assert!((pattern.loss_db(90.0, 55.0) - 9.0).abs() < 1e-9);
}

#[test]
fn invalid_files_give_an_error_with_line_and_allowed_values() {
    let good = msi("17 dBi", |db| format!("{db:.1}"), "\n");
    let table = [
        (
            good.replace("GAIN 17 dBi", "GAIN high"),
            "f: invalid gain of line 4: found \"high\", allowed a number, with dBi or dBd behind it",
        ),
        (
            good.replace("GAIN 17 dBi", "GAIN 90 dBi"),
            "f: invalid gain: found 90 dBi, allowed -30 to 60 dBi",
        ),
        (
            good.replace("HORIZONTAL 360", "HORIZONTAL 181"),
            "f: invalid section of line 7: found 360 points, allowed 181 points as the line says",
        ),
        (
            good.replace("3.0 0.3\n", "3.0 0.3 7\n"),
            "f: invalid point of line 11: found \"3.0 0.3 7\", allowed an angle and a loss",
        ),
        (
            good.replace("3.0 0.3\n", "3.0 -30\n"),
            "f: invalid loss: found -30 dB beside losses above 0 dB, allowed losses of one sign",
        ),
        (
            good.replace("3.0 0.3\n", "3.0 1e9\n"),
            "f: invalid loss of line 11: found \"1e9\", allowed -300 to 300 dB",
        ),
        (
            good.replace("3.0 0.3\n", "720 0.3\n"),
            "f: invalid angle of line 11: found \"720\", allowed -360 to 360 degrees",
        ),
        (
            good[..good.find("VERTICAL 360").unwrap()].to_owned(),
            "f: invalid section VERTICAL: found 0 points, allowed at least 4 points",
        ),
        (
            adf("DBX/DBR", |db| format!("-{db}")),
            "f: invalid GUNITS of line 6: found \"DBX/DBR\", allowed DBI or DBD, then DBR, DBI, DBD or LIN \
             behind a /",
        ),
        (
            adf("DBI/DBR", |db| format!("-{db}")).replace("PATCUT:,AZ", "PATCUT:,XY"),
            "f: invalid PATCUT of line 16: found \"XY\", allowed AZ, EL, H or V",
        ),
        (
            "0\n0 1\n10 1.5\n".to_owned(),
            "f: invalid field ratio of line 3: found \"1.5\", allowed 0 to 1",
        ),
        (
            "120 0\n0 1\n10 0.5\n".to_owned(),
            "f: invalid tilt of line 1: found \"120\", allowed -90 to 90 degrees",
        ),
        ("0 0\n0 1\n".to_owned(), "f: invalid content: found 1 points, allowed at least 2 points"),
        (
            "0\n".repeat(400),
            "f: invalid content: found 400 lines, allowed 360, 540, 541 or 720 lines of one number",
        ),
        (
            "<html>\n".to_owned(),
            "f: invalid content: found \"<html>\", allowed MSI/Planet, SPLAT! azimuth or elevation, TIA/EIA-804, \
             or 360, 540, 541 or 720 lines of Radio Mobile",
        ),
    ];
    for (text, message) in table {
        assert_eq!(read("f", &text).unwrap_err().to_string(), message);
    }
    let missing = load(std::path::Path::new("/none/a.msi")).unwrap_err().to_string();
    assert!(missing.starts_with("/none/a.msi: invalid file: found "), "{missing}");
}

#[test]
fn the_polarization_of_a_file_is_read() {
    use groundwave_propagation::polarization::Polarization::{Horizontal, Vertical};

    let minus = |db: f64| format!("-{db:.1}");
    let own = msi("17 dBi", minus, "\n");
    assert_eq!(read("a", &own).unwrap().polarization, None);
    for (value, expected) in [
        ("V", Some(Vertical)),
        ("vertical", Some(Vertical)),
        ("H-POL", Some(Horizontal)),
        ("Horizontal", Some(Horizontal)),
        ("+45", None),
        ("DUAL", None),
    ] {
        let text = own.replace("make Own\n", &format!("POLARIZATION {value}\n"));
        assert_eq!(read("a", &text).unwrap().polarization, expected, "{value}");
    }
    let adf = adf("DBI/DBR", minus);
    assert_eq!(read("a", &adf).unwrap().polarization, Some(Vertical));
    let across = adf.replace("POLARI:,V/V", "POLARI:,H/H");
    assert_eq!(read("a", &across).unwrap().polarization, Some(Horizontal));
}
