//! Accommodations, restaurants and attractions: rows with a name and a city.

use std::collections::{BTreeMap, HashMap};

use super::sheet::{self, Row, TableError};

/// A row that can be found by its name and its city.
pub trait Place: Sized {
    /// The columns to parse.
    const COLUMNS: &'static [&'static str];

    fn name(&self) -> &str;

    fn city(&self) -> &str;

    /// Creates it from the cells of [`Place::COLUMNS`].
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "rows are made in here alone")]
    fn read(row: &Row<'_>) -> Result<Self, TableError>;
}

/// An accommodation.
#[derive(Debug, Clone, PartialEq)]
pub struct Stay {
    pub name: String,
    /// The price per night for the whole room, in US dollars.
    pub price: f64,
    /// `Entire home/apt`, `Private room` or `Shared room`.
    pub room_type: String,
    /// What is forbidden, such as `No pets & No parties`.
    pub house_rules: String,
    /// The minimum number of nights.
    pub minimum_nights: f64,
    /// The maximum number of people per room, at least 1.
    pub maximum_occupancy: u32,
    /// The rating, in stars.
    pub review: f64,
    pub city: String,
}

impl Stay {
    /// The cost per night for a number of people, who may need several rooms.
    pub fn night(&self, people: u32) -> f64 {
        self.price * f64::from(people.div_ceil(self.maximum_occupancy.max(1)))
    }

    /// Whether its rules contain this item, such as `No pets`.
    pub fn forbids(&self, rule: &str) -> bool {
        self.house_rules.split('&').any(|it| it.trim() == rule)
    }
}

