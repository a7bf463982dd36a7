//! Time of the gateway by the clock since boot: a node may have no clock, or one that is set while readings wait.

/// Difference up to which two answers have the same time, ms: it is that of their ways. Readings that are sent
/// twice keep their times.
const STEADY_MS: u64 = 2_000;

/// Time of the gateway.
#[derive(Debug, Clone, Copy, Default)]
pub struct GatewayTime {
    /// Time of the gateway minus time since boot, ms.
    offset_ms: Option<i64>,
}

impl GatewayTime {
    /// Takes the time of an answer over: ms since the Unix epoch, at a time since boot, ms.
    pub fn observe(&mut self, gateway_ms: i64, boot_ms: u64) {
        let offset_ms = gateway_ms.saturating_sub_unsigned(boot_ms);
        if self.offset_ms.is_none_or(|own_ms| own_ms.abs_diff(offset_ms) > STEADY_MS) {
            self.offset_ms = Some(offset_ms);
        }
    }

    /// Time of the gateway at a time since boot, ms since the Unix epoch; `None` before the first answer.
    #[must_use]
    pub fn at(&self, boot_ms: u64) -> Option<u64> {
        let gateway_ms = self.offset_ms?.saturating_add_unsigned(boot_ms);
        Some(u64::try_from(gateway_ms).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_before_the_first_answer_have_the_time_of_the_gateway() {
        let mut time = GatewayTime::default();
        assert_eq!(time.at(10_000), None);
        time.observe(1_800_000_070_000, 70_000);
        assert_eq!(time.at(10_000), Some(1_800_000_010_000));
        // The way of an answer is no step, a clock that is set is one.
        time.observe(1_800_000_071_900, 71_000);
        assert_eq!(time.at(10_000), Some(1_800_000_010_000));
        time.observe(1_700_000_000_000, 72_000);
        assert_eq!(time.at(72_000), Some(1_700_000_000_000));
        time.observe(0, 80_000);
        assert_eq!(time.at(10_000), Some(0));
    }
}
