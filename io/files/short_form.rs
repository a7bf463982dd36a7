//! Short form of documents, ahead of their compression.
//!
//! Documents are msgpack. A double (byte 0xcb and eight bytes) becomes the byte 0xc1, which msgpack does
//! not use, and the number in its short form ([`decimal`](groundwave_values::decimal)); all else stays.

use groundwave_values::decimal::{read_number, write_number};

/// First byte of a double in msgpack.
const DOUBLE: u8 = 0xcb;
/// First byte of a double in short form.
const SHORT: u8 = 0xc1;

/// Bytes behind the first byte of a token that are not tokens themselves; `None` if they are not all
/// there.
fn content_bytes(first: u8, rest: &[u8]) -> Option<usize> {
    let length = |bytes: usize| {
        let field = rest.get(..bytes)?.iter();
        Some(bytes + field.fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    Some(match first {
        // Strings and binary data, with their length; extensions have a type as well.
        0xa0..=0xbf => usize::from(first & 0x1f),
        0xc4 | 0xd9 => length(1)?,
        0xc5 | 0xda => length(2)?,
        0xc6 | 0xdb => length(4)?,
        0xc7 => length(1)? + 1,
        0xc8 => length(2)? + 1,
        0xc9 => length(4)? + 1,
        0xd4..=0xd8 => 1 + (1 << (first - 0xd4)),
        // Numbers.
        0xcc | 0xd0 => 1,
        0xcd | 0xd1 => 2,
        0xca | 0xce | 0xd2 => 4,
        0xcb | 0xcf | 0xd3 => 8,
        // Lengths of arrays and maps, whose entries are tokens.
        0xdc | 0xde => 2,
        0xdd | 0xdf => 4,
        _ => 0,
    })
}

/// Copies a token that stays as it is, and returns the rest.
fn copy<'a>(first: u8, rest: &'a [u8], to: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (content, rest) = rest.split_at_checked(content_bytes(first, rest)?)?;
    to.push(first);
    to.extend_from_slice(content);
    Some(rest)
}

/// A value in short form; `None` if it is not msgpack.
pub fn shorten(value: &[u8]) -> Option<Vec<u8>> {
    let mut short = Vec::with_capacity(value.len());
    let mut from = value;
    while let Some((first, rest)) = from.split_first() {
        from = match *first {
            SHORT => return None,
            DOUBLE => {
                let (bytes, rest) = rest.split_first_chunk()?;
                short.push(SHORT);
                write_number(f64::from_be_bytes(*bytes), &mut short);
                rest
            }
            first => copy(first, rest, &mut short)?,
        };
    }
    Some(short)
}

/// The value of a short form, of `length` bytes at most; `None` if it is malformed.
pub fn lengthen(short: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(length);
    let mut from = short;
    while let Some((first, mut rest)) = from.split_first() {
        from = if *first == SHORT {
            let number = read_number(&mut rest)?;
            value.push(DOUBLE);
            value.extend_from_slice(&number.to_be_bytes());
            rest
        } else {
            copy(*first, rest, &mut value)?
        };
        if value.len() > length {
            return None;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_come_back_and_their_numbers_are_short() {
        let document = json!({
            "name": "north", "long": "x".repeat(300), "list": (0..20).collect::<Vec<_>>(),
            "metrics": { "a": 57.83, "b": -61.5, "c": 1.0 / 3.0, "d": -5, "e": 70000, "f": null },
        });
        let value = rmp_serde::to_vec_named(&document).unwrap();
        let short = shorten(&value).unwrap();
        assert_eq!(short.len(), value.len() - 5 - 6 + 1);
        assert_eq!(lengthen(&short, value.len()), Some(value.clone()));
        for cut in 0..value.len() {
            if let Some(short) = shorten(&value[..cut]) {
                assert_eq!(lengthen(&short, cut).as_deref(), Some(&value[..cut]), "{cut}");
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_has_a_short_form_comes_back(value: Vec<u8>) {
            if let Some(short) = shorten(&value) {
                prop_assert_eq!(lengthen(&short, value.len()), Some(value));
            }
        }

        #[test]
        fn malformed_short_forms_do_not_panic(short: Vec<u8>, length in 0usize..64) {
            if let Some(value) = lengthen(&short, length) {
                prop_assert!(value.len() <= length);
            }
        }
    }
}
