//! The picture as a reader of SVG sees it.

mod cases;
mod extremes;
mod structure;
mod words;
mod xml;
