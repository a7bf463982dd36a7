//! Colours. Verdicts take hues of the palette of Okabe and Ito, which stay apart under common
//! colour blindness; each is also written out wherever it is used.

use groundwave_model::radio::Verdict;

/// Colour theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on a white page.
    #[default]
    Light,
    /// Light ink on a dark page.
    Dark,
}

/// Every colour of a picture, `#rrggbb`.
#[derive(Debug)]
pub(super) struct Palette {
    /// Distinguishes the gradients of two themes on one page.
    pub name: &'static str,
    pub page: &'static str,
    pub panel: &'static str,
    pub ink: &'static str,
    pub ink_soft: &'static str,
    pub grid: &'static str,
    pub sky: [&'static str; 2],
    pub ground: [&'static str; 2],
    pub ground_edge: &'static str,
    pub clutter: &'static str,
    pub earth: &'static str,
    pub sea: &'static str,
    pub zone: &'static str,
    pub intrusion: &'static str,
    pub on_verdict: &'static str,
    verdicts: [&'static str; 5],
}

impl Theme {
    pub(super) fn palette(self) -> &'static Palette {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

impl Palette {
    pub fn verdict(&self, verdict: Verdict) -> &'static str {
        self.verdicts[match verdict {
            Verdict::NoLink => 0,
            Verdict::Poor => 1,
            Verdict::Marginal => 2,
            Verdict::Good => 3,
            Verdict::Excellent => 4,
        }]
    }
}

/// The verdict hues are darkened until white text on them reads at 4.5 to 1.
static LIGHT: Palette = Palette {
    name: "light",
    page: "#ffffff",
    panel: "#f3f5f7",
    ink: "#1b2430",
    ink_soft: "#5a6675",
    grid: "#d5dce3",
    sky: ["#e9f1f8", "#fbfcfd"],
    ground: ["#b9c4a6", "#e3e6d9"],
    ground_edge: "#66754f",
    clutter: "#4f8a4c",
    earth: "#c9c8bb",
    sea: "#1f78b4",
    zone: "#4a90c4",
    intrusion: "#d55e00",
    on_verdict: "#ffffff",
    verdicts: ["#9b2f6b", "#b84a00", "#8a6100", "#00775a", "#00629b"],
};

static DARK: Palette = Palette {
    name: "dark",
    page: "#12171d",
    panel: "#1c232b",
    ink: "#e8edf2",
    ink_soft: "#9aa7b4",
    grid: "#2f3a45",
    sky: ["#16222e", "#131a21"],
    ground: ["#4d5a44", "#2b3329"],
    ground_edge: "#9bae84",
    clutter: "#6fae6a",
    earth: "#23282a",
    sea: "#56b4e9",
    zone: "#56b4e9",
    intrusion: "#ff8c42",
    on_verdict: "#10151a",
    verdicts: ["#e08dba", "#f0803c", "#e69f00", "#2bbf94", "#56b4e9"],
};
