//! The results of agents that do not plan: reference rates for a success rate.

use std::collections::BTreeMap;

use planproof_suite::{Baseline, Card, Suite};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// The rate of each baseline of a suite over some runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BaselineRates(Vec<BaselineRate>);

/// The rate of one baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineRate {
    pub baseline: &'static Baseline,
    /// The rate of each agent that it comprises, by name; `None` if it is not known for every run.
    members: Vec<(&'static str, Option<f64>)>,
}

impl BaselineRate {
    /// The rate of the best of its agents; `None` if none is known.
    pub fn best(&self) -> Option<f64> {
        self.members.iter().filter_map(|(_, rate)| *rate).max_by(f64::total_cmp)
    }
}

impl BaselineRates {
    /// The rates, in the order of [`Suite::baselines`].
    pub fn iter(&self) -> impl Iterator<Item = &BaselineRate> {
        self.0.iter()
    }

    /// The rate of the baseline of that name; `None` if it is unknown, or there is no such baseline.
    pub fn rate(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|rate| rate.baseline.name == name)?.best()
    }

    /// The rates over several groups together, each weighted by its number of runs.
    pub(crate) fn weighted(groups: &[(&Self, u64)]) -> Self {
        let Some((first, _)) = groups.first() else { return Self::default() };
        let runs: f64 = groups.iter().map(|(_, runs)| *runs as f64).sum();
        let mean = |baseline: usize, member: usize| {
            let of = |(rates, runs): &(&Self, u64)| {
                let (_, rate) = *rates.0.get(baseline)?.members.get(member)?;
                Some(rate? * *runs as f64)
            };
            // A rate that is unknown in one group is unknown for all together.
            groups.iter().map(of).sum::<Option<f64>>().map(|sum| sum / runs)
        };
        let rates = first.0.iter().enumerate().map(|(place, rate)| {
            let members = rate.members.iter().enumerate();
            let members = members.map(|(member, (name, _))| (*name, mean(place, member))).collect();
            BaselineRate { baseline: rate.baseline, members }
        });
        Self(rates.collect())
    }
}

/// A baseline of one agent is a number, one of several an object with a number for each name.
impl Serialize for BaselineRates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for rate in &self.0 {
            match rate.members.as_slice() {
                [(_, rate_of_one)] => map.serialize_entry(rate.baseline.name, rate_of_one)?,
                members => {
                    let members: BTreeMap<&str, Option<f64>> = members.iter().copied().collect();
                    map.serialize_entry(rate.baseline.name, &members)?;
                }
            }
        }
        map.end()
    }
}

/// Adds up, over all runs, the probability of each agent to pass the case.
#[derive(Debug, Clone, Default)]
pub(crate) struct BaselineSums {
    runs: u64,
    sums: Vec<Option<f64>>,
}

impl BaselineSums {
    pub(crate) fn add(&mut self, card: &Card) {
        if self.runs == 0 {
            self.sums = vec![Some(0.0); card.baselines.len()];
        }
        self.runs += 1;
        for (place, sum) in self.sums.iter_mut().enumerate() {
            // Once it is unknown for a run, the sum stays unknown.
            *sum = sum.zip(card.baselines.get(place).copied().flatten()).map(|(sum, rate)| sum + rate);
        }
    }

    pub(crate) fn rates(&self, suite: &dyn Suite) -> BaselineRates {
        let (names, runs) = (suite.baseline_names(), self.runs as f64);
        let member = |place: &usize| {
            let rate = self.sums.get(*place).copied().flatten().map(|sum| sum / runs);
            Some((*names.get(*place)?, rate))
        };
        let rates = suite.baselines().iter();
        BaselineRates(
            rates
                .map(|baseline| BaselineRate {
                    baseline,
                    members: baseline.of.iter().filter_map(member).collect(),
                })
                .collect(),
        )
    }
}
