//! Counts of the posts of a tile: those without a height, those that are none of the Earth's, and what
//! determines the order of their octets.

use std::fmt;
use std::ops::AddAssign;

use groundwave_model::terrain::TileId;

use super::super::gather::VOID;
use super::super::heights::{HIGHEST_M, LOWEST_M, is_post, is_void};
use super::super::sea::DOUBTFUL_M;
use super::super::spikes::{self, Spikes};
use super::Resolution;

/// Every so many rows of posts are compared with their octets in the other order.
const ROWS_COMPARED: usize = 4;

/// Neighbours of a tile in the wrong order differ by so many times more than in the right one: those of
/// tiles of the Earth by a hundred times and more.
const ROUGHER: u64 = 16;

/// Fewest different heights of a tile whose order is determined by its neighbours: a wall on a plain of one
/// height has two.
const HEIGHTS_MIN: usize = 4;

/// Counts of the posts of a tile, or of some of its rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Census {
    /// Posts.
    pub posts: u32,
    /// Posts without a height: -32768, -32767, 32767 or -9999.
    pub voids: u32,
    /// Those of them that are not -32768.
    pub other_voids: u32,
    /// Posts with a height below -10 m: those of the sea bed, but for some land.
    pub deep: u32,
    /// Posts of other values outside the heights of the Earth, which count as voids too.
    pub outside: u32,
    /// Posts that stand alone.
    pub spikes: Spikes,
    /// Union of the octets of all posts with a value.
    octets: u16,
    /// Of rows compared: posts with a value, and those outside in the order of the file and in the other.
    compared: u32,
    outside_in: [u32; 2],
    /// Sum of the differences between neighbours in both orders, m.
    jumps_m: [u64; 2],
}

/// Doubts about the posts of a file, for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Posts read.
    pub posts: u32,
    /// Posts that are -32767, 32767 or -9999.
    pub other_voids: u32,
    /// Posts outside the heights of the Earth.
    pub outside: u32,
    /// True if all heights are multiples of 256 m.
    pub is_multiple: bool,
    /// Number and place of the posts that stand alone, if there is one.
    pub spikes: Option<String>,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (posts, mut next) = (self.posts, "");
        if self.other_voids > 0 {
            let voids = self.other_voids;
            write!(f, "{voids} of {posts} posts are -32767, 32767 or -9999 and count as voids")?;
            next = "; ";
        }
        if self.outside > 0 {
            let outside = self.outside;
            write!(
                f,
                "{next}{outside} of {posts} posts are outside {LOWEST_M} to {HIGHEST_M} m and count as voids"
            )?;
            next = "; ";
        }
        if self.is_multiple {
            write!(f, "{next}all heights are multiples of 256 m")?;
        }
        if self.outside > 0 || self.is_multiple {
            f.write_str("; are its octets in the wrong order?")?;
            next = "; ";
        }
        match &self.spikes {
            Some(spikes) => write!(f, "{next}{spikes}"),
            None => Ok(()),
        }
    }
}

impl AddAssign for Census {
    fn add_assign(&mut self, other: Self) {
        self.posts += other.posts;
        self.voids += other.voids;
        self.other_voids += other.other_voids;
        self.outside += other.outside;
        self.spikes += other.spikes;
        self.deep += other.deep;
        self.octets |= other.octets;
        self.compared += other.compared;
        for order in 0..2 {
            self.outside_in[order] += other.outside_in[order];
            self.jumps_m[order] += other.jumps_m[order];
        }
    }
}

