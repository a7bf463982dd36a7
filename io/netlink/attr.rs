//! Netlink attributes (`struct nlattr`): checked reading and writing, native byte order.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use groundwave_protocol::HardwareAddress;
use netlink_packet_core::{DecodeError, NLA_HEADER_SIZE, NlasIterator};

/// Bytes that attributes take at least where there are many.
const ATTRIBUTE_BYTES: usize = 16;

/// Attributes of a message or of a nest, in order; flag bits are removed from their types.
#[derive(Debug, Clone)]
pub struct Attrs<'a> {
    name: &'static str,
    found: Vec<(u16, &'a [u8])>,
}

impl<'a> Attrs<'a> {
    /// Reads attributes; `name` is that of the message in errors.
    ///
    /// # Errors
    /// For an attribute longer than the remaining bytes or shorter than its own header.
    pub fn read(name: &'static str, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut found = Vec::with_capacity(bytes.len() / ATTRIBUTE_BYTES);
        for attribute in NlasIterator::new(bytes) {
            let attribute = attribute.map_err(|err| format!("{name}: {err}"))?;
            let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
            found.push((kind, &attribute.into_inner()[NLA_HEADER_SIZE..length]));
        }
        Ok(Self { name, found })
    }

    /// All attributes as `(type, value)`, in order.
    pub fn all(&self) -> impl Iterator<Item = (u16, &'a [u8])> + '_ {
        self.found.iter().copied()
    }

    /// Value of the last attribute of type `kind`, which is the one the kernel would use.
    pub fn get(&self, kind: u16) -> Option<&'a [u8]> {
        let mut found = self.found.iter().rev();
        found.find(|(own, _)| *own == kind).map(|(_, value)| *value)
    }

    /// Presence of a flag attribute.
    pub fn flag(&self, kind: u16) -> bool {
        self.get(kind).is_some()
    }

    fn invalid(&self, kind: u16) -> DecodeError {
        format!("{}: attribute {kind}", self.name).into()
    }

    /// As [`Attrs::get`], of exactly `N` bytes.
    pub fn bytes<const N: usize>(&self, kind: u16) -> Result<Option<[u8; N]>, DecodeError> {
        self.get(kind).map(|value| value.try_into().map_err(|_| self.invalid(kind))).transpose()
    }

    pub fn u8(&self, kind: u16) -> Result<Option<u8>, DecodeError> {
        Ok(self.bytes::<1>(kind)?.map(|[byte]| byte))
    }

    pub fn u16(&self, kind: u16) -> Result<Option<u16>, DecodeError> {
        Ok(self.bytes(kind)?.map(u16::from_ne_bytes))
    }

    pub fn u32(&self, kind: u16) -> Result<Option<u32>, DecodeError> {
        Ok(self.bytes(kind)?.map(u32::from_ne_bytes))
    }

    pub fn u64(&self, kind: u16) -> Result<Option<u64>, DecodeError> {
        Ok(self.bytes(kind)?.map(u64::from_ne_bytes))
    }

    pub fn mac(&self, kind: u16) -> Result<Option<HardwareAddress>, DecodeError> {
        Ok(self.bytes(kind)?.map(HardwareAddress))
    }

    /// The first `N` 32-bit words of an attribute, which newer kernels may have extended.
    pub fn words<const N: usize>(&self, kind: u16) -> Result<Option<[u32; N]>, DecodeError> {
        let read = |value| words(self.name, value);
        self.get(kind).map(read).transpose()
    }

    /// Text up to its NUL; bytes that are not UTF-8 are replaced.
    pub fn text(&self, kind: u16) -> Option<String> {
        let value = self.get(kind)?;
        let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// IP address of 4 or 16 bytes.
    pub fn ip(&self, kind: u16) -> Result<Option<IpAddr>, DecodeError> {
        self.get(kind).map(|value| ip(value).ok_or_else(|| self.invalid(kind))).transpose()
    }

    /// Attributes nested in this one.
    pub fn nest(&self, kind: u16) -> Result<Option<Attrs<'a>>, DecodeError> {
        self.get(kind).map(|value| Attrs::read(self.name, value)).transpose()
    }

    /// A required value.
    pub fn need<T>(&self, kind: u16, found: Option<T>) -> Result<T, DecodeError> {
        found.ok_or_else(|| self.invalid(kind))
    }
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(octets).into());
    }
    let octets = <[u8; 16]>::try_from(bytes).ok()?;
    Some(Ipv6Addr::from(octets).into())
}

/// The first `N` 32-bit words of a structure; `name` is that of the structure in errors.
pub fn words<const N: usize>(name: &str, bytes: &[u8]) -> Result<[u32; N], DecodeError> {
    let (words, _) = bytes.as_chunks::<4>();
    let words = words.first_chunk::<N>().ok_or_else(|| {
        let wanted = N * size_of::<u32>();
        format!("{name}: {} bytes; at least {wanted} expected", bytes.len())
    })?;
    Ok(words.map(u32::from_ne_bytes))
}

/// Appends an attribute.
///
/// # Panics
/// When `value` exceeds the 16-bit length of an attribute, which the callers' types rule out.
pub fn put(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    put_nested(out, kind, |out| out.extend_from_slice(value));
}

/// Appends an attribute with a text and its NUL.
pub fn put_text(out: &mut Vec<u8>, kind: u16, text: &str) {
    put_nested(out, kind, |out| {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    });
}

/// Appends an attribute of 32-bit words.
pub fn put_words(out: &mut Vec<u8>, kind: u16, words: &[u32]) {
    put_nested(out, kind, |out| append_words(out, words));
}

/// Appends an attribute with the value that `write` appends.
pub fn put_nested(out: &mut Vec<u8>, kind: u16, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&kind.to_ne_bytes());
    write(out);
    let length = u16::try_from(out.len() - start).expect("the length of an attribute has 16 bits");
    out[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Appends 32-bit words.
pub fn append_words(out: &mut Vec<u8>, words: &[u32]) {
    out.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
}
