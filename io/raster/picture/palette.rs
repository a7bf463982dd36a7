//! Colours that stay apart under colour blindness.

use crate::scene::{Rgba, mix};

/// A colour scale from low to high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// Dark violet over green to yellow: lightness rises evenly.
    Viridis,
    /// Dark blue to yellow, made to look the same with and without red-green blindness.
    Cividis,
    /// Dark to light grey, for print.
    Greys,
}

/// A colour scale and its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// The colours.
    pub sequence: Sequence,
    /// `true` from light to dark.
    pub is_reversed: bool,
}

impl Palette {
    /// The default: viridis from dark to light.
    pub const VIRIDIS: Self = Self { sequence: Sequence::Viridis, is_reversed: false };

    /// All palettes by name; `_r` is the reverse, as in matplotlib.
    pub const ALL: [(&str, Self); 6] = [
        ("viridis", Self::VIRIDIS),
        ("viridis_r", Self::VIRIDIS.reversed()),
        ("cividis", Self::of(Sequence::Cividis)),
        ("cividis_r", Self::of(Sequence::Cividis).reversed()),
        ("greys", Self::of(Sequence::Greys)),
        ("greys_r", Self::of(Sequence::Greys).reversed()),
    ];

    const fn of(sequence: Sequence) -> Self {
        Self { sequence, is_reversed: false }
    }

    /// From its other end.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { is_reversed: !self.is_reversed, ..self }
    }

    /// The palette of this name.
    ///
    /// # Errors
    /// The names that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let entry = Self::ALL.iter().find(|(id, _)| *id == name);
        entry.map(|(_, palette)| *palette).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            names.join(", ")
        })
    }

    /// The colour at `t` in [0, 1].
    #[must_use]
    pub fn at(self, t: f64) -> Rgba {
        self.sequence.at(if self.is_reversed { 1.0 - t } else { t })
    }
}

impl Sequence {
    /// The colour at `t` in [0, 1].
    #[must_use]
    pub fn at(self, t: f64) -> Rgba {
        let stops = match self {
            Self::Viridis => &VIRIDIS[..],
            Self::Cividis => &CIVIDIS,
            Self::Greys => &GREYS,
        };
        let last = stops.len() - 1;
        let place = if t > 0.0 { t.min(1.0) } else { 0.0 } * last as f64;
        let index = (place as usize).min(last - 1);
        let opaque = |[r, g, b]: [u8; 3]| [r, g, b, 255];
        mix(opaque(stops[index]), opaque(stops[index + 1]), place - index as f64)
    }
}

/// Every sixteenth of viridis by S. van der Walt and N. Smith (matplotlib 2.0, CC0).
const VIRIDIS: [[u8; 3]; 17] = [
    [68, 1, 84],
    [72, 24, 106],
    [71, 45, 123],
    [66, 64, 134],
    [59, 82, 139],
    [51, 99, 141],
    [44, 114, 142],
    [38, 130, 142],
    [33, 145, 140],
    [31, 159, 136],
    [39, 173, 129],
    [61, 188, 116],
    [92, 200, 99],
    [129, 211, 77],
    [170, 220, 50],
    [213, 226, 26],
    [253, 231, 37],
];

/// Every sixteenth of cividis (Nuñez, Anderton, Renslow, "Optimizing colormaps with
/// consideration for color vision deficiency", PLoS ONE 13(7), 2018; CC0).
const CIVIDIS: [[u8; 3]; 17] = [
    [0, 34, 78],
    [0, 46, 106],
    [26, 56, 111],
    [50, 67, 109],
    [67, 78, 108],
    [83, 90, 109],
    [97, 101, 111],
    [111, 112, 115],
    [125, 124, 120],
    [139, 135, 120],
    [154, 147, 118],
    [170, 160, 115],
    [187, 173, 109],
    [204, 186, 100],
    [221, 200, 88],
    [239, 215, 72],
    [254, 232, 56],
];

/// Ends of a scale of greys that stay apart from ink and page.
const GREYS: [[u8; 3]; 2] = [[38, 38, 38], [242, 242, 242]];

