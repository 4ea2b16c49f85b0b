//! The demands on a trip beyond what makes it a trip. Each can be imposed separately.

use std::fmt;

use crate::query::{HouseRule, Query, RoomType, TransportRule};

/// A demand on a trip.
#[derive(Debug, Clone, PartialEq)]
pub enum TripDemand {
    /// It costs no more than this for all travellers, in US dollars.
    Budget(f64),
    /// This means of travel is not used.
    Transportation(TransportRule),
    /// All rooms are of this kind.
    RoomType(RoomType),
    /// All accommodations allow this.
    HouseRule(HouseRule),
    /// This cuisine is eaten at least once.
    Cuisine(String),
    /// Every stay lasts at least the accommodation's minimum number of nights.
    MinimumNights,
    /// One's own car is not combined with other means of travel.
    OneMeans,
}

impl TripDemand {
    /// All demands of a query: first the traveller's, then those that apply to every trip.
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

    /// Whether it is the traveller's own demand, which can be dropped.
    pub fn is_wish(&self) -> bool {
        !matches!(self, Self::MinimumNights | Self::OneMeans)
    }
}

impl fmt::Display for TripDemand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(amount) => write!(out, "a budget of {}", dollars(*amount)),
            Self::Transportation(TransportRule::NoFlight) => out.write_str("no flights"),
            Self::Transportation(TransportRule::NoSelfDriving) => out.write_str("not driving oneself"),
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
            Self::Cuisine(cuisine) => {
                let article = if cuisine.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
                write!(out, "{article} {cuisine} meal")
            }
            Self::MinimumNights => out.write_str("the minimum stays of houses"),
            Self::OneMeans => out.write_str("one's own car with no flight or taxi beside it"),
        }
    }
}

/// An amount such as `$1,700` or `$99.50`.
pub(super) fn dollars(amount: f64) -> String {
    let text = if amount.fract() == 0.0 { format!("{amount:.0}") } else { format!("{amount:.2}") };
    let (whole, cents) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if cents.is_empty() { format!("${grouped}") } else { format!("${grouped}.{cents}") }
}
