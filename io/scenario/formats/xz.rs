//! Dictionary of a file of xz, from its headers, without unpacking it (The .xz File Format 1.2.1).

use super::limits::XZ_DICTIONARY_BYTES_MAX;

/// First octets of a stream (2.1.1.1).
pub(super) const MAGIC: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// Octets of a stream header and of a stream footer (2.1.1, 2.1.2).
const STREAM_HEADER: usize = 12;
/// Identifier of the filter LZMA2, the last one of a block (5.3.1).
const LZMA2: u64 = 0x21;

/// Refuses a dictionary above [`XZ_DICTIONARY_BYTES_MAX`] in any block. Damaged data is left to the decoder,
/// which reads the same octets in the same order.
pub(super) fn check_dictionaries(bytes: &[u8]) -> Result<(), String> {
    let mut reader = Octets { bytes };
    while reader.bytes.starts_with(MAGIC) {
        match stream(&mut reader) {
            Some(Ok(())) => {}
            Some(Err(dictionary_bytes)) => {
                return Err(format!(
                    "found xz data with a dictionary of {dictionary_bytes} bytes, allowed up to \
                     {XZ_DICTIONARY_BYTES_MAX} (that of xz -9)"
                ));
            }
            None => return Ok(()),
        }
        // Padding between streams (2.2).
        let padding = reader.bytes.iter().take_while(|octet| **octet == 0).count();
        reader.bytes = &reader.bytes[padding..];
    }
    Ok(())
}

/// Passes a stream; `None` where it is damaged, a size where a dictionary is too large.
fn stream(reader: &mut Octets<'_>) -> Option<Result<(), u64>> {
    let check_octets = match reader.take(STREAM_HEADER)?[7] & 0x0f {
        0 => 0,
        kind => 4 << ((kind - 1) / 3),
    };
    loop {
        let begin = reader.bytes.len();
        let size = reader.octet()?;
        if size == 0 {
            // The index (4): records of two sizes, padding, CRC; then the footer.
            for _ in 0..reader.integer()?.checked_mul(2)? {
                reader.integer()?;
            }
            let octets = begin - reader.bytes.len();
            reader.take(octets.next_multiple_of(4) - octets + 4 + STREAM_HEADER)?;
            return Some(Ok(()));
        }
        let mut header = Octets { bytes: reader.take(usize::from(size) * 4 + 3)? };
        let dictionary_bytes = dictionary(&mut header)?;
        if dictionary_bytes > XZ_DICTIONARY_BYTES_MAX {
            return Some(Err(dictionary_bytes));
        }
        let before = reader.bytes.len();
        chunks(reader)?;
        let packed = before - reader.bytes.len();
        reader.take(packed.next_multiple_of(4) - packed + check_octets)?;
    }
}

/// Size of the dictionary of a block by its header (3.1, 5.3.1).
fn dictionary(header: &mut Octets<'_>) -> Option<u64> {
    let flags = header.octet()?;
    for size in [0x40, 0x80] {
        if flags & size != 0 {
            header.integer()?;
        }
    }
    for _ in 0..=flags & 0x03 {
        let filter = header.integer()?;
        let octets = usize::try_from(header.integer()?).ok()?;
        let properties = header.take(octets)?;
        if filter == LZMA2 {
            let bits = u32::from(*properties.first()? & 0x3f);
            return Some(if bits >= 40 {
                u64::from(u32::MAX)
            } else {
                (2 | u64::from(bits & 1)) << (bits / 2 + 11)
            });
        }
    }
    None
}

/// Passes the chunks of LZMA2 to their end.
fn chunks(reader: &mut Octets<'_>) -> Option<()> {
    loop {
        let control = reader.octet()?;
        let word = |octets: &[u8]| usize::from(u16::from_be_bytes([octets[0], octets[1]])) + 1;
        let octets = match control {
            0x00 => return Some(()),
            0x01 | 0x02 => word(reader.take(2)?),
            0x80.. => word(&reader.take(4)?[2..]) + usize::from(control >= 0xc0),
            _ => return None,
        };
        reader.take(octets)?;
    }
}

/// Octets that were not read yet.
struct Octets<'o> {
    bytes: &'o [u8],
}

impl<'o> Octets<'o> {
    fn take(&mut self, count: usize) -> Option<&'o [u8]> {
        let (part, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(part)
    }

    fn octet(&mut self) -> Option<u8> {
        self.take(1).map(|part| part[0])
    }

    /// An integer of up to nine octets of seven bits (1.2).
    fn integer(&mut self) -> Option<u64> {
        let mut value = 0;
        for place in 0..9 {
            let octet = self.octet()?;
            value |= u64::from(octet & 0x7f) << (7 * place);
            if octet & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'lat,lon\n57.7,11.9\n' | xz`, by XZ Utils.
    const XZ: &[u8] = include_bytes!("tests/packed.xz");

    /// Place of the size of the dictionary in the header of the first block.
    const DICTIONARY: usize = 16;

    #[test]
    fn dictionary_of_gibibytes_gives_an_error_in_any_block() {
        assert_eq!((XZ[14], XZ[15]), (0x21, 1), "a block with LZMA2 alone");
        assert_eq!(check_dictionaries(XZ), Ok(()));
        for (bits, allowed) in [(28, true), (29, false), (40, false)] {
            let mut large = XZ.to_vec();
            large[DICTIONARY] = bits;
            assert_eq!(check_dictionaries(&large).is_ok(), allowed, "{bits}");
            // Behind another stream, and behind padding.
            let second = [XZ, &large].concat();
            assert_eq!(check_dictionaries(&second).is_ok(), allowed, "{bits}");
            let padded = [XZ, &[0; 8], &large].concat();
            assert_eq!(check_dictionaries(&padded).is_ok(), allowed, "{bits}");
        }
        let mut large = XZ.to_vec();
        large[DICTIONARY] = 40;
        let error = check_dictionaries(&large).unwrap_err();
        assert!(error.contains("4294967295 bytes, allowed up to 67108864"), "{error}");
    }

    #[test]
    fn second_block_of_a_stream_is_found() {
        // The block again before the index.
        let block = {
            let mut reader = Octets { bytes: &XZ[STREAM_HEADER..] };
            let size = usize::from(reader.octet().unwrap()) * 4 + 3;
            reader.take(size).unwrap();
            let before = reader.bytes.len();
            chunks(&mut reader).unwrap();
            let packed = before - reader.bytes.len();
            1 + size + packed.next_multiple_of(4) + 8
        };
        let first = &XZ[STREAM_HEADER..STREAM_HEADER + block];
        let mut second = first.to_vec();
        second[DICTIONARY - STREAM_HEADER] = 40;
        let rest = &XZ[STREAM_HEADER + block..];
        let two = [&XZ[..STREAM_HEADER], first, &second, rest].concat();
        assert!(check_dictionaries(&two).is_err());
        assert_eq!(rest[0], 0, "the index");
    }

    #[test]
    fn damaged_data_is_left_to_the_decoder() {
        for end in 0..XZ.len() {
            assert_eq!(check_dictionaries(&XZ[..end]), Ok(()));
        }
    }
}
