//! Tests of raster pictures.

use std::fs;
use std::io::Cursor;

use super::super::geometry::GridGeometry;
use super::super::grid::Grid;
use super::super::site::{Sector, Site};
use super::*;
use crate::scene::{Bitmap, Rgba};

/// Two degrees by one and a half at 57 N: a ramp eastwards, without data in its western fifth.
fn layer() -> Grid {
    let geometry = GridGeometry {
        west_deg: 11.0,
        north_deg: 58.0,
        cell_lon_deg: 0.02,
        cell_lat_deg: 0.01,
        cols: 100,
        rows: 150,
    };
    let at = |i: u32| {
        if i % 100 < 20 { f32::NAN } else { (i % 100) as f32 }
    };
    Grid::new(geometry, (0..15_000).map(at).collect()).unwrap()
}

fn style() -> Style {
    Style::ramp("Received power", "dBm", [20.0, 80.0], Some(10.0))
}

/// A map of one layer, with nothing around it.
fn bare<'a>(layer: &'a Grid, style: &'a Style) -> Map<'a> {
    Map {
        title: "",
        subtitle: "",
        layer,
        style,
        no_data: "",
        outside: None,
        threshold: None,
        terrain: None,
        relief: None,
        sites: &[],
        facts: &[],
        credit: "",
    }
}

fn decode(bytes: &[u8]) -> (png::Info<'static>, Vec<u8>) {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    (reader.info().clone(), pixels)
}

#[test]
fn overlay_is_transparent_without_data_and_has_its_position() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("power.png");
    write_overlay(&path, &layer(), &style()).unwrap();
    let first = fs::read(&path).unwrap();
    let (info, pixels) = decode(&first);
    assert_eq!((info.width, info.height), (100, 150));
    assert_eq!(pixels[19 * 4 + 3], 0, "no data");
    assert_eq!(pixels[20 * 4..][..4], Sequence::Viridis.at(0.0), "the first of the data");
    let world = fs::read_to_string(dir.path().join("power.pgw")).unwrap();
    let lines: Vec<f64> = world.lines().map(|line| line.parse().unwrap()).collect();
    let want = [0.02, 0.0, 0.0, -0.01, 11.01, 57.995];
    assert!(lines.len() == 6 && lines.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(fs::read_to_string(dir.path().join("power.prj")).unwrap().starts_with("GEOGCS["));
    write_overlay(&path, &layer(), &style()).unwrap();
    assert!(first == fs::read(&path).unwrap(), "the same bytes again");
}

#[test]
fn a_map_keeps_shape_and_place() {
    let (layer, style) = (layer(), style());
    let sites = [Site::new("Ramberget", 57.25, 12.0)];
    let map = Map { title: "A map", no_data: "not covered", sites: &sites, ..bare(&layer, &style) };
    let drawn = map.draw(600).unwrap();
    // 2 degrees at 57.25 N are 1.082 degrees of latitude wide: a frame of 433 by 600.
    let world = drawn.world;
    let cols = 2.0 / world.pixel_lon_deg;
    let rows = 1.5 / world.pixel_lat_deg;
    assert!((rows - 600.0).abs() < 1e-6 && (cols - 433.0).abs() < 1.0, "{cols} by {rows}");
    let pixel = |lat_deg: f64, lon_deg: f64| {
        let x = (lon_deg - world.lon_deg) / world.pixel_lon_deg;
        let y = (world.lat_deg - lat_deg) / world.pixel_lat_deg;
        drawn.bitmap.get(x.round() as i64, y.round() as i64)
    };
    // Within a few grey levels of the colour: smoothed edges play in.
    let near = |a: Rgba, b: Rgba| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) < 20);
    for (lon_deg, value) in [(11.45, 22.0), (12.33, 66.0), (12.93, 96.0)] {
        let (got, want) = (pixel(57.111, lon_deg), paper::on_land(style.colour(value).unwrap()));
        assert!(near(got, want), "{lon_deg}: {got:?}, not {want:?}");
    }
    assert!(near(pixel(57.111, 11.13), paper::LAND), "no data is bare ground");
    assert!(near(pixel(57.25, 12.0), paper::INK), "the site is marked");
    assert!(drawn == map.draw(600).unwrap(), "the same pixels again");
}

