//! Residuals: differences between measurements and the model.

use groundwave_model::radio::{Radio, Station, Waveform};
use serde::Serialize;

use super::{LevelView, LinkDirection, Measured};
use crate::link::{Direction, LinkView};
use crate::site::NodeView;

/// SNR of LoRa, dB, above which receivers report less than there is. Of 29,000 receptions in a survey of Meshtastic
/// power and SNR rise together up to 7 dB; an SNR of 12 dB stands beside -94 to -37 dBm.
const LORA_SNR_DB_MAX: f64 = 7.0;

/// Quantity that was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Power at the receiver.
    RxPower,
    /// Loss between the radios.
    PathLoss,
    Snr,
}

/// A measurement compared with the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Residual {
    /// Quantity that was compared.
    pub quantity: Quantity,
    /// Measured value, dBm or dB.
    pub measured: f64,
    /// Value predicted by the model, in the same unit.
    pub predicted: f64,
    /// Measured loss minus that of the model, dB.
    pub excess_loss_db: f64,
}

/// Compares a measurement with the model, by the first of power, path loss and SNR that was
/// measured. `None` where none was, or the model has no such link.
///
/// An SNR of LoRa above [`LORA_SNR_DB_MAX`] is a bound alone ([`excess_at_most_db`]): `None` as well.
///
/// The power of a LoRa receiver that reports the SNR beside it is that of the signal ([`signal_dbm`]). A
/// measurement on another frequency than that of the station is compared with the prediction at its own, as far
/// as free space goes: the difference of 20 log f.
#[must_use]
pub fn residual(nodes: &[NodeView], links: &[LinkView], level: &LevelView) -> Option<Residual> {
    difference(nodes, links, level).filter(|(_, is_bound)| !is_bound).map(|(residual, _)| residual)
}

/// Maximum of the measured loss minus that of the model, dB, where the receiver reported the most that it can.
#[must_use]
pub fn excess_at_most_db(nodes: &[NodeView], links: &[LinkView], level: &LevelView) -> Option<f64> {
    let bound = difference(nodes, links, level).filter(|(_, is_bound)| *is_bound);
    bound.map(|(residual, _)| residual.excess_loss_db)
}

/// Power that a measurement has beyond that of the station by its own transmit power and, as far as free space
/// goes, its own frequency, dB.
#[must_use]
pub fn more_db(station: &Station, values: &Measured) -> f64 {
    let power_db = values.tx_power_dbm.map_or(0.0, |dbm| dbm - station.radio.tx_power_dbm);
    power_db - farther_db(station, values)
}

/// Loss over free space at the frequency of a measurement beyond that at the one of the station, dB.
fn farther_db(station: &Station, values: &Measured) -> f64 {
    let own_mhz = station.radio.frequency_mhz;
    values.frequency_mhz.map_or(0.0, |mhz| 20.0 * libm::log10(mhz / own_mhz))
}

/// Difference to the model, and `true` where it is the maximum of the one that would be measured.
fn difference(
    nodes: &[NodeView],
    links: &[LinkView],
    level: &LevelView,
) -> Option<(Residual, bool)> {
    let (link, direction) = direction(links, (level.from, level.to))?;
    if link.budget.distance_m <= 0.0 {
        return None;
    }
    let values = &level.values;
    let sender = nodes.binary_search_by_key(&level.from, |node| node.id);
    let station = &nodes[sender.ok()?].station;
    // The transmitter may have used another power than that of its station.
    let more_db = more_db(station, values);
    let receiver = nodes.binary_search_by_key(&level.to, |node| node.id);
    let receiver = &nodes[receiver.ok()?].station.radio;
    let residual_of = |quantity, measured, predicted, sign: f64| Residual {
        quantity,
        measured,
        predicted,
        excess_loss_db: sign * (measured - predicted),
    };
    let power = direction.rx_power_dbm + more_db;
    let snr = direction.snr_db + more_db;
    let rx = values.rx_power_dbm.map(|dbm| {
        let dbm = signal_dbm(receiver, dbm, values.snr_db);
        residual_of(Quantity::RxPower, dbm, power, -1.0)
    });
    let exact = rx.or_else(|| {
        let loss = values.path_loss_db?;
        let predicted_db = direction.path_loss_db + farther_db(station, values);
        Some(residual_of(Quantity::PathLoss, loss, predicted_db, 1.0))
    });
    if let Some(exact) = exact {
        return Some((exact, false));
    }
    let measured_db = values.snr_db?;
    let is_lora = matches!(receiver.waveform, Waveform::Lora { .. });
    let is_bound = is_lora && measured_db > LORA_SNR_DB_MAX;
    Some((residual_of(Quantity::Snr, measured_db, snr, -1.0), is_bound))
}

