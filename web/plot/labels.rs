//! Finds free places for labels.

use super::svg::Point;

/// An upright rectangle, px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub corner: Point,
    pub size: Point,
}

impl Rect {
    /// Whether the two share an area.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..2).all(|i| {
            self.corner[i] < other.corner[i] + other.size[i]
                && other.corner[i] < self.corner[i] + self.size[i]
        })
    }

    /// Whether the line from `a` to `b` passes through: the part of the line within each pair of
    /// edges, intersected.
    fn is_crossed(&self, a: Point, b: Point) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for i in 0..2 {
            let run = b[i] - a[i];
            let (low, high) = (self.corner[i] - a[i], self.corner[i] + self.size[i] - a[i]);
            if run.abs() < 1e-9 {
                if low > 0.0 || high < 0.0 {
                    return false;
                }
                continue;
            }
            let (near, far) = (low / run, high / run);
            enter = enter.max(near.min(far));
            leave = leave.min(near.max(far));
        }
        enter <= leave
    }
}

/// Keeps labels off each other, within a frame, and, where it can, off lines.
#[derive(Debug)]
pub(super) struct Placer {
    frame: Rect,
    taken: Vec<Rect>,
    /// Lines to keep off, each with what it costs to cross it.
    lines: Vec<(u32, Vec<Point>)>,
}

/// Distances from a mark at which a place is tried, px.
const GAPS: [f64; 9] = [12.0, 20.0, 30.0, 42.0, 56.0, 72.0, 92.0, 116.0, 144.0];

/// Steps to the side at which a place is tried, widths of the label.
const SHIFTS: [f64; 5] = [-0.5, 0.06, -1.06, 0.8, -1.8];

/// How much farther a label is put rather than crossing a line, px for each unit of its cost.
const DETOUR: f64 = 40.0;

impl Placer {
    pub fn new(frame: Rect) -> Self {
        Self {
            frame,
            taken: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Makes labels avoid `line` where they can.
    pub fn avoid(&mut self, cost: u32, line: Vec<Point>) {
        self.lines.push((cost, line));
    }

    /// Makes labels stay out of `rect`.
    pub fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    /// A place of `size` near `mark`, above it or below it where both are as good. Of the free
    /// places the one that lies nearest and crosses least. `None` where nothing is free.
    pub fn place(&mut self, mark: Point, size: Point, above_first: bool) -> Option<Rect> {
        let mut best: Option<(f64, Rect)> = None;
        for gap in GAPS {
            for above in [above_first, !above_first] {
                let y = if above {
                    mark[1] - gap - size[1]
                } else {
                    mark[1] + gap
                };
                for shift in SHIFTS {
                    let rect = self.within([mark[0] + shift * size[0], y], size);
                    let Some(rect) = rect.filter(|r| self.is_free(r)) else {
                        continue;
                    };
                    let cost = self.cost(mark, &rect);
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, rect));
                    }
                }
            }
        }
        let (_, rect) = best?;
        self.take(rect);
        Some(rect)
    }

    /// How bad it is to label `mark` at `rect`: its distance and the lines crossed, px.
    fn cost(&self, mark: Point, rect: &Rect) -> f64 {
        let nearest = [0, 1].map(|i| mark[i].clamp(rect.corner[i], rect.corner[i] + rect.size[i]));
        let away = (nearest[0] - mark[0]).hypot(nearest[1] - mark[1]);
        let crossed = |line: &[Point]| line.windows(2).any(|w| rect.is_crossed(w[0], w[1]));
        let costs = self
            .lines
            .iter()
            .filter(|(_, line)| crossed(line))
            .map(|(cost, _)| cost);
        away + DETOUR * f64::from(costs.sum::<u32>())
    }

    /// The rectangle moved sideways into the frame; `None` where it is too high or too low.
    fn within(&self, corner: Point, size: Point) -> Option<Rect> {
        let [left, top] = self.frame.corner;
        let [width, height] = self.frame.size;
        if size[0] > width || corner[1] < top || corner[1] + size[1] > top + height {
            return None;
        }
        let x = corner[0].clamp(left, left + width - size[0]);
        Some(Rect {
            corner: [x, corner[1]],
            size,
        })
    }

    fn is_free(&self, rect: &Rect) -> bool {
        !self.taken.iter().any(|other| other.overlaps(rect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect {
        corner: [0.0, 0.0],
        size: [400.0, 300.0],
    };

    #[test]
    fn lines_cross_a_rectangle_or_pass_it() {
        let rect = Rect {
            corner: [10.0, 10.0],
            size: [20.0, 10.0],
        };
        assert!(rect.is_crossed([0.0, 15.0], [50.0, 15.0]));
        assert!(rect.is_crossed([15.0, 0.0], [15.0, 12.0]));
        assert!(rect.is_crossed([12.0, 12.0], [13.0, 13.0]));
        assert!(!rect.is_crossed([0.0, 25.0], [50.0, 25.0]));
        assert!(!rect.is_crossed([0.0, 15.0], [9.0, 15.0]));
        assert!(!rect.is_crossed([0.0, 0.0], [8.0, 60.0]));
    }

    #[test]
    fn labels_of_one_mark_share_no_place_and_leave_no_frame() {
        let mut placer = Placer::new(FRAME);
        let mut placed: Vec<Rect> = Vec::new();
        while let Some(rect) = placer.place([390.0, 150.0], [90.0, 20.0], true) {
            assert!(rect.corner[0] >= 0.0 && rect.corner[0] + 90.0 <= 400.0);
            assert!(rect.corner[1] >= 0.0 && rect.corner[1] + 20.0 <= 300.0);
            assert!(placed.iter().all(|other| !other.overlaps(&rect)));
            placed.push(rect);
        }
        assert!(placed.len() > 8, "only {} places", placed.len());
    }

    #[test]
    fn a_label_goes_where_no_line_is() {
        let mut placer = Placer::new(FRAME);
        placer.avoid(2, vec![[0.0, 130.0], [400.0, 130.0]]);
        let rect = placer.place([200.0, 150.0], [90.0, 20.0], true).unwrap();
        assert!(
            rect.corner[1] > 150.0,
            "below the mark, since a line is above: {rect:?}"
        );
    }
}
