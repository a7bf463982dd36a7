//! Sample types and their values for "no data".

/// Type of the samples of a raster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Samples {
    /// 32-bit floating point; NaN means "no data".
    F32,
    /// 0 to 254; 255 means "no data".
    U8,
    /// 0 to 65534; 65535 means "no data".
    U16,
    /// -32767 to 32767; -32768 means "no data".
    I16,
}

impl Samples {
    /// Bytes of one sample.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::U8 => 1,
            Self::U16 | Self::I16 => 2,
        }
    }

    /// Name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::I16 => "i16",
        }
    }

    /// Text of the value that means "no data", as GDAL writes it.
    #[must_use]
    pub const fn nodata(self) -> &'static str {
        match self {
            Self::F32 => "nan",
            Self::U8 => "255",
            Self::U16 => "65535",
            Self::I16 => "-32768",
        }
    }

    /// `true` if a cell can be written: NaN always, infinities never; integers must round to a
    /// value within the range of real values.
    #[must_use]
    pub fn holds(self, value: f32) -> bool {
        let (low, high) = match self {
            Self::F32 => return !value.is_infinite(),
            Self::U8 => (0.0, 254.0),
            Self::U16 => (0.0, 65_534.0),
            Self::I16 => (-32_767.0, 32_767.0),
        };
        // Halves are rounded away from zero.
        value.is_nan() || value > low - 0.5 && value < high + 0.5
    }

    /// TIFF tag SampleFormat: 1 unsigned, 2 signed, 3 floating point.
    pub(super) const fn format(self) -> u16 {
        match self {
            Self::U8 | Self::U16 => 1,
            Self::I16 => 2,
            Self::F32 => 3,
        }
    }

    /// TIFF tag Predictor: 2 horizontal differences, 3 floating point.
    pub(super) const fn predictor(self) -> u16 {
        match self {
            Self::F32 => 3,
            _ => 2,
        }
    }
}

/// The nearest multiple of 2^-7, ties to even. From 2^14 on floats are hardly finer: they are kept.
pub(super) fn rounded(value: f32) -> f32 {
    // At this size the last bit of a float is 2^-7.
    const SHIFT: f32 = 98_304.0;
    if value.abs() < 16_384.0 { (value + SHIFT) - SHIFT } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_for_no_data_is_refused() {
        for samples in [Samples::F32, Samples::U8, Samples::U16, Samples::I16] {
            assert!(samples.holds(f32::NAN) && samples.holds(0.0));
            assert!(!samples.holds(f32::INFINITY) && !samples.holds(f32::NEG_INFINITY));
        }
        let check = |samples: Samples, value, expect| {
            assert_eq!(samples.holds(value), expect, "{samples:?} {value}");
        };
        check(Samples::U8, 254.4, true);
        check(Samples::U8, 254.5, false);
        check(Samples::U8, -0.6, false);
        check(Samples::U16, 65_535.0, false);
        check(Samples::I16, -32_767.0, true);
        check(Samples::I16, -32_768.0, false);
        check(Samples::F32, -1e30, true);
    }

    #[test]
    fn rounded_values_are_multiples_within_half_a_step() {
        let mut value = -200.0_f32;
        while value < 200.0 {
            let near = rounded(value);
            let steps = f64::from(near) * 128.0;
            assert_eq!(steps, (f64::from(value) * 128.0).round_ties_even(), "{value}");
            value += 0.001_37;
        }
        assert!(rounded(f32::NAN).is_nan());
        assert_eq!(rounded(-120.006), -120.0 - 1.0 / 128.0);
        assert_eq!(rounded(20_000.003), 20_000.003);
    }
}
