//! Branch and bound over routes and divisions of the nights.

use super::TripObjective;
use super::ground::{Ground, Required};
use super::meals;
use super::ways::Means;

/// A city with its number of nights, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) town: usize,
    pub(super) nights: usize,
}

/// A valid route, and its minimum cost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Route {
    pub(super) means: Means,
    pub(super) stops: Vec<Stop>,
    pub(super) cost: f64,
}

/// The result of a search.
pub(super) struct Found {
    pub(super) best: Option<Route>,
    /// Whether the search was exhaustive, as far as the objective requires.
    pub(super) is_complete: bool,
    pub(super) steps: u64,
}

/// Searches for a route that meets the requirements: the first one found, or a cheapest one.
pub(super) fn search(
    ground: &Ground<'_>,
    required: &Required,
    objective: TripObjective,
    steps_max: u64,
) -> Found {
    let mut found = Found { best: None, is_complete: true, steps: 0 };
    // No trip has this shape, which is an exhaustive answer without a step.
    if ground.stops() == 0 || ground.nights_max() == 0 || ground.towns.len() < ground.stops() {
        return found;
    }
    for &means in Ground::means(required) {
        // The best trip so far bounds the search with other means, too.
        let mut search = Search::new(ground, required, means, objective, steps_max, found);
        search.extend(ground.home(), 0, 0.0);
        found = search.found;
        if search.is_done {
            break;
        }
    }
    found
}

struct Search<'s, 't> {
    ground: &'s Ground<'t>,
    required: &'s Required,
    means: Means,
    objective: TripObjective,
    steps_max: u64,
    /// The minimum cost of a stay, by town and nights: the accommodation, and meals regardless of cuisines.
    stays: Vec<Vec<f64>>,
    /// The minimum cost of journeys, by day, origin and destination.
    ways: Vec<f64>,
    /// The minimum cost of the rest of the trip, by number of cities and nights, including journeys.
    rest: Vec<Vec<f64>>,
    stops: Vec<Stop>,
    is_visited: Vec<bool>,
    found: Found,
    /// Whether the search is over, because it found what it wants or because it gave up.
    is_done: bool,
}

impl<'s, 't> Search<'s, 't> {
    fn new(
        ground: &'s Ground<'t>,
        required: &'s Required,
        means: Means,
        objective: TripObjective,
        steps_max: u64,
        found: Found,
    ) -> Self {
        let stay = |town: usize, nights: usize| {
            let needed = meals::needed(Stop { town, nights });
            let house = ground.towns[town].house(nights, required);
            // A stay of n nights has n - 1 full days, each with an attraction of its own.
            if nights > ground.towns[town].sights.len() + 1 {
                return f64::INFINITY;
            }
            let nightly = house.map_or(f64::INFINITY, |house| house.night);
            nightly * nights as f64 + ground.menus[town].cost(needed, 0)
        };
        let nights_max = ground.nights_max();
        let stays = |town| {
            // No city is visited without a night.
            let first = std::iter::once(f64::INFINITY);
            first.chain((1..=nights_max).map(|nights| stay(town, nights))).collect()
        };
        let stays: Vec<Vec<f64>> = (0..ground.towns.len()).map(stays).collect();
        let places = ground.home() + 1;
        let way = |at: usize| {
            let (day, from, to) = (at / places / places, at / places % places, at % places);
            ground.way(from, to, day).ride(means, required.ban).map_or(f64::INFINITY, |(cost, _)| cost)
        };
        // Computed once for these means, because every step of the search needs them.
        let ways: Vec<f64> = (0..ground.query.days * places * places).map(way).collect();
        let mut search = Self {
            ground,
            required,
            means,
            objective,
            steps_max,
            stays,
            ways,
            rest: Vec::new(),
            stops: Vec::new(),
            is_visited: vec![false; ground.towns.len()],
            found,
            is_done: false,
        };
        search.rest = search.rests();
        search
    }

    fn way(&self, from: usize, to: usize, day: usize) -> f64 {
        let places = self.ground.home() + 1;
        self.ways[(day * places + from) * places + to]
    }

