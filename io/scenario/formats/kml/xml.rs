//! XML elements with one attribute and text, bounded in depth and number: what KML needs.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::super::error::{Fault, Location};
use super::super::limits::{DEPTH_MAX, ELEMENTS_MAX};
use super::super::text::line_of;
use super::super::xml::{resolved, unknown_entity};

/// An element with its contents.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Name without prefix.
    pub(super) name: String,
    /// Value of the attribute `name`; empty if absent.
    pub(super) label: String,
    /// Text directly in the element, pieces joined.
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The first child of this name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of this name.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// Names and values of its extended data, typed or not.
    pub(super) fn data(&self) -> Vec<(&str, &str)> {
        let mut data = Vec::new();
        let extended = self.children.iter().filter(|child| child.name == "ExtendedData");
        for child in extended.flat_map(|extended| &extended.children) {
            match child.name.as_str() {
                "Data" => {
                    let value = child.text_of("value").unwrap_or_default();
                    data.push((child.label.as_str(), value));
                }
                "SchemaData" => {
                    for simple in child.children.iter().filter(|child| child.name == "SimpleData") {
                        data.push((simple.label.as_str(), simple.text.as_str()));
                    }
                }
                _ => {}
            }
        }
        data
    }
}

/// A part of a document.
pub(super) enum Part<'x> {
    /// Start of an element, to be taken, skipped or entered.
    Start(BytesStart<'x>),
    /// End of an entered element.
    End,
    /// End of the document.
    Eof,
}

/// The parts of a document in order.
pub(super) struct Scanner<'x> {
    reader: Reader<&'x [u8]>,
    text: &'x str,
}

impl<'x> Scanner<'x> {
    pub(super) fn new(text: &'x str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, text }
    }

    /// Line, from 1, of what was read last.
    pub(super) fn line(&self) -> u64 {
        self.line_at(self.offset())
    }

    /// Bytes read.
    pub(super) fn offset(&self) -> u64 {
        self.reader.buffer_position()
    }

    /// Line, from 1, of an offset.
    pub(super) fn line_at(&self, offset: u64) -> u64 {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        line_of(&self.text.as_bytes()[..offset.min(self.text.len())])
    }

    /// A fault and the place of what was read last.
    fn here(&self, fault: Fault) -> (Location, Fault) {
        (Location::new(self.line(), ""), fault)
    }

    fn event(&mut self) -> Result<Event<'x>, (Location, Fault)> {
        self.reader.read_event().map_err(|error| {
            let place = Location::new(self.line_at(self.reader.error_position()), "");
            (place, Fault::new("", error.to_string(), "well-formed XML"))
        })
    }

    /// The next part; text between elements is passed over.
    pub(super) fn next(&mut self) -> Result<Part<'x>, (Location, Fault)> {
        loop {
            match self.event()? {
                Event::Start(start) => return Ok(Part::Start(start)),
                Event::End(_) => return Ok(Part::End),
                Event::Eof => return Ok(Part::Eof),
                _ => {}
            }
        }
    }

    /// Passes over the element that began.
    pub(super) fn skip(&mut self) -> Result<(), (Location, Fault)> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Part::Start(_) => depth += 1,
                Part::End => depth -= 1,
                Part::Eof => return Err(self.cut()),
            }
        }
        Ok(())
    }

    /// Takes the element that began, with its contents.
    pub(super) fn take(&mut self, start: &BytesStart<'x>) -> Result<Element, (Location, Fault)> {
        let mut open = vec![self.begin(start)?];
        let mut count = 1;
        loop {
            let event = self.event()?;
            let Some(top) = open.last_mut() else {
                return Err(self.cut());
            };
            match event {
                Event::Start(start) => {
                    count += 1;
                    if count > ELEMENTS_MAX || open.len() >= DEPTH_MAX {
                        let actual = "too many or too deep elements";
                        let allowed = format!("{ELEMENTS_MAX} elements, {DEPTH_MAX} deep");
                        return Err(self.here(Fault::new("", actual, allowed)));
                    }
                    let element = self.begin(&start)?;
                    open.push(element);
                }
                Event::End(_) => {
                    let element = open.pop().unwrap_or_default();
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Ok(element),
                    }
                }
                Event::Text(text) => top.text.push_str(&text.xml10_content()),
                Event::CData(text) => top.text.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => match resolved(&reference) {
                    Some(c) => top.text.push(c),
                    None => return Err(self.here(unknown_entity(&reference))),
                },
                Event::Eof => return Err(self.cut()),
                _ => {}
            }
        }
    }

    fn begin(&self, start: &BytesStart<'x>) -> Result<Element, (Location, Fault)> {
        let bad = |what: String| self.here(Fault::new("", what, "well-formed XML"));
        let label = start.try_get_attribute("name").map_err(|error| bad(error.to_string()))?;
        let label = label
            .map(|label| label.normalized_value(XmlVersion::Implicit1_0))
            .transpose()
            .map_err(|error| bad(error.to_string()))?;
        Ok(Element {
            name: start.local_name().as_ref().to_owned(),
            label: label.map(|label| label.into_owned()).unwrap_or_default(),
            ..Element::default()
        })
    }

    /// Unexpected end of the document.
    pub(super) fn cut(&self) -> (Location, Fault) {
        self.here(Fault::new("", "the end of the document", "the end of every element first"))
    }
}
