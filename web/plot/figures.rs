//! Values of a link as text.

use groundwave_model::radio::{LimitingFactor, LinkResult, ModulationId, PropagationMode, Verdict};

use super::text::{distance, frequency, metres, number, prefixed, signed};
use super::theme::Palette;

/// A value with its label and a note.
#[derive(Debug)]
pub(super) struct Figure {
    pub label: &'static str,
    pub value: String,
    pub note: String,
}

/// Key values of a link, left to right; availability only where predicted.
pub(super) fn figures(result: &LinkResult, distance_m: f64) -> Vec<Figure> {
    let (losses, receiver, rate) = (&result.losses, &result.receiver, &result.rate);
    let clear = &result.clearance;
    // Without a modulation, the requirement of the lowest one.
    let lowest_snr_db = receiver.sinr_db - result.margin.link_margin_db;
    let needed_snr_db = rate.required_snr_db.unwrap_or(lowest_snr_db);
    let figure = |label, value, note| Figure { label, value, note };
    let mut figures = vec![
        figure(
            "Distance",
            distance(distance_m),
            format!("slant {}", distance(result.geometry.slant_range_m)),
        ),
        figure(
            "Path loss",
            format!("{} dB", number(losses.total_path_loss_db, 1)),
            format!("{} over free space", number(losses.excess_loss_db, 1)),
        ),
        figure("Received power", format!("{} dBm", number(receiver.rx_power_dbm, 1)), {
            let [low_dbm, high_dbm] = result.prediction.rx_power_interval_dbm;
            format!("90 %: {} to {}", number(low_dbm, 0), number(high_dbm, 0))
        }),
        figure(
            "SNR",
            format!("{} dB", number(receiver.sinr_db, 1)),
            format!(
                "needs {}, noise {} dBm",
                number(needed_snr_db, 1),
                number(receiver.noise_floor_dbm, 1)
            ),
        ),
        figure(
            "Link margin",
            format!("{} dB", signed(result.margin.link_margin_db, 1)),
            result
                .limiting_factor
                .map_or_else(String::new, |factor| format!("limit: {}", factor_name(factor))),
        ),
        figure("Modulation", modulation(result), rate_note(result)),
        figure(
            "Fresnel clearance",
            clear
                .fresnel_clearance_ratio
                .map_or_else(|| "–".to_owned(), |ratio| format!("{} F1", number(ratio, 2))),
            clear.min_clearance_m.map_or_else(String::new, |m| format!("lowest {}", metres(m))),
        ),
    ];
    if let Some(percent) = result.availability.availability_percent {
        // Rounded down: never 100 %.
        let value = format!("{} %", number((percent * 1e4).floor() / 1e4, 4));
        figures.push(figure("Availability", value, "average year".to_owned()));
    }
    figures
}

/// Frequency, bandwidth, polarization and model on one line.
pub(super) fn conditions(result: &LinkResult) -> String {
    let mode = match result.propagation_mode {
        PropagationMode::LineOfSight => "line-of-sight mode",
        PropagationMode::Diffraction => "diffraction mode",
        PropagationMode::Troposcatter => "troposcatter mode",
    };
    let model = result.model.get().label();
    [
        frequency(result.frequency_mhz),
        format!("{} wide", prefixed(result.bandwidth_hz, "Hz")),
        result.polarization.name().to_owned(),
        format!("{model} ({}), {mode}", result.model_version),
    ]
    .join(" · ")
}

/// Colour of the verdict: that of no link without terrain data.
pub(super) fn verdict_colour(result: &LinkResult, palette: &Palette) -> &'static str {
    match result.terrain.ground.is_enough() {
        true => palette.verdict(result.verdict),
        false => palette.verdict(Verdict::NoLink),
    }
}

