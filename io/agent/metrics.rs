//! Readings with the names and definitions of the gateway.

use std::borrow::Cow;
use std::collections::BTreeMap;

use groundwave_netlink::nl80211::{PlinkState, Station};
use groundwave_protocol::HardwareAddress;

use super::backlog::Readings;
use super::host_state::HostState;

/// Periods without reception after which a neighbour is dropped.
const HEARD_PERIODS: u64 = 2;

/// Keeps what a reading needs of the reading before.
#[derive(Debug, Default)]
pub struct Meter {
    bytes: Option<(u64, BTreeMap<String, (u64, u64)>)>,
    retries: Sum,
    failed: Sum,
}

/// A sum over counters of peers that come and go; it never goes back.
#[derive(Debug, Default)]
struct Sum {
    seen: BTreeMap<HardwareAddress, u32>,
    total: u64,
}

impl Sum {
    fn add(&mut self, counts: impl Iterator<Item = (HardwareAddress, u32)>) -> f64 {
        let mut seen = BTreeMap::new();
        for (mac, count) in counts {
            // A counter that went back started anew, with a peering that did.
            let before = self.seen.get(&mac).filter(|before| **before <= count);
            self.total += u64::from(count - before.unwrap_or(&0));
            seen.insert(mac, count);
        }
        self.seen = seen;
        self.total as f64
    }
}

impl Meter {
    /// Readings of a host state read at `at_ms` of a clock that only goes forward; `period_ms` is the
    /// time between looks. Without peers there is no signal: absent, not 0.
    pub fn read(&mut self, host: &HostState, at_ms: u64, period_ms: u64) -> Readings {
        let mut readings = Readings::new();
        self.rates(host, at_ms, &mut readings);
        self.peers(host, &mut readings);
        mesh(host, period_ms, &mut readings);
        if let Some(fix) = host.fix {
            note(&mut readings, "gps.fix_mode", Some(f64::from(fix.mode)));
            let sats_used = fix.sats_used.map(f64::from);
            note(&mut readings, "gps.sats_used", sats_used);
        }
        note(&mut readings, "sys.load1", host.load1);
        let available = host.mem_available_bytes.map(|bytes| bytes as f64);
        note(&mut readings, "sys.mem_available_bytes", available);
        note(&mut readings, "sys.temp_c", host.temp_c);
        note(&mut readings, "sys.uptime_s", Some(host.uptime_s as f64));
        readings
    }

    /// Bytes over the interfaces under the mesh since the state before, Mbit/s.
    fn rates(&mut self, host: &HostState, at_ms: u64, readings: &mut Readings) {
        let hardifs = host.mesh.as_ref().map(|mesh| mesh.hardifs.as_slice()).unwrap_or_default();
        let counts = host.interfaces.iter().filter(|one| hardifs.contains(&one.name));
        let counts: BTreeMap<String, (u64, u64)> =
            counts.map(|one| (one.name.clone(), (one.rx_bytes, one.tx_bytes))).collect();
        if let Some((before_ms, before)) = &self.bytes
            && at_ms > *before_ms
            && !counts.is_empty()
        {
            // An interface that was not there before has no rate yet.
            let is_known = counts.keys().any(|name| before.contains_key(name));
            let (mut rx, mut tx) = (is_known.then_some(0), is_known.then_some(0));
            for (name, now) in &counts {
                let Some(before) = before.get(name) else {
                    continue;
                };
                // Both counters go back where an interface was made anew, and one where it wraps.
                let is_anew = now.0 < before.0 && now.1 < before.1;
                let growth = |before, now| grown(before, now).filter(|_| !is_anew);
                rx = rx.zip(growth(before.0, now.0)).map(|(sum, more)| sum + more);
                tx = tx.zip(growth(before.1, now.1)).map(|(sum, more)| sum + more);
            }
            let seconds = (at_ms - before_ms) as f64 / 1000.0;
            let mbps = |bytes: u64| bytes as f64 * 8.0 / seconds / 1e6;
            note(readings, "mesh.rx_mbps", rx.map(mbps));
            note(readings, "mesh.tx_mbps", tx.map(mbps));
        }
        self.bytes = Some((at_ms, counts));
    }

    fn peers(&mut self, host: &HostState, readings: &mut Readings) {
        let Some(radios) = &host.radios else { return };
        let stations = radios.stations.values().flatten();
        let peers: Vec<&Station> = stations.filter(|one| one.plink_state.is_some()).collect();
        let estab = |one: &&&Station| one.plink_state == Some(PlinkState::Estab);
        let carry: Vec<&&Station> = peers.iter().filter(estab).collect();
        note(readings, "mesh.plink_estab", Some(carry.len() as f64));
        let signals = carry.iter().filter_map(|one| one.signal_avg_dbm).map(f64::from);
        note(readings, "mesh.signal_dbm", mean(signals));
        let rates = carry.iter().filter_map(|one| one.tx_bitrate_mbps);
        note(readings, "mesh.tx_bitrate_mbps", mean(rates));
        let retries = peers.iter().filter_map(|one| Some((one.mac, one.tx_retries?)));
        note(readings, "mesh.tx_retries", Some(self.retries.add(retries)));
        let failed = peers.iter().filter_map(|one| Some((one.mac, one.tx_failed?)));
        note(readings, "mesh.tx_failed", Some(self.failed.add(failed)));
    }
}

