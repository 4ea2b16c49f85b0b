//! What rules out every trip, regardless of the demands.

use super::ground::{Ground, MEALS_A_DAY};
use super::town::Town;
use super::ways::Means;

impl Ground<'_> {
    /// Why there is no trip even without demands, as a sentence without a full stop.
    pub(super) fn obstacle(&self) -> String {
        let query = self.query;
        let (stops, days) = (self.stops(), query.days);
        if stops == 0 {
            return "no city is to be seen".to_owned();
        }
        if days <= stops {
            let most = days.saturating_sub(1);
            let (day, city) =
                (if days == 1 { "day" } else { "days" }, if most == 1 { "city" } else { "cities" });
            let asked = query.visiting_city_number;
            return format!("there is time for at most {most} {city} in {days} {day}, not for {asked}");
        }
        let place = &query.dest;
        let count = self.towns.len();
        if count < stops {
            return match count {
                0 => format!("the tables have no city to visit in {place} from {}", query.org),
                _ => format!("{place} has too few cities to visit: {count} of {stops}"),
            };
        }
        let (home, last) = (self.home(), self.nights());
        let is_way = |from, to, day| self.way(from, to, day).ride(Means::All, None).is_some();
        let day = |day: usize| query.date.get(day).map_or("", String::as_str);
        if (0..count).all(|town| !is_way(home, town, 0)) {
            return format!("there is no way from {} to {place} on {}", query.org, day(0));
        }
        if (0..count).all(|town| !is_way(town, home, last)) {
            return format!("there is no way back from {place} to {} on {}", query.org, day(last));
        }
        let nothing = self.required([]);
        let lacks = |what: &str, has: &dyn Fn(&Self, usize) -> bool| {
            let count = (0..count).filter(|&town| has(self, town)).count();
            (count < stops).then(|| format!("too few cities in {place} have {what}: {count} of {stops}"))
        };
        // For one night and without demands, any house will do.
        let has_house = |ground: &Self, town: usize| ground.towns[town].house(1, &nothing).is_some();
        let found = lacks("a house to sleep in", &has_house)
            .or_else(|| lacks("a way to get there", &|ground, town| ground.is_reached(town)))
            .or_else(|| lacks("a way to leave it", &|ground, town| ground.is_left(town)));
        found.unwrap_or_else(|| {
            // A day without travel takes three restaurants and an attraction.
            let fill = |town: &Town<'_>| town.sights.len().min(town.restaurants.len() / MEALS_A_DAY);
            // Each of the `stops + 1` journeys takes a day. This cannot underflow: shorter trips were reported above.
            let idle = days - stops - 1;
            let filled: usize = self.towns.iter().map(fill).sum();
            if filled < idle {
                return format!("{place} has meals and sights for {filled} of {idle} days without travel");
            }
            format!("no ways, houses, meals and sights in {place} fit together on these days")
        })
    }

    fn is_reached(&self, town: usize) -> bool {
        let mut days = 0..self.nights();
        days.any(|day| {
            (0..=self.home()).any(|from| self.way(from, town, day).ride(Means::All, None).is_some())
        })
    }

    fn is_left(&self, town: usize) -> bool {
        let mut days = 0..self.query.days;
        days.any(|day| (0..=self.home()).any(|to| self.way(town, to, day).ride(Means::All, None).is_some()))
    }
}