    /// A lower bound for the rest of the trip: for every city the cheapest one for any number of nights, reached by
    /// the cheapest journey on any day, and the cheapest journey home.
    fn rests(&self) -> Vec<Vec<f64>> {
        let (ground, home) = (self.ground, self.ground.home());
        let last = ground.nights();
        let least = |costs: &mut dyn Iterator<Item = f64>| costs.fold(f64::INFINITY, f64::min);
        // From anywhere and on any day, because the bound has to hold for every route.
        let reach = |town: usize| {
            let all = |from| (0..last).map(move |day| self.way(from, town, day));
            least(&mut (0..=home).flat_map(all))
        };
        let reached: Vec<f64> = (0..home).map(reach).collect();
        let unit = |nights: usize| least(&mut (0..home).map(|town| reached[town] + self.stays[town][nights]));
        let units: Vec<f64> = (0..=ground.nights_max()).map(unit).collect();
        let mut rest = vec![vec![f64::INFINITY; last + 1]; ground.stops() + 1];
        rest[0][0] = least(&mut (0..home).map(|town| self.way(town, home, last)));
        for stops in 1..=ground.stops() {
            for nights in 1..=last {
                let begin = 1..=nights.min(ground.nights_max());
                let cost = least(&mut begin.map(|first| units[first] + rest[stops - 1][nights - first]));
                rest[stops][nights] = cost;
            }
        }
        rest
    }

    /// Whether a partial trip with at least this cost can be discarded.
    fn is_useless(&self, cost: f64) -> bool {
        // The cost of something impossible is infinite, and so may be the budget.
        cost.is_infinite()
            || cost > self.required.budget
            || self.found.best.as_ref().is_some_and(|best| cost >= best.cost)
    }

    /// Counts a step, and ends the search if it was the last.
    fn step(&mut self) {
        self.found.steps += 1;
        if self.found.steps >= self.steps_max {
            self.found.is_complete = false;
            self.is_done = true;
        }
    }

    /// Extends the route from a place on a day, given the cost so far.
    fn extend(&mut self, here: usize, day: usize, cost: f64) {
        let left = self.ground.stops() - self.stops.len();
        let nights_left = self.ground.nights() - day;
        if left == 0 {
            return self.finish(here, cost);
        }
        let mut next = Vec::new();
        for town in (0..self.ground.towns.len()).filter(|&town| !self.is_visited[town]) {
            let reached = cost + self.way(here, town, day);
            // At least one night is left for each later city. The last city must take them all, because `rest` is
            // infinite if nights remain without a city.
            for nights in 1..=(nights_left + 1).saturating_sub(left) {
                let cost = reached + self.stays[town][nights];
                let bound = cost + self.rest[left - 1][nights_left - nights];
                if !self.is_useless(bound) {
                    next.push((bound, cost, Stop { town, nights }));
                }
            }
        }
        // Most promising first: a good trip found early prunes more.
        next.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (bound, cost, stop) in next {
            if self.is_done {
                return;
            }
            if self.is_useless(bound) {
                // All later ones are useless too.
                return;
            }
            self.step();
            self.stops.push(stop);
            self.is_visited[stop.town] = true;
            self.extend(stop.town, day + stop.nights, cost);
            self.is_visited[stop.town] = false;
            self.stops.pop();
        }
    }

    /// Accepts a complete route if it is better than the best so far.
    fn finish(&mut self, here: usize, cost: f64) {
        let cost = cost + self.way(here, self.ground.home(), self.ground.nights());
        if self.is_useless(cost) {
            return;
        }
        self.step();
        // So far, meals were counted regardless of cuisines. Their exact cost replaces that part.
        let without: f64 =
            self.stops.iter().map(|&stop| self.ground.menus[stop.town].cost(meals::needed(stop), 0)).sum();
        let Some((meals, _)) = meals::share(self.ground, self.required, &self.stops) else { return };
        let cost = cost - without + meals;
        if !self.is_useless(cost) {
            let route = Route { means: self.means, stops: self.stops.clone(), cost };
            self.found.best = Some(route);
            self.is_done |= self.objective == TripObjective::Any;
        }
    }
}
