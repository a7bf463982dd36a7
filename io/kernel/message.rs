//! Traffic control requests to a kernel, and its answers.

use std::fmt;

use groundwave_netlink::NetlinkRequest;
use groundwave_netlink::attr::{append_words, put, put_text};
use groundwave_netlink::route::RouteRequest;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use nix::libc::{RTM_DELQDISC, RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS};

/// Bytes of `struct tcmsg`.
pub const TC_HEADER_BYTES: usize = 20;

/// A handle or class id: 16 bits of the discipline, 16 bits of the class under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u32);

impl Handle {
    /// No handle.
    pub const NONE: Self = Self(0);
    /// Parent of the root discipline.
    pub const ROOT: Self = Self(u32::MAX);

    /// The handle `major:minor`.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// Number of the discipline.
    #[must_use]
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Number of the class.
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

/// Operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Adds a discipline; refused where one exists.
    Create,
    /// Sets the options of an existing discipline of the same kind, without loss of packets.
    Change,
    /// Puts a discipline in the place of another in one step; what waited in that one is dropped.
    Replace,
    /// Deletes a discipline of this handle and kind; refused for any other.
    Delete,
}

/// One request about one queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Operation.
    pub verb: Verb,
    /// Index of the interface.
    pub index: u32,
    /// Handle of the discipline.
    pub handle: Handle,
    /// Handle of the parent.
    pub parent: Handle,
    /// Kind, for example `netem`.
    pub kind: &'static str,
    /// Payload of TCA_OPTIONS; `None` omits the attribute.
    pub options: Option<Vec<u8>>,
}

impl NetlinkRequest for Request {
    fn header(&self) -> (u16, u16) {
        match self.verb {
            Verb::Create => (RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL),
            Verb::Change => (RTM_NEWQDISC, 0),
            Verb::Replace => (RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE),
            Verb::Delete => (RTM_DELQDISC, 0),
        }
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        // struct tcmsg: family, interface, handle, parent, info.
        append_words(out, &[0, self.index, self.handle.0, self.parent.0, 0]);
        put_text(out, TCA_KIND, self.kind);
        if let Some(options) = &self.options {
            put(out, TCA_OPTIONS, options);
        }
    }
}

/// A request for a traffic class or a filter: `head` is `struct tcmsg` behind the family,
/// `options` the value of TCA_OPTIONS.
pub fn tc_request(
    header: (u16, u16),
    head: [u32; 4],
    kind: &str,
    options: &[u8],
    what: String,
) -> RouteRequest {
    let mut body = Vec::new();
    append_words(&mut body, &[0]);
    append_words(&mut body, &head);
    put_text(&mut body, TCA_KIND, kind);
    put(&mut body, TCA_OPTIONS, options);
    RouteRequest { header, body, what }
}

/// Queueing discipline as reported by the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Qdisc {
    /// Kind.
    pub kind: String,
    /// Handle.
    pub handle: Handle,
    /// Handle of the parent.
    pub parent: Handle,
    /// Payload of TCA_OPTIONS.
    pub options: Vec<u8>,
    /// Counters.
    pub counters: Counters,
    /// Offload to hardware.
    pub offloaded: bool,
}

impl Default for Handle {
    fn default() -> Self {
        Self::NONE
    }
}

/// Counters of a discipline as kept by the kernel: those of 32 bits wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets dropped by this discipline or its children.
    pub drops: u32,
    /// Packets delayed for lack of tokens.
    pub overlimits: u32,
    /// Packets requeued; for `netem` those that overtook others.
    pub requeues: u32,
    /// Packets queued.
    pub backlog_packets: u32,
    /// Bytes queued.
    pub backlog_bytes: u32,
}

/// Path of the incoming traffic of an interface to the device with its impairment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirection {
    /// To the device, or there is neither a device nor a redirection.
    #[default]
    InForce,
    /// To no device, although there is one: nothing is impaired.
    Missing,
    /// To a device that does not exist: all packets are dropped.
    DeviceGone,
    /// To a device that is administratively down: all packets are dropped.
    DeviceDown,
}

/// Interface as reported by the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// Index.
    pub index: u32,
    /// MTU, bytes, without the link-layer header.
    pub mtu_bytes: u32,
    /// Largest segmentation-offload packet, bytes; at most the MTU without offload.
    pub gso_bytes_max: u32,
    /// Length of the default queue, packets.
    pub tx_queue_packets: u32,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets dropped while sending.
    pub tx_dropped: u64,
    /// `true` for a device that incoming traffic can be redirected to.
    pub is_ifb: bool,
    /// `true` for a device that is administratively down.
    pub is_down: bool,
    /// Path of incoming traffic to such a device.
    pub redirection: Redirection,
    /// `true` for a bridge or a switch, which forwards frames past its own disciplines.
    pub forwards: bool,
}

impl Link {
    /// Ethernet header, bytes.
    pub const HEADER_BYTES: u32 = 14;

    /// Largest frame, bytes.
    #[must_use]
    pub fn frame_bytes(&self) -> u32 {
        self.mtu_bytes.saturating_add(Self::HEADER_BYTES)
    }
}