/// Power of the signal alone, dBm, by the reported power and SNR of a LoRa receiver: `RSSI + SNR - 10 log(1 +
/// 10^(SNR/10))` (Semtech AN1200.22 and the data sheet of SX127x, 5.5.5: packet strength below the noise). Newer
/// receivers report the signal itself, from which this would take the noise twice: the signal is not below the
/// noise floor and the SNR. As reported for other waveforms, and without an SNR.
fn signal_dbm(receiver: &Radio, rx_power_dbm: f64, snr_db: Option<f64>) -> f64 {
    let (Waveform::Lora { .. }, Some(snr_db)) = (&receiver.waveform, snr_db) else {
        return rx_power_dbm;
    };
    let noise_dbm = -174.0 + 10.0 * libm::log10(receiver.bandwidth_hz) + receiver.noise_figure_db;
    // The same as the formula, and exact where the SNR is high.
    let share_db = 10.0 * libm::log10(1.0 + libm::pow(10.0, -snr_db / 10.0));
    (rx_power_dbm - share_db).max(noise_dbm + snr_db).min(rx_power_dbm)
}

/// The link of a direction, and what the model has for it; `None` where the model has no such link.
#[must_use]
pub fn direction(links: &[LinkView], (from, to): LinkDirection) -> Option<(&LinkView, &Direction)> {
    let (a, b) = (from.min(to), from.max(to));
    let at = links.binary_search_by_key(&(a, b), |link| (link.a, link.b)).ok()?;
    let budget = &links[at].budget;
    let forward = from == a;
    let direction = if forward { &budget.forward } else { &budget.backward };
    Some((&links[at], direction))
}

#[cfg(test)]
mod tests {
    use groundwave_model::radio::presets;

    use super::*;

    #[test]
    fn signal_below_the_noise_is_less_than_the_power_with_noise() {
        let lora = &presets::radio("lora_868_eu").unwrap().radio;
        let signal = |dbm, snr_db| signal_dbm(lora, dbm, snr_db);
        // A receiver with 6 dB of noise figure has a floor of -117 dBm in 125 kHz.
        let floor_dbm = -174.0 + 10.0 * lora.bandwidth_hz.log10() + lora.noise_figure_db;
        // Signal and noise are 0.41 dB above the noise at -10 dB; the formula gives the signal back.
        let both_dbm = floor_dbm + 10.0 * (1.0 + 0.1_f64).log10();
        assert!((signal(both_dbm, Some(-10.0)) - (floor_dbm - 10.0)).abs() < 1e-9);
        // A receiver that reports the signal: no more is taken from it.
        assert!((signal(floor_dbm - 10.0, Some(-10.0)) - (floor_dbm - 10.0)).abs() < 1e-9);
        // Interference above the floor is in the power as well.
        assert!((signal(-100.0, Some(-3.0)) - (-104.764)).abs() < 1e-3);
        assert!((signal(-60.0, Some(30.0)) + 60.0).abs() < 0.01);
        assert_eq!(signal(-100.0, None), -100.0);
        let wifi = &presets::radio("wifi_2g4_mesh").unwrap().radio;
        assert_eq!(signal_dbm(wifi, -90.0, Some(-3.0)), -90.0);
    }
}
