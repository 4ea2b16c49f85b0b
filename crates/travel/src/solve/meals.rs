//! The meals of a route: how many are eaten in each city, and which city provides which cuisine.

use super::ground::{Ground, MEALS_A_DAY, Required};
use super::menu::entries_missing;
use super::search::Stop;
use super::town::Cuisines;

/// The meals eaten in a city.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    /// The number of meals on the days of travel to and from it.
    pub(super) extra: usize,
    /// The required cuisines that are eaten there.
    pub(super) cuisines: Cuisines,
}

/// A state between two cities.
#[derive(Clone, Copy)]
struct State {
    cost: f64,
    /// The previous state, and the meals eaten since.
    from: usize,
    share: Share,
}

const NONE: State = State { cost: f64::INFINITY, from: 0, share: Share { extra: 0, cuisines: 0 } };

/// The number of meals that the days in a city need.
pub(super) fn needed(stop: Stop) -> usize {
    (stop.nights - 1) * MEALS_A_DAY
}

/// The number of days of travel that can have an attraction of a city that no other day needs.
pub(super) fn sights_on_the_way(ground: &Ground<'_>, stops: &[Stop]) -> usize {
    let mut served = 0;
    let mut is_free = true;
    for stop in stops {
        // A stay of n nights has n - 1 full days, each with an attraction of its own.
        let mut left = (ground.towns[stop.town].sights.len() + 1).saturating_sub(stop.nights);
        // A day of travel lies between two cities, and either can provide its attraction. `is_free` says that the city
        // just left had none to spare.
        if is_free && left > 0 {
            (served, left) = (served + 1, left - 1);
        }
        is_free = left == 0;
        served += usize::from(left > 0);
    }
    served
}

/// The minimum cost of the meals of a route, with the share of each city; `None` if there are not enough cuisines
/// or restaurants.
///
/// Proceeds from city to city. A state consists of the set of cuisines so far, the meals already assigned to the
/// coming day of travel, and the number of meals beyond those needed, as far as it matters. This is exact, because
/// the remaining cost depends on nothing else.
pub(super) fn share(ground: &Ground<'_>, required: &Required, stops: &[Stop]) -> Option<(f64, Vec<Share>)> {
    let missing = entries_missing(ground.query.days, stops.len(), sights_on_the_way(ground, stops));
    let wanted = required.cuisines;
    // The usual case: without cuisines and missing entries, the meals of the cities are independent of each other.
    if wanted == 0 && missing == 0 {
        let costs = stops.iter().map(|&stop| ground.menus[stop.town].cost(needed(stop), 0));
        let cost: f64 = costs.sum();
        return cost.is_finite().then(|| (cost, vec![Share::default(); stops.len()]));
    }
    let (taken_values, extra_values) = (MEALS_A_DAY + 1, missing + 1);
    let index =
        |set: Cuisines, taken: usize, extra: usize| (set * taken_values + taken) * extra_values + extra;
    let size = index(wanted, MEALS_A_DAY, missing) + 1;
    // All layers are kept, so that the shares can be traced back from the cheapest end.
    let mut layers = vec![vec![NONE; size]];
    layers[0][0].cost = 0.0;
    for &stop in stops {
        let before = &layers[layers.len() - 1];
        let mut after = vec![NONE; size];
        for set in subsets(wanted) {
            for taken in 0..taken_values {
                for extra in 0..extra_values {
                    let from = index(set, taken, extra);
                    let state = before[from];
                    if state.cost.is_infinite() {
                        continue;
                    }
                    for more in subsets(wanted & !set) {
                        // A set needs no more restaurants than it has cuisines.
                        let over = (more.count_ones() as usize).saturating_sub(needed(stop));
                        // More meals would only cost more: they provide no cuisine and no missing entry. Two days of
                        // travel have six meals, and the city before may have taken some.
                        for meals in 0..=(over + missing).min(2 * MEALS_A_DAY - taken) {
                            let cost = state.cost + ground.menus[stop.town].cost(needed(stop) + meals, more);
                            // The day of arrival is filled first, and the rest falls on the day of departure.
                            let ahead = meals.saturating_sub(MEALS_A_DAY - taken);
                            // Extra meals beyond the missing entries make no difference, so they are capped.
                            let to = index(set | more, ahead, (extra + meals).min(missing));
                            if cost < after[to].cost {
                                let share = Share { extra: meals, cuisines: more };
                                after[to] = State { cost, from, share };
                            }
                        }
                    }
                }
            }
        }
        layers.push(after);
    }
    let last = &layers[layers.len() - 1];
    // At the end, all cuisines are eaten and no entry is missing.
    let ends = (0..taken_values).map(|taken| index(wanted, taken, missing));
    let end = ends.min_by(|&one, &other| last[one].cost.total_cmp(&last[other].cost))?;
    let cost = last[end].cost;
    if cost.is_infinite() {
        return None;
    }
    let mut shares = Vec::with_capacity(stops.len());
    let mut at = end;
    for layer in layers.iter().skip(1).rev() {
        shares.push(layer[at].share);
        at = layer[at].from;
    }
    shares.reverse();
    Some((cost, shares))
}

/// All subsets of a set, including itself and the empty one.
fn subsets(set: Cuisines) -> impl Iterator<Item = Cuisines> {
    std::iter::successors(Some(set), move |&subset| (subset > 0).then(|| (subset - 1) & set))
}
