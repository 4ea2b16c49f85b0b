//! How well raters agree (the paper, appendix B.2), and how well their ratings correlate with metrics (appendix E).

use super::sheet::Ratings;

/// Why a figure is not defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undefined {
    /// There is only one rater.
    #[error("there is only one rater")]
    OneRater,
    /// No row was rated by two raters.
    #[error("nothing was rated by two raters")]
    NothingShared,
    /// All ratings are equal, so that chance agreement is certain.
    #[error("all ratings are the same")]
    AllEqual,
    /// Some rater did not rate every row.
    #[error("not everything is rated by everybody")]
    Incomplete,
    /// There are fewer than two points, or one side has only one value.
    #[error("there are fewer than two points, or they do not differ")]
    NoSpread,
}

/// How well two raters agree.
#[derive(Debug, Clone, PartialEq)]
pub struct PairAgreement {
    /// The indices of the two raters.
    pub raters: (usize, usize),
    /// The number of rows that both rated.
    pub both: usize,
    /// The number of rows that both rated the same.
    pub same: usize,
    /// Cohen's kappa: agreement beyond chance, at most 1.
    pub kappa: Result<f64, Undefined>,
}

impl PairAgreement {
    /// The share of the rows rated by both that got the same rating, from 0 to 1.
    pub fn share(&self) -> Option<f64> {
        (self.both > 0).then(|| self.same as f64 / self.both as f64)
    }
}

/// How well raters agree.
#[derive(Debug, Clone, PartialEq)]
pub struct RaterAgreement {
    pub raters: Vec<String>,
    /// The number of rows.
    pub rows: usize,
    /// The number of each rater's ratings, and their mean.
    pub means: Vec<(usize, f64)>,
    /// Every pair, in the order of the raters.
    pub pairs: Vec<PairAgreement>,
    /// Mean and population standard deviation of the shares over these pairs, as in the paper.
    pub share: Result<(f64, f64), Undefined>,
    pub fleiss: Result<f64, Undefined>,
    /// Krippendorff's alpha with squared differences, which equals the nominal alpha for ratings of 0 and 1.
    pub alpha: Result<f64, Undefined>,
}

/// Computes all figures. The time is that of visiting each row once per pair of raters.
pub fn agreement(ratings: &Ratings) -> RaterAgreement {
    let count = ratings.raters.len();
    let mean = |rater: usize| {
        let given: Vec<f64> = ratings.rows.iter().filter_map(|(_, row)| row[rater]).collect();
        (given.len(), given.iter().sum::<f64>() / given.len() as f64)
    };
    let pairs: Vec<PairAgreement> = (0..count)
        .flat_map(|first| (first + 1..count).map(move |second| (first, second)))
        .map(|raters| pair(ratings, raters))
        .collect();
    let shares: Vec<f64> = pairs.iter().filter_map(PairAgreement::share).collect();
    RaterAgreement {
        raters: ratings.raters.clone(),
        rows: ratings.rows.len(),
        means: (0..count).map(mean).collect(),
        share: match (count, mean_and_deviation(&shares)) {
            (0 | 1, _) => Err(Undefined::OneRater),
            (_, found) => found.ok_or(Undefined::NothingShared),
        },
        pairs,
        fleiss: fleiss(ratings),
        alpha: alpha(ratings),
    }
}

/// Mean and standard deviation of a population.
pub fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (!values.is_empty()).then(|| (mean, variance.sqrt()))
}

fn pair(ratings: &Ratings, (first, second): (usize, usize)) -> PairAgreement {
    let both: Vec<(f64, f64)> =
        ratings.rows.iter().filter_map(|(_, row)| Some((row[first]?, row[second]?))).collect();
    let same = both.iter().filter(|(one, other)| one == other).count();
    let share = |count: usize| count as f64 / both.len() as f64;
    let chance: f64 = values(both.iter().flat_map(|(one, other)| [*one, *other]))
        .into_iter()
        .map(|value| {
            let [firsts, seconds] = [
                both.iter().filter(|(one, _)| *one == value).count(),
                both.iter().filter(|(_, other)| *other == value).count(),
            ];
            share(firsts) * share(seconds)
        })
        .sum();
    let kappa = match both.len() {
        0 => Err(Undefined::NothingShared),
        // Both gave the same single rating throughout, so there is nothing beyond chance to measure.
        _ if chance >= 1.0 => Err(Undefined::AllEqual),
        _ => Ok((share(same) - chance) / (1.0 - chance)),
    };
    PairAgreement { raters: (first, second), both: both.len(), same, kappa }
}

