//! Co-channel interference in one cell: carrier to interference, SINR, and the probability that a link works
//! among transmitters whose shadowing is correlated.
//!
//! Powers of interferers add in milliwatts, each weighted by the share of time it transmits and by the share
//! of its spectrum in the receiver's channel. Their sum is taken as lognormal: mean and variance of its
//! logarithm follow from those of two terms, one after another (Schwartz and Yeh 1982, "On the distribution
//! function and moments of power sums with log-normal components", Bell System Technical Journal 61).
//! Shadowing near the receiver is common to all of its links: a normal variable, over which the probability
//! is integrated by Gauss-Hermite quadrature and given which the rest of each link is independent.

use std::f64::consts::LN_10;

use crate::radio::deciles::sigma_of_deciles_db;
use crate::radio::prediction::normal_prob;

/// Correlation of the shadowing of two links of one receiver, unless another is given: between sites,
/// 3GPP TR 36.942, 4.5.2.
pub const SHADOWING_CORRELATION: f64 = 0.5;

/// Maximum correlation that the quadrature resolves.
pub const SHADOWING_CORRELATION_MAX: f64 = 0.9;

/// Gauss-Hermite quadrature of order 7 for a standard normal variable: nodes and weights (Abramowitz and
/// Stegun, table 25.10, scaled).
const QUADRATURE: [(f64, f64); 7] = [
    (-3.750_439_717_725_742, 5.482_688_559_722_19e-4),
    (-2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (-1.154_405_394_739_968, 0.240_123_178_605_012_7),
    (0.0, 16.0 / 35.0),
    (1.154_405_394_739_968, 0.240_123_178_605_012_7),
    (2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (3.750_439_717_725_742, 5.482_688_559_722_19e-4),
];

/// Nepers of power in a decibel.
const NP_DB: f64 = LN_10 / 10.0;

/// Power, mW, of a level in dBm.
fn milliwatts(dbm: f64) -> f64 {
    libm::exp(dbm * NP_DB)
}

/// Level, dBm, of a power in mW.
fn level_dbm(mw: f64) -> f64 {
    libm::log(mw) / NP_DB
}

/// Occupied band of a transmitter or a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Channel {
    /// Centre frequency, MHz.
    pub frequency_mhz: f64,
    /// Bandwidth, Hz.
    pub bandwidth_hz: f64,
}

impl Channel {
    /// Share of the power of `transmitter`, whose spectrum is flat over its bandwidth, in this channel, [0, 1].
    #[must_use]
    pub fn share_of(self, transmitter: Self) -> f64 {
        let edges = |channel: Self| {
            let half_hz = channel.bandwidth_hz / 2.0;
            let centre_hz = channel.frequency_mhz * 1e6;
            [centre_hz - half_hz, centre_hz + half_hz]
        };
        let ([low, high], [from, to]) = (edges(self), edges(transmitter));
        ((high.min(to) - low.max(from)) / transmitter.bandwidth_hz).clamp(0.0, 1.0)
    }
}

/// Receiver of the links of one site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Noise floor and constant interference, dBm.
    pub noise_dbm: f64,
    /// SINR below which the link does not work, dB.
    pub required_sinr_db: f64,
}

/// Signal of one site in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// Number of the site.
    pub site: u16,
    /// Link margin over noise, dB.
    pub margin_db: f32,
    /// Received power as the model has it, dBm.
    pub power_dbm: f32,
    /// Received power exceeded in 10 and in 90 % of links alike, dBm.
    pub deciles_dbm: [f32; 2],
}

impl Signal {
    /// Median, dBm, and standard deviation, dB, of links alike.
    fn distribution(&self) -> (f64, f64) {
        let deciles = self.deciles_dbm.map(f64::from);
        ((deciles[0] + deciles[1]) / 2.0, sigma_of_deciles_db(deciles))
    }
}

/// A lognormal power: its logarithm in nepers (of mW), normal but for the part common to all links.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lognormal {
    mean_np: f64,
    /// Variance of what is not common, Np².
    variance_np2: f64,
    /// Change with a standard deviation of the common part, Np.
    common_np: f64,
}

impl Lognormal {
    /// The power of a signal of this weight.
    fn of(signal: &Signal, weight: f64, correlation: f64) -> Self {
        let (median_dbm, sigma_db) = signal.distribution();
        let sigma_np = sigma_db * NP_DB;
        Self {
            mean_np: median_dbm * NP_DB + libm::log(weight),
            variance_np2: (1.0 - correlation) * sigma_np * sigma_np,
            common_np: correlation.sqrt() * sigma_np,
        }
    }

