//! Lines of sources and pages.

/// Part of a file that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Page in Markdown.
    Page,
    /// Doc comment of Rust: its text, `true` for the first line of a paragraph.
    Doc(&'a str, bool),
    /// Code of Rust; `true` for the lines from the attribute of a test to its name.
    Code(bool),
}

/// A line with its context.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Number, from 1.
    pub number: usize,
    /// Text without the white space around it.
    pub text: &'a str,
    /// Part of the file.
    pub part: Part<'a>,
}

impl<'a> Line<'a> {
    /// The doc comment, or the string literals that begin and end in the line; the line of a page.
    /// Names in documents and logs (`#[serde(rename = ..)]`) are left out.
    pub fn prose(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (whole, code) = match self.part {
            Part::Page => (Some(self.text), ""),
            Part::Doc(doc, _) => (Some(doc), ""),
            Part::Code(_) if self.text.starts_with("#[serde(") => (None, ""),
            Part::Code(_) => (None, self.text),
        };
        whole.into_iter().chain(code.split('"').skip(1).step_by(2))
    }
}

/// The lines of a text in order.
pub fn lines(text: &str, is_rust: bool) -> impl Iterator<Item = Line<'_>> {
    let (mut in_paragraph, mut after_test) = (false, false);
    text.lines().enumerate().map(move |(at, line)| {
        let text = line.trim();
        let doc = text.strip_prefix("///").or(text.strip_prefix("//!"));
        let part = match doc {
            _ if !is_rust => Part::Page,
            Some(doc) => {
                let begins = !in_paragraph;
                in_paragraph = !doc.trim().is_empty();
                Part::Doc(doc, begins)
            }
            None => {
                in_paragraph = false;
                after_test |= text.starts_with("#[") && text.ends_with("test]");
                let is_test = after_test;
                after_test &= !text.contains("fn ");
                Part::Code(is_test)
            }
        };
        Line { number: at + 1, text, part }
    })
}
