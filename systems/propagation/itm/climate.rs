//! Radio climates and the constants that describe variability in time in each.

use serde::{Deserialize, Serialize};

/// The radio climate of a region (TR 82-100 table 2). The discriminants are NTIA's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Climate {
    /// For example Congo.
    Equatorial = 1,
    /// For example Sudan.
    ContinentalSubtropical,
    /// For example the west coast of Africa.
    MaritimeSubtropical,
    /// For example the Sahara.
    Desert,
    /// The usual choice in continental Europe and North America.
    ContinentalTemperate,
    /// For example the United Kingdom and continental west coasts.
    MaritimeTemperateLand,
    /// The same over sea.
    MaritimeTemperateSea,
}

impl Climate {
    /// All climates, in the order of NTIA's numbers from 1.
    pub const ALL: [Self; 7] = [
        Self::Equatorial,
        Self::ContinentalSubtropical,
        Self::MaritimeSubtropical,
        Self::Desert,
        Self::ContinentalTemperate,
        Self::MaritimeTemperateLand,
        Self::MaritimeTemperateSea,
    ];

    /// NTIA's number, 1 to 7.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub(super) const fn constants(self) -> &'static Constants {
        &CONSTANTS[self as usize - 1]
    }
}

/// A curve against effective distance (TN101 vol. 2 eqs III.69 and III.70; Algorithm eqs 5.5 to
/// 5.7): levels in dB, distances in m.
#[derive(Debug, PartialEq)]
pub(super) struct Curve {
    far_db: f64,
    hump_db: f64,
    rise_m: f64,
    hump_at_m: f64,
    hump_width_m: f64,
}

const fn curve(c1: f64, c2: f64, x1_km: f64, x2_km: f64, x3_km: f64) -> Curve {
    Curve {
        far_db: c1,
        hump_db: c2,
        rise_m: x1_km * 1e3,
        hump_at_m: x2_km * 1e3,
        hump_width_m: x3_km * 1e3,
    }
}

impl Curve {
    /// Both levels times `gain`, dB, and the three distances, m.
    pub(super) fn scaled(&self, gain: f64) -> [f64; 5] {
        let Self { far_db, hump_db, rise_m, hump_at_m, hump_width_m } = *self;
        [far_db * gain, hump_db * gain, rise_m, hump_at_m, hump_width_m]
    }

    /// The curve at effective distance `d_e_m`, dB.
    #[inline(always)]
    pub(super) fn at_db(&self, d_e_m: f64) -> f64 {
        let offset = (d_e_m - self.hump_at_m) / self.hump_width_m;
        let rise = d_e_m / self.rise_m;
        let rise = rise * rise;
        (self.far_db + self.hump_db / (1.0 + offset * offset)) * rise / (1.0 + rise)
    }
}

/// A factor that depends on frequency (Algorithm eq. 5.8).
#[derive(Debug, PartialEq)]
pub(super) struct FrequencyGain(f64, f64, f64);

impl FrequencyGain {
    /// The factor at `q = ln(0.133 k)`, `k` the wavenumber in 1/m.
    pub(super) fn at(&self, q: f64) -> f64 {
        let scaled = self.2 * q;
        self.0 + self.1 / (scaled * scaled + 1.0)
    }
}

/// Constants of a climate (Algorithm table 5.1).
#[derive(Debug, PartialEq)]
pub(super) struct Constants {
    /// Adjustment of the reference to the all-year median, dB.
    pub median: Curve,
    /// Deviation of the signal below its median in time, dB.
    pub minus: Curve,
    /// Deviation of the signal above its median in time, dB.
    pub plus: Curve,
    /// Frequency factor of `minus`.
    pub gain_minus: FrequencyGain,
    /// Frequency factor of `plus`.
    pub gain_plus: FrequencyGain,
    /// Deviates beyond `duct_deviate` go with `duct_share` of the deviation (ducting).
    pub duct_share: f64,
    pub duct_deviate: f64,
}

const FLAT: FrequencyGain = FrequencyGain(1.0, 0.0, 0.0);

static CONSTANTS: [Constants; 7] = [
    Constants {
        median: curve(-9.67, 12.7, 144.9, 190.3, 133.8),
        minus: curve(2.13, 159.5, 762.2, 123.6, 94.5),
        plus: curve(2.11, 102.3, 636.9, 134.8, 95.6),
        gain_minus: FLAT,
        gain_plus: FLAT,
        duct_share: 1.224,
        duct_deviate: 1.282,
    },
    Constants {
        median: curve(-0.62, 9.19, 228.9, 205.2, 143.6),
        minus: curve(2.66, 7.67, 100.4, 172.5, 136.4),
        plus: curve(6.87, 15.53, 138.7, 143.7, 98.6),
        gain_minus: FLAT,
        gain_plus: FrequencyGain(0.93, 0.31, 2.00),
        duct_share: 0.801,
        duct_deviate: 2.161,
    },
    Constants {
        median: curve(1.26, 15.5, 262.6, 185.2, 99.8),
        minus: curve(6.11, 6.65, 138.2, 242.2, 178.6),
        plus: curve(10.08, 9.60, 165.3, 225.7, 129.7),
        gain_minus: FLAT,
        gain_plus: FLAT,
        duct_share: 1.380,
        duct_deviate: 1.282,
    },
    Constants {
        median: curve(-9.21, 9.05, 84.1, 101.1, 98.6),
        minus: curve(1.98, 13.11, 139.1, 132.7, 193.5),
        plus: curve(3.68, 159.3, 464.4, 93.1, 94.2),
        gain_minus: FLAT,
        gain_plus: FrequencyGain(0.93, 0.19, 1.79),
        duct_share: 1.000,
        duct_deviate: 20.0,
    },
    Constants {
        median: curve(-0.62, 9.19, 228.9, 205.2, 143.6),
        minus: curve(2.68, 7.16, 93.7, 186.8, 133.5),
        plus: curve(4.75, 8.12, 93.2, 135.9, 113.4),
        gain_minus: FrequencyGain(0.92, 0.25, 1.77),
        gain_plus: FrequencyGain(0.93, 0.31, 2.00),
        duct_share: 1.224,
        duct_deviate: 1.282,
    },
    Constants {
        median: curve(-0.39, 2.86, 141.7, 315.9, 167.4),
        minus: curve(6.86, 10.38, 187.8, 169.6, 108.9),
        plus: curve(8.58, 13.97, 216.0, 152.0, 122.7),
        gain_minus: FLAT,
        gain_plus: FLAT,
        duct_share: 1.518,
        duct_deviate: 1.282,
    },
    Constants {
        median: curve(3.15, 857.9, 2222.0, 164.8, 116.3),
        minus: curve(8.51, 169.8, 609.8, 119.9, 106.6),
        plus: curve(8.43, 8.19, 136.2, 188.5, 122.9),
        gain_minus: FLAT,
        gain_plus: FLAT,
        duct_share: 1.518,
        duct_deviate: 1.282,
    },
];
