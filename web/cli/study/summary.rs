//! Means over seeds, with intervals.

use groundwave_propagation::quantile::student_deviate;
use serde::Serialize;

use super::measures::COUNT;

/// Deviate of the normal distribution exceeded in 2.5 % of cases.
const DEVIATE_2_5_PERCENT: f64 = 1.959_963_985;

/// Deviate of Student's distribution that is exceeded in 2.5 % of cases, for 1 to 5 degrees of freedom.
const STUDENT_SMALL: [f64; 5] = [12.706, 4.303, 3.182, 2.776, 2.571];

/// Mean of a measure over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// Runs with a value.
    pub runs: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation between runs; absent of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Half the width of the 95 % interval of the mean (Student's distribution); absent of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// Means of the measures of several runs; `None` where no run has a value.
pub fn means(runs: &[[Option<f64>; COUNT]]) -> [Option<Mean>; COUNT] {
    std::array::from_fn(|measure| {
        let values: Vec<f64> = runs.iter().filter_map(|run| run[measure]).collect();
        mean(&values)
    })
}

fn mean(values: &[f64]) -> Option<Mean> {
    let runs = values.len();
    let count = runs as f64;
    if runs == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (runs > 1).then(|| (squares / (count - 1.0)).sqrt());
    let half_width = deviation.map(|own| student_2_5_percent(runs - 1) * own / count.sqrt());
    Some(Mean { runs, mean, deviation, half_width })
}

/// Deviate that Student's distribution exceeds in 2.5 % of cases, within 0.001.
fn student_2_5_percent(freedom: usize) -> f64 {
    let small = STUDENT_SMALL.get(freedom.wrapping_sub(1)).copied();
    small.unwrap_or_else(|| student_deviate(DEVIATE_2_5_PERCENT, freedom as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        // NIST/SEMATECH e-Handbook, table of critical values.
        for (freedom, deviate) in [(1, 12.706), (5, 2.571), (6, 2.447), (10, 2.228), (30, 2.042)] {
            assert!((student_2_5_percent(freedom) - deviate).abs() < 1.5e-3, "{freedom}");
        }
        let own = mean(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((own.runs, own.mean), (4, 2.5));
        // 3.182 times 1.291 over 2.
        assert!((own.half_width.unwrap() - 2.054).abs() < 1e-3, "{own:?}");
        assert_eq!(mean(&[7.0]).map(|own| own.half_width), Some(None));
        assert_eq!(mean(&[]), None);
    }
}
