//! Values of options of terrain.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use groundwave_model::terrain::Posts;
use groundwave_terrain::memory::MEMORY_MIN_MB;

/// Value of `--memory`, MB.
pub fn memory_mb(text: &str) -> Result<u64, String> {
    let number = text.parse().ok();
    number.filter(|mb| *mb >= MEMORY_MIN_MB).ok_or_else(|| {
        format!("found {text}, allowed whole numbers from {MEMORY_MIN_MB} on: one tile of 1 arc-second takes 52 MB")
    })
}

/// Values of `--posts`.
pub fn posts_parser() -> impl TypedValueParser<Value = Posts> {
    PossibleValuesParser::new(["interpolated", "nearest"]).map(|value| match value.as_str() {
        "nearest" => Posts::Nearest,
        _ => Posts::Interpolated,
    })
}
