//! Written documents read back identical to the bit, and writing is reproducible.

use groundwave_model::sample;
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::site::NodeId;
use proptest::prelude::*;

use super::super::{Format, FormatError, Note, PlanFile, PlanNode};
use super::{CSV, GEOJSON, KML, KMZ, PLAN_FORMATS, SCENARIO};
use super::{defaults, plans, pointed, read, write, written};

/// Equal to the bit: the debug form of a number names all its bits, its sign at zero too.
#[track_caller]
fn same(read: &PlanFile, plan: &PlanFile) -> Result<(), TestCaseError> {
    prop_assert_eq!(format!("{read:#?}"), format!("{plan:#?}"));
    Ok(())
}

fn survives(format: &'static Format, plan: &PlanFile) -> Result<(), TestCaseError> {
    let bytes = written(format, plan);
    // Nothing of the reader's own station may shine through.
    let (again, report) = read(format, &bytes, &pointed())
        .map_err(|error| TestCaseError::fail(format!("{error}")))?;
    same(&again, plan)?;
    // A plan may well have a region that lies where its nodes would be if they were swapped, or a node at
    // 0 N 0 E.
    let doubts = |note: &&Note| !note.what.contains("swapped") && !note.what.contains("0 N 0 E");
    prop_assert_eq!(report.notes.iter().find(doubts), None);
    prop_assert!(written(format, &again) == bytes, "the same bytes again");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn geojson_keeps_every_bit(plan in plans::plan()) {
        survives(GEOJSON, &plan)?;
    }

    #[test]
    fn kml_keeps_every_bit(plan in plans::plan()) {
        survives(KML, &plan)?;
    }

    #[test]
    fn kmz_keeps_every_bit(plan in plans::plan()) {
        survives(KMZ, &plan)?;
    }

    #[test]
    fn csv_keeps_every_bit(plan in plans::plan()) {
        survives(CSV, &plan)?;
    }

    #[test]
    fn scenarios_keep_every_bit(plan in plans::plan()) {
        survives(SCENARIO, &plan)?;
    }
}

fn node(name: &str) -> PlanNode {
    PlanNode {
        id: None,
        name: name.to_owned(),
        role: groundwave_model::radio::Role::Relay,
        position: GeoPoint::new(57.7, 11.9).unwrap(),
        height_msl_m: None,
        station: sample::station(),
    }
}

fn plan(nodes: Vec<PlanNode>) -> PlanFile {
    PlanFile {
        outline: groundwave_simulation::deployment::Outline {
            name: "plan".to_owned(),
            center: None,
            region: None,
            environment: groundwave_model::radio::Environment::default(),
        },
        names_model: true,
        nodes,
    }
}

#[test]
fn what_the_world_refuses_is_not_written() {
    let mut high = node("high");
    high.station.height_agl_m = f64::NAN;
    let twin = PlanNode { id: Some(NodeId::from_u128(7)), ..node("twin") };
    let mut nameless = plan(Vec::new());
    nameless.outline.name.clear();
    let bad = [
        (plan(vec![node("a\u{7}")]), "nodes[0].name"),
        (plan(vec![node(&"x".repeat(65))]), "nodes[0].name"),
        (plan(vec![node("a"), high]), "nodes[1].height_agl_m"),
        (plan(vec![twin.clone(), twin]), "nodes[1].id"),
        (nameless, "outline.name"),
    ];
    for format in PLAN_FORMATS {
        for (plan, place) in &bad {
            let mut out = Vec::new();
            let error = write(format, plan, &mut out).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
            let Some(FormatError::Invalid { location: at, .. }) = inner else {
                panic!("{error}");
            };
            assert_eq!(at.path, *place);
            assert!(out.is_empty());
        }
    }
}

#[test]
fn thousands_of_nodes_of_one_name_get_distinct_names() {
    let many = plan(vec![node("mast"); 10_000]);
    for format in PLAN_FORMATS {
        let bytes = written(format, &many);
        let (again, _) = read(format, &bytes, &defaults()).unwrap();
        assert_eq!(again.nodes.len(), 10_000, "{format}");
        assert_eq!(again, many);
    }
}

#[test]
fn too_large_scenario_is_refused_before_its_start() {
    let numbered =
        |number| PlanNode { id: Some(NodeId::from_u128(number)), ..node("mast on a hill") };
    let many = plan((0..100_000).map(numbered).collect());
    let mut out = Vec::new();
    let error = write(SCENARIO, &many, &mut out).unwrap_err();
    assert!(error.to_string().contains("100000 nodes"), "{error}");
    assert!(out.is_empty());
    // A full world fits in every other format, there and back.
    for format in [GEOJSON, KMZ, CSV] {
        let (again, _) = read(format, &written(format, &many), &defaults()).unwrap();
        assert!(again == many, "{format}");
    }
}