impl Census {
    /// Counts the posts of row number `row` from the north; where it is compared, with those north of
    /// it too.
    pub(super) fn count(&mut self, row: usize, posts: &[i16], north: Option<&[i16]>) {
        // A row has fewer than 2^16 posts, so that lanes of 16 bits do.
        let (mut voids, mut usual, mut outside, mut octets) = (0_u16, 0_u16, 0_u16, 0_u16);
        let mut deep = 0_u16;
        for &post in posts {
            let void = is_void(post);
            voids += u16::from(void);
            usual += u16::from(post == VOID);
            outside += u16::from(!void & !is_post(post));
            deep += u16::from(is_post(post) & (post < DOUBTFUL_M));
            octets |= if void { 0 } else { post.cast_unsigned() };
        }
        self.posts += posts.len() as u32;
        self.voids += u32::from(voids);
        self.other_voids += u32::from(voids - usual);
        self.outside += u32::from(outside);
        self.deep += u32::from(deep);
        self.octets |= octets;
        if !row.is_multiple_of(ROWS_COMPARED) {
            return;
        }
        self.compared += posts.len() as u32 - u32::from(voids);
        self.outside_in[0] += u32::from(outside);
        let is_outside = |post: i16| !is_void(post) & !is_post(post.swap_bytes());
        let swapped = posts.iter().filter(|post| is_outside(**post)).count();
        self.outside_in[1] += swapped as u32;
        let mut add = |jumps: [u32; 2]| {
            self.jumps_m[0] += u64::from(jumps[0]);
            self.jumps_m[1] += u64::from(jumps[1]);
        };
        add(jumps_m(posts, posts.get(1..).unwrap_or_default()));
        if let Some(north) = north {
            add(jumps_m(posts, north));
        }
    }

    /// True if the octets of the posts are in the wrong order: most posts are heights of the Earth in the
    /// other order only, or neighbours fit together far better in it. `heights` counts the different
    /// heights.
    pub(super) fn is_swapped(&self, heights: impl FnOnce() -> usize) -> bool {
        let [outside, outside_swapped] = self.outside_in;
        if 2 * outside > self.compared && 10 * outside_swapped < self.compared {
            return true;
        }
        let [as_read_m, swapped_m] = self.jumps_m;
        as_read_m > 0 && as_read_m >= ROUGHER * swapped_m && heights() >= HEIGHTS_MIN
    }

    /// Mean difference between neighbours in the order of the file and in the other, m.
    #[must_use]
    pub fn mean_jumps_m(&self) -> [f64; 2] {
        let pairs = 2.0 * f64::from(self.compared.max(1));
        self.jumps_m.map(|sum_m| sum_m as f64 / pairs)
    }

    /// Doubt about the posts of the tile `id`, if there is one.
    #[must_use]
    pub fn doubt(&self, id: TileId, resolution: Resolution) -> Option<Doubt> {
        let is_multiple = self.octets != 0 && self.octets.trailing_zeros() >= 8;
        let cells = (resolution.side() - 1) as f64;
        let [south, west] = [id.south_deg(), id.west_deg()].map(f64::from);
        let position = |[row, column]: [usize; 2]| {
            [south + 1.0 - row as f64 / cells, west + column as f64 / cells]
        };
        let minimum_m = spikes::minimum_m(resolution.arcsec());
        let spikes = self.spikes.text(u64::from(self.posts), minimum_m, position);
        let is_doubtful = self.other_voids + self.outside > 0 || is_multiple || spikes.is_some();
        is_doubtful.then_some(Doubt {
            posts: self.posts,
            other_voids: self.other_voids,
            outside: self.outside,
            is_multiple,
            spikes,
        })
    }
}

/// True if a row may have a post that stands alone: one that differs as much from its neighbours in the row.
/// A void differs by more from every height.
pub(super) fn may_have_spike(posts: &[i16], minimum_m: u16) -> bool {
    let differs = |one: i16, other: i16| one.abs_diff(other) > minimum_m;
    let (&[first, second, ..], &[.., before, last]) = (posts, posts) else { return false };
    let inner = posts.iter().zip(&posts[1..]).zip(&posts[2..]);
    // No branch, so that the processor compares several posts at once.
    let is_inner = inner.fold(false, |any, ((&west, &post), &east)| {
        any | ((post != VOID) & differs(post, west) & differs(post, east))
    });
    is_inner || differs(first, second) || differs(last, before)
}

/// Sums of the differences between posts in the order of the file and in the other, m; posts that are
/// voids in either have none.
fn jumps_m(posts: &[i16], others: &[i16]) -> [u32; 2] {
    let mut sums = [0; 2];
    for (&one, &other) in posts.iter().zip(others) {
        let swapped = [one.swap_bytes(), other.swap_bytes()];
        let is_known = !(is_void(one) | is_void(other) | is_void(swapped[0]) | is_void(swapped[1]));
        let jumps = [one.abs_diff(other), swapped[0].abs_diff(swapped[1])];
        for (sum, jump) in sums.iter_mut().zip(jumps) {
            *sum += u32::from(if is_known { jump } else { 0 });
        }
    }
    sums
}
