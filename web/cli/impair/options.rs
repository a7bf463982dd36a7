//! Options of an impairment.

use clap::Args;
use groundwave_io_impair::impairment_spec::ImpairmentSpec;

/// Options of an impairment; with `--keep`, `none` removes one.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Impairment")]
pub struct ImpairmentArgs {
    /// One-way delay: 50ms
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,

    /// Jitter, deviation from the delay: 5ms
    #[arg(long, value_name = "TIME")]
    jitter: Option<String>,

    /// Distribution of the jitter: uniform, normal, pareto, or a table of the daemon
    #[arg(long, value_name = "NAME")]
    distribution: Option<String>,

    /// Correlation of successive delays: 25%
    #[arg(long, value_name = "SHARE")]
    delay_correlation: Option<String>,

    /// Packet loss: 1%
    #[arg(long, value_name = "PERCENT")]
    loss: Option<String>,

    /// Correlation of successive losses: 25%
    #[arg(long, value_name = "SHARE")]
    loss_correlation: Option<String>,

    /// Gilbert-Elliott loss, four fractions "p r 1-h 1-k"; the last two are optional
    #[arg(long, value_name = "SHARES")]
    loss_gemodel: Option<String>,

    /// Data rate limit: 10mbit
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,

    /// Burst of the rate limit: 32kb [default: 2 * bit/s / 1000 bytes, at least one Ethernet frame]
    #[arg(long, value_name = "SIZE")]
    burst: Option<String>,

    /// Queue limit: 100packets, 64kb
    #[arg(long, value_name = "LIMIT")]
    queue: Option<String>,

    /// Packet duplication: 0.1%
    #[arg(long, value_name = "PERCENT")]
    duplicate: Option<String>,

    /// Correlation of successive duplications: 25%
    #[arg(long, value_name = "SHARE")]
    duplicate_correlation: Option<String>,

    /// Packet reordering, of each --gap-th packet: 25%
    #[arg(long, value_name = "PERCENT")]
    reorder: Option<String>,

    /// Packets between candidates of reordering [default: 1]
    #[arg(long, value_name = "PACKETS")]
    gap: Option<String>,

    /// Correlation of successive reorderings: 50%
    #[arg(long, value_name = "SHARE")]
    reorder_correlation: Option<String>,

    /// Packet corruption by a single-bit error: 0.01%
    #[arg(long, value_name = "PERCENT")]
    corrupt: Option<String>,

    /// Correlation of successive corruptions: 25%
    #[arg(long, value_name = "SHARE")]
    corrupt_correlation: Option<String>,
}

impl ImpairmentArgs {
    /// The options given.
    pub fn words(self) -> ImpairmentSpec {
        ImpairmentSpec {
            delay: self.delay,
            jitter: self.jitter,
            distribution: self.distribution,
            delay_correlation: self.delay_correlation,
            loss: self.loss,
            loss_correlation: self.loss_correlation,
            loss_gemodel: self.loss_gemodel,
            rate: self.rate,
            burst: self.burst,
            queue: self.queue,
            duplicate: self.duplicate,
            duplicate_correlation: self.duplicate_correlation,
            reorder: self.reorder,
            gap: self.gap,
            reorder_correlation: self.reorder_correlation,
            corrupt: self.corrupt,
            corrupt_correlation: self.corrupt_correlation,
        }
    }
}
