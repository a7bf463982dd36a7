//! Properties of the protocols, by their specifications.
//!
//! Intervals and sizes are the specifications' defaults, header bytes of what carries a message
//! included. Floods of many nodes are taken to share frames. The abilities are judgements, each
//! with its ground; everything else about a score is counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol that can be recommended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolId {
    /// Routes configured by hand.
    Static,
    /// B.A.T.M.A.N. advanced, algorithm V (and IV, see its trade-offs).
    BatmanAdv,
    /// Babel, RFC 8966.
    Babel,
    /// OLSRv2, RFC 7181.
    Olsrv2,
    /// HWMP, the path selection of 802.11s.
    Hwmp,
    /// AODV, RFC 3561.
    Aodv,
}

/// Share of the channel taken by control traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Below 1 %.
    Low,
    /// Below 5 %.
    Medium,
    /// 5 % and more.
    High,
}

/// Time until a broken link is routed around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    /// Within 3 s.
    Fast,
    /// Within 30 s.
    Medium,
    /// Later, or only by hand.
    Slow,
}

/// Properties of a protocol by its specification.
pub(super) struct Protocol {
    pub id: ProtocolId,
    pub name: &'static str,
    /// Source of the facts.
    pub source: &'static str,
    pub traffic: Traffic,
    /// Time until a broken link is routed around, s; absent where routes are changed by hand only.
    pub repair_s: Option<f64>,
    /// Ability to choose routes by link quality, [0, 1], and the metric used.
    pub quality: (f64, &'static str),
    /// Ability to handle links whose directions differ, [0, 1], and the means.
    pub asymmetry: (f64, &'static str),
    /// Ability to scale to many nodes, [0, 1], and the reason.
    pub scale: (f64, &'static str),
    /// Simplicity of operation, [0, 1], and the reason.
    pub simplicity: (f64, &'static str),
    /// `true` if it is part of 802.11 and runs on no other radio.
    pub wifi_only: bool,
    /// Further remark.
    pub note: Option<&'static str>,
}

/// Control traffic. Bytes include the headers that carry them.
#[derive(Default)]
pub(super) struct Traffic {
    /// Messages of each node to its neighbours: length, bytes, and interval, s.
    pub hello: Option<(f64, f64)>,
    /// Messages of each node flooded through the mesh: length, bytes, and interval, s.
    pub flood: Option<(f64, f64)>,
    /// Share of nodes that pass a flood on, [0, 1].
    pub flood_share: f64,
    /// Entries of each node to its neighbours for every node of the mesh: length, bytes, and
    /// interval, s.
    pub table: Option<(f64, f64)>,
}

impl Traffic {
    const NONE: Self = Self { hello: None, flood: None, flood_share: 0.0, table: None };

    /// Control traffic sent by each of `nodes` nodes, bit/s.
    pub fn sent_bps(&self, nodes: usize) -> f64 {
        let rate = |every: Option<(f64, f64)>| every.map_or(0.0, |(bytes, s)| bytes * 8.0 / s);
        let nodes = nodes as f64;
        let of_mesh = rate(self.flood) * self.flood_share + rate(self.table);
        rate(self.hello) + nodes * of_mesh
    }
}

/// Bytes of an 802.11 data frame around its payload: MAC header 24, LLC and SNAP 8, check 4.
const FRAME: f64 = 36.0;
/// Bytes of IPv6 and UDP headers in such a frame.
const UDP6: f64 = FRAME + 48.0;
/// Bytes of IPv4 and UDP headers in such a frame.
const UDP4: f64 = FRAME + 28.0;

/// Assumption: number of flooded messages that share the headers of one frame (batman-adv
/// aggregates originator messages, RFC 5444 packets hold several messages).
const SHARED: f64 = 8.0;

/// Assumption: interval of route discoveries of a node, s.
const DISCOVERY_S: f64 = 300.0;

/// Assumption: one node in this number keeps a path in use at any time.
const ACTIVE_ONE_IN: f64 = 10.0;

/// All protocols; their order decides between equal scores, the simpler first.
pub(super) static PROTOCOLS: [Protocol; 6] = [
    Protocol {
        id: ProtocolId::Static,
        name: "Static routing",
        source: "no protocol",
        traffic: Traffic::NONE,
        repair_s: None,
        quality: (0.0, "routes stay as configured whatever the links do"),
        asymmetry: (1.0, "routes are configured for each direction by itself"),
        scale: (0.0, "every node needs a route to every other, by hand"),
        simplicity: (1.0, "nothing runs"),
        wifi_only: false,
        note: None,
    },
    Protocol {
        id: ProtocolId::BatmanAdv,
        name: "BATMAN-adv",
        source: "Linux net/batman-adv: ELP every 500 ms, OGMv2 every 1000 ms by default; \
                 open-mesh.org, \"B.A.T.M.A.N. V\"; draft-openmesh-b-a-t-m-a-n-00",
        // ELP 16 bytes; OGMv2 20 bytes and 16 of TVLV; every node passes it on.
        traffic: Traffic {
            hello: Some((FRAME + 16.0, 0.5)),
            flood: Some((FRAME / SHARED + 36.0, 1.0)),
            flood_share: 1.0,
            table: None,
        },
        // A handful of missed originator messages.
        repair_s: Some(6.0),
        quality: (1.0, "algorithm V chooses by throughput (IV by received share of messages)"),
        asymmetry: (0.8, "originator messages travel the way that data would come back"),
        scale: (0.7, "every node's originator messages flood the mesh every second"),
        simplicity: (0.8, "a kernel module that looks like one Ethernet switch"),
        wifi_only: false,
        note: Some(
            "algorithm IV measures loss alone and does not tell fast links from slow ones; V \
             needs the driver's expected throughput",
        ),
    },
    Protocol {
        id: ProtocolId::Babel,
        name: "Babel",
        source: "RFC 8966, appendix B: Hello 4 s, IHU 12 s, Update 16 s; appendix A.2.2: ETX; \
                 RFC 9616: delay-based metric",
        // Hello 8 and IHU 16 bytes in a packet of 4; an update compressed to 20 bytes a route.
        traffic: Traffic {
            hello: Some((UDP6 + 28.0, 4.0)),
            flood: None,
            flood_share: 0.0,
            table: Some((20.0, 16.0)),
        },
        // Two missed Hellos; what follows is a triggered update.
        repair_s: Some(8.0),
        quality: (0.9, "ETX from the Hellos received in each direction"),
        asymmetry: (0.9, "IHU carries the cost back, so that both directions count"),
        scale: (0.8, "neighbours exchange tables, nothing is flooded"),
        simplicity: (0.7, "one small daemon routing IP"),
        wifi_only: false,
        note: None,
    },
    Protocol {
        id: ProtocolId::Olsrv2,
        name: "OLSRv2",
        source: "RFC 7181, section 5: TC every 5 s; RFC 6130, section 5: HELLO every 2 s, held \
                 6 s; RFC 7779: directional airtime metric",
        // HELLO and TC with some eight neighbours; two in five nodes relay, as is typical of MPRs.
        traffic: Traffic {
            hello: Some((UDP6 + 80.0, 2.0)),
            flood: Some((UDP6 / SHARED + 64.0, 5.0)),
            flood_share: 0.4,
            table: None,
        },
        // A neighbour's hold time and one TC.
        repair_s: Some(11.0),
        quality: (0.9, "directional airtime: loss and rate of each link"),
        asymmetry: (1.0, "metrics are kept for each direction, links are used when symmetric"),
        scale: (0.9, "only multipoint relays pass floods on"),
        simplicity: (0.6, "every node keeps the map of the whole mesh"),
        wifi_only: false,
        note: None,
    },
    Protocol {
        id: ProtocolId::Hwmp,
        name: "HWMP (802.11s)",
        source: "IEEE 802.11-2020, 14.10 (HWMP) and 14.9 (airtime metric); Linux net/mac80211: \
                 paths live 5000 TU",
        // A path request of 39 bytes for every path in use whenever it is refreshed.
        traffic: Traffic {
            hello: None,
            flood: Some((FRAME + 39.0, ACTIVE_ONE_IN * 5.12)),
            flood_share: 1.0,
            table: None,
        },
        // Retries of a frame, a path error and a new request.
        repair_s: Some(1.0),
        quality: (0.7, "airtime metric of the moment of discovery"),
        asymmetry: (0.6, "peering is mutual, but airtime is measured in one direction"),
        scale: (0.3, "path requests flood the mesh; 802.11s was made for some 32 stations"),
        simplicity: (0.9, "part of the Wi-Fi driver"),
        wifi_only: true,
        note: None,
    },
    Protocol {
        id: ProtocolId::Aodv,
        name: "AODV",
        source: "RFC 3561, sections 5.1, 6.3, 6.8 and 10",
        // A route request of 24 bytes; breaks are told by the link layer, not by Hellos.
        traffic: Traffic {
            hello: None,
            flood: Some((UDP4 + 24.0, DISCOVERY_S)),
            flood_share: 1.0,
            table: None,
        },
        // Rings of TTL 1, 3, 5 and 7 (1.9 s), then a traversal of the net there and back (2.8 s).
        repair_s: Some(5.0),
        quality: (0.1, "the fewest hops, hence the longest and weakest of them"),
        asymmetry: (0.4, "links that do not answer are blacklisted after they failed"),
        scale: (0.4, "every new destination floods the mesh"),
        simplicity: (0.4, "experimental (RFC 3561), with no maintained implementation"),
        wifi_only: false,
        note: None,
    },
];
