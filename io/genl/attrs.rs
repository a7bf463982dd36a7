//! Attributes by number, checked for length: bytes may come from anybody.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Mac, ReadingError};

/// Bytes of an attribute's head.
const HEAD: usize = 4;
/// Bits of the type that are flags: nested, network byte order.
const FLAGS: u16 = 0xc000;

/// The attributes of a message or of a nest, in order.
#[derive(Debug, Clone)]
pub(crate) struct Attrs<'a> {
    what: &'static str,
    found: Vec<(u16, &'a [u8])>,
}

impl<'a> Attrs<'a> {
    /// Reads attributes; `what` is named in errors.
    ///
    /// # Errors
    /// When an attribute is longer than what is there, or shorter than its own head.
    pub fn read(what: &'static str, mut bytes: &'a [u8]) -> Result<Self, ReadingError> {
        let mut found = Vec::new();
        while let Some((head, _)) = bytes.split_first_chunk::<HEAD>() {
            let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
            let kind = u16::from_ne_bytes([head[2], head[3]]) & !FLAGS;
            let value = bytes
                .get(HEAD..length)
                .ok_or_else(|| ReadingError::decode(format!("{what}: attribute {kind}")))?;
            found.push((kind, value));
            bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(Self { what, found })
    }

    /// All of them, in order.
    pub fn all(&self) -> impl Iterator<Item = (u16, &'a [u8])> + '_ {
        self.found.iter().copied()
    }

    /// The value of the last attribute of this kind, as the kernel would read it.
    pub fn get(&self, kind: u16) -> Option<&'a [u8]> {
        let mut found = self.found.iter().rev();
        found.find(|(own, _)| *own == kind).map(|(_, value)| *value)
    }

    /// Whether a flag is set.
    pub fn flag(&self, kind: u16) -> bool {
        self.get(kind).is_some()
    }

    fn wrong(&self, kind: u16) -> ReadingError {
        ReadingError::decode(format!("{}: attribute {kind}", self.what))
    }

    /// As [`Attrs::get`], of exactly `N` bytes.
    pub fn bytes<const N: usize>(&self, kind: u16) -> Result<Option<[u8; N]>, ReadingError> {
        self.get(kind)
            .map(|value| value.try_into().map_err(|_| self.wrong(kind)))
            .transpose()
    }

    pub fn u8(&self, kind: u16) -> Result<Option<u8>, ReadingError> {
        Ok(self.bytes::<1>(kind)?.map(|[byte]| byte))
    }

    pub fn u16(&self, kind: u16) -> Result<Option<u16>, ReadingError> {
        Ok(self.bytes(kind)?.map(u16::from_ne_bytes))
    }

    pub fn u32(&self, kind: u16) -> Result<Option<u32>, ReadingError> {
        Ok(self.bytes(kind)?.map(u32::from_ne_bytes))
    }

    pub fn u64(&self, kind: u16) -> Result<Option<u64>, ReadingError> {
        Ok(self.bytes(kind)?.map(u64::from_ne_bytes))
    }

    pub fn mac(&self, kind: u16) -> Result<Option<Mac>, ReadingError> {
        Ok(self.bytes(kind)?.map(Mac))
    }

    /// A text, up to its NUL; bytes that are no UTF-8 are replaced.
    pub fn text(&self, kind: u16) -> Option<String> {
        let value = self.get(kind)?;
        let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// An address of four or sixteen bytes.
    pub fn ip(&self, kind: u16) -> Result<Option<IpAddr>, ReadingError> {
        self.get(kind)
            .map(|value| ip(value).ok_or_else(|| self.wrong(kind)))
            .transpose()
    }

    /// The attributes within this one.
    pub fn nest(&self, kind: u16) -> Result<Option<Attrs<'a>>, ReadingError> {
        self.get(kind)
            .map(|value| Attrs::read(self.what, value))
            .transpose()
    }

    /// What must be there.
    pub fn need<T>(&self, kind: u16, found: Option<T>) -> Result<T, ReadingError> {
        found.ok_or_else(|| self.wrong(kind))
    }
}

/// An address of four or sixteen bytes.
pub(crate) fn ip(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(four).into());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(Ipv6Addr::from(sixteen).into())
}
