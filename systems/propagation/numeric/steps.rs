//! Sums of equal steps.

/// Fewer steps than this are taken one at a time.
const FEW: usize = 8;

/// `start` and `count` times `step`, added one at a time: the bits of that, in less time.
///
/// Between two powers of two numbers are evenly spaced, so that every step there is rounded alike,
/// but for ties, and many can be taken at once.
#[inline(always)]
pub(crate) fn step_by_step(start: f64, step: f64, count: usize) -> f64 {
    let (mut at, mut rest) = (start, count);
    while rest > 0 {
        let next = at + step;
        if rest < 2 * FEW {
            (at, rest) = (next, rest - 1);
            continue;
        }
        let advance = next - at;
        // The power of two below, or something of no use for what is no ordinary number.
        let power = f64::from_bits(at.to_bits() & (0x7FF << 52));
        let room = if step > 0.0 { 2.0 * power - at } else { power - at };
        // Of what is negative or no number this makes 0.
        let many = (room / advance - 1.0) as usize;
        let tie = 2.0 * (step - advance).abs() == power * f64::EPSILON;
        if at > 0.0 && many >= FEW && !tie {
            let many = many.min(rest);
            at += many as f64 * advance;
            rest -= many;
        } else {
            (at, rest) = (next, rest - 1);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_at_once_are_those_taken_one_at_a_time() {
        let mut steps = vec![
            0.01,
            0.1,
            1.0,
            1.0 + f64::EPSILON,
            30.0,
            92.6,
            // Half-way between the numbers from 2^10 on, and from 2^13 on.
            60.0 + 1.5 * 2_f64.powi(-43),
            60.0 + 2_f64.powi(-40),
        ];
        steps.extend((1..400).map(|i| 3.7 + 0.618_033_988_749_895 * f64::from(i)));
        for step in steps {
            let (mut up, far) = (0.0, 1024.0 * step);
            let (mut down, mut high) = (far, 1e5);
            for count in 0..=1024 {
                assert_eq!(step_by_step(0.0, step, count), up, "{count} of {step}");
                assert_eq!(step_by_step(far, -step, count), down, "{count} of -{step}");
                assert_eq!(step_by_step(1e5, step, count), high, "{count} of {step}");
                up += step;
                down -= step;
                high += step;
            }
        }
        assert!(step_by_step(f64::NAN, 1.0, 100).is_nan());
        assert_eq!(step_by_step(-50.0, 1.0, 100), 50.0);
        assert_eq!(step_by_step(f64::INFINITY, 1.0, 100), f64::INFINITY);
    }
}
