//! Reading reference vectors in tests.

/// The text of `tests/fixtures/itu/<name>`, compiled in.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/itu/", $name))
    };
}
pub(crate) use fixture;

/// The rows of a comma-separated table that consist of numbers only: comments, headings and
/// unit lines fall away. Callers assert how many rows they expect.
pub(crate) fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines()
        .filter_map(|line| line.split(',').map(|cell| cell.trim().parse().ok()).collect())
        .collect()
}

/// The rows of a file of the full reference sets.
pub(crate) fn shared_rows(relative: &str) -> Vec<Vec<f64>> {
    rows(&shared_text(relative))
}

/// The text of a file of the full reference sets.
pub(crate) fn shared_text(relative: &str) -> String {
    let bytes =
        std::fs::read(groundwave_test_data::shared(relative)).expect("the file is readable");
    // Some published headings are Latin-1.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Half a unit of the last printed decimal of `cell`, and a little for the halves.
pub(crate) fn printed_tolerance(cell: &str) -> f64 {
    let decimals = cell.trim().split_once('.').map_or(0, |(_, d)| d.len());
    0.501 * 10f64.powf(-f64::from(u32::try_from(decimals).unwrap()))
}

/// `|got / want - 1|`, or `|got|` where `want` is zero.
pub(crate) fn relative_error(got: f64, want: f64) -> f64 {
    if want == 0.0 { got.abs() } else { (got / want - 1.0).abs() }
}
