//! Services behind the handlers: tokens, passwords, rate limits, metrics, kernel tables.

pub mod kernel;
pub mod metrics;
pub mod passwords;
pub mod rate_limits;
pub mod tokens;
