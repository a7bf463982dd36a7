//! Tables of tracks and levels: forms of times, units, heights and columns.

use groundwave_model::sample::station;

use super::super::csv::{DateOrder, levels, tracks};
use super::super::{Dataset, Event, Height, ReadOptions, Source, identify};
use super::count;
use super::recordings::{mapping, observed, table};

#[track_caller]
fn read(text: &str) -> Dataset {
    let source = Source::of(text.into());
    assert_eq!(identify(&source), Ok(&tracks::FORMAT), "{text}");
    tracks::FORMAT.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Waypoints of the first node, as seconds since the beginning.
fn times(dataset: &Dataset) -> Vec<f64> {
    dataset.courses()[&0].iter().map(|fix| fix.0).collect()
}

/// The mapping that a table suggests, and the table read by it.
fn guessed(text: &str) -> (String, Dataset) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, text).unwrap();
    let guess = levels::guess(&Source::open(&path).unwrap()).unwrap();
    let levels = mapping(folder.path(), &guess).unwrap_or_else(|error| panic!("{error}\n{guess}"));
    let dataset = table(path, levels).unwrap_or_else(|error| panic!("{error}\n{guess}"));
    (guess, dataset)
}

/// 2024-02-29, s since the Unix epoch.
const DAY_S: f64 = 1_709_164_800.0;

#[test]
fn days_and_times_of_two_columns_are_joined() {
    for [before, after] in [
        ["2024-02-29,23:59:00", "2024-03-01,00:01:00"],
        ["29.02.2024,23:59", "01.03.2024,00:01"],
        ["2/29/2024,11:59 PM", "3/1/2024,12:01 AM"],
        ["2024-02-29,2024-02-29T23:59:00Z", "2024-03-01,2024-03-01T00:01:00Z"],
    ] {
        let text = format!(
            "id,date,time,latitude,longitude\na,{before},57.70,11.9\na,{after},57.701,11.9\n"
        );
        let dataset = read(&text);
        assert_eq!(dataset.begin_unix_s, Some(DAY_S + 86_340.0), "{before}");
        assert_eq!(times(&dataset), [0.0, 120.0], "{before}");
    }
    let rows = "Date,Time,tx,rx,rssi\n2024-02-29,23:59:00,a,b,-60\n2024-03-01,00:01:00,a,b,-61\n";
    let (guess, dataset) = guessed(rows);
    assert!(guess.contains("column = \"Time\"\ndate = \"Date\"\nunit = \"iso8601\""), "{guess}");
    assert_eq!(dataset.begin_unix_s, Some(DAY_S + 86_340.0));
    assert_eq!(observed(&dataset)[1].0 - observed(&dataset)[0].0, 120.0);
}

#[test]
fn hemispheres_of_their_own_columns_count_in_tracks() {
    let text =
        "node,time,lat,N/S,lon,E/W\na,0,33.8,S,70.5,W\na,60,33.9,S,70.5,W\nb,60,33.9,X,70.5,W\n";
    let dataset = read(text);
    let at = dataset.courses()[&0][0].1;
    assert_eq!((at.lat_deg(), at.lon_deg()), (-33.8, -70.5));
    assert_eq!(count(&dataset.report, "a row without a position"), 1);
}

#[test]
fn tracks_have_positions_in_columns_of_utm() {
    let text = "node,time,utm_zone,easting,northing\na,0,32V,674934.0,6400683.2\na,60,32V,674944.0,6400683.2\n\
                b,60,99V,674934.0,6400683.2\n";
    let dataset = read(text);
    let course = &dataset.courses()[&0];
    let [lat_deg, lon_deg] =
        groundwave_coordinate::utm_degrees("32V", "", 674_944.0, 6_400_683.2).unwrap();
    assert_eq!((course[1].1.lat_deg(), course[1].1.lon_deg()), (lat_deg, lon_deg));
    assert_eq!(count(&dataset.report, "a row without a position"), 1);
}

#[test]
fn times_of_the_day_go_on_after_midnight() {
    let text = "device,time,lat,lon\nx,23:59:00,57.70,11.9\ny,23:59:00,57.60,11.9\nx,23:59:30,57.701,11.9\n\
                x,00:00:10,57.702,11.9\ny,00:00:20,57.602,11.9\n";
    let dataset = read(text);
    assert_eq!(times(&dataset), [0.0, 30.0, 70.0]);
    assert_eq!(dataset.courses()[&1].last().map(|fix| fix.0), Some(80.0));
    assert!(dataset.report.is_empty(), "{}", dataset.report);
}