/// The distinct values in ascending order.
fn values(all: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Fleiss, "Measuring nominal scale agreement among many raters", 1971.
fn fleiss(ratings: &Ratings) -> Result<f64, Undefined> {
    let raters = ratings.raters.len() as f64;
    if ratings.raters.len() < 2 {
        return Err(Undefined::OneRater);
    }
    let rows: Vec<Vec<f64>> = ratings
        .rows
        .iter()
        .map(|(_, row)| row.iter().copied().collect::<Option<_>>().ok_or(Undefined::Incomplete))
        .collect::<Result<_, _>>()?;
    if rows.is_empty() {
        return Err(Undefined::NothingShared);
    }
    let values = values(rows.iter().flatten().copied());
    let times = |row: &[f64], value: f64| row.iter().filter(|rating| **rating == value).count() as f64;
    let all = rows.len() as f64 * raters;
    let (mut observed, mut chance) = (0.0, 0.0);
    for value in values {
        let uses: f64 = rows.iter().map(|row| times(row, value)).sum();
        chance += (uses / all).powi(2);
        // The number of ordered pairs of raters that agree on this
        // value, which is divided by that of all ordered pairs below.
        observed += rows.iter().map(|row| times(row, value) * (times(row, value) - 1.0)).sum::<f64>();
    }
    observed /= all * (raters - 1.0);
    if chance >= 1.0 { Err(Undefined::AllEqual) } else { Ok((observed - chance) / (1.0 - chance)) }
}

/// Krippendorff, "Computing Krippendorff's alpha-reliability", 2011. Rows with one rating carry no information
/// about agreement.
fn alpha(ratings: &Ratings) -> Result<f64, Undefined> {
    if ratings.raters.len() < 2 {
        return Err(Undefined::OneRater);
    }
    let rows: Vec<Vec<f64>> = ratings
        .rows
        .iter()
        .map(|(_, row)| row.iter().flatten().copied().collect::<Vec<f64>>())
        .filter(|row| row.len() >= 2)
        .collect();
    let all: Vec<f64> = rows.iter().flatten().copied().collect();
    if all.is_empty() {
        return Err(Undefined::NothingShared);
    }
    // Each value of a row is paired with the others of its row, and below with all other values. Both sums lack the
    // factor 1/n of the definition, which cancels out.
    let observed: f64 = rows.iter().map(|row| differences(row) / (row.len() as f64 - 1.0)).sum::<f64>();
    let expected = differences(&all) / (all.len() as f64 - 1.0);
    if expected == 0.0 { Err(Undefined::AllEqual) } else { Ok(1.0 - observed / expected) }
}

/// The sum of the squared differences of every two values, in both orders: `2 n sum(v^2) - 2 sum(v)^2`.
fn differences(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let sum: f64 = values.iter().sum();
    2.0 * values.len() as f64 * squares - 2.0 * sum * sum
}

/// Pearson's correlation of pairs of values, from -1 to 1.
///
/// # Errors
/// There are fewer than two pairs, or one side is constant.
pub fn pearson(pairs: &[(f64, f64)]) -> Result<f64, Undefined> {
    let count = pairs.len() as f64;
    if pairs.len() < 2 {
        return Err(Undefined::NoSpread);
    }
    let mean = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>() / count;
    let (first, second) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut both, mut firsts, mut seconds) = (0.0, 0.0, 0.0);
    for (one, other) in pairs {
        both += (one - first) * (other - second);
        firsts += (one - first).powi(2);
        seconds += (other - second).powi(2);
    }
    // Values are compared directly, because rounding can leave a variance above 0 for equal ones.
    let equal = |side: fn(&(f64, f64)) -> f64| pairs.iter().all(|pair| side(pair) == side(&pairs[0]));
    if equal(|pair| pair.0) || equal(|pair| pair.1) {
        return Err(Undefined::NoSpread);
    }
    // Rounding can exceed 1 in the last digit.
    Ok((both / (firsts * seconds).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as digits, one per rater; `.` is a missing rating.
    fn ratings(rows: &[&str]) -> Ratings {
        let row = |text: &&str| text.chars().map(|c| c.to_digit(10).map(f64::from)).collect::<Vec<_>>();
        Ratings {
            raters: (0..rows[0].len()).map(|rater| rater.to_string()).collect(),
            rows: rows.iter().enumerate().map(|(id, text)| (id.to_string(), row(text))).collect(),
        }
    }

    fn is_near(value: f64, wanted: f64) -> bool {
        (value - wanted).abs() < 5e-4
    }

    #[test]
    fn the_papers_mean_and_deviation_come_out() {
        let (mean, deviation) = mean_and_deviation(&[74.95, 81.43, 70.88]).unwrap();
        assert!((mean - 75.75).abs() < 0.005 && (deviation - 4.34).abs() < 0.005, "{mean} {deviation}");
        assert_eq!(mean_and_deviation(&[]), None);
    }

    #[test]
    fn kappas_and_alpha_are_those_of_the_literature() {
        // Cohen's standard example: 20 and 15 agree, 5 and 10 do not.
        let rows = [&["11"; 20][..], &["10"; 5], &["01"; 10], &["00"; 15]].concat();
        let two = agreement(&ratings(&rows));
        assert!(is_near(two.pairs[0].kappa.unwrap(), 0.4), "{two:?}");
        assert_eq!((two.pairs[0].both, two.pairs[0].same, two.pairs[0].share()), (50, 35, Some(0.7)));
        // Krippendorff's example of binary data with two observers and no missing data.
        let rows = ["01", "11", "01", "00", "00", "01", "00", "00", "10", "00"];
        assert!(is_near(agreement(&ratings(&rows)).alpha.unwrap(), 0.095));
        // By hand: three of four agree in half of the rows.
        let three = agreement(&ratings(&["111", "110", "000", "100"]));
        assert!(is_near(three.fleiss.unwrap(), 1.0 / 3.0), "{three:?}");
        assert_eq!(three.pairs.len(), 3);
        assert_eq!(three.means, [(4, 0.75), (4, 0.5), (4, 0.25)]);
    }

    #[test]
    fn missing_ratings_are_left_out_of_what_can_do_without() {
        let found = agreement(&ratings(&["11.", "1.1", "000", "01."]));
        assert_eq!(found.fleiss, Err(Undefined::Incomplete));
        assert!(found.alpha.is_ok());
        let both: Vec<usize> = found.pairs.iter().map(|pair| pair.both).collect();
        assert_eq!(both, [3, 2, 1]);
        let apart = agreement(&ratings(&["1.", ".1"]));
        assert_eq!(
            (apart.alpha, apart.share),
            (Err(Undefined::NothingShared), Err(Undefined::NothingShared))
        );
        assert_eq!(apart.pairs[0].kappa, Err(Undefined::NothingShared));
    }

    #[test]
    fn what_is_not_defined_says_so() {
        let one = agreement(&ratings(&["1", "0"]));
        assert_eq!(
            (one.fleiss, one.alpha, one.share),
            (Err(Undefined::OneRater), Err(Undefined::OneRater), Err(Undefined::OneRater))
        );
        let equal = agreement(&ratings(&["11", "11"]));
        assert_eq!((equal.fleiss, equal.alpha), (Err(Undefined::AllEqual), Err(Undefined::AllEqual)));
        assert_eq!((equal.pairs[0].kappa, equal.share), (Err(Undefined::AllEqual), Ok((1.0, 0.0))));
    }

    #[test]
    fn correlations_are_pearsons() {
        assert_eq!(pearson(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]), Ok(1.0));
        assert!(is_near(pearson(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)]).unwrap(), 0.6));
        assert!(is_near(pearson(&[(1.0, 3.0), (2.0, 1.0)]).unwrap(), -1.0));
        for pairs in
            [&[][..], &[(1.0, 2.0)], &[(1.0, 2.0), (1.0, 3.0)], &[(0.1, 0.7), (0.3, 0.7), (0.2, 0.7)]]
        {
            assert_eq!(pearson(pairs), Err(Undefined::NoSpread));
        }
    }
}