    /// The sum with an independent power.
    fn plus(&self, other: &Self) -> Self {
        // log(a + b) = log a + log(1 + exp w), w = log b - log a.
        let deviation_np = (self.variance_np2 + other.variance_np2).sqrt();
        let (mut mean_np, mut square_np2, mut share) = (0.0, 0.0, 0.0);
        for (node, weight) in QUADRATURE {
            let ratio = libm::exp(other.mean_np - self.mean_np + deviation_np * node);
            let gain_np = libm::log1p(ratio);
            mean_np += weight * gain_np;
            square_np2 += weight * gain_np * gain_np;
            share += weight * (1.0 - 1.0 / (1.0 + ratio));
        }
        // The covariance of log a with the gain is -var(log a) E[d gain / d w] (Stein's lemma).
        let variance_np2 = self.variance_np2 * (1.0 - 2.0 * share) + square_np2 - mean_np * mean_np;
        Self {
            mean_np: self.mean_np + mean_np,
            variance_np2: variance_np2.max(0.0),
            common_np: self.common_np * (1.0 - share) + other.common_np * share,
        }
    }
}

/// Signals in one channel at one cell, added site by site.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reception {
    /// The site of the channel with the largest margin, and the weight it has as an interferer.
    carrier: Option<(Signal, f64)>,
    interference_mw: f64,
    interference: Option<Lognormal>,
}

/// Outcome of a cell: the best site by SINR.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbed {
    /// Number of the site.
    pub site: u16,
    /// Received power over noise and interference, all at their medians, dB.
    pub sinr_db: f64,
    /// Received power over interference, dB; infinite without any.
    pub carrier_to_interference_db: f64,
    /// SINR above the required one, dB.
    pub margin_db: f64,
    /// Probability that the SINR of a link alike is not below the required one, [0, 1].
    pub link_prob: f64,
}

impl Reception {
    /// Adds a site of this channel, which interferes with the weight `duty`, [0, 1]. Each is added once, in
    /// order; of equal margins the first is the carrier.
    pub fn add(&mut self, signal: Signal, duty: f64, correlation: f64) {
        match self.carrier {
            Some((carrier, _)) if signal.margin_db <= carrier.margin_db => {
                self.disturb(&signal, duty, correlation);
            }
            former => {
                self.carrier = Some((signal, duty));
                if let Some((carrier, duty)) = former {
                    self.disturb(&carrier, duty, correlation);
                }
            }
        }
    }

    /// Adds interference of this weight: duty and share of the spectrum, [0, 1].
    pub fn disturb(&mut self, signal: &Signal, weight: f64, correlation: f64) {
        if weight <= 0.0 {
            return;
        }
        self.interference_mw += weight * milliwatts(f64::from(signal.power_dbm));
        let power = Lognormal::of(signal, weight, correlation);
        self.interference = Some(match &self.interference {
            Some(interference) => interference.plus(&power),
            None => power,
        });
    }

