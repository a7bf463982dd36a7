//! Residuals: differences between measurements and the model.

use serde::Serialize;

use super::{LevelView, LinkDirection, Measured};
use crate::link::{Direction, LinkView};
use crate::site::NodeView;

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
#[must_use]
pub fn residual(nodes: &[NodeView], links: &[LinkView], level: &LevelView) -> Option<Residual> {
    let (link, direction) = direction(links, (level.from, level.to))?;
    if link.budget.distance_m <= 0.0 {
        return None;
    }
    let values = &level.values;
    let sender = nodes.binary_search_by_key(&level.from, |node| node.id);
    let station = &nodes[sender.ok()?].station;
    let Measured { tx_power_dbm, .. } = *values;
    // The transmitter may have used another power than that of its station.
    let more_db = tx_power_dbm.map_or(0.0, |dbm| dbm - station.radio.tx_power_dbm);
    let residual_of = |quantity, measured, predicted, sign: f64| Residual {
        quantity,
        measured,
        predicted,
        excess_loss_db: sign * (measured - predicted),
    };
    let power = direction.rx_power_dbm + more_db;
    let snr = direction.snr_db + more_db;
    let rx = values.rx_power_dbm.map(|dbm| residual_of(Quantity::RxPower, dbm, power, -1.0));
    rx.or_else(|| {
        let loss = values.path_loss_db?;
        Some(residual_of(Quantity::PathLoss, loss, direction.path_loss_db, 1.0))
    })
    .or_else(|| Some(residual_of(Quantity::Snr, values.snr_db?, snr, -1.0)))
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
