//! Requests to a kernel and what it answers, as far as this module needs them.

use std::fmt;

/// A handle or class id: 16 bits of the discipline, 16 bits of the class under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u32);

impl Handle {
    /// Nothing was named.
    pub const NONE: Self = Self(0);
    /// The parent of what is at the top.
    pub const ROOT: Self = Self(u32::MAX);

    /// The handle `major:minor`.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// The discipline's part.
    #[must_use]
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The class's part.
    #[must_use]
    pub const fn minor(self) -> u16 {
        (self.0 & 0xffff) as u16
    }
}

impl fmt::Display for Handle {
    /// As `tc` writes it: `1:`, `1:1`, `root`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.minor()) {
            (Self::ROOT, _) => f.write_str("root"),
            (_, 0) => write!(f, "{:x}:", self.major()),
            (_, minor) => write!(f, "{:x}:{minor:x}", self.major()),
        }
    }
}

/// What a request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A new discipline where there is none; refused where there is one.
    Create,
    /// New options for one that is there, of the same kind; no packet is lost by it.
    Change,
    /// The end of one that has this handle and is of this kind; refused for any other.
    Delete,
}

/// One request about one queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it wants.
    pub verb: Verb,
    /// Number of the interface.
    pub index: u32,
    /// The discipline's own handle.
    pub handle: Handle,
    /// Where it hangs.
    pub parent: Handle,
    /// Its kind, for example `netem`.
    pub kind: &'static str,
    /// Payload of TCA_OPTIONS; `None` sends no such attribute.
    pub options: Option<Vec<u8>>,
}

/// A queueing discipline as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Qdisc {
    /// Its kind.
    pub kind: String,
    /// Its handle.
    pub handle: Handle,
    /// Where it hangs.
    pub parent: Handle,
    /// Payload of TCA_OPTIONS.
    pub options: Vec<u8>,
    /// Its counters.
    pub counters: Counters,
    /// Whether hardware does its work.
    pub offloaded: bool,
}

impl Default for Handle {
    fn default() -> Self {
        Self::NONE
    }
}

/// Counters of a discipline as the kernel keeps them: those of 32 bits wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Bytes that left.
    pub bytes: u64,
    /// Packets that left.
    pub packets: u64,
    /// Packets dropped here or below.
    pub drops: u32,
    /// Packets that had to wait.
    pub overlimits: u32,
    /// Packets put back, which for `netem` are those that overtook others.
    pub requeues: u32,
    /// Packets inside.
    pub backlog_packets: u32,
    /// Bytes inside.
    pub backlog_bytes: u32,
}

/// What a kernel knows of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// Its number.
    pub index: u32,
    /// Its MTU, bytes, without the link-layer header.
    pub mtu_bytes: u32,
    /// Largest super-packet it may be handed, bytes; at most the MTU when there are none.
    pub gso_bytes_max: u32,
    /// Packets its default queue holds.
    pub tx_queue_packets: u32,
    /// Packets it sent.
    pub tx_packets: u64,
    /// Bytes it sent.
    pub tx_bytes: u64,
    /// Packets it dropped while sending.
    pub tx_dropped: u64,
}

impl Link {
    /// Bytes of the link-layer header of Ethernet.
    pub const HEADER_BYTES: u32 = 14;

    /// Largest frame the interface sends, bytes.
    #[must_use]
    pub fn frame_bytes(&self) -> u32 {
        self.mtu_bytes.saturating_add(Self::HEADER_BYTES)
    }
}
