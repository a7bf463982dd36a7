//! Nothing breaks a picture: not the ends of any range, not names, not numbers that are none.

use groundwave_model::radio::warning::{Warning, Warnings};
use groundwave_model::terrain::PathGround;
use groundwave_model::terrain::Profile;
use groundwave_raster::scene::font::width_em;
use groundwave_raster::scene::labels::Rect;

use super::cases::{Case, all, hill, level};
use super::xml::{self, Element};

const HOSTILE: &str = "</text><script>alert('x & \"y\"')</script> ]]> \u{0}\u{1b}\u{ffff}\n\tend";

/// Bounds of text `i`, px, by the widths the layout allows for.
fn area(elements: &[Element], i: usize) -> Rect {
    let text = &elements[i];
    let aside = elements
        .get(i + 1)
        .filter(|e| e.name == "tspan")
        .map_or(0.0, |e| width_em(&e.text, false) * e.number("font-size"));
    let size = text.number("font-size");
    let bold = text.attributes.contains_key("font-weight");
    let width = width_em(&text.text, bold) * size + aside;
    let (x, y) = (text.number("x"), text.number("y"));
    let before = match text.attributes.get("text-anchor").map(String::as_str) {
        Some("middle") => width / 2.0,
        Some("end") => width,
        _ => 0.0,
    };
    if text.attributes.contains_key("transform") {
        return Rect { corner: [x - 0.8 * size, y - before], size: [size, width] };
    }
    Rect { corner: [x - before, y - 0.8 * size], size: [width, size] }
}

/// Properties of every picture.
fn check(name: &str, case: &Case) {
    let svg = case.svg();
    assert_eq!(svg, case.svg(), "{name}: equal input, equal text");
    for word in ["NaN", "nan", "inf\"", "inf ", "inf,", "-0\"", "-0,"] {
        assert!(!svg.contains(word), "{name}: {word}");
    }
    let elements = xml::read(&svg);
    for key in ["x", "y", "x1", "y1", "x2", "y2", "width", "height", "r", "cx", "cy"] {
        for element in elements.iter().filter(|e| e.attributes.contains_key(key)) {
            assert!(element.number(key).abs() <= 100_000.0, "{name}: {element:?}");
        }
    }
    for element in elements.iter().filter(|e| e.attributes.contains_key("points")) {
        assert!(element.points().iter().flatten().all(|v| v.abs() <= 100_000.0));
    }
    let [width, height] = ["width", "height"].map(|key| elements[0].number(key));
    let texts: Vec<_> = (0..elements.len())
        .filter(|&i| elements[i].name == "text")
        .map(|i| (&elements[i], area(&elements, i)))
        .collect();
    for (i, (text, here)) in texts.iter().enumerate() {
        let [x, y] = here.corner;
        let inside =
            x >= 0.0 && x + here.size[0] <= width && y >= 0.0 && y + here.size[1] <= height;
        assert!(inside, "{name}: cut at the edge: {text:?}");
        for (other, there) in &texts[..i] {
            assert!(!here.overlaps(there), "{name}: {text:?} lies over {other:?}");
        }
    }
}

#[test]
fn every_case_is_sound() {
    for (name, case) in all() {
        check(name, &case);
    }
}

#[test]
fn names_and_titles_of_any_kind_are_only_text() {
    let long = "Überlange Bezeichnung 漢字 🛰 ".repeat(40);
    for (from, to) in
        [(HOSTILE, HOSTILE), (&*long, &*long), ("", ""), ("W".repeat(300).as_str(), "i")]
    {
        for (_, mut case) in all() {
            case.title = from.to_owned();
            check("names", &case.clone().named(from, to));
        }
    }
    let case = Case::over(&level(8, 0.0), 500.0, [2.0; 2], "lora_868_eu").named(HOSTILE, "b");
    let svg = case.svg();
    assert!(!svg.contains("<script") && !svg.contains('\u{1b}'));
    let elements = xml::read(&svg);
    let name = elements.iter().find(|e| e.class() == "name").unwrap();
    assert_eq!(name.text.trim(), "</text><script>alert('x & \"y\"')</script>…");
    assert!(elements[2].text.contains("]]> \u{fffd}\u{fffd}\u{fffd}  end"), "{}", elements[2].text);
}

