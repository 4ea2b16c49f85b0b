//! The minimum cost of any number of different restaurants in a city, for any set of cuisines that they must
//! provide.

use super::ground::MEALS_A_DAY;
use super::town::{Cuisines, Town};
use crate::plan::KEYS;

/// One of this many entries of a plan has to be filled in.
const FILLED_OF: usize = 2;

/// Tables indexed by the number of restaurants and the cuisines that they provide. Filling them takes one step per
/// restaurant, number and set.
pub(super) struct Menu {
    meals: usize,
    sets: usize,
    /// The minimum cost by number of restaurants, then set of cuisines; infinite if there are not enough.
    costs: Vec<f64>,
}

impl Menu {
    /// Creates the tables for up to `meals` restaurants.
    pub(super) fn new(town: &Town<'_>, meals: usize, cuisines: usize) -> Self {
        let meals = meals.min(town.restaurants.len());
        let sets = 1 << cuisines;
        let mut costs = vec![f64::INFINITY; (meals + 1) * sets];
        costs[0] = 0.0;
        for (number, eatery) in town.restaurants.iter().enumerate() {
            // Downwards, so that no restaurant is taken twice.
            for count in (0..meals.min(number + 1)).rev() {
                for set in 0..sets {
                    let cost = costs[count * sets + set] + eatery.meal;
                    let with = &mut costs[(count + 1) * sets + (set | eatery.cuisines)];
                    *with = with.min(cost);
                }
            }
        }
        // Restaurants that provide more cuisines also provide fewer.
        for row in costs.chunks_mut(sets) {
            for cuisine in (0..cuisines).map(|number| 1 << number) {
                for set in (0..sets).filter(|set| set & cuisine == 0) {
                    row[set] = row[set].min(row[set | cuisine]);
                }
            }
        }
        Self { meals, sets, costs }
    }

    /// The minimum cost of `count` restaurants that together provide all these cuisines; infinite if there are not
    /// enough.
    pub(super) fn cost(&self, count: usize, cuisines: Cuisines) -> f64 {
        if count > self.meals { f64::INFINITY } else { self.costs[count * self.sets + cuisines] }
    }
}

/// The indices of restaurants whose cost is the minimum according to [`Menu::cost`].
pub(super) fn choose(town: &Town<'_>, count: usize, cuisines: Cuisines) -> Vec<usize> {
    // Room for every set up to the highest bit of `cuisines`.
    let sets = (cuisines + 1).next_power_of_two();
    let restaurants = town.restaurants.len();
    // The minimum cost of a number of restaurants among the first ones that provide exactly this set.
    let mut layers = vec![vec![f64::INFINITY; (count + 1) * sets]];
    layers[0][0] = 0.0;
    for eatery in &town.restaurants {
        let mut layer = layers[layers.len() - 1].clone();
        for taken in 0..count {
            for set in 0..sets {
                let cost = layers[layers.len() - 1][taken * sets + set] + eatery.meal;
                let with = &mut layer[(taken + 1) * sets + (set | (eatery.cuisines & cuisines))];
                *with = with.min(cost);
            }
        }
        layers.push(layer);
    }
    let mut chosen = Vec::new();
    let (mut taken, mut set) = (count, cuisines);
    for number in (0..restaurants).rev() {
        let cost = layers[number + 1][taken * sets + set];
        // The cost changes in a layer only if its restaurant is taken.
        if taken == 0 || layers[number][taken * sets + set] == cost {
            continue;
        }
        let eatery = &town.restaurants[number];
        let has = eatery.cuisines & cuisines;
        // The same sum as above, in the same order, so floats can be compared exactly.
        let before = (0..sets).find(|before| {
            before | has == set && layers[number][(taken - 1) * sets + before] + eatery.meal == cost
        });
        if let Some(before) = before {
            chosen.push(number);
            (taken, set) = (taken - 1, before);
        }
    }
    chosen.reverse();
    chosen
}

/// How many more entries must be filled in to reach half of all, if only the necessary ones are filled in: a
/// journey on days of travel, an accommodation for each night, meals and an attraction on other days, and `sights`
/// days of travel with an attraction.
pub(super) fn entries_missing(days: usize, stops: usize, sights: usize) -> usize {
    let travelling = stops + 1;
    let filled =
        travelling + days.saturating_sub(1) + days.saturating_sub(travelling) * (MEALS_A_DAY + 1) + sights;
    (KEYS.len() * days).div_ceil(FILLED_OF).saturating_sub(filled)
}
