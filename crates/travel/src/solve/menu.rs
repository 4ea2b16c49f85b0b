//! What any number of different restaurants of a city costs at least, for any set of cuisines among them.

use super::ground::MEALS_A_DAY;
use super::town::{Cuisines, Town};
use crate::plan::KEYS;

/// How many of the entries of a plan have to be filled in: one of this many.
const FILLED_OF: usize = 2;

/// Tables over the number of restaurants and the cuisines that are among theirs. Filling them takes a step for each
/// restaurant, number and set.
pub(super) struct Menu {
    meals: usize,
    sets: usize,
    /// The least cost by number of restaurants, then set of cuisines, infinite where there are not enough.
    costs: Vec<f64>,
}

impl Menu {
    /// Of up to so many restaurants.
    pub(super) fn new(town: &Town<'_>, meals: usize, cuisines: usize) -> Self {
        let meals = meals.min(town.restaurants.len());
        let sets = 1 << cuisines;
        let mut costs = vec![f64::INFINITY; (meals + 1) * sets];
        costs[0] = 0.0;
        for (number, eatery) in town.restaurants.iter().enumerate() {
            for count in (0..meals.min(number + 1)).rev() {
                for set in 0..sets {
                    let cost = costs[count * sets + set] + eatery.meal;
                    let with = &mut costs[(count + 1) * sets + (set | eatery.cuisines)];
                    *with = with.min(cost);
                }
            }
        }
        // Who has more cuisines has fewer, too.
        for row in costs.chunks_mut(sets) {
            for cuisine in (0..cuisines).map(|number| 1 << number) {
                for set in (0..sets).filter(|set| set & cuisine == 0) {
                    row[set] = row[set].min(row[set | cuisine]);
                }
            }
        }
        Self { meals, sets, costs }
    }

    /// What so many restaurants with all these cuisines among them cost at least; infinite where there are not enough.
    pub(super) fn cost(&self, count: usize, cuisines: Cuisines) -> f64 {
        if count > self.meals { f64::INFINITY } else { self.costs[count * self.sets + cuisines] }
    }
}

/// Restaurants that cost the least that [`Menu::cost`] says, by their position.
pub(super) fn choose(town: &Town<'_>, count: usize, cuisines: Cuisines) -> Vec<usize> {
    let sets = (cuisines + 1).next_power_of_two();
    let restaurants = town.restaurants.len();
    // The least cost of so many of the first restaurants, with at least this set.
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
        if taken == 0 || layers[number][taken * sets + set] == cost {
            continue;
        }
        let eatery = &town.restaurants[number];
        let has = eatery.cuisines & cuisines;
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

/// How many entries are missing, so that half of them are filled in, if only what is needed is: a ride on days of travel,
/// a house for each night, meals and a sight on other days, and sights on so many days of travel.
pub(super) fn entries_missing(days: usize, stops: usize, sights: usize) -> usize {
    let travelling = stops + 1;
    let filled =
        travelling + days.saturating_sub(1) + days.saturating_sub(travelling) * (MEALS_A_DAY + 1) + sights;
    (KEYS.len() * days).div_ceil(FILLED_OF).saturating_sub(filled)
}
