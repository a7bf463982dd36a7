//! Decoded kernel messages against the output of `iw` at the same moment.

use super::*;
use crate::fixture::{messages, text};

fn rows<T>(name: &str, decode: fn(&Attrs<'_>) -> Result<T, DecodeError>) -> Vec<T> {
    let row = |message: &Vec<u8>| decode(&Attrs::read("", payload(message).unwrap()).unwrap());
    messages(name).iter().map(|message| row(message).unwrap()).collect()
}

#[test]
fn stations_match_iw() {
    let stations = rows("nl80211/stations", Station::decode);
    let expected = text("nl80211/stations.txt");
    let expected: Vec<&str> = expected.split("Station ").skip(1).collect();
    assert_eq!((stations.len(), expected.len()), (2, 2));
    for (station, expected) in stations.iter().zip(expected) {
        // The first word behind a name.
        let word = |name: &str| {
            let line = expected.lines().find_map(|line| line.trim().strip_prefix(name));
            line.unwrap_or_else(|| panic!("{name}: {expected}")).trim().split(' ').next().unwrap()
        };
        let float = |name: &str| word(name).parse::<f64>().unwrap();
        assert!(expected.starts_with(&format!("{} (on wlan0)", station.mac)));
        assert_eq!(station.plink_state, Some(PlinkState::Estab));
        assert_eq!(word("mesh plink:"), "ESTAB");
        assert_eq!(station.llid.map(f64::from), Some(float("mesh llid:")));
        assert_eq!(station.plid.map(f64::from), Some(float("mesh plid:")));
        assert_eq!(station.signal_dbm.map(f64::from), Some(float("signal:")));
        assert_eq!(station.signal_avg_dbm.map(f64::from), Some(float("signal avg:")));
        assert_eq!(station.tx_bitrate_mbps, Some(float("tx bitrate:")));
        assert_eq!(station.rx_bitrate_mbps, Some(float("rx bitrate:")));
        assert_eq!(station.tx_retries.map(f64::from), Some(float("tx retries:")));
        assert_eq!(station.tx_failed.map(f64::from), Some(float("tx failed:")));
        assert_eq!(station.rx_bytes.map(|bytes| bytes as f64), Some(float("rx bytes:")));
        assert_eq!(station.tx_bytes.map(|bytes| bytes as f64), Some(float("tx bytes:")));
        assert_eq!(
            station.airtime_link_metric.map(f64::from),
            Some(float("mesh airtime link metric:"))
        );
        let expected = word("expected throughput:").trim_end_matches("Mbps");
        let expected: f64 = expected.parse().unwrap();
        // Rate control computes it anew whenever it is asked.
        let ours = f64::from(station.expected_throughput_kbps.unwrap());
        assert!((ours / (expected * 1000.0) - 1.0).abs() < 0.1, "{ours} {expected}");
        assert_eq!(station.connected_s.map(f64::from), Some(float("connected time:")));
        assert_eq!(station.authorized, Some(word("authorized:") == "yes"));
        assert!((f64::from(station.inactive_ms.unwrap()) - float("inactive time:")).abs() < 1000.0);
    }
}

#[test]
fn interfaces_match_iw() {
    let found = rows("nl80211/interfaces", WirelessInterface::decode);
    let [Some(one)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.ifname.as_str(), one.ifindex, one.kind), ("wlan0", 5, Kind::MeshPoint));
    assert_eq!(one.mac.unwrap().to_string(), "02:00:00:00:00:00");
    assert_eq!((one.freq_mhz, one.width_mhz, one.tx_power_dbm), (Some(2412), Some(20), Some(20.0)));
    let expected = text("nl80211/interfaces.txt");
    for part in ["ifindex 5", "type mesh point", "(2412 MHz), width: 20 MHz", "txpower 20.00 dBm"] {
        assert!(expected.contains(part), "{expected}");
    }
}

#[test]
fn channels_of_a_radio_come_together_from_many_messages() {
    let radios = Wiphy::joined(rows("nl80211/wiphys", Wiphy::decode));
    let [radio] = radios.as_slice() else { panic!("{radios:?}") };
    assert_eq!((radio.wiphy, radio.phy.as_str(), radio.channels.len()), (0, "phy0", 14));
    let at = |freq| radio.channels.iter().find(|one| one.freq_mhz == freq).unwrap();
    assert_eq!(at(2412).max_tx_power_dbm, Some(20.0));
    assert!(at(2484).no_ir && !at(2412).no_ir && !at(2412).radar);
}

#[test]
fn parameters_of_the_mesh_are_read() {
    let found = rows("nl80211/mesh_parameters", MeshParameters::decode).pop().unwrap();
    assert_eq!(found.mesh_fwding, Some(false));
    assert_eq!((found.max_peer_links, found.ttl), (Some(32), Some(31)));
}

#[test]
fn surveys_tell_shares_of_time() {
    let mut survey = Vec::new();
    put(&mut survey, 1, &2412u32.to_ne_bytes());
    put(&mut survey, 2, &[(-92i8).cast_unsigned()]);
    put(&mut survey, 3, &[]);
    put(&mut survey, 4, &1000u64.to_ne_bytes());
    put(&mut survey, 5, &250u64.to_ne_bytes());
    let mut bytes = Vec::new();
    put(&mut bytes, attr::IFINDEX, &5u32.to_ne_bytes());
    put(&mut bytes, attr::SURVEY_INFO, &survey);
    let found = Survey::decode(&Attrs::read("", &bytes).unwrap()).unwrap().unwrap();
    assert_eq!((found.noise_dbm, found.in_use), (Some(-92), true));
    assert_eq!(found.percent(found.busy_ms), Some(25.0));
    assert_eq!(found.percent(found.tx_ms), None);
}