#[test]
fn units_of_times_are_those_of_dates_or_of_the_name_of_the_column() {
    for (head, unit, zeros, begin_unix_s) in [
        ("timestamp", "unix_s", "", Some(DAY_S)),
        ("timestamp", "unix_ms", "000", Some(DAY_S)),
        ("timestamp", "unix_us", "000000", Some(DAY_S)),
        ("timestamp", "unix_ns", "000000000", Some(DAY_S)),
        ("time_ms", "ms", "000", None),
        ("Time (ms)", "ms", "000", None),
        ("t_us", "us", "000000", None),
        ("time_s", "seconds", "", None),
    ] {
        let base = begin_unix_s.map_or(0, |begin_s| begin_s as u64);
        let row = |after_s: u64| format!("{}{zeros}", base + after_s);
        let text = format!(
            "node,{head},lat,lon\nv,{},57.70,11.9\nv,{},57.701,11.9\nv,{},57.702,11.9\n",
            row(0),
            row(10),
            row(20)
        );
        let dataset = read(&text);
        assert_eq!(times(&dataset), [0.0, 10.0, 20.0], "{head} {unit}");
        assert_eq!(dataset.begin_unix_s, begin_unix_s, "{head} {unit}");
        let levels = format!("{head},tx,rx,rssi\n{},a,b,-60\n{},a,b,-61\n", row(0), row(10));
        let (guess, dataset) = guessed(&levels);
        assert!(guess.contains(&format!("unit = \"{unit}\"")), "{guess}");
        assert!(guess.contains("step_s = 10"), "{guess}");
        assert_eq!(dataset.begin_unix_s, begin_unix_s);
        assert_eq!(observed(&dataset)[1].0 - observed(&dataset)[0].0, 10.0);
    }
}

#[test]
fn frequency_of_a_table_is_in_megahertz_whatever_its_unit() {
    for (head, cell) in [
        ("freq", "868.1"),
        ("frequency", "868100000"),
        ("freq_mhz", "868.1"),
        ("channel frequency", "868100"),
    ] {
        let text = format!("time,tx,rx,rssi,{head},lat,lon\n0,gw,car,-49,{cell},57.7,11.9\n");
        let (guess, dataset) = guessed(&text);
        assert!(guess.contains(&format!("frequency_mhz = \"{head}\"")), "{guess}");
        assert_eq!(observed(&dataset)[0].3.frequency_mhz, Some(868.1), "{head}");
    }
}

#[test]
fn columns_of_times_have_many_names_and_a_comment_may_stand_above_them() {
    for (head, first, second) in [
        ("Timestamp (UTC)", "2024-02-29 10:00:00", "2024-02-29 10:00:10"),
        ("unix_time", "1709200800", "1709200810"),
        ("time", "2/29/2024 10:00:00 AM", "2/29/2024 10:00:10 AM"),
        ("date", "29.02.2024 10:00:00", "29.02.2024 10:00:10"),
    ] {
        for comment in ["", "# of the boat\n\n"] {
            let text = format!(
                "{comment}id,{head},lat,lon\na,{first},57.7,11.9\na,{second},57.701,11.9\na,soon,57.7,11.9\n"
            );
            let dataset = read(&text);
            assert_eq!(times(&dataset), [0.0, 10.0], "{head}");
            assert_eq!(dataset.begin_unix_s, Some(DAY_S + 36_000.0), "{head}");
            let note =
                dataset.report.notes.iter().find(|note| note.what.contains("without a time"));
            let line = 4 + comment.lines().count();
            assert_eq!(note.map(|note| note.first.line), Some(line as u64), "{head}");
        }
    }
    // A header may be a comment itself.
    let text = "#time,lat,lon\n0,57.7,11.9\n10,57.701,11.9\n";
    assert_eq!(times(&read(text)), [0.0, 10.0]);
}

#[test]
fn longitudes_beyond_180_degrees_lose_a_turn() {
    let dataset = read("id,time,lat,lon\na,0,10,181\na,10,10,359.5\na,20,10,400\n");
    let lons: Vec<f64> = dataset.courses()[&0].iter().map(|fix| fix.1.lon_deg()).collect();
    assert_eq!(lons, [-179.0, -0.5]);
    assert_eq!(count(&dataset.report, "a turn is taken off"), 2);
    assert_eq!(count(&dataset.report, "a row without a position"), 1);
}