#[test]
fn legends_show_every_colour_and_differ_by_their_labels() {
    let has = |bitmap: &Bitmap, colour: Rgba| {
        let colour = paper::on_land(colour);
        bitmap.pixels().iter().filter(|&&pixel| pixel == colour).count() > 100
    };
    let ramp = style();
    let legend = Legend::new(&ramp);
    let drawn = legend.picture(180).unwrap();
    for class in 0..6 {
        let value = 25.0 + 10.0 * class as f32;
        assert!(has(&drawn, ramp.colour(value).unwrap()), "class of {value}");
    }
    let other_unit = Style { unit: "dB".into(), ..ramp.clone() };
    assert!(drawn != Legend::new(&other_unit).picture(180).unwrap(), "the unit is written");
    let beyond = Legend { range: Some([0.0, 99.0]), ..legend };
    assert!(drawn != beyond.picture(180).unwrap(), "ends say when they hold more");
    let voids = Legend { has_voids: true, ..legend };
    assert!(voids.picture(180).unwrap().height() > drawn.height());
    let sites = Style::sites("Best server", ["A", "B", "C"], &[]);
    for name in ["A", "B", "C"] {
        assert!(has(&Legend::new(&sites).picture(180).unwrap(), sites.colour_of(name).unwrap()));
    }
}

/// A style of `count` sites with names of their numbers.
fn many_sites(count: usize) -> Style {
    let names: Vec<String> = (0..count).map(|site| format!("site {site}")).collect();
    Style::sites("Best server", names.iter().map(String::as_str), &[])
}

#[test]
fn legends_list_as_many_sites_as_fit_and_count_the_others() {
    let height = |count: usize, height_max: f64| {
        let style = many_sites(count);
        let legend = Legend { height_max, ..Legend::new(&style) };
        legend.height(176.0)
    };
    // Lines as far apart as for few sites, then closer, then all that fit and one more.
    assert_eq!(height(30, 1400.0) - height(29, 1400.0), 25.0);
    assert_eq!(height(75, 1400.0) - height(74, 1400.0), 17.0);
    assert_eq!(height(500, 1400.0), height(100, 1400.0));
    let full = height(500, 1400.0);
    assert!((1380.0..=1400.0).contains(&full), "{full}");
    let text = |count: usize| {
        let style = many_sites(count);
        let legend = Legend { height_max: 400.0, ..Legend::new(&style) };
        let mut canvas = crate::scene::svg::Canvas::new([176.0, 400.0], "", "");
        legend.draw(&mut canvas, [0.0, 0.0], 176.0);
        canvas.finish()
    };
    let svg = text(100);
    let listed = svg.matches(">site ").count();
    assert!(listed >= 20 && svg.contains(&format!(">and {} more<", 100 - listed)), "{listed}");
    assert!(text(20).contains(">site 19<") && !text(20).contains("more"));
}

#[test]
fn sites_whose_areas_touch_have_a_line_between_them() {
    let mut layer = layer();
    let cols = layer.geometry.cols as usize;
    for (at, cell) in layer.cells.iter_mut().enumerate() {
        *cell = if at % cols < 50 { 0.0 } else { 1.0 };
    }
    let style = many_sites(2);
    let canvas = bare(&layer, &style).panel([300, 300]).unwrap();
    let areas = ["site 0", "site 1"].map(|name| paper::on_land(style.colour_of(name).unwrap()));
    let pixels = (2..canvas.width()).map(|x| canvas.get(i64::from(x), 40));
    // Up to the frame.
    let row: Vec<Rgba> = pixels.take_while(|pixel| *pixel != paper::INK).collect();
    assert!(areas.iter().all(|area| row.contains(area)));
    let line: Vec<&Rgba> = row.iter().filter(|pixel| !areas.contains(pixel)).collect();
    assert_eq!(line.len(), 1, "{line:?}");
    let [r, g, b, _] = *line[0];
    assert!(u32::from(r) + u32::from(g) + u32::from(b) < 240, "{line:?}");
}

