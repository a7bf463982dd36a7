//! Placement of labels without overlaps.

use super::svg::Point;

/// An upright rectangle, px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Upper left corner.
    pub corner: Point,
    /// Width, height.
    pub size: Point,
}

impl Rect {
    /// The square of half side `reach` around a point.
    #[must_use]
    pub fn around([x, y]: Point, reach: f64) -> Self {
        Self { corner: [x - reach, y - reach], size: [2.0 * reach; 2] }
    }

    /// True where this lies in `other`.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        (0..2).all(|i| {
            self.corner[i] >= other.corner[i]
                && self.corner[i] + self.size[i] <= other.corner[i] + other.size[i]
        })
    }

    /// True where the two share an area.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..2).all(|i| {
            self.corner[i] < other.corner[i] + other.size[i]
                && other.corner[i] < self.corner[i] + self.size[i]
        })
    }

    /// True where the line from `a` to `b` crosses: the parts of the line within each pair of edges
    /// intersect.
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

/// Places labels within a frame, apart from each other and, where possible, from lines.
#[derive(Debug)]
pub struct Placer {
    frame: Rect,
    obstacles: Vec<Rect>,
    /// Lines to avoid, each with the cost of crossing it.
    lines: Vec<(u32, Vec<Point>)>,
}

/// Candidate distances of a label from its mark, px.
const GAPS: [f64; 9] = [12.0, 20.0, 30.0, 42.0, 56.0, 72.0, 92.0, 116.0, 144.0];

/// Candidate shifts to the side, widths of the label.
const SHIFTS: [f64; 5] = [-0.5, 0.06, -1.06, 0.8, -1.8];

/// Detour accepted instead of crossing a line, px per unit of cost.
const DETOUR: f64 = 40.0;

impl Placer {
    /// A placer within `frame`.
    #[must_use]
    pub fn new(frame: Rect) -> Self {
        Self { frame, obstacles: Vec::new(), lines: Vec::new() }
    }

    /// Makes labels avoid `line` where possible.
    pub fn avoid(&mut self, cost: u32, line: Vec<Point>) {
        self.lines.push((cost, line));
    }

    /// Keeps labels out of `rect`.
    pub fn take(&mut self, rect: Rect) {
        self.obstacles.push(rect);
    }

    /// The free rectangle of `size` near `mark` with the lowest cost of distance and crossed lines;
    /// of equal ones the one above if `above_first`, else below. `None` without a free one.
    pub fn place(&mut self, mark: Point, size: Point, above_first: bool) -> Option<Rect> {
        let mut best: Option<(f64, Rect)> = None;
        for gap in GAPS {
            for above in [above_first, !above_first] {
                let y = if above { mark[1] - gap - size[1] } else { mark[1] + gap };
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

    /// Cost of a label of `mark` at `rect`: distance and crossed lines, px.
    fn cost(&self, mark: Point, rect: &Rect) -> f64 {
        let nearest = [0, 1].map(|i| mark[i].clamp(rect.corner[i], rect.corner[i] + rect.size[i]));
        let away = (nearest[0] - mark[0]).hypot(nearest[1] - mark[1]);
        let crossed = |line: &[Point]| line.windows(2).any(|w| rect.is_crossed(w[0], w[1]));
        let costs = self.lines.iter().filter(|(_, line)| crossed(line)).map(|(cost, _)| cost);
        away + DETOUR * f64::from(costs.sum::<u32>())
    }

    /// The rectangle moved sideways into the frame; `None` if it is above or below it.
    fn within(&self, corner: Point, size: Point) -> Option<Rect> {
        let [left, top] = self.frame.corner;
        let [width, height] = self.frame.size;
        if size[0] > width || corner[1] < top || corner[1] + size[1] > top + height {
            return None;
        }
        let x = corner[0].clamp(left, left + width - size[0]);
        Some(Rect { corner: [x, corner[1]], size })
    }

    fn is_free(&self, rect: &Rect) -> bool {
        !self.obstacles.iter().any(|other| other.overlaps(rect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect { corner: [0.0, 0.0], size: [400.0, 300.0] };

    #[test]
    fn lines_cross_a_rectangle_or_pass_it() {
        let rect = Rect { corner: [10.0, 10.0], size: [20.0, 10.0] };
        assert!(rect.is_crossed([0.0, 15.0], [50.0, 15.0]));
        assert!(rect.is_crossed([15.0, 0.0], [15.0, 12.0]));
        assert!(rect.is_crossed([12.0, 12.0], [13.0, 13.0]));
        assert!(!rect.is_crossed([0.0, 25.0], [50.0, 25.0]));
        assert!(!rect.is_crossed([0.0, 15.0], [9.0, 15.0]));
        assert!(!rect.is_crossed([0.0, 0.0], [8.0, 60.0]));
    }

    #[test]
    fn labels_do_not_overlap_and_stay_in_the_frame() {
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
        assert!(rect.corner[1] > 150.0, "below the mark, since a line is above: {rect:?}");
    }
}
