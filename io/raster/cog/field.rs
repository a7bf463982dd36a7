//! Directories of TIFF, entry by entry.

/// One entry of a directory: tag, TIFF type, number of values, the values.
pub(super) struct Field {
    pub tag: u16,
    kind: u16,
    count: u64,
    bytes: Vec<u8>,
}

impl Field {
    fn new(tag: u16, kind: u16, count: usize, bytes: Vec<u8>) -> Self {
        Self { tag, kind, count: count as u64, bytes }
    }

    pub fn ascii(tag: u16, text: &str) -> Self {
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        Self::new(tag, 2, bytes.len(), bytes)
    }

    pub fn shorts(tag: u16, values: &[u16]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self::new(tag, 3, values.len(), bytes)
    }

    pub fn longs(tag: u16, values: &[u32]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self::new(tag, 4, values.len(), bytes)
    }

    pub fn doubles(tag: u16, values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self::new(tag, 12, values.len(), bytes)
    }

    /// LONG8 in a big file, else LONG.
    pub fn offsets(tag: u16, values: &[u64], is_big: bool) -> Self {
        if is_big {
            let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            return Self::new(tag, 16, values.len(), bytes);
        }
        let bytes = values.iter().flat_map(|&v| (v as u32).to_le_bytes()).collect();
        Self::new(tag, 4, values.len(), bytes)
    }
}

/// Appends one directory and the values that do not fit into it.
pub(super) fn directory(out: &mut Vec<u8>, fields: &[Field], is_big: bool, is_last: bool) {
    let word = if is_big { 8 } else { 4 };
    let number = |out: &mut Vec<u8>, value: u64| out.extend(&value.to_le_bytes()[..word]);
    let (count_len, entry_len) = if is_big { (8, 20) } else { (2, 12) };
    let end = out.len() + count_len + fields.len() * entry_len + word;
    let mut beyond: Vec<u8> = Vec::new();
    let beyond_start = end.next_multiple_of(8);
    out.extend(&(fields.len() as u64).to_le_bytes()[..count_len]);
    for field in fields {
        out.extend(field.tag.to_le_bytes());
        out.extend(field.kind.to_le_bytes());
        number(out, field.count);
        if field.bytes.len() <= word {
            let mut inline = field.bytes.clone();
            inline.resize(word, 0);
            out.extend(inline);
        } else {
            number(out, (beyond_start + beyond.len()) as u64);
            beyond.extend(&field.bytes);
            beyond.resize(beyond.len().next_multiple_of(8), 0);
        }
    }
    let next = if is_last { 0 } else { beyond_start + beyond.len() };
    number(out, next as u64);
    out.resize(beyond_start, 0);
    out.extend(beyond);
}
