//! An ordinary station, for tests and benches that need one and do not care which.

use groundwave_propagation::polarization::Polarization;

use crate::radio::{Antenna, Radio, Station, Waveform};

/// An ordinary 5 GHz mesh station on a 10 m mast: 24 dBm, 9 dBi omnidirectional, 20 MHz.
#[must_use]
pub fn station() -> Station {
    Station::new(
        10.0,
        Radio {
            frequency_mhz: 5580.0,
            bandwidth_hz: 20e6,
            tx_power_dbm: 24.0,
            noise_figure_db: 6.0,
            feeder_loss_db: 0.0,
            waveform: Waveform::Ofdm { spatial_streams: 1, mac_efficiency_prob: 0.6 },
        },
        Antenna {
            gain_dbi: 9.0,
            azimuth_beamwidth_deg: 360.0,
            elevation_beamwidth_deg: 12.0,
            front_to_back_db: 20.0,
            polarization: Polarization::Vertical,
            electrical_tilt_deg: 0.0,
            pattern: None,
        },
    )
}
