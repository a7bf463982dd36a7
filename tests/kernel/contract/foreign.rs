//! Foreign disciplines are left in place.

use groundwave_impair::DivergenceKind;
use groundwave_kernel::Options;
use serde_json::json;

use crate::bed::{Bed, arms, impairment};
use crate::wire::{NEAR, tool};

arms! {
    CONTRACT,
    a_foreign_root_survives_clear: fake, vm, newer;
    a_foreign_root_in_place_of_ours_survives_clear: fake, vm, newer;
    restarted_program_recognizes_its_qdiscs: fake, host, vm, newer;
    changes_of_others_are_noticed: fake, host, vm, newer;
    a_bridge_is_refused: host;
}

fn survives(bed: &mut Bed) {
    let reading = bed.read().unwrap();
    let foreign = |items: &[groundwave_impair::DivergenceItem]| {
        items.iter().any(|item| item.kind == DivergenceKind::Foreign)
    };
    assert!(foreign(&reading.divergence), "{reading:?}");
    let cleared = bed.clear().unwrap();
    assert!(foreign(&cleared.divergence), "{cleared:?}");
    assert!(cleared.impairment.is_empty());
    assert_eq!(bed.stack(), [("prio".to_owned(), "7:".to_owned())]);
}

fn a_foreign_root_survives_clear(bed: &mut Bed) {
    bed.intrude();
    survives(bed);
}

fn a_foreign_root_in_place_of_ours_survives_clear(bed: &mut Bed) {
    let setting = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000}}));
    bed.apply(&setting).unwrap();
    bed.intrude();
    survives(bed);
}

/// Frames that a bridge forwards pass the disciplines of its ports only.
fn a_bridge_is_refused(bed: &mut Bed) {
    tool("ip", &format!("link delete {NEAR}"));
    tool("ip", &format!("link add {NEAR} type bridge"));
    let setting = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000}}));
    let error = bed.apply(&setting).unwrap_err().to_string();
    assert!(error.starts_with(&format!("invalid interface {NEAR}: found a bridge")), "{error}");
    assert_eq!(bed.stack(), []);
    assert!(bed.clear().unwrap().impairment.is_empty());
}

fn restarted_program_recognizes_its_qdiscs(bed: &mut Bed) {
    let setting = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000},
        "queue": {"limit": {"unit": "packets", "value": 10}}}));
    bed.apply(&setting).unwrap();
    bed.restart(Options::default()).unwrap();
    let reading = bed.read().unwrap();
    assert_eq!(reading.impairment, setting);
    let cleared = bed.clear().unwrap();
    assert!(cleared.impairment.is_empty() && cleared.divergence.is_empty(), "{cleared:?}");
    assert_eq!(bed.stack(), []);
}

/// The kernel notifies; own changes are distinguished from those of others.
fn changes_of_others_are_noticed(bed: &mut Bed) {
    let setting = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000}}));
    bed.apply(&setting).unwrap();
    assert_eq!(bed.changed(), [""; 0], "own changes");
    bed.strip();
    assert_eq!(bed.changed(), ["port1"]);
    let reading = bed.read().unwrap();
    assert!(reading.impairment.is_empty(), "{reading:?}");
    let messages: Vec<_> = reading.divergence.iter().map(|item| &item.message).collect();
    assert!(
        messages.iter().any(|message| message.contains("the kernel holds nothing")),
        "{messages:?}"
    );
    assert_eq!(bed.apply(&setting).unwrap().impairment, setting);
    assert_eq!(bed.changed(), [""; 0], "the repair is an own change");
}
