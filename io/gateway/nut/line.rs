//! Lines of the protocol: words, some of them in quotes.

/// Words of a line; a word in quotes may have blanks, and `\` before a quote or itself. `None` for a
/// quote without its end.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut letters = line.chars().peekable();
    loop {
        while letters.peek().is_some_and(|letter| letter.is_ascii_whitespace()) {
            letters.next();
        }
        let Some(&first) = letters.peek() else {
            return Some(words);
        };
        let mut word = String::new();
        if first == '"' {
            letters.next();
            loop {
                match letters.next()? {
                    '"' => break,
                    '\\' => word.push(letters.next()?),
                    letter => word.push(letter),
                }
            }
        } else {
            while let Some(letter) = letters.next_if(|letter| !letter.is_ascii_whitespace()) {
                word.push(letter);
            }
        }
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_told_apart_by_blanks_outside_quotes() {
        let cases: [(&str, &[&str]); 4] = [
            (r#"VAR ups battery.charge "90""#, &["VAR", "ups", "battery.charge", "90"]),
            (r#"UPS a "say \"hi\" \\ now""#, &["UPS", "a", r#"say "hi" \ now"#]),
            ("  BEGIN   LIST UPS ", &["BEGIN", "LIST", "UPS"]),
            (r#"VAR a b """#, &["VAR", "a", "b", ""]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        assert_eq!(words(r#"VAR a b "open"#), None);
        assert_eq!(words("\"\\"), None);
        assert_eq!(words("").unwrap(), [""; 0]);
    }
}
