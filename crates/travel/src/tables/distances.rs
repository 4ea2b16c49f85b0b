//! Distances between cities by road, and the cost of travelling them.

use std::collections::BTreeMap;

use super::sheet::{self, TableError};

/// Dollars per kilometre in one's own car.
const SELF_DRIVING_KM: f64 = 0.05;

/// The number of people per car.
const CAR_SEATS: u32 = 5;

/// The number of people per taxi.
const TAXI_SEATS: u32 = 4;

/// A means of travel by road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoadMode {
    /// In one's own car.
    SelfDriving,
    Taxi,
}

impl RoadMode {
    /// Its name in the arguments of tools.
    pub fn name(self) -> &'static str {
        match self {
            Self::SelfDriving => "self-driving",
            Self::Taxi => "taxi",
        }
    }

    /// The number of vehicles for a number of people.
    pub fn cars(self, people: u32) -> u32 {
        people.div_ceil(match self {
            Self::SelfDriving => CAR_SEATS,
            Self::Taxi => TAXI_SEATS,
        })
    }
}

/// The route between two cities. Both texts are empty if the table has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distance {
    /// Such as `10 hours 55 mins`.
    pub duration: String,
    /// Such as `1,144 km`.
    pub distance: String,
}

impl Distance {
    /// The cost of the route per vehicle, in whole US dollars. `None` if the table has no route, or one that takes
    /// more than a day.
    pub fn cost(&self, mode: RoadMode) -> Option<i64> {
        let km = self.km()?;
        let cost = match mode {
            RoadMode::SelfDriving => km * SELF_DRIVING_KM,
            RoadMode::Taxi => km,
        };
        // Truncated as in the published code. `Distances::read` has checked the range.
        Some(cost as i64)
    }

    /// Whether the route can be travelled: it is known, and takes less than a day.
    pub fn is_valid(&self) -> bool {
        !self.duration.is_empty() && !self.distance.is_empty() && !self.duration.contains("day")
    }

    fn km(&self) -> Option<f64> {
        if !self.is_valid() {
            return None;
        }
        self.distance.replace("km", "").replace(',', "").trim().parse().ok()
    }
}

/// Routes by their end points.
#[derive(Debug, Clone, Default)]
pub struct Distances {
    ways: BTreeMap<String, BTreeMap<String, Distance>>,
}

impl Distances {
    /// Parses the table. If a pair of cities has several rows, the first one counts; rows with empty cells are
    /// kept.
    ///
    /// # Errors
    /// The file, line and column that cannot be parsed.
    pub fn read(text: &str, file: &str) -> Result<Self, TableError> {
        let mut all = Self::default();
        sheet::read((text, file), &["origin", "destination", "duration", "distance"], false, |row| {
            // No row is dropped here, so all forms of an empty cell become the empty text.
            let cell = |column| if sheet::is_empty(row.text(column)) { "" } else { row.text(column) };
            let way = Distance { duration: cell(2).to_owned(), distance: cell(3).to_owned() };
            if way.is_valid() && way.km().is_none_or(|km| !(0.0..1e9).contains(&km)) {
                let what =
                    format!("`distance` is {:?}; write a number of km such as `1,144 km`", way.distance);
                return Err(TableError::at(file, row.line(), what));
            }
            let ways = all.ways.entry(row.text(0).to_owned()).or_default();
            ways.entry(row.text(1).to_owned()).or_insert(way);
            Ok(())
        })?;
        Ok(all)
    }

    /// The route from one city to another.
    pub fn get(&self, origin: &str, destination: &str) -> Option<&Distance> {
        self.ways.get(origin)?.get(destination)
    }

    /// Same as [`Distance::cost`].
    pub fn cost(&self, origin: &str, destination: &str, mode: RoadMode) -> Option<i64> {
        self.get(origin, destination)?.cost(mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "origin,destination,cost,duration,distance\nA,B,,10 hours,\"1,144.5 km\"\nA,B,,1 hour,1 km\n\
        B,A,,1 day 2 hours,\"3,000 km\"\nB,C,,,\n";

    #[test]
    fn the_first_way_counts() {
        let all = Distances::read(TEXT, "d.csv").expect("a table");
        assert_eq!(all.cost("A", "B", RoadMode::SelfDriving), Some(57));
        assert_eq!(all.cost("A", "B", RoadMode::Taxi), Some(1144));
        assert_eq!(all.cost("B", "A", RoadMode::Taxi), None);
        assert_eq!(all.get("B", "C").map(Distance::is_valid), Some(false));
        assert_eq!(all.get("C", "B"), None);
        assert_eq!((RoadMode::SelfDriving.cars(6), RoadMode::Taxi.cars(8)), (2, 2));
    }

    #[test]
    fn a_distance_has_to_be_a_number() {
        let error = Distances::read(&TEXT.replace("1 km", "far"), "d.csv").expect_err("a fault");
        assert_eq!(
            error.to_string(),
            "d.csv:3: `distance` is \"far\"; write a number of km such as `1,144 km`"
        );
    }
}
