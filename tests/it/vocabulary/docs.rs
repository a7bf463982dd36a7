//! Rules for docs, messages and pages.

use super::lines::{Line, Part};

/// Words that are refused. `floor` is allowed in `noise floor`.
const REFUSED: &str = "house houses room rooms door doors floor floors beat beats deed deeds stranger \
                       strangers wish wishes wished plant plants sighting sightings chore chores \
                       happening happenings voice pulse aloud";

/// Phrases that are refused in the same places.
const PHRASES: [&str; 4] = ["is no sound", "stands twice", "how-manieth", "is told of"];

/// Words that a doc comment may not begin with: a doc is a noun phrase, or a statement of an effect.
const BEGINNINGS: &str =
    "What Who Whom Whose Whether How Its Nobody Somebody Everybody Whoever Whatever";

/// Beginnings of bounds: `Maximum` and `Minimum` are the terms, with the unit.
const SUPERLATIVES: &str = "Longest Most Least Largest Smallest";

/// Verbs of persons.
const SPEECH: &str = "tells hears says asks knows wants believes";

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}

/// Words of a text in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// First word of a paragraph of a doc comment.
fn beginning<'a>(line: &Line<'a>) -> Option<&'a str> {
    match line.part {
        Part::Doc(doc, true) => doc.split_whitespace().next(),
        _ => None,
    }
}

/// Refused words and phrases in docs, literals and pages, and refused beginnings of docs.
pub fn is_refused(line: &Line<'_>) -> bool {
    let is_bad = |text: &str| {
        let text = text.to_lowercase().replace("noise floor", "");
        words(&text).any(|word| has(REFUSED, &word))
            || PHRASES.iter().any(|phrase| text.contains(phrase))
    };
    beginning(line).is_some_and(|word| has(BEGINNINGS, word)) || line.prose().any(is_bad)
}

/// `X is no Y` in docs and literals; `there is no Y`, `no longer` and `no more` are allowed. Messages
/// name the value found and those allowed.
pub fn negates_a_noun(line: &Line<'_>) -> bool {
    let negates = |text: &str| {
        let words: Vec<String> = words(text).collect();
        words.windows(3).enumerate().any(|(at, three)| {
            has("is are", &three[0])
                && three[1] == "no"
                && !has("longer more", &three[2])
                && (at == 0 || words[at - 1] != "there")
        })
    };
    line.part != Part::Page && line.prose().any(negates)
}

/// Docs in which software tells, hears, says, asks or knows.
pub fn lets_software_speak(line: &Line<'_>) -> bool {
    match line.part {
        Part::Doc(doc, _) => words(doc).any(|word| has(SPEECH, &word)),
        Part::Page | Part::Code(_) => false,
    }
}

/// Docs of bounds that begin with a superlative.
pub fn begins_with_superlative(line: &Line<'_>) -> bool {
    beginning(line).is_some_and(|word| has(SUPERLATIVES, word.trim_end_matches(',')))
}
