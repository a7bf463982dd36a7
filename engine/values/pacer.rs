//! Clocks of the outside world.

/// Clocks of the paced loop. `io` gives it the machine's clocks.
pub trait Pacer: Send + 'static {
    /// Nanoseconds since an arbitrary moment; never falls.
    fn monotonic_ns(&mut self) -> u64;
    /// Nanoseconds since the Unix epoch.
    fn wall_ns(&mut self) -> u64;
}
