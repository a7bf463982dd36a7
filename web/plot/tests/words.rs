//! Numbers and words.

use super::super::svg::{escape, num};
use super::super::text::{
    distance, fit, frequency, number, prefixed, signed, snake_case, trimmed, width_em, wrap,
};

#[test]
fn coordinates_are_short_and_always_numbers() {
    for (value, expect) in [
        (1.25, "1.2"),
        (-0.04, "0"),
        (3.0, "3"),
        (-12.96, "-13"),
        (f64::NAN, "0"),
        (f64::INFINITY, "0"),
        (1e30, "100000"),
        (-1e30, "-100000"),
    ] {
        assert_eq!(num(value), expect);
    }
}

#[test]
fn numbers_read_as_people_write_them() {
    assert_eq!(number(-0.04, 1), "0.0");
    assert_eq!(number(-12.34, 1), "−12.3");
    assert_eq!(number(f64::NAN, 1), "–");
    assert_eq!(signed(3.0, 1), "+3.0");
    assert_eq!(signed(0.0, 1), "0.0");
    assert_eq!(signed(f64::INFINITY, 1), "–");
    assert_eq!(trimmed(2.50, 2), "2.5");
    assert_eq!(trimmed(100.0, 0), "100");
    for (metres, expect) in [
        (0.0, "0.00 m"),
        (9.99, "9.99 m"),
        (9.996, "10.0 m"),
        (999.9, "999.9 m"),
        (999.96, "1.00 km"),
        (99_994.0, "99.99 km"),
        (99_996.0, "100.0 km"),
        (f64::NAN, "– km"),
    ] {
        assert_eq!(distance(metres), expect);
    }
    assert_eq!(frequency(868.1), "868.1 MHz");
    assert_eq!(frequency(5_800.0), "5.8 GHz");
    for (bps, expect) in [
        (0.0, "0 bit/s"),
        (293.0, "293 bit/s"),
        (1_757.8, "1.76 kbit/s"),
        (58.5e6, "58.5 Mbit/s"),
        (999.9e6, "1 Gbit/s"),
    ] {
        assert_eq!(prefixed(bps, "bit/s"), expect);
    }
}

#[test]
fn names_in_code_become_names_in_documents() {
    for (camel, snake) in [
        ("TerrainVoid", "terrain_void"),
        ("ItmTxHorizonDistance1", "itm_tx_horizon_distance_1"),
        ("DistanceBelow1Km", "distance_below_1km"),
    ] {
        assert_eq!(snake_case(camel), snake);
    }
}

#[test]
fn long_words_are_cut_and_many_are_wrapped() {
    assert_eq!(fit("Alpha", true, 10.0), "Alpha");
    assert_eq!(fit("Alpha", true, 0.5), "…");
    for room in [2.0, 5.0, 9.0, 14.0] {
        let cut = fit("a rather long name", false, room);
        assert!(cut.ends_with('…') || cut.ends_with("name"));
        assert!(!cut.contains(" …"), "{cut}");
        assert!(width_em(&cut, false) <= room);
    }
    let words: Vec<_> = (0..20).map(|i| format!("word{i}")).collect();
    let lines = wrap(&words, ", ", 12.0);
    assert!(lines.len() > 5 && lines.iter().all(|line| width_em(line, false) <= 12.0));
    assert_eq!(lines.join(", "), words.join(", "));
    assert_eq!(wrap(&[], ", ", 12.0), Vec::<String>::new());
}

#[test]
fn text_cannot_leave_its_place() {
    assert_eq!(
        escape("<a b='c'>&\"\u{0}\n"),
        "&lt;a b=&#39;c&#39;&gt;&amp;&quot;\u{fffd} "
    );
}
