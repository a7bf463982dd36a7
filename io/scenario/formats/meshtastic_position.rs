//! Positions of Meshtastic: their unit, and the cells that channels round them to.

/// Degrees of a unit of latitude and longitude.
pub(super) const DEGREES: f64 = 1e-7;
/// Length of a degree of latitude, m.
const DEGREE_M: f64 = 111_195.0;
/// Cell above which a position is not that of an antenna, m.
const CELL_M_MAX: f64 = 100.0;
/// Cell up to which a position is exact, m.
const EXACT_M: f64 = 1.0;

/// Side of the cell that a position of some leading bits of 32 stands for, m; `None` for an exact one, and without their
/// number.
fn cell_m(bits: Option<f64>) -> Option<f64> {
    let bits = bits.filter(|bits| *bits > 0.0 && *bits < 32.0)?;
    Some(libm::exp2(32.0 - bits) * DEGREES * DEGREE_M).filter(|cell_m| *cell_m > EXACT_M)
}

/// The note on a rounded position, and true if it is left out: one in a large cell if such are dropped.
pub(super) fn rounding(bits: Option<f64>, is_dropped: bool) -> Option<(String, bool)> {
    let cell_m = cell_m(bits)?;
    let size = match cell_m < 1e3 {
        true => format!("{cell_m:.0} m"),
        false => format!("{:.1} km", cell_m / 1e3),
    };
    let is_coarse = cell_m > CELL_M_MAX;
    let fate = match (is_coarse, is_dropped) {
        (true, true) => "left out",
        (true, false) => "taken (--drop implausible leaves it out)",
        (false, _) => "taken",
    };
    Some((format!("a position rounded to {size}: {fate}"), is_coarse && is_dropped))
}

#[cfg(test)]
mod tests {
    use super::rounding;

    #[test]
    fn bits_of_positions_give_their_cells() {
        for (bits, is_dropped, expected) in [
            (13.0, false, Some(("5.8 km: taken (--drop implausible leaves it out)", false))),
            (13.0, true, Some(("5.8 km: left out", true))),
            (18.0, true, Some(("182 m: left out", true))),
            (19.0, true, Some(("91 m: taken", false))),
            (32.0, true, None),
            (31.0, true, None),
            (0.0, true, None),
            (-4.0, true, None),
        ] {
            let expected =
                expected.map(|(text, is_out)| (format!("a position rounded to {text}"), is_out));
            assert_eq!(rounding(Some(bits), is_dropped), expected, "{bits}");
        }
        assert_eq!(rounding(None, true), None);
    }
}
