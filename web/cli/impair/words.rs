//! The words of an impairment as options.

use clap::Args;
use groundwave_io::impair::words::Words;

/// What to do to traffic. With `--keep`, `none` takes away what is there.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Impairment")]
pub struct WordArgs {
    /// One-way delay: 50ms
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,

    /// Deviation from the delay: 5ms
    #[arg(long, value_name = "TIME")]
    jitter: Option<String>,

    /// How delays deviate: uniform, normal, pareto, or the name of a table of the daemon's
    #[arg(long, value_name = "NAME")]
    distribution: Option<String>,

    /// Correlation of a delay with the one before: 25%
    #[arg(long, value_name = "SHARE")]
    delay_correlation: Option<String>,

    /// Packets dropped: 1%
    #[arg(long, value_name = "PERCENT")]
    loss: Option<String>,

    /// Correlation of a drop with the draw before: 25%
    #[arg(long, value_name = "SHARE")]
    loss_correlation: Option<String>,

    /// Two-state loss, as four shares "p r 1-h 1-k"; the last two may be left out
    #[arg(long, value_name = "SHARES")]
    loss_gemodel: Option<String>,

    /// Ceiling of the data rate: 10mbit
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,

    /// Bucket of the rate: 32kb [default: 2 * bit/s / 1000 bytes, at least one Ethernet frame]
    #[arg(long, value_name = "SIZE")]
    burst: Option<String>,

    /// Bound of the queue: 100packets, 64kb
    #[arg(long, value_name = "LIMIT")]
    queue: Option<String>,

    /// Packets sent twice: 0.1%
    #[arg(long, value_name = "PERCENT")]
    duplicate: Option<String>,

    /// Correlation of a duplication with the draw before: 25%
    #[arg(long, value_name = "SHARE")]
    duplicate_correlation: Option<String>,

    /// Of the candidates, packets that overtake: 25%
    #[arg(long, value_name = "PERCENT")]
    reorder: Option<String>,

    /// Every how many packets one is a candidate to overtake [default: 1]
    #[arg(long, value_name = "PACKETS")]
    gap: Option<String>,

    /// Correlation of an overtaking with the draw before: 50%
    #[arg(long, value_name = "SHARE")]
    reorder_correlation: Option<String>,

    /// Packets given a single-bit error: 0.01%
    #[arg(long, value_name = "PERCENT")]
    corrupt: Option<String>,

    /// Correlation of an error with the draw before: 25%
    #[arg(long, value_name = "SHARE")]
    corrupt_correlation: Option<String>,
}

impl WordArgs {
    /// The words that were said.
    pub fn words(self) -> Words {
        Words {
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
