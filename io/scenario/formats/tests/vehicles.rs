//! Objects of SUMO: identifiers, positions and times, as XML and as a table.

use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, geodesic};

use super::super::csv::tracks;
use super::super::{Dataset, Event, Format, ReadOptions, Source, sumo};

fn read(format: &Format, text: &str) -> Dataset {
    let mut options = ReadOptions::new(station());
    options.origin = GeoPoint::new(57.7, 11.9).ok();
    format.read(&Source::of(text.into()), &options).unwrap()
}

fn names(dataset: &Dataset) -> Vec<&str> {
    dataset.nodes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn vehicle_and_person_of_one_id_are_two_nodes() {
    let step = |at_s: u32, x_m: u32| {
        format!(
            "<timestep time=\"{at_s}\"><vehicle id=\"1\" x=\"{x_m}\" y=\"0\"/><vehicle id=\"2\" x=\"9\" y=\"0\"/>\
             <person id=\"1\" x=\"500\" y=\"{x_m}\"/></timestep>"
        )
    };
    let document =
        read(&sumo::FORMAT, &format!("<fcd-export>{}{}</fcd-export>", step(0, 0), step(1, 9)));
    let table = "timestep_time;vehicle_id;vehicle_x;vehicle_y;person_id;person_x;person_y\n\
                 0;1;0;0;1;500;0\n0;2;9;0;;;\n1;1;9;0;1;500;9\n1;2;9;0;;;\n";
    let table = read(&tracks::FORMAT, table);
    for (dataset, expected) in
        [(document, ["vehicle 1", "2", "person 1"]), (table, ["vehicle 1", "person 1", "2"])]
    {
        assert_eq!(names(&dataset), expected);
        let courses = dataset.courses();
        assert_eq!((courses.len(), courses[&0].len()), (3, 2), "{courses:?}");
        assert!(dataset.report.is_empty(), "{}", dataset.report);
    }
}

#[test]
fn vehicle_leaves_with_the_part_that_lacks_it() {
    let step = |at_s: u32, ids: &[&str]| {
        let vehicles: String =
            ids.iter().map(|id| format!("<vehicle id=\"{id}\" x=\"{at_s}\" y=\"0\"/>")).collect();
        format!("<timestep time=\"{at_s}\">{vehicles}</timestep>")
    };
    let row = |at_s: u32, id: &str| format!("{at_s};{id};{at_s};0\n");
    let head = "timestep_time;vehicle_id;vehicle_x;vehicle_y\n".to_owned();
    let documents =
        [step(0, &["a", "b"]) + &step(1, &["a", "b"]), step(2, &["b"]) + &step(3, &["b"])];
    let documents = documents.map(|steps| format!("<fcd-export>{steps}</fcd-export>"));
    let tables = [
        head.clone() + &row(0, "a") + &row(0, "b") + &row(1, "a") + &row(1, "b"),
        head + &row(2, "b") + &row(3, "b"),
    ];
    for (format, parts) in [(&sumo::FORMAT, documents), (&tracks::FORMAT, tables)] {
        let mut options = ReadOptions::new(station());
        options.origin = GeoPoint::new(57.7, 11.9).ok();
        // The order of names need not be that of times.
        for parts in [[&parts[0], &parts[1]], [&parts[1], &parts[0]]] {
            let documents = parts.iter().map(|text| text.as_bytes().to_vec()).collect();
            let source = Source { documents, ..Source::default() };
            let dataset = format.read(&source, &options).unwrap();
            let leaves = dataset.events.iter().filter_map(|(at_s, event)| match event {
                Event::Leave(node) => Some((*at_s, dataset.nodes[*node as usize].name.as_str())),
                _ => None,
            });
            assert_eq!(leaves.collect::<Vec<_>>(), [(2.0, "a")], "{format}");
        }
    }
}

#[test]
fn metres_with_many_digits_are_not_degrees() {
    let steps = |first: &str, second: &str| {
        let document = format!(
            "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" {first}/><vehicle id=\"b\" {second}/></timestep>\
             </fcd-export>"
        );
        let options = ReadOptions::new(station());
        sumo::FORMAT.read(&Source::of(document.into()), &options).unwrap()
    };
    let metres = steps("x=\"12.345678\" y=\"9.876543\"", "x=\"512.345678\" y=\"9.876543\"");
    let origin = GeoPoint::new(0.0, 0.0).unwrap();
    for fix in metres.courses().values().flatten() {
        assert!(geodesic::inverse(origin, fix.1).distance_m < 600.0, "{fix:?}");
    }
    let degrees = steps("x=\"11.9\" y=\"57.7\"", "x=\"11.912345\" y=\"57.7\"");
    assert_eq!(degrees.courses()[&0][0].1, GeoPoint::new(57.7, 11.9).unwrap());
}
