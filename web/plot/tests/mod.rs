//! The picture as a reader of SVG sees it.

mod cases;
mod extremes;
mod quantities;
mod structure;
mod xml;
