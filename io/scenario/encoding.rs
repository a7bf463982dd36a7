//! Texts in other encodings than UTF-8, as spreadsheets and old programs write them.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Octets of a document in which those of a text without a zero are looked for.
const HEAD_OCTETS: usize = 8_192;

/// Byte order mark in UTF-8.
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The encoding that the declaration of an XML document names, where it is not UTF-8.
fn declared(octets: &[u8]) -> Option<&'static Encoding> {
    let head = &octets[..octets.len().min(200)];
    let end = head.windows(2).position(|two| two == b"?>")?;
    let declaration = std::str::from_utf8(&head[..end]).ok()?;
    let (_, rest) = declaration.trim_start().strip_prefix("<?xml")?.split_once("encoding")?;
    let name = rest.trim_start().strip_prefix('=')?.trim_start();
    let name = name.trim_start_matches(['"', '\'']).split(['"', '\'']).next()?;
    Encoding::for_label(name.as_bytes()).filter(|encoding| *encoding != encoding_rs::UTF_8)
}

/// UTF-16 without a mark: every second octet at the beginning is zero, as in ASCII.
fn unmarked(octets: &[u8]) -> Option<&'static Encoding> {
    let head = &octets[..octets.len().min(64) & !1];
    let is_zero = |first: usize| head.iter().skip(first).step_by(2).all(|octet| *octet == 0);
    let is_text = |first: usize| head.iter().skip(first).step_by(2).all(|octet| *octet != 0);
    match (head.len() >= 4, is_zero(0), is_zero(1)) {
        (true, true, false) if is_text(1) => Some(UTF_16BE),
        (true, false, true) if is_text(0) => Some(UTF_16LE),
        _ => None,
    }
}

/// True for a text: no zeros, no mark of a binary format.
fn is_text(octets: &[u8]) -> bool {
    let head = &octets[..octets.len().min(HEAD_OCTETS)];
    !head.contains(&0) && !octets.starts_with(b"PK") && !octets.starts_with(&[0x1f, 0x8b])
}

/// UTF-8 without a byte order mark, which would be part of the first word of a text.
fn without_mark(mut octets: Vec<u8>) -> Vec<u8> {
    if octets.starts_with(UTF_8_MARK) {
        octets.drain(..UTF_8_MARK.len());
    }
    octets
}

/// A document as UTF-8 without a byte order mark, with the name of the encoding it was written in, where that is another: UTF-16, with or
/// without a byte order mark, that of an XML declaration, else Windows-1252 (Latin-1 with more characters) for a text that
/// is other than UTF-8. Binary documents stay as they are.
pub(crate) fn to_utf8(octets: Vec<u8>) -> (Vec<u8>, Option<&'static str>) {
    let marked = Encoding::for_bom(&octets).map(|(encoding, _)| encoding);
    let marked = marked.filter(|encoding| *encoding != encoding_rs::UTF_8);
    let is_foreign = || is_text(&octets) && std::str::from_utf8(&octets).is_err();
    let encoding = marked
        .or_else(|| unmarked(&octets))
        .or_else(|| declared(&octets).filter(|_| is_foreign()))
        .or_else(|| is_foreign().then_some(WINDOWS_1252));
    match encoding {
        None => (without_mark(octets), None),
        Some(encoding) => {
            let (text, _, _) = encoding.decode(&octets);
            (text.into_owned().into_bytes(), Some(encoding.name()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(octets: &[u8]) -> (String, Option<&'static str>) {
        let (text, encoding) = to_utf8(octets.to_vec());
        (String::from_utf8(text).unwrap(), encoding)
    }

    #[test]
    fn texts_in_other_encodings_become_utf_8() {
        let latin = b"name;lat;lon\nMalm\xf6;55.6;13.0\n";
        assert_eq!(
            read(latin),
            ("name;lat;lon\nMalmö;55.6;13.0\n".to_owned(), Some("windows-1252"))
        );
        let little: Vec<u8> =
            "\u{feff}Malmö".encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
        assert_eq!(read(&little), ("Malmö".to_owned(), Some("UTF-16LE")));
        let greek = b"<?xml version=\"1.0\" encoding=\"ISO-8859-7\"?><gpx>\xc1</gpx>";
        let (text, encoding) = read(greek);
        assert!(text.contains("Α") && encoding == Some("ISO-8859-7"), "{text}");
    }

    #[test]
    fn byte_order_mark_is_left_out() {
        assert_eq!(read(b"\xef\xbb\xbf0 nem:1 location"), ("0 nem:1 location".to_owned(), None));
    }

    #[test]
    fn utf_8_and_binary_documents_stay() {
        for octets in [&b"Malm\xc3\xb6"[..], b"", b"PK\x03\x04\xff", b"\x00\xff\xfe"] {
            assert_eq!(to_utf8(octets.to_vec()), (octets.to_vec(), None));
        }
    }
}
