//! Readings of the kernel, and their times.

use groundwave_engine::Refusal;

use super::tests::{Bed, bed, id};
use super::*;

/// The direction from a to b.
fn a_to_b(bed: &Bed) -> SideView {
    let view = bed.engine.view();
    let side = view.testbed.sides().find(|(_, s)| s.from == id("a") && s.to == id("b"));
    side.unwrap().1.clone()
}

#[test]
fn readings_and_failures_have_the_times_of_their_reports() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    let side = LinkDirection { from: id("a"), to: id("b") };
    let reading = |rate_bps| Reading { rate_bps: Some(rate_bps), ..Reading::default() };
    let report = |read_ns, failure: Option<&str>, rate_bps| {
        let failure = failure.map(str::to_owned);
        let reading = Some(reading(rate_bps));
        let sightings = vec![Observation { side, generation: 1, failure, repaired: None, reading }];
        handle.submit(ReportLinkState { sightings, read_ns: Some(read_ns) }).unwrap()
    };
    report(10, Some("down"), 1);
    bed.tick();
    report(20, Some("down"), 2);
    bed.tick();
    let dated = |read_ns, reading| Some(DatedReading { read_ns, reading });
    let direction = a_to_b(&bed);
    assert_eq!(
        (direction.failed_since_ns, direction.reading),
        (Some(10), dated(20, Some(reading(2))))
    );
    // Another cause is another failure; the reading of all directions names those that are others.
    report(30, Some("MTU"), 2);
    let readings = vec![SideReading { side, reading: None }];
    let counted = Vec::new();
    handle.submit(CountWires { counted, readings: readings.clone(), read_ns: Some(40) }).unwrap();
    let undated = CountWires { counted: Vec::new(), readings, read_ns: None };
    let undated = handle.submit(undated).unwrap();
    bed.tick();
    assert!(matches!(undated.wait(), Err(Refusal::Invalid { .. })));
    let direction = a_to_b(&bed);
    assert_eq!((direction.failed_since_ns, direction.reading), (Some(30), dated(40, None)));
    assert_eq!(bed.engine.view().testbed.read_ns, Some(40));
    report(50, None, 3);
    bed.tick();
    assert_eq!(a_to_b(&bed).failed_since_ns, None);
}

#[test]
fn failure_of_a_routing_program_has_the_time_from_which_it_is_there() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    let mut report = |read_ns, failure: Option<&str>, restarts_total| {
        let failure = failure.map(str::to_owned);
        let program = Some(RoutingProgram { failure, restarts_total });
        let (node, routes) = (id("a"), Vec::new());
        handle.submit(ReportRoutes { node, routes, program, read_ns: Some(read_ns) }).unwrap();
        bed.tick();
        let dated = bed.engine.view().testbed.named("a").unwrap().program.clone().unwrap();
        (dated.failed_since_ns, dated.program.restarts_total)
    };
    assert_eq!(report(10, None, 0), (None, 0));
    assert_eq!(report(20, Some("ended"), 0), (Some(20), 0));
    assert_eq!(report(30, Some("ended"), 1), (Some(20), 1));
    assert_eq!(report(40, None, 1), (None, 1));
    assert_eq!(report(50, Some("ended"), 1), (Some(50), 1));
}
