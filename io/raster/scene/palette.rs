//! Palettes of pictures.

use rayon::prelude::*;

/// Colours that a palette holds.
const PALETTE_MAX: usize = 256;

/// Pixels whose colours agree in the upper six bits of each channel: their number, the colour of most
/// of them, if one has more than half (R. S. Boyer, J. S. Moore, "MJRTY", 1981), else of one of them,
/// and its lead. Whole numbers, because memory for zeros of those is taken only where it is written.
type Bin = [u32; 3];

/// Least number of pixels that a thread takes: a few rows of a map.
const PIXELS_MIN: usize = 1 << 14;

/// Number of bins.
const BINS: usize = 1 << 18;

fn bin([r, g, b, _]: [u8; 4]) -> usize {
    (usize::from(r) >> 2) << 12 | (usize::from(g) >> 2) << 6 | usize::from(b) >> 2
}

/// A palette and the index of each pixel; `None` for a picture that is not opaque. Colours in one
/// bin become one; of more than 256 bins the fullest stay, the others take the nearest.
pub(super) fn indexed(pixels: &[[u8; 4]]) -> Option<(Vec<[u8; 3]>, Vec<u8>)> {
    let mut bins: Vec<Bin> = vec![[0; 3]; BINS];
    let mut used = Vec::new();
    let mut is_opaque = true;
    // Runs of one colour are counted at once.
    for run in pixels.chunk_by(|one, next| one == next) {
        is_opaque &= run[0][3] == 255;
        let (at, colour, many) = (bin(run[0]), u32::from_le_bytes(run[0]), run.len() as u32);
        let [count, most, lead] = &mut bins[at];
        if *count == 0 {
            used.push(at);
        }
        *count += many;
        if *most == colour {
            *lead += many;
        } else if *lead >= many {
            *lead -= many;
        } else {
            (*most, *lead) = (colour, many - *lead);
        }
    }
    if !is_opaque {
        return None;
    }
    let colour = |at: usize| {
        let [r, g, b, _] = bins[at][1].to_le_bytes();
        [r, g, b]
    };
    used.sort_by_key(|&at| (u32::MAX - bins[at][0], at));
    let size = used.len().min(PALETTE_MAX);
    let palette: Vec<[u8; 3]> = used[..size].iter().map(|&at| colour(at)).collect();
    let mut indices = vec![0_u8; BINS];
    for (number, &at) in used.iter().enumerate() {
        let index = if number < size { number } else { nearest(&palette, colour(at)) };
        indices[at] = index as u8;
    }
    let index = |pixel: &[u8; 4]| indices[bin(*pixel)];
    let bytes = pixels.par_iter().with_min_len(PIXELS_MIN).map(index).collect();
    Some((palette, bytes))
}

/// Index of the nearest colour, the first of equals.
fn nearest(palette: &[[u8; 3]], colour: [u8; 3]) -> usize {
    let distance = |entry: &[u8; 3]| -> u32 {
        let parts = entry.iter().zip(colour);
        parts.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let all = palette.iter().enumerate();
    all.min_by_key(|(_, entry)| distance(entry)).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_to_the_bit_and_many_are_near() {
        let few = [[255, 255, 255, 255], [1, 2, 3, 255], [254, 0, 7, 255], [1, 2, 3, 255]];
        let (palette, bytes) = indexed(&few).unwrap();
        let back: Vec<_> = bytes.iter().map(|&at| palette[usize::from(at)]).collect();
        assert_eq!(back, few.map(|[r, g, b, _]| [r, g, b]));
        // A thousand colours: two that fill most of the picture, and a ramp.
        let mut many = vec![[255, 255, 255, 255]; 5000];
        many.extend([[233, 231, 224, 255]; 5000]);
        many.extend(
            (0..1000).map(|i: u32| [(i / 4) as u8, (i / 5) as u8, (255 - i / 4) as u8, 255]),
        );
        let (palette, bytes) = indexed(&many).unwrap();
        assert!(palette.len() <= PALETTE_MAX);
        for (at, (&index, &[r, g, b, _])) in bytes.iter().zip(&many).enumerate() {
            let got = palette[usize::from(index)];
            let gap = got.iter().zip([r, g, b]).map(|(a, b)| a.abs_diff(b)).max();
            let most = if at < 10_000 { 0 } else { 6 };
            assert!(gap <= Some(most), "{at}: {got:?}");
        }
        assert!(indexed(&[[0, 0, 0, 254]]).is_none());
    }
}
