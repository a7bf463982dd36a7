//! Changes of a document, chosen by bytes.

/// Longest document made, bytes.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;

/// Texts and words at the edges of what parsers expect.
const TOKENS: [&[u8]; 24] = [
    b"",
    b"0",
    b"-1",
    b"-0.0",
    b"1e999",
    b"-1e-999",
    b"NaN",
    b"inf",
    b"4294967296",
    b"9223372036854775808",
    b"18446744073709551616",
    b"0.1e",
    b"null",
    b"true",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    "\u{feff}\u{202e}é".as_bytes(),
    b"[[[[[[[[[[[[[[[[",
    b"{\"a\":",
    b"<a><![CDATA[",
    b"\r\n\r\n",
    &[0xff, 0xfe, 0x00],
    &[0xff; 8],
];

/// Choices number `seed` of a document, by SplitMix64.
pub fn series(document: u64, seed: u32) -> Vec<u8> {
    let mut state = document.rotate_left(32) ^ u64::from(seed);
    // A first byte selects the document in a search.
    let length = 1 + 8 * (1 + seed as usize % 6);
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((word ^ word >> 31).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// `document` with one change for every eight bytes of `choices`.
pub fn change(document: &[u8], documents: &[Vec<u8>], choices: &[u8]) -> Vec<u8> {
    let mut bytes = document.to_vec();
    for choice in choices.chunks_exact(8) {
        let [operation, a, b, c, d, e, f, g] = *choice else { unreachable!("chunks of eight") };
        let place = |high: u8, low: u8, length: usize| {
            // Longer documents are reached by more bits.
            let chosen = usize::from(u16::from_be_bytes([high, low]));
            chosen * (length + 1) / (usize::from(u16::MAX) + 1)
        };
        let at = place(a, b, bytes.len());
        let until = at + usize::from(c).min(bytes.len() - at);
        match operation % 9 {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = d;
                }
            }
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << (d % 8);
                }
            }
            2 => drop(bytes.drain(at..until)),
            3 => {
                let copied = bytes[at..until].to_vec();
                let times = 1 + usize::from(d) % 16;
                for _ in 0..times {
                    bytes.splice(at..at, copied.iter().copied());
                }
            }
            4 => {
                let token = TOKENS[usize::from(d) % TOKENS.len()];
                bytes.splice(at..at, token.iter().copied());
            }
            5 => {
                // A whole number or word replaced.
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || b".-+_".contains(byte);
                let end = bytes[at..].iter().position(|byte| !word(byte));
                let end = at + end.unwrap_or(bytes.len() - at);
                let token = TOKENS[usize::from(d) % TOKENS.len()];
                bytes.splice(at..end, token.iter().copied());
            }
            6 => bytes.truncate(at),
            7 => {
                let other = &documents[usize::from(d) % documents.len()];
                let from = place(e, f, other.len());
                let to = from + (4 * usize::from(g)).min(other.len() - from);
                bytes.splice(at..until, other[from..to].iter().copied());
            }
            _ => {
                let new = [d, e, f, g];
                for (byte, new) in bytes[at..].iter_mut().zip(new) {
                    *byte = new;
                }
            }
        }
        bytes.truncate(DOCUMENT_BYTES_MAX);
    }
    bytes
}
