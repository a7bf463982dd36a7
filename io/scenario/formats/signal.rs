//! Levels that radios report: drivers write 0 for those that they did not measure.

use groundwave_simulation::measure::Measured;

use super::dataset::Dataset;

/// Level and SNR of a received signal. A level of 0 dBm or more was not measured: it is left out, and `drop` gets the note
/// on it.
pub(super) fn measured(
    signal_dbm: Option<f64>,
    noise_dbm: Option<f64>,
    mut drop: impl FnMut(&str),
) -> Measured {
    let mut level = |level_dbm: Option<f64>, what: &str| {
        let is_level = |dbm: &f64| *dbm < 0.0;
        if level_dbm.is_some_and(|dbm| !is_level(&dbm)) {
            drop(what);
        }
        level_dbm.filter(is_level)
    };
    let rx_power_dbm = level(signal_dbm, "a signal of 0 dBm or more: not measured");
    // Without a signal the noise has no use, and no note.
    let noise_dbm = noise_dbm.filter(|_| rx_power_dbm.is_some());
    let noise_dbm = level(noise_dbm, "a noise of 0 dBm or more: not measured");
    let snr_db = rx_power_dbm.zip(noise_dbm).map(|(signal_dbm, noise_dbm)| signal_dbm - noise_dbm);
    Measured { rx_power_dbm, snr_db, ..Measured::default() }
}

/// Note of a level of 0 dBm, which devices without the value write.
pub(super) const NO_LEVEL: &str = "a level of 0 dBm, that of devices without the value: not used";

/// Power at a receiver, dBm, of a text; one of 0 is counted and not used.
pub(super) fn level_dbm(dataset: &mut Dataset, text: &str, line: usize) -> Option<f64> {
    let level_dbm: f64 = text.parse().ok()?;
    if level_dbm == 0.0 {
        dataset.drop(NO_LEVEL, line);
        return None;
    }
    Some(level_dbm)
}
