//! Rules for names in code.

use super::lines::{Line, Part};

/// Participles that name no quantity or thing.
const PARTICIPLES: [&str; 18] = [
    "found", "told", "held", "made", "asked", "kept", "known", "shown", "left", "done", "wanted",
    "heard", "said", "seen", "gone", "sent", "taken", "given",
];

/// Words of speech in names of tests: these are `condition_gives_result`.
const SPEECH: [&str; 6] = ["told", "heard", "says", "tells", "knows", "asks"];

/// Patterns between `let` and `=` in a line of code. Patterns of fields are left out: their names are
/// those of the structure.
fn patterns(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices("let ")
        .filter(|(at, _)| !code[..*at].ends_with(|letter: char| letter.is_alphanumeric()))
        .map(|(at, word)| &code[at + word.len()..])
        .map(|rest| rest.split(" =").next().unwrap_or(rest))
        .filter(|pattern| !pattern.contains('{'))
}

/// `let` bindings named by a participle.
pub fn binds_participle(line: &Line<'_>) -> bool {
    let is_code = matches!(line.part, Part::Code(_)) && !line.text.starts_with("//");
    is_code
        && patterns(line.text).any(|pattern| {
            pattern
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| PARTICIPLES.contains(&word))
        })
}

/// Tests whose names have words of speech.
pub fn is_test_named_by_speech(line: &Line<'_>) -> bool {
    line.part == Part::Code(true)
        && line
            .text
            .split_once("fn ")
            .and_then(|(_, rest)| rest.split_once('('))
            .is_some_and(|(name, _)| name.split('_').any(|word| SPEECH.contains(&word)))
}
