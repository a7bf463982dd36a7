//! Rates and sensitivities against the published tables, and the packet error model.

use super::super::modulation::{
    MODULATIONS, McsTable, REFERENCE_OCTETS_OFDM, Selected, lowest, ofdm_symbol_rate,
    packet_error_prob,
};
use super::super::{ModulationId, Radio, Waveform};
use super::{fixture, near};

fn ofdm(bandwidth_hz: f64) -> Radio {
    Radio {
        frequency_mhz: 5_580.0,
        bandwidth_hz,
        tx_power_dbm: 20.0,
        noise_figure_db: 10.0,
        feeder_loss_db: 0.0,
        waveform: Waveform::Ofdm { spatial_streams: 1, mac_efficiency_prob: 0.5 },
    }
}

fn select(snr_db: f64, reserve_db: f64, radio: &Radio, floor_dbm: f64) -> Option<Selected> {
    let table = McsTable::new(radio, reserve_db, floor_dbm);
    table.select(snr_db).copied()
}

fn lora(spreading_factor: u8, bandwidth_hz: f64) -> Radio {
    Radio { waveform: Waveform::Lora { spreading_factor, coding_rate: 5 }, ..ofdm(bandwidth_hz) }
}

/// The name a modulation has on the wire.
fn name(id: ModulationId) -> String {
    serde_json::to_value(id).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn the_ladder_reproduces_the_published_sensitivities_in_every_width() {
    let rows = fixture!("ieee_80211_sensitivity.csv");
    assert_eq!(rows.len(), MODULATIONS.len());
    for (row, modulation) in rows.iter().zip(&MODULATIONS) {
        assert_eq!(row[0], name(modulation.id));
        let shape = [modulation.bits_per_symbol, modulation.code_rate[0], modulation.code_rate[1]];
        assert_eq!(row[1..4], shape.map(|n| n.to_string()));
        for (published, bandwidth_hz) in row[4..].iter().zip([20e6_f64, 40e6, 80e6, 160e6]) {
            // kTB + 10 dB noise figure + 5 dB implementation margin + SNR.
            let floor_dbm = -174.0 + 10.0 * bandwidth_hz.log10() + 10.0 + 5.0;
            near(floor_dbm + modulation.required_snr_db, published.parse().unwrap(), 0.05);
        }
    }
}

#[test]
fn ofdm_rates_are_those_of_vht() {
    for (row, modulation) in fixture!("vht_rates.csv").iter().zip(&MODULATIONS) {
        assert_eq!(row[0], name(modulation.id));
        for (published, bandwidth_hz) in row[1..].iter().zip([20e6, 40e6, 80e6, 160e6]) {
            let published: f64 = published.parse().unwrap();
            let at = select(modulation.required_snr_db, 0.0, &ofdm(bandwidth_hz), -90.0).unwrap();
            assert_eq!(at.id, modulation.id);
            if published > 0.0 {
                near(at.phy_rate_bps * 1e-6, published, 0.051);
                near(at.data_rate_bps, at.phy_rate_bps * 0.5, 1e-6);
            }
        }
    }
    near(ofdm_symbol_rate(56e6), 36.4e6, 1.0);
    let two = Waveform::Ofdm { spatial_streams: 2, mac_efficiency_prob: 0.5 };
    let doubled = lowest(&Radio { waveform: two, ..ofdm(20e6) }, -90.0);
    near(doubled.phy_rate_bps, 13e6, 1e-6);
}

#[test]
fn lora_rates_and_snr_are_the_published_ones() {
    for row in fixture!("lora.csv") {
        let sf: u8 = row[0].parse().unwrap();
        let at = lowest(&lora(sf, 125e3), -117.0);
        near(at.required_snr_db, row[1].parse().unwrap(), 1e-12);
        near(at.phy_rate_bps, f64::from(sf) * 0.8 * 125e3 / f64::from(1u32 << sf), 1e-9);
        let published: f64 = row[2].parse().unwrap();
        near(at.data_rate_bps / published, 1.0, 0.025);
    }
    // Meshtastic LongFast: SF11, 250 kHz, 4/5 is 1.07 kbit/s.
    near(lowest(&lora(11, 250e3), -114.0).data_rate_bps, 1_070.0, 5.0);
}

#[test]
fn selection_takes_the_fastest_that_keeps_the_reserve() {
    let pick = |snr, reserve| select(snr, reserve, &ofdm(20e6), -91.0).map(|m| name(m.id));
    assert_eq!(pick(3.99, 0.0), None);
    assert_eq!(pick(4.0, 0.0).as_deref(), Some("bpsk_1_2"));
    assert_eq!(pick(19.99, 0.0).as_deref(), Some("16qam_3_4"));
    assert_eq!(pick(20.0, 0.0).as_deref(), Some("64qam_2_3"));
    assert_eq!(pick(99.0, 0.0).as_deref(), Some("256qam_5_6"));
    assert_eq!(pick(20.0, 6.0).as_deref(), Some("16qam_1_2"));
    // Nothing keeps 30 dB in hand, so the lowest is used without.
    assert_eq!(pick(20.0, 30.0).as_deref(), Some("bpsk_1_2"));
    assert_eq!(select(-18.0, 0.0, &lora(11, 125e3), -117.0), None);
    assert!(select(-17.5, 9.0, &lora(11, 125e3), -117.0).is_some());
}

#[test]
fn packets_are_lost_as_documented() {
    let modulation = lowest(&ofdm(20e6), -91.0);
    let per = |snr, octets| packet_error_prob(snr, &modulation, octets);
    let reference = REFERENCE_OCTETS_OFDM as u32;
    near(per(modulation.required_snr_db, reference), 0.1, 1e-12);
    // 1 - 0.9^(1/4) for a quarter of the length.
    near(per(modulation.required_snr_db, reference / 4), 0.025_996_3, 1e-6);
    // Odds fall by e^1.5 a decibel.
    near(
        per(modulation.required_snr_db + 1.0, reference),
        1.0 / (1.0 + 9.0 * 1.5_f64.exp()),
        1e-12,
    );
    let mut last = 1.0;
    for step in -400..400 {
        let lost = per(f64::from(step) / 4.0, 1_000);
        assert!((0.0..=1.0).contains(&lost) && lost <= last, "{lost} after {last}");
        assert!(per(f64::from(step) / 4.0, 2_000) >= lost);
        last = lost;
    }
    near(per(-1e3, u32::MAX), 1.0, 1e-12);
    assert!(per(1e3, 0) < 1e-300);
}

#[test]
fn the_fastest_modulation_that_keeps_the_reserve_is_selected() {
    for radio_id in ["wifi_5g_mesh", "lora_868_eu", "vhf_handheld_5w"] {
        let radio = &super::super::presets::radio(radio_id).unwrap().radio;
        let lowest = lowest(radio, -110.0);
        for reserve_db in [0.0, 7.3] {
            for tenth in -300..500 {
                let snr_db = f64::from(tenth) * 0.1;
                let selection = select(snr_db, reserve_db, radio, -110.0);
                let keeps = |m: &super::super::modulation::Modulation| {
                    m.required_snr_db + reserve_db <= snr_db
                };
                let fastest = match radio.waveform {
                    Waveform::Ofdm { .. } => MODULATIONS.iter().rev().find(|m| keeps(m)),
                    _ => None,
                };
                let expected = fastest.map_or(lowest.id, |m| m.id);
                let linked = snr_db >= lowest.required_snr_db;
                assert_eq!(selection.map(|m| m.id), linked.then_some(expected));
            }
        }
    }
}