/// Heights of a document.
fn heights(dataset: &Dataset) -> Vec<Height> {
    let height = |event: &(f64, Event)| match event.1 {
        Event::Height(_, height) => Some(height),
        _ => None,
    };
    dataset.events.iter().filter_map(height).collect()
}

#[test]
fn heights_of_tables_are_used_or_named() {
    for (head, expected) in [
        ("alt_m", Some(Height::Sea(1_000.0))),
        ("altitude_ft", Some(Height::Sea(304.8))),
        ("Altitude (ft)", Some(Height::Sea(304.8))),
        ("height_agl_ft", Some(Height::Ground(304.8))),
        ("height_m", None),
    ] {
        let text = format!("id,time,lat,lon,{head}\na,0,57.7,11.9,1000\na,10,57.701,11.9,1000\n");
        let dataset = read(&text);
        let expected: Vec<Height> = expected.into_iter().flat_map(|height| [height; 2]).collect();
        assert_eq!(heights(&dataset), expected, "{head}");
        let what = format!("the column \"{head}\"");
        assert_eq!(count(&dataset.report, &what), usize::from(expected.is_empty()), "{head}");
    }
}

#[test]
fn order_of_dates_is_that_which_a_row_of_the_column_shows() {
    // 2024-03-04 or 2024-04-03, and a row that settles it.
    for (settles, first_s) in [("13/04/2024", 34.0), ("04/13/2024", 4.0)] {
        let (first, second) = ("03/04/2024 10:00:00", format!("{settles} 10:00:00"));
        let dataset =
            read(&format!("id,time,lat,lon\na,{first},57.7,11.9\na,{second},57.701,11.9\n"));
        let begin_s = DAY_S + first_s * 86_400.0 + 36_000.0;
        assert_eq!(dataset.begin_unix_s, Some(begin_s), "{settles}");
        assert_eq!(times(&dataset).len(), 2, "{settles}");
    }
}

#[test]
fn table_whose_dates_fit_both_orders_is_refused_with_the_row_and_the_setting() {
    let rows = "id,time,lat,lon\na,03/03/2024 10:00,57.7,11.9\na,03/04/2024 10:00,57.701,11.9\n";
    let source = Source::of(rows.into());
    assert_eq!(identify(&source), Ok(&tracks::FORMAT));
    let mut options = ReadOptions::new(station());
    let error = tracks::FORMAT.read(&source, &options).unwrap_err().to_string();
    assert!(
        error.contains("line 3")
            && error.contains("\"03/04/2024 10:00\"")
            && error.contains("--date-order"),
        "{error}"
    );
    for (order, days) in [(DateOrder::DayFirst, 31.0), (DateOrder::MonthFirst, 1.0)] {
        options.date_order = Some(order);
        let dataset = tracks::FORMAT.read(&source, &options).unwrap();
        assert_eq!(times(&dataset), [0.0, days * 86_400.0]);
    }
    // The same in a table of levels, by its mapping.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, "time,tx,rx,rssi\n3-4-2024 10:00,a,b,-60\n3-5-2024 10:00,a,b,-61\n")
        .unwrap();
    let guess = levels::guess(&Source::open(&path).unwrap()).unwrap();
    assert!(guess.contains("order = \"\"   # of the dates"), "{guess}");
    let error = mapping(folder.path(), &guess).unwrap_err();
    assert!(error.contains("dmy"), "{error}");
    let open = mapping(folder.path(), &guess.replace("order = \"\"", "# ")).unwrap();
    let error = table(path.clone(), open).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("order = \"dmy\" or \"mdy\""), "{error}");
    for (order, days) in [("dmy", 30.0), ("mdy", 1.0)] {
        let text = guess.replace("order = \"\"", &format!("order = \"{order}\""));
        let dataset = table(path.clone(), mapping(folder.path(), &text).unwrap()).unwrap();
        assert_eq!(observed(&dataset)[1].0 - observed(&dataset)[0].0, days * 86_400.0);
    }
}

