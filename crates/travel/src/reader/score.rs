//! How well a reading agrees with the fields of a query: field by field, exactly.

use super::QueryReading;
use crate::query::Query;

/// A field that is read from the words of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueryField {
    Origin,
    Destination,
    Days,
    /// `visiting_city_number`.
    Cities,
    Dates,
    /// `people_number`.
    People,
    HouseRule,
    /// `cuisine`, as a set.
    Cuisine,
    RoomType,
    Transportation,
    Budget,
}

impl QueryField {
    /// All fields, in the order of the data.
    pub const ALL: [Self; 11] = [
        Self::Origin,
        Self::Destination,
        Self::Days,
        Self::Cities,
        Self::Dates,
        Self::People,
        Self::HouseRule,
        Self::Cuisine,
        Self::RoomType,
        Self::Transportation,
        Self::Budget,
    ];

    /// Its name in the data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Origin => "org",
            Self::Destination => "dest",
            Self::Days => "days",
            Self::Cities => "visiting_city_number",
            Self::Dates => "date",
            Self::People => "people_number",
            Self::HouseRule => "house rule",
            Self::Cuisine => "cuisine",
            Self::RoomType => "room type",
            Self::Transportation => "transportation",
            Self::Budget => "budget",
        }
    }

    /// Whether this field is the same in both readings.
    fn agrees(self, reading: &QueryReading, truth: &QueryReading) -> bool {
        let (local, true_local) = (&reading.local_constraint, &truth.local_constraint);
        match self {
            Self::Origin => reading.org == truth.org,
            Self::Destination => reading.dest == truth.dest,
            Self::Days => reading.days == truth.days,
            Self::Cities => reading.visiting_city_number == truth.visiting_city_number,
            Self::Dates => reading.date == truth.date,
            Self::People => reading.people_number == truth.people_number,
            Self::HouseRule => local.house_rule == true_local.house_rule,
            Self::Cuisine => set(local.cuisine.as_deref()) == set(true_local.cuisine.as_deref()),
            Self::RoomType => local.room_type == true_local.room_type,
            Self::Transportation => local.transportation == true_local.transportation,
            Self::Budget => reading.budget == truth.budget,
        }
    }
}

fn set(cuisines: Option<&[String]>) -> std::collections::BTreeSet<&String> {
    cuisines.into_iter().flatten().collect()
}

/// Which fields of a reading are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingScore {
    /// In the order of [`QueryField::ALL`].
    pub right: [bool; QueryField::ALL.len()],
}

impl ReadingScore {
    /// Compares a reading with the fields of its query. An absent cuisine equals an empty list.
    pub fn new(reading: &QueryReading, query: &Query) -> Self {
        let truth = QueryReading::of(query);
        Self { right: QueryField::ALL.map(|field| field.agrees(reading, &truth)) }
    }

    /// The wrong fields.
    pub fn wrong(&self) -> impl Iterator<Item = QueryField> {
        QueryField::ALL.into_iter().zip(self.right).filter(|(_, right)| !right).map(|(field, _)| field)
    }

    /// Whether all fields are right.
    pub fn is_exact(&self) -> bool {
        self.right.into_iter().all(|right| right)
    }
}

/// How often each field was right over many readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// The number of readings. A reading that could not be parsed counts as one without fields.
    pub readings: usize,
    /// The number of readings in which each field was right, in the order of [`QueryField::ALL`].
    pub right: [usize; QueryField::ALL.len()],
    /// The number of readings in which all fields were right.
    pub exact: usize,
}

impl Accuracy {
    /// Counts a reading.
    pub fn add(&mut self, score: &ReadingScore) {
        self.readings += 1;
        for (count, right) in self.right.iter_mut().zip(score.right) {
            *count += usize::from(right);
        }
        self.exact += usize::from(score.is_exact());
    }
}