fn mesh(host: &HostState, period_ms: u64, readings: &mut Readings) {
    let Some(mesh) = &host.mesh else { return };
    let is_current = |last_ms: u32| u64::from(last_ms) < HEARD_PERIODS * period_ms;
    let neighbors = mesh.neighbors.iter().filter(|one| is_current(one.last_seen_msecs));
    let mut neighbors: Vec<HardwareAddress> = neighbors.map(|one| one.neigh_address).collect();
    neighbors.sort_unstable();
    neighbors.dedup();
    note(readings, "mesh.neighbor_count", Some(neighbors.len() as f64));
    let best = || mesh.originators.iter().filter(|one| one.best);
    let tq = best().filter_map(|one| one.tq).max();
    note(readings, "mesh.best_tq", tq.map(f64::from));
    let rate = best().filter_map(|one| one.throughput_kbps).max().map(|kbps| kbps as f64);
    note(readings, "mesh.best_throughput_kbps", rate);
}

/// Takes a reading down, if there is one.
fn note(readings: &mut Readings, name: &'static str, value: Option<f64>) {
    readings.extend(value.map(|value| (Cow::Borrowed(name), value)));
}

/// Growth of a counter. A counter of 32 bits may have wrapped; any other decrease means another
/// interface, and the growth is unknown.
fn grown(before: u64, now: u64) -> Option<u64> {
    const WRAP: u64 = 1 << 32;
    if now >= before {
        return Some(now - before);
    }
    let wrapped = (now + WRAP).checked_sub(before)?;
    (before < WRAP && wrapped < WRAP / 2).then_some(wrapped)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn readings_are_as_defined() {
        let mut host = samples::host();
        let mut meter = Meter::default();
        let first = meter.read(&host, 1_000, 5_000);
        assert!(!first.contains_key("mesh.tx_mbps"), "a rate needs two looks");
        assert_eq!(first["mesh.plink_estab"], 2.0);
        assert_eq!(first["mesh.signal_dbm"], -60.0);
        assert_eq!(first["mesh.neighbor_count"], 2.0);
        assert_eq!(first["mesh.best_tq"], 200.0);
        host.interfaces[1].tx_bytes += 1_250_000;
        let second = meter.read(&host, 6_000, 5_000);
        assert_eq!((second["mesh.tx_mbps"], second["mesh.rx_mbps"]), (2.0, 0.0));
    }

    #[test]
    fn an_interface_that_is_new_has_no_rate_yet() {
        let mut host = samples::host();
        let mut meter = Meter::default();
        let hardifs = host.mesh.as_ref().unwrap().hardifs.clone();
        let is_hardif = |name: &String| hardifs.contains(name);
        let interfaces = host.interfaces.clone();
        host.interfaces.retain(|one| !is_hardif(&one.name));
        meter.read(&host, 1_000, 5_000);
        host.interfaces = interfaces;
        for one in &mut host.interfaces {
            (one.rx_bytes, one.tx_bytes) = (3_000_000_000, 3_500_000_000);
        }
        assert!(!meter.read(&host, 6_000, 5_000).contains_key("mesh.tx_mbps"));
        assert_eq!(meter.read(&host, 11_000, 5_000)["mesh.tx_mbps"], 0.0);
        // Made anew: not a wrap of 32 bits.
        for one in &mut host.interfaces {
            (one.rx_bytes, one.tx_bytes) = (500, 700);
        }
        let anew = meter.read(&host, 16_000, 5_000);
        assert!(!anew.contains_key("mesh.tx_mbps") && !anew.contains_key("mesh.rx_mbps"));
        assert_eq!(meter.read(&host, 21_000, 5_000)["mesh.rx_mbps"], 0.0);
    }

    #[test]
    fn sums_over_peers_never_go_back() {
        let mut host = samples::host();
        let mut meter = Meter::default();
        assert_eq!(meter.read(&host, 0, 5_000)["mesh.tx_retries"], 17.0);
        let station = host.radios.as_mut().unwrap().stations.get_mut(&2).unwrap().pop().unwrap();
        assert_eq!(meter.read(&host, 1, 5_000)["mesh.tx_retries"], 17.0);
        // It comes back with a counter that begins anew.
        let back = Station { tx_retries: Some(3), ..station };
        host.radios.as_mut().unwrap().stations.get_mut(&2).unwrap().push(back);
        assert_eq!(meter.read(&host, 2, 5_000)["mesh.tx_retries"], 20.0);
    }

    #[test]
    fn without_peers_there_is_no_signal() {
        let mut host = samples::host();
        host.radios.as_mut().unwrap().stations.clear();
        let readings = Meter::default().read(&host, 0, 5_000);
        assert_eq!(readings["mesh.plink_estab"], 0.0);
        assert!(!readings.contains_key("mesh.signal_dbm"));
        host.radios = None;
        assert!(!Meter::default().read(&host, 0, 5_000).contains_key("mesh.plink_estab"));
    }

    #[test]
    fn counters_wrap_or_begin_anew() {
        assert_eq!(grown(5, 9), Some(4));
        assert_eq!(grown((1 << 32) - 10, 90), Some(100));
        assert_eq!(grown(1 << 40, 90), None);
        assert_eq!(grown(1 << 31, 0), None);
    }
}