#[test]
fn the_threshold_is_drawn_where_it_is_passed_and_not_at_the_rim() {
    let (layer, style) = (layer(), style());
    let lines = crate::geojson::contour_lines(&layer, &[60.0]).remove(0);
    let draw = |threshold| Map { threshold, ..bare(&layer, &style) }.draw(600).unwrap();
    let label = "covered from 60 dBm";
    let (with, without) = (draw(Some(Threshold { lines: &lines, label })), draw(None));
    let world = with.world;
    // Columns of the frame whose pixels differ in its middle row.
    let y = ((world.lat_deg - 57.31) / world.pixel_lat_deg).round() as i64;
    let column = |lon_deg: f64| (lon_deg - world.lon_deg) / world.pixel_lon_deg;
    let [first, last] = [11.0, 13.0].map(|lon_deg| column(lon_deg).round() as i64);
    let changed: Vec<i64> =
        (first..last).filter(|&x| with.bitmap.get(x, y) != without.bitmap.get(x, y)).collect();
    // Values stand in the middle of cells: 60 in the sixty-first.
    let middle = column(11.0 + 60.5 * 0.02);
    assert!((2..=6).contains(&changed.len()), "{changed:?}");
    assert!(changed.iter().all(|&x| (x as f64 - middle).abs() < 4.0), "{changed:?}, {middle}");
}

#[test]
fn a_sector_is_drawn_towards_its_azimuth() {
    let layer = layer();
    let style = style();
    for azimuth_deg in [0.0, 90.0, 225.0] {
        let mut site = Site::new("", 57.25, 12.2);
        site.sector = Some(Sector { azimuth_deg, beamwidth_deg: 60.0 });
        let sites = [site];
        let drawn = Map { sites: &sites, ..bare(&layer, &style) }.draw(600).unwrap();
        let plain = bare(&layer, &style).draw(600).unwrap();
        let world = drawn.world;
        let at = [
            (12.2 - world.lon_deg) / world.pixel_lon_deg,
            (world.lat_deg - 57.25) / world.pixel_lat_deg,
        ];
        let differs = |azimuth_deg: f64| {
            let (sin, cos) = azimuth_deg.to_radians().sin_cos();
            let [x, y] = [at[0] + 20.0 * sin, at[1] - 20.0 * cos].map(|at| at.round() as i64);
            drawn.bitmap.get(x, y) != plain.bitmap.get(x, y)
        };
        assert!([-20.0, 0.0, 20.0].iter().all(|side| differs(azimuth_deg + side)), "{azimuth_deg}");
        let others = [60.0, 120.0, 180.0, 240.0, 300.0];
        assert!(!others.iter().any(|side| differs(azimuth_deg + side)), "{azimuth_deg}");
    }
}

#[test]
fn sectors_of_one_mast_have_their_names_at_their_tips() {
    let frame = layer().geometry;
    let style = style();
    for turn_deg in (0..120).step_by(10) {
        let site = |sector: u32| {
            let azimuth_deg = f64::from(turn_deg + 120 * sector);
            let mut site = Site::new(format!("mast {sector}"), 57.25, 12.0);
            site.sector = Some(Sector { azimuth_deg, beamwidth_deg: 65.0 });
            site
        };
        let sites = [0, 1, 2].map(site);
        let mut canvas = crate::scene::svg::Canvas::new([500.0, 750.0], "", "");
        let large = GridGeometry {
            cols: 500,
            rows: 750,
            cell_lon_deg: 0.004,
            cell_lat_deg: 0.002,
            ..frame
        };
        marks::draw(&mut canvas, [0.0, 0.0], large, &sites, &style, Some(Vec::new()));
        let svg = canvas.finish();
        let names = (0..3).filter(|sector| svg.contains(&format!(">mast {sector}<"))).count();
        assert_eq!(names, 3, "turned by {turn_deg}");
    }
}

