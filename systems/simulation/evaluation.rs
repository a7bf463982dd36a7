//! Logs of programs that computed links otherwise.

use std::io::Read;

use groundwave_engine::log::{Header, Reader};
use groundwave_model::EVALUATION;

/// Input of the header of a log with the number of the evaluation of links.
pub const INPUT: &str = "evaluation";

/// Evaluation of logs that do not state it.
const UNSTATED: &str = "2";

/// Evaluation of links by which a log was recorded; `None` for a world without links.
#[must_use]
pub fn recorded(header: &Header) -> Option<&str> {
    let inputs = &header.inputs;
    let stated = inputs.get(INPUT).map_or(UNSTATED, String::as_str);
    inputs.contains_key("terrain").then_some(stated)
}

/// Leaves digests and checkpoints of a log aside where links were computed otherwise ([`EVALUATION`]); `true`
/// where they count.
pub fn compare<R: Read>(log: &mut Reader<R>) -> bool {
    let own = EVALUATION.to_string();
    let Some(recorded) = recorded(log.header()).filter(|recorded| *recorded != own) else {
        return true;
    };
    tracing::warn!(
        "the log is of evaluation {recorded} of links, this program has {own}: links are computed anew, digests \
         are not compared"
    );
    log.leave_results();
    false
}
