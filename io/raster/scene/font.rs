//! Text widths in the embedded font: DejaVu Sans 2.37, under the Bitstream Vera licence, which
//! allows embedding and redistribution.
//!
//! Browsers choose a font of their own for SVG. DejaVu Sans is one of the widest, so text laid out
//! by its widths fits in any usual font.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb::{Database, Source};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Family name of the embedded font.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// Advance of characters that the font lacks, em: those of wide scripts and pictographs.
const MISSING_EM: f64 = 1.1;

/// Regular and bold.
static FACES: LazyLock<[FontRef<'static>; 2]> = LazyLock::new(|| {
    [dejavu::sans::regular(), dejavu::sans::bold()]
        .map(|data| FontRef::new(data).expect("the embedded font is valid"))
});

/// The embedded faces, for the renderer.
pub(super) fn database() -> Database {
    let mut database = Database::new();
    for data in [dejavu::sans::regular(), dejavu::sans::bold()] {
        database.load_font_source(Source::Binary(Arc::new(data)));
    }
    database.set_serif_family(FAMILY);
    database.set_sans_serif_family(FAMILY);
    database
}

/// Width of `text`, em.
#[must_use]
pub fn width_em(text: &str, bold: bool) -> f64 {
    let face = &FACES[usize::from(bold)];
    let (size, location) = (Size::unscaled(), LocationRef::default());
    let advances = face.glyph_metrics(size, location);
    let units_per_em = f64::from(face.metrics(size, location).units_per_em);
    let glyphs = face.charmap();
    let advance = |c| {
        let glyph = glyphs.map(c)?;
        Some(f64::from(advances.advance_width(glyph)?) / units_per_em)
    };
    text.chars().map(|c| advance(c).unwrap_or(MISSING_EM)).sum()
}

/// `text`, cut with an ellipsis where it is wider than `width_max_em`.
#[must_use]
pub fn fit(text: &str, bold: bool, width_max_em: f64) -> String {
    if width_em(text, bold) <= width_max_em {
        return text.to_owned();
    }
    let mut prefix = String::new();
    let mut cut = String::from("…");
    for c in text.chars() {
        prefix.push(c);
        let longer = format!("{}…", prefix.trim_end());
        if width_em(&longer, bold) > width_max_em {
            break;
        }
        cut = longer;
    }
    cut
}

/// `words` joined by `separator` in lines of at most `width_max_em`; a wider word is cut.
#[must_use]
pub fn wrap(words: &[String], separator: &str, bold: bool, width_max_em: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let longer = lines.last().map(|line| format!("{line}{separator}{word}"));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(line)) if width_em(&longer, bold) <= width_max_em => *line = longer,
            _ => lines.push(fit(word, bold, width_max_em)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Advances of DejaVu Sans: 0.6362 em for a digit, 0.2778 em for i.
        assert!((width_em("0", false) - 0.6362).abs() < 1e-3);
        assert!((width_em("i", false) - 0.2778).abs() < 1e-3);
        assert!(width_em("Wave", true) > width_em("Wave", false));
        assert_eq!(width_em("漢", false), MISSING_EM);
    }

    #[test]
    fn latin_greek_and_cyrillic_letters_have_glyphs() {
        // Alphabets with their accented letters: Latin-1 to Latin Extended-A, Greek, Cyrillic.
        let letters = ['\u{c0}'..='\u{17f}', '\u{386}'..='\u{3ce}', '\u{400}'..='\u{4ff}'];
        let ascii = (' '..='~').chain("–—…≥≤°µ".chars());
        for c in letters.into_iter().flatten().chain(ascii).filter(|c| c.is_alphabetic()) {
            for face in &*FACES {
                assert!(face.charmap().map(c).is_some(), "{c} (U+{:04X})", u32::from(c));
            }
        }
    }

    #[test]
    fn text_is_cut_and_wrapped_to_its_width() {
        let width_em = width_em("Ramberget…", false);
        assert_eq!(fit("Ramberget, Hisingen", false, width_em), "Ramberget…");
        let words = ["one", "two", "three", "four"].map(str::to_owned);
        let lines = wrap(&words, " ", false, super::width_em("one two", false));
        assert_eq!(lines, ["one two", "three", "four"]);
    }

    #[test]
    fn long_words_are_cut_and_many_are_wrapped() {
        assert_eq!(fit("Alpha", true, 10.0), "Alpha");
        assert_eq!(fit("Alpha", true, 0.5), "…");
        for room in [2.0, 5.0, 9.0, 14.0] {
            let cut = fit("a rather long name", false, room);
            assert!(cut.ends_with('…') || cut.ends_with("name"));
            assert!(!cut.contains(" …"), "{cut}");
            assert!(width_em(&cut, false) <= room);
        }
        let words: Vec<_> = (0..20).map(|i| format!("word{i}")).collect();
        let lines = wrap(&words, ", ", false, 12.0);
        assert!(lines.len() > 5 && lines.iter().all(|line| width_em(line, false) <= 12.0));
        assert_eq!(lines.join(", "), words.join(", "));
        assert_eq!(wrap(&[], ", ", false, 12.0), Vec::<String>::new());
    }
}
