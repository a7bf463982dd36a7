//! What an impairment may say: ranges, each named with its key.

use groundwave_engine::Refusal;

use super::shape::{Distribution, Impairment, Latency, Loss};

/// Longest name of a distribution table, characters.
pub const TABLE_NAME_CHARS_MAX: usize = 64;

/// Longest duration, ns: the kernel counts it in 64 bits with a sign.
pub const DURATION_NS_MAX: u64 = i64::MAX as u64;

/// Lowest rate, bit/s: the shaper counts whole bytes per second.
pub const RATE_BPS_MIN: u64 = 8;

impl Impairment {
    /// Checks the ranges that the shape alone does not.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the path of the key, what was found and what is allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        if let Some(latency) = &self.latency {
            check_latency(latency)?;
        }
        match &self.loss {
            Some(Loss::Bernoulli { pct, correlation }) => {
                percent("loss.pct", *pct)?;
                correlated("loss.correlation", *correlation)?;
            }
            Some(Loss::GilbertElliott {
                p,
                r,
                one_minus_h,
                one_minus_k,
            }) => {
                probability("loss.p", *p)?;
                probability("loss.r", *r)?;
                probability("loss.one_minus_h", *one_minus_h)?;
                probability("loss.one_minus_k", *one_minus_k)?;
            }
            None => {}
        }
        if let Some(rate) = &self.rate {
            if rate.bps < RATE_BPS_MIN {
                return Err(Refusal::invalid("rate.bps", rate.bps, "8 or more"));
            }
            if rate.burst_bytes == 0 {
                return Err(Refusal::invalid("rate.burst_bytes", 0, "1 or more"));
            }
        }
        if let Some(duplication) = &self.duplication {
            percent("duplication.pct", duplication.pct)?;
            correlated("duplication.correlation", duplication.correlation)?;
        }
        if let Some(reordering) = &self.reordering {
            percent("reordering.pct", reordering.pct)?;
            correlated("reordering.correlation", reordering.correlation)?;
        }
        if let Some(corruption) = &self.corruption {
            percent("corruption.pct", corruption.pct)?;
            correlated("corruption.correlation", corruption.correlation)?;
        }
        Ok(())
    }
}

fn check_latency(latency: &Latency) -> Result<(), Refusal> {
    match latency {
        Latency::Constant { duration_ns } => duration("latency.duration", *duration_ns),
        Latency::Stochastic {
            mean_ns,
            jitter_ns,
            distribution,
            correlation,
        } => {
            duration("latency.mean", *mean_ns)?;
            duration("latency.jitter", *jitter_ns)?;
            correlated("latency.correlation", *correlation)?;
            match distribution {
                Distribution::Table { name } => check_table_name("latency.distribution.name", name),
                _ => Ok(()),
            }
        }
    }
}

/// Refuses names that are not those of a table: they become file names.
///
/// # Errors
/// [`Refusal::Invalid`] at `key` unless `name` is 1 to 64 of `a-z0-9_-`.
pub fn check_table_name(key: &str, name: &str) -> Result<(), Refusal> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    if (1..=TABLE_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    let found = format!("{name:?}");
    Err(Refusal::invalid(
        key,
        found,
        "1 to 64 of a-z, 0-9, '_' and '-'",
    ))
}

fn percent(key: &str, found: f64) -> Result<(), Refusal> {
    within(key, found, 100.0, "0 to 100")
}

fn probability(key: &str, found: f64) -> Result<(), Refusal> {
    within(key, found, 1.0, "0 to 1")
}

fn correlated(key: &str, found: Option<f64>) -> Result<(), Refusal> {
    found.map_or(Ok(()), |found| probability(key, found))
}

fn within(key: &str, found: f64, max: f64, allowed: &str) -> Result<(), Refusal> {
    if (0.0..=max).contains(&found) {
        return Ok(());
    }
    Err(Refusal::invalid(key, found, allowed))
}

fn duration(key: &str, found: u64) -> Result<(), Refusal> {
    if found <= DURATION_NS_MAX {
        return Ok(());
    }
    Err(Refusal::invalid(
        key,
        found,
        format!("0 to {DURATION_NS_MAX} ns"),
    ))
}
