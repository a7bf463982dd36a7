//! Digests of 6,000 links and of coverages over synthetic ground, to compare processors: every line is the
//! same on each.
//!
//! ```text
//! cargo run -p groundwave-model --example bits
//! ```

mod digests;

#[expect(clippy::print_stdout, reason = "the output of the program")]
fn main() {
    digests::lines().iter().for_each(|line| println!("{line}"));
}