#[test]
fn unknown_ground_is_hatched_and_never_plain() {
    let layer = layer();
    let mut elevation = layer.clone();
    elevation.cells.fill(50.0);
    elevation.cells[50 * 100..].fill(f32::NAN);
    let style = style();
    let map = Map { terrain: Some(&LitTerrain::new(elevation.clone())), ..bare(&layer, &style) };
    let canvas = map.panel([300, 300]).unwrap();
    let rows = i64::from(canvas.height()) - 52;
    let tones = |y: i64| {
        let row = (2..20).map(|x| canvas.get(x, y));
        row.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(tones(rows / 6), 1, "level ground without data is even");
    assert_eq!(tones(rows * 5 / 6), 2, "a void is hatched");
}

#[test]
fn areas_outside_differ_from_unknown_ground_and_from_clear_classes() {
    let mut layer = layer();
    layer.cells.fill(60.0);
    let cols = layer.geometry.cols as usize;
    let rows = layer.cells.len() / cols;
    // From the north: not shown, shown, not computed, not computed over unknown ground.
    let part = |number: usize| number * rows / 4 * cols..(number + 1) * rows / 4 * cols;
    layer.cells[part(0)].fill(10.0);
    layer.cells[part(2).start..].fill(f32::NAN);
    let mut elevation = layer.clone();
    elevation.cells.fill(50.0);
    elevation.cells[part(3)].fill(f32::NAN);
    let mut style = style();
    style.visible[0] = 30.0;
    let computed = layer.clone();
    let map = Map {
        no_data: "below 30 dB: not shown",
        outside: Some((&computed, "beyond 20 km: not computed")),
        terrain: Some(&LitTerrain::new(elevation.clone())),
        ..bare(&layer, &style)
    };
    let canvas = map.panel([300, 300]).unwrap();
    let high = i64::from(canvas.height()) - 52;
    let tones = |number: i64| {
        let y = (2 * number + 1) * high / 8;
        (2..20).map(|x| canvas.get(x, y)).collect::<std::collections::BTreeSet<_>>()
    };
    let [bare, visible, outside, void] = [0, 1, 2, 3].map(tones);
    assert_eq!([&bare, &visible, &outside].map(|tones| tones.len()), [1; 3]);
    assert!(bare != visible && bare != outside && visible != outside);
    assert!(void.len() == 2 && void.is_disjoint(&outside));
    // A line at the rim of what was computed; none where the ground ends.
    let column: Vec<Rgba> = (0..high).map(|y| canvas.get(10, y)).collect();
    let darkest = |from: i64, to: i64| {
        let pixels = column[from as usize..to as usize].iter();
        pixels.map(|[r, g, b, _]| u32::from(*r) + u32::from(*g) + u32::from(*b)).min().unwrap()
    };
    assert!(darkest(high / 2 - 4, high / 2 + 4) < 330);
    assert!(darkest(3 * high / 4 - 4, 3 * high / 4 + 4) > 400);
}

#[test]
fn long_credit_stays_whole() {
    let (layer, style) = (layer(), style());
    let draw = |credit: &str| {
        let map = Map { credit, ..bare(&layer, &style) };
        map.draw(300).unwrap().bitmap
    };
    let few = draw("word");
    let many = draw(&"attribution ".repeat(80));
    assert!(many.height() > few.height() + 50, "{}", many.height());
}

#[test]
fn facts_stand_in_the_footer_above_the_credit() {
    let (layer, style) = (layer(), style());
    let facts = ["Model: ITM", "Receiver: 1.5 m AGL"].map(str::to_owned);
    let draw = |facts: &[String]| {
        let map = Map { facts, credit: "terrain", ..bare(&layer, &style) };
        map.draw(300).unwrap().bitmap
    };
    let (with, without) = (draw(&facts), draw(&[]));
    assert_eq!(with.height(), without.height(), "three lines fit");
    // Rows of pixels that differ: two lines of text, none as low as the credit.
    let differs = |y: u32| {
        let y = i64::from(y);
        (0..i64::from(with.width())).any(|x| with.get(x, y) != without.get(x, y))
    };
    let rows: Vec<u32> = (0..with.height()).filter(|&y| differs(y)).collect();
    assert!(rows.len() > 14, "{rows:?}");
    let [first, last] = [rows[0], rows[rows.len() - 1]];
    assert!(first > with.height() - 54 && last < with.height() - 20, "{first} to {last}");
}

#[test]
fn a_sheet_has_room_for_all_its_panels() {
    let panel = Bitmap::new(100, 80, [1, 2, 3, 255]);
    let panels = (0..5).map(|i| (format!("panel {i}"), panel.clone())).collect();
    let sheet =
        Sheet { title: "Sheet", subtitle: "", columns: 3, panels, credit: "" }.draw().unwrap();
    let filled = sheet.pixels().iter().filter(|p| **p == [1, 2, 3, 255]);
    assert_eq!(filled.count(), 5 * 100 * 80);
    assert!(
        Sheet { title: "", subtitle: "", columns: 0, panels: vec![], credit: "" }
            .draw()
            .unwrap()
            .width()
            > 0
    );
}
