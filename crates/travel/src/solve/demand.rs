//! What is asked of a trip beyond what makes it one, each of which can be asked by itself.

use std::fmt;

use crate::query::{HouseRule, Query, RoomType, TransportRule};

/// Something that is asked of a trip.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// It costs no more than this for all, in US dollars.
    Budget(f64),
    /// One does not travel like this.
    Transportation(TransportRule),
    /// Rooms are of this kind.
    RoomType(RoomType),
    /// Houses allow this.
    HouseRule(HouseRule),
    /// This is eaten once.
    Cuisine(String),
    /// One stays as many nights as each house wants.
    MinimumNights,
    /// One's own car goes with no other means.
    OneMeans,
}

impl Demand {
    /// All that a query asks for, then what the world does. Those of the traveller come first.
    pub fn all(query: &Query) -> Vec<Self> {
        let local = &query.local_constraint;
        let mut all = vec![Self::Budget(query.budget)];
        all.extend(local.transportation.map(Self::Transportation));
        all.extend(local.room_type.map(Self::RoomType));
        all.extend(local.house_rule.map(Self::HouseRule));
        for cuisine in local.cuisine.iter().flatten() {
            let demand = Self::Cuisine(cuisine.clone());
            if !all.contains(&demand) {
                all.push(demand);
            }
        }
        all.extend([Self::MinimumNights, Self::OneMeans]);
        all
    }

    /// Whether the traveller asks for it, and so can do without it.
    pub fn is_wish(&self) -> bool {
        !matches!(self, Self::MinimumNights | Self::OneMeans)
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(dollars) => write!(out, "a budget of ${dollars}"),
            Self::Transportation(TransportRule::NoFlight) => out.write_str("no flights"),
            Self::Transportation(TransportRule::NoSelfDriving) => out.write_str("no driving oneself"),
            Self::RoomType(RoomType::Shared) => out.write_str("shared rooms"),
            Self::RoomType(RoomType::NotShared) => out.write_str("rooms that are not shared"),
            Self::RoomType(RoomType::Private) => out.write_str("private rooms"),
            Self::RoomType(RoomType::Entire) => out.write_str("entire homes"),
            Self::HouseRule(rule) => {
                let what = match rule {
                    HouseRule::Parties => "parties",
                    HouseRule::Smoking => "smoking",
                    HouseRule::Children => "children under 10",
                    HouseRule::Visitors => "visitors",
                    HouseRule::Pets => "pets",
                };
                write!(out, "houses that allow {what}")
            }
            Self::Cuisine(cuisine) => write!(out, "a {cuisine} meal"),
            Self::MinimumNights => out.write_str("the least nights that houses accept"),
            Self::OneMeans => out.write_str("one's own car with no flight or taxi beside it"),
        }
    }
}
