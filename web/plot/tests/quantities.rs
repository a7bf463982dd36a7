//! Quantities as text.

use super::super::text::{distance, frequency, number, prefixed, signed, trimmed};

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