impl Place for Stay {
    const COLUMNS: &'static [&'static str] = &[
        "NAME",
        "price",
        "room type",
        "house_rules",
        "minimum nights",
        "maximum occupancy",
        "review rate number",
        "city",
    ];

    fn name(&self) -> &str {
        &self.name
    }

    fn city(&self) -> &str {
        &self.city
    }

    #[expect(private_interfaces, reason = "rows are made in here alone")]
    fn read(row: &Row<'_>) -> Result<Self, TableError> {
        Ok(Self {
            name: row.text(0).to_owned(),
            price: row.amount(1)?,
            room_type: row.text(2).to_owned(),
            house_rules: row.text(3).to_owned(),
            minimum_nights: row.amount(4)?,
            maximum_occupancy: row.number(5)?,
            review: row.amount(6)?,
            city: row.text(7).to_owned(),
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Restaurant {
    pub name: String,
    /// The average cost per person, in US dollars.
    pub average_cost: u32,
    /// Its cuisines, such as `Cafe, Pizza, Chinese`.
    pub cuisines: String,
    /// The rating, in stars.
    pub rating: f64,
    pub city: String,
}

impl Restaurant {
    /// Whether its list of cuisines contains this item.
    pub fn cooks(&self, cuisine: &str) -> bool {
        self.cuisines.split(',').any(|it| it.trim() == cuisine)
    }
}

impl Place for Restaurant {
    const COLUMNS: &'static [&'static str] =
        &["Name", "Average Cost", "Cuisines", "Aggregate Rating", "City"];

    fn name(&self) -> &str {
        &self.name
    }

    fn city(&self) -> &str {
        &self.city
    }

    #[expect(private_interfaces, reason = "rows are made in here alone")]
    fn read(row: &Row<'_>) -> Result<Self, TableError> {
        Ok(Self {
            name: row.text(0).to_owned(),
            average_cost: row.number(1)?,
            cuisines: row.text(2).to_owned(),
            rating: row.amount(3)?,
            city: row.text(4).to_owned(),
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Attraction {
    pub name: String,
    /// The latitude, in degrees north.
    pub latitude: f64,
    /// The longitude, in degrees east.
    pub longitude: f64,
    pub address: String,
    /// Its telephone number.
    pub phone: String,
    pub website: String,
    pub city: String,
}

impl Place for Attraction {
    const COLUMNS: &'static [&'static str] =
        &["Name", "Latitude", "Longitude", "Address", "Phone", "Website", "City"];

    fn name(&self) -> &str {
        &self.name
    }

    fn city(&self) -> &str {
        &self.city
    }

    #[expect(private_interfaces, reason = "rows are made in here alone")]
    fn read(row: &Row<'_>) -> Result<Self, TableError> {
        Ok(Self {
            name: row.text(0).to_owned(),
            latitude: row.number(1)?,
            longitude: row.number(2)?,
            address: row.text(3).to_owned(),
            phone: row.text(4).to_owned(),
            website: row.text(5).to_owned(),
            city: row.text(6).to_owned(),
        })
    }
}

/// Rows grouped by city, in the order of the file.
#[derive(Debug, Clone)]
pub struct CityTable<T> {
    rows: Vec<T>,
    by_city: BTreeMap<String, City>,
}

#[derive(Debug, Clone, Default)]
struct City {
    rows: Vec<u32>,
    /// The first row with each normalized name.
    named: HashMap<String, u32>,
}

impl<T: Place> CityTable<T> {
    /// Parses a table.
    ///
    /// # Errors
    /// The file, line and column that cannot be parsed.
    pub fn read(text: &str, file: &str) -> Result<Self, TableError> {
        Ok(Self::new(sheet::read((text, file), T::COLUMNS, true, T::read)?))
    }

    /// Creates a table of these rows.
    pub fn new(rows: Vec<T>) -> Self {
        let mut by_city: BTreeMap<String, City> = BTreeMap::new();
        for (number, row) in (0..).zip(&rows) {
            // `entry` would allocate the key for every row.
            if !by_city.contains_key(row.city()) {
                by_city.insert(row.city().to_owned(), City::default());
            }
            if let Some(city) = by_city.get_mut(row.city()) {
                city.rows.push(number);
                city.named.entry(clean_name(row.name())).or_insert(number);
            }
        }
        Self { rows, by_city }
    }

    /// All rows, in order.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// The rows of a city, in order.
    pub fn in_city(&self, city: &str) -> impl Iterator<Item = &T> {
        let rows = self.by_city.get(city).map_or(&[][..], |city| &city.rows);
        rows.iter().filter_map(|&row| self.rows.get(row as usize))
    }

    /// The rows of a city whose name contains this text, which is how the published evaluator looks up names: any
    /// part of a name matches, and the empty name matches every row.
    pub fn holding(&self, name: &str, city: &str) -> impl Iterator<Item = &T> {
        self.in_city(city).filter(move |row| row.name().contains(name))
    }

    /// The first row of a city with exactly this name, except for differences in white space.
    pub fn named(&self, name: &str, city: &str) -> Option<&T> {
        let row = *self.by_city.get(city)?.named.get(&clean_name(name))?;
        self.rows.get(row as usize)
    }
}

/// A name with single blanks. The tables of tools write a line break as `\n`, so that counts as white space too.
pub fn clean_name(name: &str) -> String {
    let name = name.replace("\\n", " ").replace("\\r", " ").replace("\\t", " ");
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "x,City,Name,Cuisines,Average Cost,Aggregate Rating\n0,Reno,Gil,\"Thai, Cafe\",10,4.5\n\
        1,Reno,\"Gil\nand Son\",Thai,20,4.0\n2,Reno,,Thai,20,4.0\n3,Elko,Gil,NA,20,4.0\n4,Elko,Ann,Cafe,5,1.0\n";

    #[test]
    fn rows_with_an_empty_cell_are_left_out() {
        let table: CityTable<Restaurant> = CityTable::read(TEXT, "r.csv").expect("a table");
        let names: Vec<&str> = table.rows().iter().map(Place::name).collect();
        assert_eq!(names, ["Gil", "Gil\nand Son", "Ann"]);
        assert_eq!(table.holding("Gil", "Reno").count(), 2);
        assert_eq!(table.holding("", "Elko").count(), 1);
        assert_eq!(table.named("Gil\\nand  Son", "Reno").map(|row| row.average_cost), Some(20));
        assert_eq!(table.named("Gil", "Elko"), None);
    }

    #[test]
    fn broken_rows_are_errors_with_their_place() {
        let faults = [
            (TEXT.replace("5,1.0", "five,1.0"), "r.csv:7: `Average Cost` is \"five\"; write a number"),
            (TEXT.replace(",5,1.0", ",5,-1"), "r.csv:7: `Aggregate Rating` is -1; write 0 or more"),
            (
                TEXT.replace("Cafe,5,1.0", "Cafe,5"),
                "r.csv:7: it has 5 cells, the header has 6; is a quote missing, or the file cut off?",
            ),
            (
                TEXT.replace("City,Name", "City,Title"),
                "r.csv:1: there is no column `Name`; there is x, City, Title, Cuisines, Average Cost, Aggregate Rating",
            ),
        ];
        for (text, what) in faults {
            assert_eq!(CityTable::<Restaurant>::read(&text, "r.csv").expect_err("a fault").to_string(), what);
        }
    }
}