#[test]
fn numbers_that_are_none_are_drawn_as_if_they_were() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
        let mut case = Case::over(&hill(60, 160.0), 8_000.0, [30.0, 20.0], "lora_868_eu");
        case.profile.elevation_msl_m[40] = bad;
        check("one height", &case);
        case.profile.elevation_msl_m.fill(bad);
        check("every height", &case);
        case.profile.distance_m = bad;
        check("distance", &case);
        let result = &mut case.result;
        result.geometry.k_factor = bad;
        result.frequency_mhz = bad;
        result.geometry.tx_antenna_msl_m = bad;
        result.geometry.rx_ground_msl_m = bad;
        result.clearance.fresnel_clearance_ratio = Some(bad);
        result.losses.total_path_loss_db = bad;
        result.itm.as_mut().unwrap().horizon_distance_m = [bad; 2];
        check("everything", &case);
        case.profile = Profile::default();
        check("no profile", &case);
    }
}

#[test]
fn every_warning_is_named_and_the_canvas_grows_for_them() {
    let mut case = Case::over(&hill(60, 160.0), 8_000.0, [30.0, 20.0], "lora_868_eu");
    case.result.warnings = Warning::ALL.into_iter().collect::<Warnings>();
    check("warnings", &case);
    let elements = case.elements();
    assert!(elements[0].number("height") > 640.0);
    let lines: Vec<_> =
        elements.iter().filter(|e| e.class() == "warnings").map(|e| e.text.as_str()).collect();
    let warnings = lines.join(", ").replace("Warnings: ", "");
    let names: Vec<_> = warnings.split(", ").collect();
    let expect = serde_json::to_value(case.result.warnings).unwrap();
    let expect: Vec<_> = expect.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(names, expect);
}

#[test]
fn gaps_in_the_ground_give_notes() {
    let mut case = Case::over(&level(101, 100.0), 5_000.0, [30.0, 20.0], "wifi_5g_mesh");
    let notes = |case: &Case| {
        let elements = case.elements();
        let notes = elements.iter().filter(|e| e.class() == "notes");
        notes.map(|e| e.text.clone()).collect::<Vec<_>>().join(" ")
    };
    assert!(notes(&case).contains("101 samples, 50.0 m apart · no tiles · no gaps"));
    case.result.terrain.void_samples = 4;
    case.result.terrain.missing_samples = 17;
    let lines = notes(&case);
    assert!(lines.contains("4 samples on voids, interpolated"), "{lines}");
    assert!(lines.contains("17 samples off every tile, taken as sea level"), "{lines}");
}

#[test]
fn ground_without_data_is_hatched_and_rated_so() {
    let mut case = Case::over(&level(101, 0.0), 5_000.0, [30.0, 20.0], "wifi_5g_mesh");
    assert!(!case.svg().contains("no-terrain") && !case.svg().contains("No terrain data"));
    case.result.terrain.missing_samples = 50;
    case.result.terrain.ground = PathGround::Unknown;
    case.profile.missing = (0..101).map(|i| i < 50).collect();
    let drawn = case.svg();
    assert!(drawn.contains("No terrain data"), "{drawn}");
    let lines = drawn.matches("class=\"no-terrain\"").count();
    assert!((20..100).contains(&lines), "{lines}");
    assert!(drawn.contains("hatched: no terrain data"), "{drawn}");
}

#[test]
fn the_drawing_is_the_one_on_file() {
    const PATH: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/plot/blocked.svg");
    let mut case = Case::over(&hill(60, 160.0), 8_000.0, [30.0, 20.0], "lora_868_eu");
    case.title = "A hill in the way".to_owned();
    let drawn = format!(
        "<!-- source: drawn by this project (web/plot); set GROUNDWAVE_BLESS=1 to draw it anew -->\n{}",
        case.svg()
    );
    if std::env::var_os("GROUNDWAVE_BLESS").is_some() {
        std::fs::write(PATH, &drawn).expect("the fixture can be written");
    }
    let on_file = std::fs::read_to_string(PATH).expect("the fixture is there");
    for (i, (drawn, filed)) in drawn.lines().zip(on_file.lines()).enumerate() {
        assert_eq!(drawn, filed, "line {}", i + 1);
    }
    assert_eq!(drawn.lines().count(), on_file.lines().count());
}