/// Colours of categories that stay apart.
pub(super) const CATEGORY_COUNT: usize = 15;

/// Colours of categories. The first seven are the palette of M. Okabe and K. Ito, "Color
/// universal design" (2008), without black, ordered so that the first few differ most in
/// lightness as well. The rest are shades of those and greys, chosen one by one to stay furthest
/// from all chosen before and from bare ground, the worst kind of colour vision counted.
const CATEGORIES: [[u8; 3]; CATEGORY_COUNT] = [
    [0, 114, 178],
    [230, 159, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [213, 94, 0],
    [240, 228, 66],
    [96, 42, 0],
    [0, 68, 107],
    [95, 95, 95],
    [238, 191, 153],
    [115, 202, 178],
    [92, 54, 75],
    [108, 103, 30],
    [40, 40, 40],
];

/// A colour for the category of this number. From the sixteenth on they come again:
/// [`colours_apart`](super::colours_apart) gives areas that touch different ones.
#[must_use]
pub fn category(index: usize) -> Rgba {
    let [r, g, b] = CATEGORIES[index % CATEGORIES.len()];
    [r, g, b, 255]
}

/// Colours of the verdicts on a link, from none to excellent: those of Okabe and Ito, the blue
/// darker so that it stays apart from green without blue cones. "No link" is a faint grey: it
/// covers most of many maps and must not shout.
pub const VERDICTS: [Rgba; 5] = [
    [120, 120, 128, 90],
    [213, 94, 0, 255],
    [240, 228, 66, 255],
    [0, 158, 115, 255],
    [0, 90, 160, 255],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::over;

    /// Linear light of an sRGB colour (IEC 61966-2-1).
    fn linear(colour: Rgba) -> [f64; 3] {
        [0, 1, 2].map(|i| {
            let v = f64::from(colour[i]) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum())
    }

    /// CIE 1976 L*a*b* of linear light, white D65.
    fn lab(light: [f64; 3]) -> [f64; 3] {
        const XYZ: [[f64; 3]; 3] =
            [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let [x, y, z] = times(XYZ, light.map(|v| v.clamp(0.0, 1.0)));
        let [x, y, z] = [x / 0.9505, y, z / 1.089]
            .map(|v: f64| if v > 0.008_856 { v.cbrt() } else { 7.787 * v + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn scales_get_lighter_all_the_way() {
        for scale in [Sequence::Viridis, Sequence::Cividis, Sequence::Greys] {
            let steps: Vec<f64> =
                (0..=64).map(|i| lab(linear(scale.at(f64::from(i) / 64.0)))[0]).collect();
            assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{scale:?}");
        }
        assert_eq!(Sequence::Viridis.at(f64::NAN), [68, 1, 84, 255]);
        assert_eq!(Sequence::Viridis.at(7.0), [253, 231, 37, 255]);
        let reversed = Palette::named("viridis_r").unwrap();
        assert_eq!(reversed.at(0.0), [253, 231, 37, 255]);
        assert!(Palette::named("jet").unwrap_err().contains("cividis"));
    }

    /// Machado, Oliveira, Fernandes, "A physiologically-based model for simulation of color
    /// vision deficiency" (2009), severity 1.0: protanopia, deuteranopia, tritanopia.
    const BLIND: [[[f64; 3]; 3]; 3] = [
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    #[test]
    fn verdicts_and_sites_stay_apart_without_full_colour_vision() {
        let sites: Vec<Rgba> = (0..15).map(category).collect();
        let verdicts = VERDICTS.map(|colour| over(super::super::paper::LAND, colour, 1.0));
        // A difference of 2.3 is just seen; those of Okabe and Ito alone reach 16.
        for (colours, least) in [(&verdicts[..], 20.0), (&sites[..7], 16.0), (&sites[..], 9.0)] {
            for matrix in BLIND {
                for (i, &a) in colours.iter().enumerate() {
                    for &b in &colours[i + 1..] {
                        let [p, q] = [a, b].map(|c| lab(times(matrix, linear(c))));
                        let gap = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt();
                        assert!(gap > least, "{a:?} and {b:?} are {gap} apart");
                    }
                }
            }
        }
    }
}
