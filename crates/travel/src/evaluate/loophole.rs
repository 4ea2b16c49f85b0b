//! The gaps in the published checks.

/// A gap in a published check that lets a wrong plan pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loophole {
    /// On three-day trips, any known city is accepted as the destination.
    Destination,
    /// The start of the trip is checked only if the first day is a travel day.
    Start,
    /// A trip that never leaves its city counts as a round trip.
    NoTrip,
    /// The same place in a different spelling counts as a different place.
    Spelling,
    /// Text after the last semicolon of the attractions is not checked.
    LastAttraction,
    /// The minimum number of nights is not checked if several houses match the name.
    AmbiguousStay,
    /// The day of the return journey counts as a night.
    LastDayNight,
    /// On days without travel, the check looks for letters of the city rather than for the city.
    Letters,
    /// On travel days, a city may occur anywhere in the entry, in any order.
    CityInText,
    /// Transport that is neither a numbered flight nor a car or taxi is free and always available.
    AnyMeans,
    /// Flights on other days are accepted.
    FlightDate,
    /// Any part of a name is accepted, even an empty one.
    PartOfName,
    /// Null counts as filled in.
    NullEntry,
    /// Keys that name no activity count as filled in.
    OtherKeys,
    /// Days after the last one are not checked.
    ExtraDays,
    /// Part of a cuisine's name is accepted.
    PartOfCuisine,
    /// An excluded means of transport is accepted in other letter case, such as `flight` for `Flight`.
    LowerCase,
}

impl Loophole {
    pub const ALL: [Self; 17] = [
        Self::Destination,
        Self::Start,
        Self::NoTrip,
        Self::Spelling,
        Self::LastAttraction,
        Self::AmbiguousStay,
        Self::LastDayNight,
        Self::Letters,
        Self::CityInText,
        Self::AnyMeans,
        Self::FlightDate,
        Self::PartOfName,
        Self::NullEntry,
        Self::OtherKeys,
        Self::ExtraDays,
        Self::PartOfCuisine,
        Self::LowerCase,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Destination => "destination",
            Self::Start => "start",
            Self::NoTrip => "no-trip",
            Self::Spelling => "spelling",
            Self::LastAttraction => "last-attraction",
            Self::AmbiguousStay => "ambiguous-stay",
            Self::LastDayNight => "last-day-night",
            Self::Letters => "letters",
            Self::CityInText => "city-in-text",
            Self::AnyMeans => "any-means",
            Self::FlightDate => "flight-date",
            Self::PartOfName => "part-of-name",
            Self::NullEntry => "null-entry",
            Self::OtherKeys => "other-keys",
            Self::ExtraDays => "extra-days",
            Self::PartOfCuisine => "part-of-cuisine",
            Self::LowerCase => "lower-case",
        }
    }
}