/// Verdict in words.
pub(super) fn verdict(result: &LinkResult) -> &'static str {
    if !result.terrain.ground.is_enough() {
        return "No terrain data";
    }
    match result.verdict {
        Verdict::NoLink => "No link",
        Verdict::Poor => "Poor",
        Verdict::Marginal => "Marginal",
        Verdict::Good => "Good",
        Verdict::Excellent => "Excellent",
    }
}

/// Line of sight as text.
pub(super) fn sight(result: &LinkResult) -> &'static str {
    if result.clearance.line_of_sight { "in sight" } else { "blocked" }
}

/// Source of the terrain profile, its gaps, and the Earth bulge.
pub(super) fn notes(result: &LinkResult, samples: usize, step_m: f64) -> Vec<String> {
    let ground = &result.terrain;
    let mut notes = vec![format!("Ground: {samples} samples, {} apart", distance(step_m))];
    notes.push(match ground.tiles_used {
        0 => "no tiles".to_owned(),
        1 => "1 tile".to_owned(),
        tiles => format!("{tiles} tiles"),
    });
    if let Some(arcsec) = ground.resolution_arcsec {
        notes.push(format!("posts every {}″", number(arcsec, 0)));
    }
    match [ground.void_samples, ground.missing_samples] {
        [0, 0] => notes.push("no gaps".to_owned()),
        [voids, missing] => {
            if voids > 0 {
                notes.push(format!("{voids} samples on voids, interpolated"));
            }
            if missing > 0 {
                notes.push(format!("{missing} samples off every tile, taken as sea level"));
            }
        }
    }
    let geometry = &result.geometry;
    notes.push(format!(
        "Earth bulge {} mid-path at k = {}",
        metres(result.clearance.max_earth_bulge_m),
        number(geometry.k_factor, 2)
    ));
    notes
}

/// Wire names of the warnings.
pub(super) fn warnings(result: &LinkResult) -> Vec<String> {
    let names = serde_json::to_value(result.warnings).unwrap_or_default();
    serde_json::from_value(names).unwrap_or_default()
}

fn modulation(result: &LinkResult) -> String {
    let Some(id) = result.rate.modulation_id else {
        return "–".to_owned();
    };
    match (id, result.rate.bits_per_symbol) {
        (ModulationId::Bpsk12, _) => "BPSK 1/2".to_owned(),
        (ModulationId::Qpsk12, _) => "QPSK 1/2".to_owned(),
        (ModulationId::Qpsk34, _) => "QPSK 3/4".to_owned(),
        (ModulationId::Qam16R12, _) => "16-QAM 1/2".to_owned(),
        (ModulationId::Qam16R34, _) => "16-QAM 3/4".to_owned(),
        (ModulationId::Qam64R23, _) => "64-QAM 2/3".to_owned(),
        (ModulationId::Qam64R34, _) => "64-QAM 3/4".to_owned(),
        (ModulationId::Qam64R56, _) => "64-QAM 5/6".to_owned(),
        (ModulationId::Qam256R34, _) => "256-QAM 3/4".to_owned(),
        (ModulationId::Qam256R56, _) => "256-QAM 5/6".to_owned(),
        (ModulationId::Lora, Some(spreading_factor)) => format!("LoRa SF{spreading_factor}"),
        (ModulationId::Lora, None) => "LoRa".to_owned(),
        (ModulationId::Narrowband, _) => "narrowband".to_owned(),
    }
}

fn rate_note(result: &LinkResult) -> String {
    if result.rate.modulation_id.is_none() {
        return "nothing decodes".to_owned();
    }
    prefixed(result.rate.data_rate_bps, "bit/s")
}

fn factor_name(factor: LimitingFactor) -> &'static str {
    match factor {
        LimitingFactor::Distance => "distance",
        LimitingFactor::Terrain => "terrain",
        LimitingFactor::Fresnel => "Fresnel zone",
        LimitingFactor::Rain => "rain",
        LimitingFactor::Noise => "noise",
        LimitingFactor::Pointing => "pointing",
    }
}
