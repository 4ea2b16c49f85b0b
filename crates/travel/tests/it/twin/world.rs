//! Tiny tables and a query over them, drawn from a seed.

use planproof_travel::query::{HouseRule, Level, LocalConstraint, Query, RoomType, TransportRule};
use planproof_travel::tables::{FLIGHTS_FILE, FlightsBuilder, Texts, TripDatabase};

pub(crate) const HOME: &str = "Home";
pub(crate) const TOWNS: [&str; 2] = ["Ashby", "Birch"];
const CUISINES: [&str; 2] = ["Thai", "French"];
const ROOMS: [&str; 3] = ["Entire home/apt", "Private room", "Shared room"];
const RULES: [&str; 4] = ["No pets", "No smoking", "No pets & No smoking", "No visitors"];

pub(crate) struct Stay {
    pub(crate) name: String,
    price: u64,
    room: &'static str,
    rules: &'static str,
    pub(crate) minimum_nights: u64,
    pub(crate) occupancy: u64,
    pub(crate) city: &'static str,
}

pub(crate) struct Restaurant {
    pub(crate) name: String,
    cost: u64,
    pub(crate) cuisines: Vec<&'static str>,
    pub(crate) city: &'static str,
}

pub(crate) struct Flight {
    pub(crate) number: String,
    price: u64,
    pub(crate) date: String,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

/// All rows and the query before they are tables.
pub(crate) struct Plain {
    pub(crate) stays: Vec<Stay>,
    pub(crate) restaurants: Vec<Restaurant>,
    pub(crate) sights: Vec<(String, &'static str)>,
    pub(crate) flights: Vec<Flight>,
    roads: Vec<(&'static str, &'static str, u64)>,
    pub(crate) query: Query,
}

pub(crate) struct World {
    pub(crate) plain: Plain,
    pub(crate) database: TripDatabase,
    pub(crate) query: Query,
}

impl World {
    /// The world of a seed, after a change of its rows or its query.
    pub(crate) fn new(seed: u64, change: impl FnOnce(&mut Plain)) -> Self {
        let mut plain = Plain::draw(&mut Dice(seed));
        change(&mut plain);
        Self { database: plain.database(), query: plain.query.clone(), plain }
    }
}

/// A stream of numbers (SplitMix64, Steele et al. 2014), so that a seed is a world.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        it ^ (it >> 31)
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn one_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() as u64 - 1) as usize]
    }
}

impl Plain {
    fn draw(dice: &mut Dice) -> Self {
        let is_long = dice.one_in(3);
        let days = if is_long { 4 } else { 3 };
        let date: Vec<String> = (1..=days).map(|day| format!("2022-03-0{day}")).collect();
        let mut plain = Self {
            stays: Vec::new(),
            restaurants: Vec::new(),
            sights: Vec::new(),
            flights: Vec::new(),
            roads: Vec::new(),
            query: query(dice, is_long, &date),
        };
        // Long trips have more plans, so their tables are smaller.
        let (stays, restaurants) = if is_long { (2, 3) } else { (3, 4) };
        for city in TOWNS {
            for number in 0..dice.between(1, stays) {
                plain.stays.push(Stay {
                    name: format!("Inn {number}"),
                    price: dice.between(2, 12) * 10,
                    room: dice.pick(&ROOMS),
                    rules: dice.pick(&RULES),
                    minimum_nights: dice.pick(&[1, 1, 2, 3]),
                    occupancy: dice.between(1, 3),
                    city,
                });
            }
            let least = if dice.one_in(12) { 1 } else { 3 };
            for number in 0..dice.between(least, restaurants) {
                let has = CUISINES.into_iter().filter(|_| dice.one_in(2)).collect();
                let cost = dice.between(1, 6) * 10;
                plain.restaurants.push(Restaurant {
                    name: format!("Café {number}"),
                    cost,
                    cuisines: has,
                    city,
                });
            }
            let sights = if dice.one_in(12) { 0 } else { dice.between(1, 3) };
            plain.sights.extend((0..sights).map(|number| (format!("Park {number}"), city)));
        }
        let places = [HOME, TOWNS[0], TOWNS[1]];
        for from in places {
            for to in places.into_iter().filter(|to| *to != from) {
                if !dice.one_in(10) {
                    plain.roads.push((from, to, dice.between(1, 300)));
                }
                for date in &date {
                    if dice.one_in(2) {
                        let number = format!("F{:04}", plain.flights.len());
                        let price = dice.between(2, 20) * 10;
                        plain.flights.push(Flight { number, price, date: date.clone(), from, to });
                    }
                }
            }
        }
        plain
    }

