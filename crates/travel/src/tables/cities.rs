//! Cities and their states.

use std::collections::{BTreeMap, BTreeSet};

use super::sheet::TableError;

/// Cities with their states, and the cities that tools accept. The two sets differ slightly.
#[derive(Debug, Clone, Default)]
pub struct Cities {
    states: BTreeMap<String, String>,
    by_state: BTreeMap<String, Vec<String>>,
    accepted: Vec<String>,
    is_accepted: BTreeSet<String>,
}

impl Cities {
    /// Parses lines of city, tab and state, and lines of cities that tools accept. Each pair is a text and the name
    /// of its file.
    ///
    /// # Errors
    /// A line has no tab, or a city has two states.
    pub fn read((states, file): (&str, &str), (accepted, _): (&str, &str)) -> Result<Self, TableError> {
        let mut all = Self::default();
        for (number, line) in (1..).zip(states.lines()).filter(|(_, line)| !line.is_empty()) {
            let Some((city, state)) = line.split_once('\t') else {
                return Err(TableError::at(file, number, "there is no tab; write city, tab and state"));
            };
            if let Some(other) = all.states.insert(city.to_owned(), state.to_owned()) {
                let what = format!("{city} lies in {other}, by a line before it; name each city once");
                return Err(TableError::at(file, number, what));
            }
            all.by_state.entry(state.to_owned()).or_default().push(city.to_owned());
        }
        all.accepted = accepted.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        all.is_accepted = all.accepted.iter().cloned().collect();
        Ok(all)
    }

    /// The state of a city.
    pub fn state(&self, city: &str) -> Option<&str> {
        self.states.get(city).map(String::as_str)
    }

    /// The cities of a state, in the order of the file; `None` if there is no such state.
    pub fn of_state(&self, state: &str) -> Option<&[String]> {
        self.by_state.get(state).map(Vec::as_slice)
    }

    /// The cities that tools accept, in the order of the file.
    pub fn accepted(&self) -> &[String] {
        &self.accepted
    }

    /// Whether tools accept a city.
    pub fn accepts(&self, city: &str) -> bool {
        self.is_accepted.contains(city)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_lie_in_states() {
        let all = Cities::read(("Reno\tNevada\nElko\tNevada", "s.txt"), ("Reno\n", "c.txt")).expect("cities");
        assert_eq!(all.of_state("Nevada").map(<[String]>::len), Some(2));
        assert_eq!(
            (all.state("Elko"), all.accepts("Elko"), all.accepts("Reno")),
            (Some("Nevada"), false, true)
        );
        let error = Cities::read(("Reno Nevada", "s.txt"), ("", "c.txt")).expect_err("no tab");
        assert_eq!(error.to_string(), "s.txt:1: there is no tab; write city, tab and state");
    }
}
