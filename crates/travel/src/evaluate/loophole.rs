//! What the published checks let through.

/// A gap in a published check, through which a plan passes that ought not to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loophole {
    /// On trips of three days any known city will do as the destination.
    Destination,
    /// Where the trip begins is not looked at unless the first day is one of travel.
    Start,
    /// A trip that never leaves its city is a round trip.
    NoTrip,
    /// The same place in another spelling is another place.
    Spelling,
    /// What stands behind the last semicolon of the sights is not looked at.
    LastAttraction,
    /// The minimum of nights is not looked at where several houses fit the name.
    AmbiguousStay,
    /// The day of the journey home counts as a night.
    LastDayNight,
    /// On days without travel, letters of the city are looked for and not the city.
    Letters,
    /// On days of travel, a city may stand anywhere in the entry, in any order.
    CityInText,
    /// What is no flight with a number, no car and no taxi is free and always there.
    AnyMeans,
    /// Flights of other days will do.
    FlightDate,
    /// Any part of a name will do, down to none.
    PartOfName,
    /// Null counts as filled in.
    NullEntry,
    /// Keys that name nothing to do count as filled in.
    OtherKeys,
    /// Days after the last are not looked at.
    ExtraDays,
    /// Part of the name of a cuisine will do.
    PartOfCuisine,
    /// What was ruled out is allowed in other letters, such as `flight` for `Flight`.
    LowerCase,
}

impl Loophole {
    /// All of them.
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
