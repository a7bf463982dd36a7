//! Short form of numbers: a number of few decimals is an integer and a power of ten.
//!
//! A reading such as 57.83 has seven bytes without a pattern as a double, and three in this form. Every
//! bit of the double comes back.
//!
//! ```text
//! variable-length integer: 8 * zigzag(n) + e    the number n / 10^e, e up to 6
//! variable-length integer: 7 | 8 bytes          any other double, little-endian
//! ```

/// Decimals at most.
const DECIMALS_MAX: usize = 6;
/// Code of a double as it is.
const DOUBLE: u64 = 7;
/// Largest integer; integers up to it are exact doubles, and their codes fit into 64 bits.
const INTEGER_MAX: f64 = (1u64 << 53) as f64;
/// Powers of ten, exact as doubles.
const POWERS: [f64; DECIMALS_MAX + 1] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

/// Appends an integer, seven bits a byte, the lowest first.
pub fn write_integer(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Takes an integer off the front of `from`; `None` if there is no whole one.
pub fn read_integer(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends a number.
pub fn write_number(value: f64, to: &mut Vec<u8>) {
    for (decimals, power) in POWERS.iter().enumerate() {
        let integer = (value * power).round();
        if integer.abs() > INTEGER_MAX || integer.is_nan() {
            break;
        }
        let integer = integer as i64;
        // Both are exact, so that the quotient is the double nearest to the decimal number.
        if (integer as f64 / power).to_bits() == value.to_bits() {
            let zigzag = ((integer << 1) ^ (integer >> 63)) as u64;
            write_integer(zigzag << 3 | decimals as u64, to);
            return;
        }
    }
    write_integer(DOUBLE, to);
    to.extend_from_slice(&value.to_le_bytes());
}

/// Takes a number off the front of `from`; `None` if there is no whole one.
pub fn read_number(from: &mut &[u8]) -> Option<f64> {
    let code = read_integer(from)?;
    if code & 7 == DOUBLE {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        return Some(f64::from_le_bytes(*bytes));
    }
    let zigzag = code >> 3;
    let integer = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    Some(integer as f64 / POWERS[(code & 7) as usize])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes_of(value: f64) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_number(value, &mut bytes);
        let mut rest = bytes.as_slice();
        let read = read_number(&mut rest).unwrap();
        assert_eq!((read.to_bits(), rest), (value.to_bits(), &[][..]), "{value}");
        for cut in 0..bytes.len() {
            assert_eq!(read_number(&mut &bytes[..cut]), None, "{value} cut at {cut}");
        }
        bytes
    }

    #[test]
    fn numbers_of_few_decimals_are_short_and_every_bit_comes_back() {
        for (value, length) in [
            (0.0, 1),
            (57.83, 3),
            (-61.0, 2),
            (0.25, 2),
            (5180.0, 3),
            (-0.0, 9),
            (1.0 / 3.0, 9),
            (1e300, 9),
            (f64::NAN, 9),
            (f64::NEG_INFINITY, 9),
            (f64::MIN_POSITIVE, 9),
        ] {
            assert_eq!(bytes_of(value).len(), length, "{value}");
        }
        bytes_of(INTEGER_MAX);
        bytes_of(-INTEGER_MAX);
    }

    #[test]
    fn integers_end_within_64_bits() {
        let mut bytes = Vec::new();
        write_integer(u64::MAX, &mut bytes);
        assert_eq!(read_integer(&mut bytes.as_slice()), Some(u64::MAX));
        bytes[9] = 2;
        assert_eq!(read_integer(&mut bytes.as_slice()), None);
    }

    proptest! {
        #[test]
        fn any_double_comes_back(bits: u64, integer in -1_000_000_000i64..1_000_000_000, decimals in 0usize..7) {
            bytes_of(f64::from_bits(bits));
            prop_assert!(bytes_of(integer as f64 / POWERS[decimals]).len() <= 6);
        }
    }
}
