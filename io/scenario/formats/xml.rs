//! Elements of an XML document one after the other, with their text decoded: what formats of tracks
//! and devices need. Entities that a document declares are not expanded; a reference to one is an error.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::Format;
use super::error::{Fault, FormatError, Location, quoted};
use super::limits::DEPTH_MAX;
use super::text::{Lines, text};

/// Start or end of an element.
pub(super) enum Tag<'x> {
    /// Start, with the attributes.
    Start(BytesStart<'x>),
    /// End, with the local name and the text directly in the element, trimmed.
    End(String, String),
}

/// The tags of a document in order.
pub(super) struct Tags<'x> {
    format: &'static Format,
    reader: Reader<&'x [u8]>,
    lines: Lines,
    /// Open elements with their texts, outermost first.
    open: Vec<(String, String)>,
    /// Elements read.
    count: usize,
}

impl<'x> Tags<'x> {
    /// The tags of a document of a format.
    ///
    /// # Errors
    /// A document that is not text of a bounded size.
    pub(super) fn new(format: &'static Format, bytes: &'x [u8]) -> Result<Self, FormatError> {
        let text = text(format, bytes)?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Ok(Self { format, reader, lines: Lines::of(text), open: Vec::new(), count: 0 })
    }

    /// Line, from 1, of what was read last.
    pub(super) fn line(&self) -> usize {
        self.lines.line(usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX))
    }

    /// Local name of the open element `above` levels above the innermost one; empty where there is none.
    pub(super) fn open(&self, above: usize) -> &str {
        let index = self.open.len().checked_sub(above + 1);
        index.map_or("", |index| self.open[index].0.as_str())
    }

    /// The error of an invalid part at the present place.
    pub(super) fn invalid(&self, actual: &str, allowed: impl Into<String>) -> FormatError {
        let location = Location::line(self.line());
        Fault::new("", actual, allowed).at(self.format, location)
    }

    /// The next tag; `None` at the end of the document.
    ///
    /// # Errors
    /// [`FormatError`] for text that is not well-formed, elements too deep, and references to declared entities.
    pub(super) fn next(&mut self) -> Result<Option<Tag<'x>>, FormatError> {
        loop {
            let event = self.reader.read_event();
            let event = event.map_err(|error| {
                let offset = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
                let fault = Fault::new("", error.to_string(), "well-formed XML");
                fault.at(self.format, Location::line(self.lines.line(offset)))
            })?;
            let top = self.open.last_mut().map(|(_, text)| text);
            match (event, top) {
                (Event::Start(start), _) => {
                    if self.open.len() >= DEPTH_MAX {
                        let allowed = format!("{DEPTH_MAX} levels");
                        return Err(self.invalid("elements too deep", allowed));
                    }
                    self.count += 1;
                    self.open.push((start.local_name().as_ref().to_owned(), String::new()));
                    return Ok(Some(Tag::Start(start)));
                }
                (Event::End(_), _) => {
                    let (name, text) = self.open.pop().unwrap_or_default();
                    return Ok(Some(Tag::End(name, text.trim().to_owned())));
                }
                (Event::Text(text), Some(top)) => top.push_str(&text.xml10_content()),
                (Event::CData(text), Some(top)) => top.push_str(&text.xml10_content()),
                (Event::GeneralRef(reference), Some(top)) => match resolved(&reference) {
                    Some(c) => top.push(c),
                    None => {
                        let Fault { found: actual, allowed, .. } = unknown_entity(&reference);
                        return Err(self.invalid(&actual, allowed));
                    }
                },
                (Event::DocType(_), Some(_)) => {
                    return Err(self.invalid("a document type in an element", "before the first"));
                }
                (Event::Eof, None) if self.count > 0 => return Ok(None),
                (Event::Eof, _) => {
                    let allowed = "the end of every element first";
                    return Err(self.invalid("the end of the document", allowed));
                }
                _ => {}
            }
        }
    }
}

/// The value of an attribute, references decoded; `None` where it is absent or blank.
pub(super) fn attribute(start: &BytesStart<'_>, key: &str) -> Option<String> {
    let attribute = start.try_get_attribute(key).ok()??;
    let text = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned();
    (!text.trim().is_empty()).then_some(text)
}

/// The value of an attribute as a finite number.
pub(super) fn number(start: &BytesStart<'_>, key: &str) -> Option<f64> {
    let number = attribute(start, key)?.trim().parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

/// The character a reference stands for: one of the five that XML has, or a numbered one.
pub(super) fn resolved(reference: &BytesRef<'_>) -> Option<char> {
    if let Some(c) = reference.resolve_char_ref().ok()? {
        return Some(c);
    }
    match reference.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

pub(super) fn unknown_entity(reference: &BytesRef<'_>) -> Fault {
    let name: &str = reference.as_ref();
    let actual = format!("the entity {}", quoted(name));
    Fault::new("", actual, "amp, lt, gt, quot, apos, and numbered characters")
}
