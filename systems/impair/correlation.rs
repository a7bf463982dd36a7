//! Effect of correlated draws of netem on a probability.

/// Probability, [0, 1], that a draw of netem with this `correlation` falls below `chance`.
///
/// netem draws x' = (1 - c) u + c x with u uniform (net/sched/sch_netem.c, `get_crandom`). The
/// distribution of x is iterated from the uniform one on a grid until it converges; where the
/// correlation is high it is the normal one of mean 1/2 and variance (1 - c) / (12 (1 + c)).
pub(super) fn effective_prob(chance: f64, correlation: f64) -> f64 {
    const GRID: usize = 512;
    if correlation <= 0.0 || chance <= 0.0 || chance >= 1.0 || correlation >= 1.0 {
        return chance;
    }
    if correlation > 0.9 {
        let deviation = ((1.0 - correlation) / (12.0 * (1.0 + correlation))).sqrt();
        return normal_cdf((chance - 0.5) / deviation);
    }
    let mut cdf: Vec<f64> = (0..=GRID).map(|at| at as f64 / GRID as f64).collect();
    let mut previous = f64::INFINITY;
    // 0.9^200 is 1e-9.
    for _ in 0..200 {
        let prob = step_cdf(&mut cdf, correlation, chance);
        if (prob - previous).abs() < 1e-9 {
            return prob;
        }
        previous = prob;
    }
    previous
}

/// One step of the iteration; returns the new probability of falling below `chance`.
fn step_cdf(cdf: &mut [f64], correlation: f64, chance: f64) -> f64 {
    let grid = (cdf.len() - 1) as f64;
    let mut sums = vec![0.0; cdf.len()];
    for at in 1..cdf.len() {
        sums[at] = sums[at - 1] + 0.5 * (cdf[at - 1] + cdf[at]) / grid;
    }
    let integral = |x: f64| {
        if x <= 0.0 {
            return 0.0;
        }
        if x >= 1.0 {
            return sums[sums.len() - 1] + (x - 1.0);
        }
        let (at, part) = ((x * grid) as usize, (x * grid).fract());
        sums[at] + part * (sums[at + 1] - sums[at])
    };
    let scale = correlation / (1.0 - correlation);
    let below = |x: f64| {
        scale * (integral(x / correlation) - integral((x - (1.0 - correlation)) / correlation))
    };
    let prob = below(chance);
    let fresh: Vec<f64> = (0..cdf.len()).map(|at| below(at as f64 / grid)).collect();
    cdf.copy_from_slice(&fresh);
    prob
}

/// Standard normal distribution (Abramowitz and Stegun 26.2.17, error below 7.5e-8).
fn normal_cdf(x: f64) -> f64 {
    const B: [f64; 5] = [0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let poly = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    let tail = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
    if x > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// netem's own arithmetic, over many draws.
    fn frequency(chance: f64, correlation: f64) -> f64 {
        let mut stream = groundwave_engine::Seed(1).stream("netem", 0, 0);
        let one = 1u64 << 32;
        let raw = |of_one: f64| (of_one * f64::from(u32::MAX)).round() as u64;
        let rho = raw(correlation) + 1;
        let mut last = stream.bits() >> 32;
        const DRAWS: u32 = 400_000;
        let mut below = 0;
        for _ in 0..DRAWS {
            let value = stream.bits() >> 32;
            let mixed =
                u128::from(value) * u128::from(one - rho) + u128::from(last) * u128::from(rho);
            last = (mixed >> 32) as u64;
            below += u32::from(raw(chance) >= last);
        }
        f64::from(below) / f64::from(DRAWS)
    }

    #[test]
    fn the_effective_share_is_what_netem_draws() {
        for (chance, correlation) in
            [(0.05, 0.25), (0.2, 0.5), (0.4, 0.75), (0.7, 0.3), (0.45, 0.95), (0.3, 0.0)]
        {
            let prob = effective_prob(chance, correlation);
            let share = frequency(chance, correlation);
            // Four deviations of the draws, more by their correlation.
            let factor = (1.0 + correlation) / (1.0 - correlation);
            let bound = 4.0 * (share * (1.0 - share) / 400_000.0 * factor).sqrt() + 2e-3;
            assert!((prob - share).abs() < bound, "{chance} {correlation}: {prob} and {share}");
        }
    }
}
