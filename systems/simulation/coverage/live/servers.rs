//! Choice of the server of each cell, with or without the interference between the transmitters.

use std::sync::atomic::{AtomicBool, Ordering};

use bevy_ecs::batching::BatchingStrategy;
use bevy_ecs::prelude::*;
use groundwave_model::sweep::interference::{Channel, Reception, Signal};

use super::super::job::CellIndex;
use super::super::{Layer, LayerCell, NO_DATA, NO_POWER, Window, hundredths};
use super::{Best, Dirty, Interference, LiveProgress, Raster, Revisions, SQUARE, Slot, Spectrum};

/// A transmitter with its layer.
struct Source<'w> {
    slot: u8,
    layer: &'w Layer,
    spectrum: &'w Spectrum,
    /// Place of its channel among all.
    channel: usize,
}

/// Transmitters in the order of their slots.
struct Sources<'w> {
    all: Vec<Source<'w>>,
    /// Channels in the order of the first slot in each.
    channels: Vec<Channel>,
    interference: Option<Interference>,
}

/// Chooses the servers of the cells in the windows that are dirty.
pub(super) fn choose_servers(
    raster: Res<Raster>,
    interference: Option<Res<Interference>>,
    layers: Query<(&Slot, &Layer, &Spectrum)>,
    mut dirty: ResMut<Dirty>,
    mut revisions: ResMut<Revisions>,
    mut progress: ResMut<LiveProgress>,
    mut cells: Query<(&mut CellIndex, &mut Best)>,
) {
    let windows = std::mem::take(&mut dirty.0);
    if windows.iter().all(Window::is_empty) {
        return;
    }
    let sources = Sources::new(&layers, interference.map(|own| *own));
    let columns = raster.0.columns();
    let across = columns.div_ceil(SQUARE);
    let changed: Vec<_> = revisions.0.iter().map(|_| AtomicBool::new(false)).collect();
    let chunks = cells.contiguous_par_iter_mut().expect("both components lie in tables");
    let fixed = (SQUARE * columns) as usize;
    chunks.batching_strategy(BatchingStrategy::fixed(fixed)).for_each(|(index, mut cells)| {
        let Some(CellIndex(start)) = index.first().copied() else {
            return;
        };
        for (place, cell) in (start..).zip(cells.iter_mut()) {
            let [row, column] = [place / columns, place % columns];
            if !windows.iter().any(|window| window.contains(row, column)) {
                continue;
            }
            let best = sources.best(row, column);
            if *cell != best {
                *cell = best;
                let square = row / SQUARE * across + column / SQUARE;
                changed[square as usize].store(true, Ordering::Relaxed);
            }
        }
    });
    let mut any = false;
    let next = progress.revision + 1;
    for (revision, changed) in revisions.0.iter_mut().zip(changed) {
        if changed.into_inner() {
            *revision = next;
            any = true;
        }
    }
    if any {
        progress.revision = next;
    }
}

impl<'w> Sources<'w> {
    fn new(
        layers: &'w Query<(&Slot, &Layer, &Spectrum)>,
        interference: Option<Interference>,
    ) -> Self {
        let mut layers: Vec<_> = layers.iter().collect();
        layers.sort_by_key(|(slot, ..)| **slot);
        let mut channels: Vec<Channel> = Vec::new();
        let source = |(slot, layer, spectrum): (&Slot, &'w Layer, &'w Spectrum)| {
            let place = channels.iter().position(|channel| *channel == spectrum.channel);
            let channel = place.unwrap_or_else(|| {
                channels.push(spectrum.channel);
                channels.len() - 1
            });
            Source { slot: slot.0, layer, spectrum, channel }
        };
        Self { all: layers.into_iter().map(source).collect(), channels, interference }
    }

    /// Server of a cell.
    fn best(&self, row: u32, column: u32) -> Best {
        let best = self.best_over_noise(row, column);
        match self.interference {
            // Without a power here there is nothing to disturb.
            Some(interference) if best.power_cdbm > NO_POWER => {
                self.best_over_interference(row, column, interference).unwrap_or(best)
            }
            _ => best,
        }
    }

    /// The source of the largest margin over noise, of equals the lower slot.
    fn best_over_noise(&self, row: u32, column: u32) -> Best {
        let mut best = Best::default();
        let mut best_margin = i32::MIN;
        for Source { slot, layer, .. } in &self.all {
            let Some(LayerCell { power_cdbm, link_percent }) = layer.cell(row, column) else {
                continue;
            };
            match power_cdbm {
                NO_POWER => {}
                NO_DATA if best.power_cdbm == NO_POWER => best.power_cdbm = NO_DATA,
                NO_DATA => {}
                _ => {
                    let margin = i32::from(power_cdbm) - layer.sensitivity_cdbm;
                    if margin > best_margin {
                        best_margin = margin;
                        best = Best { power_cdbm, link_percent, slot: *slot, ..Best::default() };
                    }
                }
            }
        }
        best
    }

    /// The source of the largest margin over noise and interference, of equals that of the lower channel.
    fn best_over_interference(&self, row: u32, column: u32, air: Interference) -> Option<Best> {
        let correlation = air.shadowing_correlation;
        let receptions = (0..).zip(&self.channels).map(|(channel, own)| {
            let mut reception = Reception::default();
            for source in &self.all {
                let Some(signal) = source.signal(row, column) else { continue };
                if source.channel == channel && signal.margin_db.is_finite() {
                    reception.add(signal, air.duty_share, correlation);
                } else {
                    let share = own.share_of(self.channels[source.channel]);
                    reception.disturb(&signal, air.duty_share * share, correlation);
                }
            }
            let source = |slot: u16| self.all.iter().find(|own| u16::from(own.slot) == slot);
            let demand = |slot| source(slot).expect("a source of this cell").spectrum.demand;
            let outcome = reception.outcome(demand, correlation)?;
            Some((outcome, source(outcome.site)?))
        });
        let (best, source) = receptions
            .flatten()
            .reduce(|best, next| if next.0.margin_db > best.0.margin_db { next } else { best })?;
        let LayerCell { power_cdbm, link_percent } = source.layer.cell(row, column)?;
        // Rounded down, as that over noise alone, which is computed from finer powers.
        let disturbed_percent = (best.link_prob * 100.0 + 1e-4) as u8;
        Some(Best {
            power_cdbm,
            link_percent: disturbed_percent.min(link_percent),
            slot: source.slot,
            sinr_cdb: hundredths(best.sinr_db),
        })
    }
}

impl Source<'_> {
    /// Signal in a cell; `None` where there is no power or the ground is not known.
    fn signal(&self, row: u32, column: u32) -> Option<Signal> {
        let power_cdbm = self.layer.power_cdbm(row, column).filter(|power| *power > NO_POWER)?;
        let deciles_cdbm = self.layer.deciles_cdbm(row, column)?;
        let required_sinr_db = self.spectrum.demand.required_sinr_db;
        let margin_db = match required_sinr_db.is_finite() {
            true => (i32::from(power_cdbm) - self.layer.sensitivity_cdbm) as f32 / 100.0,
            false => f32::NEG_INFINITY,
        };
        Some(Signal {
            site: u16::from(self.slot),
            margin_db,
            power_dbm: f32::from(power_cdbm) / 100.0,
            deciles_dbm: deciles_cdbm.map(|cdbm| f32::from(cdbm) / 100.0),
        })
    }
}