    fn database(&self) -> TripDatabase {
        let mut stays =
            "NAME,price,room type,house_rules,minimum nights,maximum occupancy,review rate number,city\n"
                .to_owned();
        for it in &self.stays {
            let Stay { name, price, room, rules, minimum_nights, occupancy, city } = it;
            stays += &format!("{name},{price},{room},{rules},{minimum_nights},{occupancy},4,{city}\n");
        }
        let mut restaurants = "Name,Average Cost,Cuisines,Aggregate Rating,City\n".to_owned();
        for it in &self.restaurants {
            let cuisines = [&["Cafe"][..], &it.cuisines].concat().join(", ");
            restaurants += &format!("{},{},\"{cuisines}\",4,{}\n", it.name, it.cost, it.city);
        }
        let mut attractions = "Name,Latitude,Longitude,Address,Phone,Website,City\n".to_owned();
        for (name, city) in &self.sights {
            attractions += &format!("{name},1,1,a,p,w,{city}\n");
        }
        let mut distances = "origin,destination,cost,duration,distance\n".to_owned();
        for (from, to, km) in &self.roads {
            distances += &format!("{from},{to},,1 hour,{km} km\n");
        }
        let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
        let header = "Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,DestCityName,Distance";
        flights.line(header).expect("a header");
        for it in &self.flights {
            let Flight { number, price, date, from, to } = it;
            let line = format!("{number},{price},10:00,11:00,1 hours 0 minutes,{date},{from},{to},100");
            flights.line(&line).expect("a flight");
        }
        let texts = Texts {
            accommodations: &stays,
            restaurants: &restaurants,
            attractions: &attractions,
            distances: &distances,
            states: "Home\tHither\nAshby\tYonder\nBirch\tYonder",
            cities: "Home\nAshby\nBirch",
        };
        TripDatabase::read(&texts, flights.finish()).expect("tables")
    }
}

fn query(dice: &mut Dice, is_long: bool, date: &[String]) -> Query {
    let cuisines: Vec<String> = CUISINES.into_iter().filter(|_| dice.one_in(4)).map(str::to_owned).collect();
    Query {
        idx: 1,
        org: HOME.to_owned(),
        dest: if is_long { "Yonder" } else { TOWNS[0] }.to_owned(),
        days: date.len(),
        visiting_city_number: if is_long { 2 } else { 1 },
        date: date.to_vec(),
        people_number: dice.between(1, 5) as u32,
        local_constraint: LocalConstraint {
            house_rule: dice.one_in(4).then(|| dice.pick(&[HouseRule::Pets, HouseRule::Smoking])),
            cuisine: (!cuisines.is_empty()).then_some(cuisines),
            room_type: dice.one_in(4).then(|| {
                dice.pick(&[RoomType::Entire, RoomType::Private, RoomType::Shared, RoomType::NotShared])
            }),
            transportation: dice
                .one_in(3)
                .then(|| dice.pick(&[TransportRule::NoFlight, TransportRule::NoSelfDriving])),
        },
        budget: dice.between(4, 40) as f64 * 50.0,
        query: String::new(),
        level: Level::Hard,
    }
}
