//! Layout of the text below the options of a command: paragraphs of one line each, which are broken at the
//! width of the terminal; command lines and rows of lists that fit 80 columns, and can be pasted.

use clap::Command;

/// Maximum length of a line that no terminal breaks, characters.
const COLUMNS_MAX: usize = 79;
/// Indentation of the rest of a command line, spaces.
const REST_INDENT: usize = 6;

/// The command and those below it, with their texts laid out.
#[must_use]
pub fn laid_out(command: Command) -> Command {
    let text = command.get_after_help().map(|text| layout(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(laid_out)
}

/// Lays a text out: unindented lines that follow each other become a paragraph, indented ones are broken.
fn layout(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    // The last line is a paragraph that goes on.
    let mut is_open = false;
    for line in text.lines() {
        if line.starts_with(' ') {
            lines.push(if is_command_line(line) { broken(line) } else { hanging(line) });
            is_open = false;
        } else if is_open && !line.is_empty() {
            let paragraph = lines.last_mut().expect("a paragraph is open");
            *paragraph = format!("{paragraph} {line}");
        } else {
            lines.push(line.to_owned());
            is_open = !line.is_empty();
        }
    }
    lines.join("\n")
}

fn is_command_line(line: &str) -> bool {
    line.split_whitespace().any(|word| word.starts_with("groundwave"))
}

/// A command line, broken before options and words by a backslash as shells read it; never within
/// quotation marks.
fn broken(line: &str) -> String {
    if line.chars().count() <= COLUMNS_MAX {
        return line.to_owned();
    }
    let mut lines = Vec::new();
    // A comment cannot be continued: it stands above.
    let (call, comment) = line.split_once(" # ").unwrap_or((line, ""));
    if !comment.is_empty() {
        let indent = line.len() - line.trim_start().len();
        lines.push(format!("{:indent$}# {}", "", comment.trim()));
    }
    let mut rest = call.trim_end().to_owned();
    while rest.chars().count() > COLUMNS_MAX {
        let Some(end) = last_break(&rest, COLUMNS_MAX - 2) else { break };
        lines.push(format!("{} \\", &rest[..end]));
        rest = format!("{:REST_INDENT$}{}", "", rest[end..].trim_start());
    }
    lines.push(rest);
    lines.join("\n")
}

/// Place of the last blank of a line before the column, outside of quotation marks and of the indentation;
/// before an option where there is one, so that it stays with its value.
fn last_break(line: &str, column: usize) -> Option<usize> {
    let mut mark = None;
    let mut has_words = false;
    let (mut option, mut word) = (None, None);
    for (count, (at, letter)) in line.char_indices().enumerate() {
        if count > column {
            break;
        }
        match (mark, letter) {
            (Some(own), _) if own == letter => mark = None,
            (None, '"' | '\'') => mark = Some(letter),
            (None, ' ') if has_words => {
                word = Some(at);
                if line[at..].starts_with(" -") {
                    option = Some(at);
                }
            }
            _ => {}
        }
        has_words |= letter != ' ';
    }
    option.or(word)
}

/// A row of a list, whose rest stands below its last column.
fn hanging(line: &str) -> String {
    let columns = line.trim_start().rfind("  ").map(|at| at + 2).unwrap_or(0);
    let indent = line.len() - line.trim_start().len() + columns;
    let mut lines = vec![String::new()];
    let mut length = 0;
    // Blanks between columns stay.
    for piece in line.split_inclusive(' ') {
        let count = piece.trim_end().chars().count();
        if length + count > COLUMNS_MAX && length > indent {
            let last = lines.last_mut().expect("lines have one");
            last.truncate(last.trim_end().len());
            lines.push(" ".repeat(indent));
            length = indent;
        }
        lines.last_mut().expect("lines have one").push_str(piece);
        length += piece.chars().count();
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_command_lines_are_broken_as_shells_read_them() {
        let line = "  groundwave link 57.714,11.937,30 57.730,11.950,1.5 --radio lora_868_eu --surroundings \
                    open,suburban --indoor outdoors,traditional";
        let text = layout(&format!("Examples:\n{line}"));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "{text}");
        assert!(text.contains(" \\\n      --surroundings open,suburban"), "{text}");
        let words = |text: &str| -> Vec<String> {
            text.replace("\\\n", "").split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(words(text.strip_prefix("Examples:\n").unwrap()), words(line));
    }

    #[test]
    fn comment_of_a_long_command_line_stands_above_it() {
        let options = "--clear-below margin=-10 --products margin,best_server";
        let line =
            format!("  groundwave sweep examples/coverage.toml {options}   # below the threshold");
        let text = layout(&line);
        assert!(text.starts_with("  # below the threshold\n  groundwave sweep "), "{text}");
        assert!(text.contains(" \\\n      --products"), "{text}");
    }

    #[test]
    fn quoted_words_stay_whole() {
        let quoted = format!("'{}'", "{ a: 1 } ".repeat(12));
        let text = layout(&format!("  groundwave run --set {quoted} --json"));
        assert!(text.contains(&quoted), "{text}");
    }

    #[test]
    fn paragraphs_become_lines_and_rows_hang() {
        let row = format!("  name  rpl  {}", "word ".repeat(20));
        let text = layout(&format!("One\ntwo.\n\nList:\n{row}\nThree"));
        assert!(text.starts_with("One two.\n\nList:\n  name  rpl  word"), "{text}");
        assert!(text.contains("word\n             word"), "{text}");
        assert!(text.ends_with("\nThree"), "{text}");
    }
}