    /// The carrier among noise and interference; `None` without a carrier. `demand` is that of a site.
    pub fn outcome(
        &self,
        demand: impl FnOnce(u16) -> Demand,
        correlation: f64,
    ) -> Option<Disturbed> {
        let (carrier, _) = self.carrier?;
        let Demand { noise_dbm, required_sinr_db } = demand(carrier.site);
        let noise_mw = milliwatts(noise_dbm);
        let power_dbm = f64::from(carrier.power_dbm);
        let sinr_db = power_dbm - level_dbm(noise_mw + self.interference_mw);
        let carrier_np = Lognormal::of(&carrier, 1.0, correlation);
        let noise_np = noise_dbm * NP_DB;
        let noise = Lognormal { mean_np: noise_np, variance_np2: 0.0, common_np: 0.0 };
        let mut link_prob = 0.0;
        for (node, weight) in QUADRATURE {
            let at_node = |power: &Lognormal| Lognormal {
                mean_np: power.mean_np + power.common_np * node,
                common_np: 0.0,
                ..*power
            };
            let disturbance = match &self.interference {
                Some(interference) => noise.plus(&at_node(interference)),
                None => noise,
            };
            let carrier = at_node(&carrier_np);
            let spare_np = carrier.mean_np - disturbance.mean_np - required_sinr_db * NP_DB;
            let deviation_np = (carrier.variance_np2 + disturbance.variance_np2).sqrt();
            link_prob += weight * normal_prob(spare_np / deviation_np);
        }
        Some(Disturbed {
            site: carrier.site,
            sinr_db,
            carrier_to_interference_db: power_dbm - level_dbm(self.interference_mw),
            margin_db: sinr_db - required_sinr_db,
            link_prob: link_prob.clamp(0.0, 1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use groundwave_values::Seed;

    use super::*;

    const WIFI: Demand = Demand { noise_dbm: -94.0, required_sinr_db: 5.0 };

    /// A site with this median and standard deviation, whose margin follows from [`WIFI`].
    fn signal(site: u16, median_dbm: f64, sigma_db: f64) -> Signal {
        let apart_db = 1.281_551_565_544_600_4 * sigma_db;
        Signal {
            site,
            margin_db: (median_dbm - WIFI.noise_dbm - WIFI.required_sinr_db) as f32,
            power_dbm: median_dbm as f32,
            deciles_dbm: [(median_dbm + apart_db) as f32, (median_dbm - apart_db) as f32],
        }
    }

    fn outcome(signals: &[Signal], duty: f64, correlation: f64) -> Disturbed {
        let mut reception = Reception::default();
        signals.iter().for_each(|signal| reception.add(*signal, duty, correlation));
        reception.outcome(|_| WIFI, correlation).unwrap()
    }

    #[test]
    fn spectra_apart_share_nothing_and_wide_ones_a_part() {
        let channel = |frequency_mhz, mhz: f64| Channel { frequency_mhz, bandwidth_hz: mhz * 1e6 };
        let wifi = channel(2437.0, 20.0);
        assert_eq!(wifi.share_of(wifi), 1.0);
        assert_eq!(wifi.share_of(channel(2462.0, 20.0)), 0.0);
        // Channels 6 and 8 are 10 MHz apart.
        assert!((wifi.share_of(channel(2447.0, 20.0)) - 0.5).abs() < 1e-9);
        assert!((wifi.share_of(channel(2437.0, 40.0)) - 0.5).abs() < 1e-9);
        assert_eq!(channel(2437.0, 40.0).share_of(wifi), 1.0);
    }

    #[test]
    fn sinr_is_the_carrier_over_noise_and_the_sum_of_the_others() {
        // Two interferers of -90 dBm are -86.99 dBm, with noise of -94 dBm -86.20 dBm.
        let all = [signal(0, -90.0, 8.0), signal(1, -70.0, 8.0), signal(2, -90.0, 8.0)];
        let of_all = outcome(&all, 1.0, 0.5);
        assert_eq!(of_all.site, 1);
        assert!((of_all.carrier_to_interference_db - 16.99).abs() < 0.01, "{of_all:?}");
        assert!((of_all.sinr_db - 16.197).abs() < 0.01, "{of_all:?}");
        assert!((of_all.margin_db - 11.197).abs() < 0.01);
        // A tenth of the time is 10 dB less.
        let seldom = outcome(&all, 0.1, 0.5);
        assert!((seldom.carrier_to_interference_db - 26.99).abs() < 0.01, "{seldom:?}");
        let never = outcome(&all, 0.0, 0.5);
        assert_eq!(never.carrier_to_interference_db, f64::INFINITY);
        assert!((never.sinr_db - 24.0).abs() < 1e-6);
        assert!(seldom.link_prob > of_all.link_prob && never.link_prob > seldom.link_prob);
    }

    #[test]
    fn order_of_sites_changes_little() {
        let all = [-90.0, -64.0, -71.0, -88.0, -66.0].map(|dbm| signal(0, dbm, 7.0));
        let mut reversed = all;
        reversed.reverse();
        let (one, other) = (outcome(&all, 1.0, 0.5), outcome(&reversed, 1.0, 0.5));
        assert!((one.sinr_db - other.sinr_db).abs() < 1e-9);
        // Sums of two terms are not quite associative.
        assert!((one.link_prob - other.link_prob).abs() < 2e-3);
    }

    #[test]
    fn probability_without_interference_is_that_of_the_margin() {
        for margin_db in [-20.0, -6.0, 0.0, 3.0, 12.0, 25.0] {
            let alone = outcome(&[signal(0, -89.0 + margin_db, 9.0)], 1.0, 0.5);
            let expected = normal_prob(margin_db / 9.0);
            assert!((alone.link_prob - expected).abs() < 1e-3, "{margin_db}: {alone:?}");
        }
    }

    #[test]
    fn probability_is_that_of_drawn_shadowing() {
        let cases: [(&[f64], f64, f64); 5] = [
            (&[-70.0, -80.0], 8.0, 0.5),
            (&[-70.0, -76.0, -79.0, -82.0], 8.0, 0.5),
            (&[-70.0, -76.0, -79.0, -82.0], 8.0, 0.0),
            (&[-70.0, -90.0, -90.0, -90.0, -90.0, -90.0], 11.0, 0.5),
            (&[-86.0, -92.0, -95.0], 6.0, 0.7),
        ];
        for (medians_dbm, sigma_db, correlation) in cases {
            let signals: Vec<_> =
                (0..).zip(medians_dbm).map(|(site, dbm)| signal(site, *dbm, sigma_db)).collect();
            let predicted = outcome(&signals, 1.0, correlation).link_prob;
            let mut random = Seed(7).stream("shadowing", 0, 0);
            let mut normal = || -> f64 {
                // The sum of twelve uniform numbers.
                (0..12).map(|_| random.between(-0.5, 0.5)).sum()
            };
            let draws = 40_000;
            let works = (0..draws).filter(|_| {
                let common = correlation.sqrt() * normal();
                let mut level =
                    |dbm: &f64| dbm + sigma_db * (common + (1.0 - correlation).sqrt() * normal());
                let levels: Vec<f64> = medians_dbm.iter().map(&mut level).collect();
                let disturbance: f64 = levels[1..].iter().map(|dbm| milliwatts(*dbm)).sum();
                let sinr_db = levels[0] - level_dbm(milliwatts(WIFI.noise_dbm) + disturbance);
                sinr_db >= WIFI.required_sinr_db
            });
            let drawn = works.count() as f64 / f64::from(draws);
            assert!(
                (predicted - drawn).abs() < 0.006,
                "{medians_dbm:?} {sigma_db} {correlation}: {predicted} {drawn}"
            );
        }
    }
}