#[test]
fn times_of_the_day_in_a_table_of_levels_go_on_after_midnight() {
    let (guess, dataset) =
        guessed("time,tx,rx,rssi\n23:59:50,a,b,-60\n23:59:55,a,b,-60\n00:00:05,a,b,-61\n");
    assert!(guess.contains("unit = \"iso8601\""), "{guess}");
    let times: Vec<f64> = observed(&dataset).iter().map(|one| one.0).collect();
    assert_eq!((times, dataset.begin_unix_s), (vec![0.0, 5.0, 15.0], None));
}

#[test]
fn hemispheres_of_their_own_columns_count_in_tables_of_levels() {
    let folder = tempfile::tempdir().unwrap();
    let rows =
        "time,tx,rx,rssi,lat,N/S,lon,E/W\n0,gw,car,-60,33.8,S,70.5,W\n1,gw,car,-60,33.8,X,70.5,W\n";
    std::fs::write(folder.path().join("nodes.csv"), "n,la,lat_dir,lo,lon_dir\ngw,33.7,S,190,E\n")
        .unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, rows).unwrap();
    let guess = levels::guess(&Source::open(&path).unwrap()).unwrap();
    let nodes = "[nodes]\nfile = \"nodes.csv\"\nname = \"n\"\nlat_deg = \"la\"\nlon_deg = \"lo\"\n";
    let dataset = table(path, mapping(folder.path(), &format!("{guess}{nodes}")).unwrap()).unwrap();
    let gateway =
        dataset.nodes.iter().find(|node| node.name == "gw").and_then(|node| node.position);
    let car = dataset.events.iter().find_map(|(_, event)| match event {
        Event::Fix(_, at) => Some(*at),
        _ => None,
    });
    let degrees = [gateway, car].map(|at| at.map(|at| (at.lat_deg(), at.lon_deg())));
    assert_eq!(degrees, [Some((-33.7, -170.0)), Some((-33.8, -70.5))]);
    assert_eq!(count(&dataset.report, "without the position"), 1);
    // Both ends of a link have columns of their own.
    let links = "id,a_lat,a_ns,a_lon,a_ew,b_lat,b_ns,b_lon,b_ew\n1,33.8,S,70.5,W,33.9,S,70.4,W\n";
    std::fs::write(folder.path().join("links.csv"), links).unwrap();
    let text = "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[link]\nid = \"l\"\n[values]\n\
                snr_db = \"snr\"\n[links]\nfile = \"links.csv\"\nid = \"id\"\na_lat_deg = \"a_lat\"\na_lon_deg = \
                \"a_lon\"\nb_lat_deg = \"b_lat\"\nb_lon_deg = \"b_lon\"\n";
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, "t,l,snr\n0,1,9\n").unwrap();
    let dataset = table(path, mapping(folder.path(), text).unwrap()).unwrap();
    let at = |index: usize| dataset.nodes[index].position.map(|at| (at.lat_deg(), at.lon_deg()));
    assert_eq!([at(0), at(1)], [Some((-33.8, -70.5)), Some((-33.9, -70.4))]);
}

#[test]
fn track_over_180_degrees_takes_the_short_way() {
    let text = "id,time,lat,lon\na,0,-17,179.99\na,100,-17,-179.99\n";
    let dataset = read(text);
    let terrain: std::sync::Arc<dyn groundwave_model::terrain::Terrain> =
        std::sync::Arc::new(groundwave_model::terrain::Flat::default());
    let states = super::courses::log(&terrain, &tracks::FORMAT, &dataset);
    assert!(states.len() >= 100, "{}", states.len());
    let lons = states.iter().map(|state| state["a"].0.lon_deg());
    assert!(lons.clone().all(|lon| lon.abs() >= 179.99 - 1e-9), "{:?}", lons.collect::<Vec<_>>());
    assert_eq!(count(&dataset.report, "cannot have reached"), 0);
}

