//! The thirteen checks.

/// A check of a plan. The order is that of the published evaluator: eight common-sense checks, then five of the
/// request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TripCheck {
    /// The cities form a round trip.
    Route,
    /// No restaurant is visited twice.
    Restaurants,
    /// No attraction is visited twice.
    Attractions,
    /// The number of nights meets the minimum of the accommodation.
    MinimumNights,
    /// The means of transport do not conflict.
    Transportation,
    /// The activities of a day take place in its city.
    CurrentCity,
    /// Everything named is in the tables.
    Sandbox,
    /// Nothing is left out.
    Complete,
    /// Every requested cuisine is eaten.
    Cuisine,
    /// Accommodations allow what was asked for.
    RoomRule,
    /// No excluded means of transport is used.
    TransportRule,
    /// The rooms are of the requested kind.
    RoomType,
    /// The trip costs no more than the budget.
    Budget,
}

impl TripCheck {
    /// The common-sense checks.
    pub const COMMONSENSE: [Self; 8] = [
        Self::Route,
        Self::Restaurants,
        Self::Attractions,
        Self::MinimumNights,
        Self::Transportation,
        Self::CurrentCity,
        Self::Sandbox,
        Self::Complete,
    ];

    /// The checks of the request.
    pub const HARD: [Self; 5] =
        [Self::Cuisine, Self::RoomRule, Self::TransportRule, Self::RoomType, Self::Budget];

    /// All checks.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::COMMONSENSE.into_iter().chain(Self::HARD)
    }

    /// Its name in the published evaluator.
    pub fn key(self) -> &'static str {
        match self {
            Self::Route => "is_reasonable_visiting_city",
            Self::Restaurants => "is_valid_restaurants",
            Self::Attractions => "is_valid_attractions",
            Self::MinimumNights => "is_valid_accommodation",
            Self::Transportation => "is_valid_transportation",
            Self::CurrentCity => "is_valid_information_in_current_city",
            Self::Sandbox => "is_valid_information_in_sandbox",
            Self::Complete => "is_not_absent",
            Self::Cuisine => "valid_cuisine",
            Self::RoomRule => "valid_room_rule",
            Self::TransportRule => "valid_transportation",
            Self::RoomType => "valid_room_type",
            Self::Budget => "valid_cost",
        }
    }

    /// Its name in the paper.
    pub fn label(self) -> &'static str {
        match self {
            Self::Route => "Reasonable City Route",
            Self::Restaurants => "Diverse Restaurants",
            Self::Attractions => "Diverse Attractions",
            Self::MinimumNights => "Minimum Nights Stay",
            Self::Transportation => "Non-conf. Transportation",
            Self::CurrentCity => "Within Current City",
            Self::Sandbox => "Within Sandbox",
            Self::Complete => "Complete Information",
            Self::Cuisine => "Cuisine",
            Self::RoomRule => "Room Rule",
            Self::TransportRule => "Transportation",
            Self::RoomType => "Room Type",
            Self::Budget => "Budget",
        }
    }
}
