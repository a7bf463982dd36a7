//! Documents of no format: the parts that were recognised, and the format that has most of them.

use super::error::quoted;
use super::mesh::entries;
use super::{
    Format, Sample, aredn, babel, batctl, batctl_text, bmx, bonnmotion, cnml, csv, eel, k7,
};
use super::{libremesh, meshcore, meshtastic, meshtastic_mqtt, meshviewer, netjson, nmea, ns2};
use super::{ns3, olsr_text, olsrd, olsrd2, ttnmapper, vis, wigle};

/// Keys, heads of columns and words of each format that few others have.
const MARKS: [(&Format, &[&str]); 25] = [
    (&meshviewer::FORMAT, &["node_id", "nodeinfo", "neighbours", "hostname", "source_tq"]),
    (&netjson::FORMAT, &["nodes", "links", "source", "target", "cost", "metric", "label"]),
    (&batctl::FORMAT, &["orig_address", "neigh_address", "hard_ifname", "last_seen_msecs", "tq"]),
    (&batctl_text::FORMAT, &["originator", "last-seen", "nexthop", "batman"]),
    (&olsrd::FORMAT, &["linkquality", "neighborlinkquality", "localip", "remoteip", "lasthopip"]),
    (&olsrd2::FORMAT, &["neighbor_originator", "link_bindto", "domain_metric", "ff_dat_metric"]),
    (&olsr_text::FORMAT, &["table:", "hyst.", "lq", "nlq"]),
    (&babel::FORMAT, &["neighbour", "rxcost", "txcost", "reach", "xroute"]),
    (&bmx::FORMAT, &["shortid", "globalid", "rxrate", "txrate", "nblocalip", "llocalip"]),
    (&vis::FORMAT, &["router", "neighbor", "primary", "secondary", "digraph", "vis"]),
    (&libremesh::FORMAT, &["src_mac", "dst_mac", "src_loc", "rx_rate", "tx_rate", "chains"]),
    (&aredn::FORMAT, &["meshrf", "link_info", "sysinfo", "node_details", "linktype"]),
    (&meshtastic::FORMAT, &["longname", "shortname", "hwmodel", "hopsaway", "lastheard"]),
    (&meshtastic_mqtt::FORMAT, &["sender", "hops_away", "payload", "latitude_i", "longitude_i"]),
    (&meshcore::FORMAT, &["public_key", "adv_name", "adv_lat", "adv_lon", "out_path_len"]),
    (&k7::FORMAT, &["mean_rssi", "pdr", "transaction_id", "tx_count", "datetime"]),
    (&ttnmapper::FORMAT, &["nodeaddr", "gwaddr", "appeui", "gateway_id", "dev_id"]),
    (&wigle::FORMAT, &["mac", "ssid", "authmode", "firstseen", "currentlatitude"]),
    (&eel::FORMAT, &["nem", "location", "pathloss", "antennaprofile"]),
    (&ns2::FORMAT, &["$node_", "$ns_", "setdest", "set"]),
    (&ns3::FORMAT, &["pos", "vel", "now", "model"]),
    (&nmea::FORMAT, &["$gprmc", "$gpgga", "$gngga", "$gnrmc", "$gpgsv"]),
    (&bonnmotion::FORMAT, &["movements", "bonnmotion"]),
    (&cnml::FORMAT, &["cnml", "guifi"]),
    (&csv::FORMAT, &["lat", "lon", "latitude", "longitude", "rssi", "snr", "from", "to"]),
];

/// Marks from which on a format counts as near.
const MARKS_MIN: usize = 2;
/// Parts named in a message.
const PARTS_MAX: usize = 8;

impl Sample<'_> {
    /// The parts of a document of no format, and the nearest format, for an error; empty where it has no
    /// text.
    pub(super) fn parts(&self) -> String {
        let keys = self.keys();
        let (kind, parts) = match keys.is_empty() {
            false => ("with the keys", keys),
            true => {
                ("beginning with", self.lines().next().map(str::to_owned).into_iter().collect())
            }
        };
        if parts.is_empty() {
            return String::new();
        }
        let names: Vec<String> = parts.iter().take(PARTS_MAX).map(|part| quoted(part)).collect();
        let near = self.nearest().map_or(String::new(), |(format, marks)| {
            format!("; nearest is {}, for {}", format.name, marks.join(", "))
        });
        format!(" {kind} {}{near}", names.join(", "))
    }

    /// Kind of a text of olsrd2, whose columns have no names, and the commands that print JSON.
    pub(super) fn table_of_olsrd2(&self) -> Option<String> {
        let is_json = self.text().trim_start().starts_with(['{', '[']);
        let is_one = !is_json && self.text().contains(olsrd2::AIRTIME);
        is_one.then(|| {
            format!(
                "a table of olsrd2 without the names of its columns, nearest is {}: nhdpinfo json link, or olsrv2info \
                 json edge",
                olsrd2::FORMAT.name
            )
        })
    }

    /// Keys of the document, and of its first elements.
    fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        let document = self.json();
        let own = document.as_object().into_iter().flat_map(|all| all.keys());
        let elements = entries(document, "").take(3).map(|(.., one)| one);
        let inner = elements.filter_map(|one| one.as_object().or(one[0].as_object()));
        for key in own.chain(inner.flat_map(|all| all.keys())) {
            if !keys.contains(key) && keys.len() < 2 * PARTS_MAX {
                keys.push(key.clone());
            }
        }
        keys
    }

    /// The format with most marks among the words of the sample, and those; of several the first.
    fn nearest(&self) -> Option<(&'static Format, Vec<&'static str>)> {
        let text = self.text().to_ascii_lowercase();
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_$.:-".contains(c);
        let words: std::collections::BTreeSet<&str> = text
            .split(|c: char| !is_word(c))
            .flat_map(|word| [word, word.trim_matches([':', '.', '-'])])
            .flat_map(|word| [word, word.split(':').next().unwrap_or(word)])
            .collect();
        let mut best: Option<(&'static Format, Vec<&'static str>)> = None;
        for (format, marks) in &MARKS {
            let marks: Vec<&str> =
                marks.iter().copied().filter(|mark| words.contains(mark)).collect();
            let minimum = best.as_ref().map_or(MARKS_MIN - 1, |(_, marks)| marks.len());
            if marks.len() > minimum {
                best = Some((format, marks));
            }
        }
        best
    }
}
