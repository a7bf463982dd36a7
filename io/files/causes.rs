//! Text of an error with its causes.

use std::error::Error;

/// An error and its causes, outermost first: `a: b: c`.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