#[test]
fn nodes_of_tables_are_identified_by_their_ids_not_by_their_names() {
    let rows = |heads: &str, cells: [&str; 2]| {
        let mut text = format!("{heads},time,lat,lon\n");
        for (at_s, cells) in [(0, cells[0]), (0, cells[1]), (10, cells[0]), (10, cells[1])] {
            text += &format!("{},{at_s},57.7,11.9\n", cells.replace('#', &text.len().to_string()));
        }
        text
    };
    for (heads, cells, names) in [
        ("name,deviceId", ["Alex,7", "Alex,8"], ["Alex", "Alex 2"]),
        ("device_name,uniqueId", ["Alex,7", "Alex,8"], ["Alex", "Alex 2"]),
        // The id of a row is none of a node.
        ("id,deviceId", ["#,7", "#,8"], ["7", "8"]),
        ("id,name", ["7,Alex", "8,Kim"], ["Alex", "Kim"]),
        ("name", ["Alex", "Kim"], ["Alex", "Kim"]),
    ] {
        let dataset = read(&rows(heads, cells));
        let read_names: Vec<_> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(read_names, names, "{heads}");
    }
}

#[test]
fn nodes_of_tracks_are_those_of_the_column_that_differs() {
    for head in [
        "callsign",
        "MMSI",
        "imei",
        "user_id",
        "mac",
        "node_name",
        "vehicle id",
        "tag-local-identifier",
        "boat",
    ] {
        let text = format!(
            "{head},time,lat,lon\nA1,0,57.70,11.9\nB2,0,57.80,11.9\nA1,60,57.701,11.9\nB2,60,57.801,11.9\n"
        );
        let dataset = read(&text);
        let names: Vec<&str> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["A1", "B2"], "{head}: {}", dataset.report);
        assert_eq!(
            count(&dataset.report, "taken for that of the nodes"),
            usize::from(head == "boat")
        );
    }
    // The first column is that of rows.
    let text = "id,vehicle,time,lat,lon\n1,bus,0,57.70,11.9\n2,bus,60,57.71,11.9\n";
    let dataset = read(text);
    assert_eq!((dataset.nodes.len(), dataset.nodes[0].name.as_str()), (1, "bus"));
    // A heading does not name a node.
    let text =
        "time,track,icao24,lat,lon\n0,90,a,57.70,11.9\n0,80,b,57.71,11.9\n60,91,a,57.70,11.91\n";
    assert_eq!(read(text).nodes.len(), 2);
}

#[test]
fn positions_of_tracks_may_be_those_of_a_plane() {
    let text = "time,node,x,y,z\n0,0,0,0,1\n10,0,0,1000,5\n0,1,80,80,1\n";
    let dataset = read(text);
    assert_eq!((dataset.nodes.len(), count(&dataset.report, "no origin given")), (2, 1));
    let course = &dataset.courses()[&0];
    assert!(course[1].1.lat_deg() > 0.009 && course[1].1.lat_deg() < 0.0091, "{course:?}");
    let heights = dataset.events.iter().filter(|event| matches!(event.1, Event::Height(..)));
    assert_eq!(heights.count(), 3);
    // Five digits are those of degrees.
    let text = "time,node,x,y\n0,a,11.97461,57.70891\n10,a,11.97462,57.70892\n";
    let dataset = read(text);
    assert_eq!(dataset.courses()[&0][0].1.lat_deg(), 57.70891);
}

#[test]
fn rows_of_nodes_whose_times_cannot_be_read_are_no_masts() {
    let text = "name,time,lat,lon\na,12:00,57.70,11.9\na,12:01,57.71,11.9\nb,12:01,57.71,11.9\nb,12:02,57.71,11.9\n";
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    let error = format.read(&source, &ReadOptions::new(station())).unwrap_err().to_string();
    assert!(error.contains("the column \"time\" has the time \"12:00\""), "{error}");
    // Sites may have times.
    let text = "name,time,lat,lon\na,spring,57.70,11.9\nb,autumn,57.71,11.9\n";
    let source = Source::of(text.into());
    let dataset = identify(&source).unwrap().read(&source, &ReadOptions::new(station())).unwrap();
    assert_eq!(dataset.plan.map(|plan| plan.nodes.len()), Some(2));
}

#[test]
fn frequencies_in_gigahertz_are_suggested_by_the_names_of_their_columns() {
    for head in ["freq_ghz", "frequency (GHz)", "Frequency_MHz"] {
        let number = if head.ends_with("MHz") { "5800" } else { "5.8" };
        let (guess, dataset) = guessed(&format!("time,tx,rx,rssi,{head}\n0,a,b,-60,{number}\n"));
        assert!(guess.contains(&format!("frequency_mhz = \"{head}\"")), "{guess}");
        assert_eq!(observed(&dataset)[0].3.frequency_mhz, Some(5800.0), "{head}");
    }
}
