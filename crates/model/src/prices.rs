//! The cost of tokens: prices by model, from a file or the compiled-in list, and exact amounts of money.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use planproof_trace::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

/// Schema name of a file of prices.
pub const PRICES_SCHEMA: &str = "planproof/prices/v1";

/// What the numbers of a file mean.
pub const PRICES_UNIT: &str = "USD per million tokens";

/// Most models of a file.
pub const PRICED_MODELS_MAX: usize = 10_000;

/// The highest price, in US dollars for a million tokens. Anything above it is a mistake.
pub const PRICE_MAX: f64 = 10_000.0;

/// The largest amount of money that is counted, in US dollars.
pub const DOLLARS_MAX: f64 = 1_000_000.0;

/// Number of digits from which on a version in a model's name is taken for a date: `0613`, `20250514`.
const DATE_DIGITS_MIN: usize = 4;

const PICODOLLARS_PER_DOLLAR: u64 = 1_000_000_000_000;

/// An amount of US dollars. Sums are exact: the unit is a millionth of a millionth of a dollar, and a price is a whole
/// number of them for a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money {
    picodollars: u64,
}

impl Money {
    /// An amount in millionths of a millionth of a dollar.
    pub const fn from_picodollars(picodollars: u64) -> Self {
        Self { picodollars }
    }

    /// The amount in millionths of a millionth of a dollar.
    pub const fn picodollars(self) -> u64 {
        self.picodollars
    }

    /// An amount in dollars, rounded to the unit. `None` unless it is within 0 and [`DOLLARS_MAX`].
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let picodollars = (0.0..=DOLLARS_MAX).contains(&dollars).then_some(dollars)? * 1e12;
        Some(Self { picodollars: picodollars.round() as u64 })
    }

    /// Dollars, as near as a float comes.
    pub fn dollars(self) -> f64 {
        self.picodollars as f64 / 1e12
    }

    /// The sum, or the largest amount if that is less.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { picodollars: self.picodollars.saturating_add(other.picodollars) }
    }

    /// What is left, or nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { picodollars: self.picodollars.saturating_sub(other.picodollars) }
    }
}

impl fmt::Display for Money {
    /// As in `0.50 USD`: all significant digits, at least two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) =
            (self.picodollars / PICODOLLARS_PER_DOLLAR, self.picodollars % PICODOLLARS_PER_DOLLAR);
        let digits = format!("{rest:012}");
        let digits = digits.trim_end_matches('0');
        write!(f, "{whole}.{digits:0<2} USD")
    }
}

/// What a model's tokens cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// For a token that it reads.
    pub input: Money,
    /// For a token that it writes.
    pub output: Money,
    /// For a token that it reads from the provider's cache; like any other if the price is unknown.
    pub cached_input: Money,
    /// For a token that it reads and writes to the provider's cache; like any other if the price is unknown.
    pub cache_write: Money,
}

impl Price {
    /// Prices for a token that is read and one that is written, whatever becomes of them in a cache.
    pub const fn new(input: Money, output: Money) -> Self {
        Self { input, output, cached_input: input, cache_write: input }
    }

    /// What so many tokens cost.
    pub fn of(&self, usage: Usage) -> Money {
        // The counts come from servers, so the parts may be more than the whole.
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let parts = [
            (self.input, usage.input_tokens - cached - written),
            (self.cached_input, cached),
            (self.cache_write, written),
            (self.output, usage.output_tokens),
        ];
        sum(&parts)
    }

    /// The most that so many tokens may cost, whatever becomes of them in a cache.
    pub fn most_of(&self, usage: Usage) -> Money {
        let input = self.input.max(self.cached_input).max(self.cache_write);
        sum(&[(input, usage.input_tokens), (self.output, usage.output_tokens)])
    }
}

/// Whether a text is a year, a month or a day of the calendar, as in `2025-12-31`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |place: usize, length: usize| match parts.get(place) {
        None => Some(1),
        Some(part) if part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()) => {
            part.parse().ok()
        }
        Some(_) => None,
    };
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(1, 2), number(2, 2)) else {
        return false;
    };
    let is_leap = u32::is_multiple_of(year, 4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    parts.len() <= 3 && (1..=days).contains(&day)
}

/// What tokens of several prices cost together.
fn sum(parts: &[(Money, u64)]) -> Money {
    let cost = |(price, tokens): &(Money, u64)| price.picodollars.saturating_mul(*tokens);
    Money::from_picodollars(parts.iter().map(cost).fold(0, u64::saturating_add))
}

/// Prices by model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    as_of: String,
    models: HashMap<String, Price>,
}

/// Why a text is not a file of prices.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PricesError {
    /// It is not JSON, or lacks the fields of the schema.
    #[error("it is no file of prices: {what}; docs/files.md shows the form of one")]
    Malformed {
        /// What is wrong, and where.
        what: String,
    },
    /// It has another version, or is of another kind.
    #[error("its schema is {found:?}; this planproof reads {PRICES_SCHEMA}")]
    UnknownSchema {
        /// What it says it is.
        found: String,
    },
    /// Its numbers mean something else.
    #[error("its unit is {found:?}; write the prices in {PRICES_UNIT:?}")]
    UnknownUnit {
        /// What it says they mean.
        found: String,
    },
    /// Its date is not one of the calendar.
    #[error("its date is {found:?}; write `as_of` as in 2025-12-31")]
    Date {
        /// What it has instead.
        found: String,
    },
    /// A price makes no sense.
    #[error("the {field} price of {model:?} is {price}; it must be 0 to {PRICE_MAX} {PRICES_UNIT}")]
    Price {
        model: String,
        /// `input`, `output`, `cached_input` or `cache_write`.
        field: &'static str,
        /// The price, as the file has it.
        price: String,
    },
    /// A model has two prices.
    #[error("it has two prices for {model:?}")]
    Twice { model: String },
    /// There are none, or too many.
    #[error("it holds {count} prices; there must be 1 to {PRICED_MODELS_MAX}")]
    Count { count: usize },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PricesFile {
    #[serde(rename = "schema")]
    _schema: IgnoredAny,
    as_of: String,
    unit: String,
    models: Vec<PriceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    model: String,
    input: f64,
    output: f64,
    #[serde(default)]
    cached_input: Option<f64>,
    #[serde(default)]
    cache_write: Option<f64>,
}

impl Prices {
    /// List prices of well-known models. They change; [`as_of`](Self::as_of) is their date.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Prices> = LazyLock::new(|| {
            Prices::read(include_str!("../data/prices.json")).expect("the file that is compiled in is right")
        });
        &SHIPPED
    }

    /// Reads a file of prices.
    ///
    /// # Errors
    /// The fault of the file.
    pub fn read(json: &str) -> Result<Self, PricesError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let malformed = |error: serde_json::Error| PricesError::Malformed { what: error.to_string() };
        // The schema is read first, so that a file of another version is reported as such, and not as malformed.
        let Head { schema } = serde_json::from_str(json).map_err(malformed)?;
        if schema != PRICES_SCHEMA {
            return Err(PricesError::UnknownSchema { found: schema });
        }
        let file: PricesFile = serde_json::from_str(json).map_err(malformed)?;
        if file.unit != PRICES_UNIT {
            return Err(PricesError::UnknownUnit { found: file.unit });
        }
        let count = file.models.len();
        if count == 0 || count > PRICED_MODELS_MAX {
            return Err(PricesError::Count { count });
        }
        let mut models = HashMap::with_capacity(count);
        for PriceEntry { model, input, output, cached_input, cache_write } in file.models {
            let price = Price {
                input: token_price(&model, "input", input)?,
                output: token_price(&model, "output", output)?,
                cached_input: token_price(&model, "cached_input", cached_input.unwrap_or(input))?,
                cache_write: token_price(&model, "cache_write", cache_write.unwrap_or(input))?,
            };
            if models.insert(model.clone(), price).is_some() {
                return Err(PricesError::Twice { model });
            }
        }
        if !is_date(&file.as_of) {
            return Err(PricesError::Date { found: file.as_of });
        }
        Ok(Self { as_of: file.as_of, models })
    }

    /// The date of the prices, as the file states it.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// The price of a model by its name on the command line, such as `openai/gpt-5-mini`.
    ///
    /// An entry matches if it is that name, with or without the part before a slash in it, or if it is followed by a
    /// version: `-`, `:` or `@` and then a date of at least four digits, or `latest`. So `gpt-5-mini` is the price of
    /// `openai/gpt-5-mini-2025-08-07`, but `gpt-5` is not that of `gpt-5-pro`. The longest matching entry counts.
    pub fn find(&self, model: &str) -> Option<Price> {
        let shorter = model.match_indices('/').map(|(at, _)| &model[at + 1..]);
        std::iter::once(model).chain(shorter).find_map(|name| self.find_entry(name))
    }

    fn find_entry(&self, name: &str) -> Option<Price> {
        // A file may name the provider although the command line has another one before it, and vice versa.
        let fitting = |entry: &&String| {
            let entry = entry.as_str();
            let bare = entry.split_once('/').map_or(entry, |(_, bare)| bare);
            fits(entry, name) || (!name.contains('/') && fits(bare, name))
        };
        // Equally long entries are ordered by name, because the order of a hash map is random.
        let entry = self.models.keys().filter(fitting).max_by_key(|entry| (entry.len(), *entry))?;
        self.models.get(entry).copied()
    }
}

/// Whether `name` is the entry, or the entry with a version.
fn fits(entry: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(entry) else { return false };
    let Some(version) = rest.strip_prefix(['-', ':', '@']) else { return rest.is_empty() };
    let digits = version.bytes().take_while(u8::is_ascii_digit).count();
    version == "latest" || digits >= DATE_DIGITS_MIN
}

fn token_price(model: &str, field: &'static str, price: f64) -> Result<Money, PricesError> {
    if !(0.0..=PRICE_MAX).contains(&price) {
        return Err(PricesError::Price { model: model.to_owned(), field, price: price.to_string() });
    }
    // A dollar for a million tokens is a million picodollars for one.
    Ok(Money::from_picodollars((price * 1e6).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(entries: &[(&str, f64, f64)]) -> Prices {
        let models: Vec<_> = entries
            .iter()
            .map(|(model, input, output)| serde_json::json!({"model": model, "input": input, "output": output}))
            .collect();
        let file = serde_json::json!({
            "schema": PRICES_SCHEMA, "as_of": "2025-01-01", "unit": PRICES_UNIT, "models": models
        });
        Prices::read(&file.to_string()).expect("a right file")
    }

    #[track_caller]
    fn check_input(prices: &Prices, model: &str, dollars_per_million: Option<f64>) {
        let found = prices.find(model).map(|price| price.input.picodollars() as f64 / 1e6);
        assert_eq!(found, dollars_per_million, "{model}");
    }

    #[test]
    fn the_date_is_one_of_the_calendar() {
        for date in ["2026", "2026-02", "2026-02-28", "2024-02-29", "2026-12-31"] {
            assert!(is_date(date), "{date}");
        }
        for text in [
            "",
            "2026-13-41",
            "2026-02-29",
            "2026-00-10",
            "2026-1-1",
            "26-01-01",
            "2026-01-01-01",
            "today",
            "2026-01-0x",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn the_longest_entry_that_fits_counts() {
        let prices = prices(&[
            ("gpt-5", 1.0, 0.0),
            ("gpt-5-mini", 2.0, 0.0),
            ("gpt-5-mini-2025-08-07", 3.0, 0.0),
            ("anthropic/claude-sonnet-4", 4.0, 0.0),
            ("sim/careless", 5.0, 0.0),
            ("llama3:8b", 6.0, 0.0),
        ]);
        for (model, price) in [
            ("openai/gpt-5", Some(1.0)),
            ("gpt-5", Some(1.0)),
            ("openai/gpt-5-2025-08-07", Some(1.0)),
            ("openai/gpt-5-latest", Some(1.0)),
            ("openai/gpt-5-mini", Some(2.0)),
            ("openai/gpt-5-mini-2025-01-01", Some(2.0)),
            ("openai/gpt-5-mini-2025-08-07", Some(3.0)),
            // Other models, whatever they cost.
            ("openai/gpt-5-pro", None),
            ("openai/gpt-5.1", None),
            ("openai/gpt-52025", None),
            ("openai/gpt-5-nano-2025-08-07", None),
            ("openai/gpt", None),
            ("anthropic/claude-sonnet-4-20250514", Some(4.0)),
            ("anthropic/claude-sonnet-4@20250514", Some(4.0)),
            ("claude-sonnet-4:20250514", Some(4.0)),
            // Behind a gateway that speaks another protocol.
            ("openai/anthropic/claude-sonnet-4", Some(4.0)),
            ("openai/claude-sonnet-4", Some(4.0)),
            ("anthropic/claude-sonnet-4-5", None),
            ("sim/careless", Some(5.0)),
            ("openai/sim/careless", Some(5.0)),
            ("sim/perfect", None),
            ("openai/llama3:8b", Some(6.0)),
            ("", None),
        ] {
            check_input(&prices, model, price);
        }
    }

    #[test]
    fn shipped_prices_are_there() {
        let prices = Prices::shipped();
        assert!(prices.as_of().starts_with("2025-"));
        for model in ["openai/gpt-5-mini", "openai/gpt-4o-2024-08-06", "anthropic/claude-haiku-4-5-20251001"]
        {
            assert!(prices.find(model).is_some_and(|price| price.input < price.output), "{model}");
        }
        check_input(prices, "openai/gpt-4o-2024-05-13", Some(5.0));
        let claude = prices.find("anthropic/claude-sonnet-4-5").expect("it is there");
        assert!(claude.cached_input < claude.input && claude.input < claude.cache_write);
        let gpt = prices.find("openai/gpt-5").expect("it is there");
        assert!(gpt.cached_input < gpt.input && gpt.input == gpt.cache_write);
        assert_eq!(prices.find("sim/perfect"), None);
    }

    #[test]
    fn money_is_exact() {
        let money = Money::from_picodollars;
        let price = Price {
            input: money(250_000),
            output: money(2_000_000),
            cached_input: money(25_000),
            cache_write: money(300_000),
        };
        let usage = Usage::new(1_000_001, 3);
        assert_eq!(price.of(usage).to_string(), "0.25000625 USD");
        let by_cache = Usage { cached_tokens: 900_000, cache_write_tokens: 100_000, ..usage };
        assert_eq!(price.of(by_cache).to_string(), "0.05250625 USD");
        assert_eq!(price.most_of(by_cache).to_string(), "0.3000063 USD");
        // The parts are more than the whole.
        let confused = Usage { cached_tokens: 2_000_000, cache_write_tokens: 5, ..usage };
        assert_eq!(price.of(confused).to_string(), "0.025006025 USD");
        for (dollars, text) in
            [(0.0, "0.00 USD"), (0.5, "0.50 USD"), (12.0, "12.00 USD"), (0.000_012, "0.000012 USD")]
        {
            assert_eq!(Money::from_dollars(dollars).expect("in range").to_string(), text);
        }
        for dollars in [-0.1, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(Money::from_dollars(dollars), None);
        }
        let most = Money::from_picodollars(u64::MAX);
        assert_eq!(most.plus(most), most);
        let price = Price::new(most, most);
        assert_eq!((price.of(Usage::new(2, 2)), price.most_of(Usage::new(2, 2))), (most, most));
    }

    #[test]
    fn what_is_no_file_of_prices_is_reported() {
        let file = |schema: &str, unit: &str, models: &str| {
            format!(r#"{{"schema":"{schema}","as_of":"2025-01-01","unit":"{unit}","models":[{models}]}}"#)
        };
        let right = |models: &str| file(PRICES_SCHEMA, PRICES_UNIT, models);
        for (json, words) in [
            ("{", "it is no file of prices: EOF"),
            ("{}", "missing field `schema`"),
            (
                &file("planproof/prices/v2", "", ""),
                "its schema is \"planproof/prices/v2\"; this planproof reads",
            ),
            (
                &file(PRICES_SCHEMA, "EUR", ""),
                "its unit is \"EUR\"; write the prices in \"USD per million tokens\"",
            ),
            (&right(""), "it holds 0 prices"),
            (&right(r#"{"model":"a","input":1}"#), "missing field `output` at line 1"),
            (&right(r#"{"model":"a","input":1,"output":2,"cached":1}"#), "unknown field `cached`"),
            (
                &right(r#"{"model":"a","input":-1,"output":2}"#),
                "the input price of \"a\" is -1; it must be 0 to 10000",
            ),
            (&right(r#"{"model":"a","input":1,"output":1e9}"#), "the output price of \"a\" is 1000000000"),
            (
                &right(r#"{"model":"a","input":1,"output":2,"cache_write":-1}"#),
                "the cache_write price of \"a\" is -1",
            ),
            (
                &right(r#"{"model":"a","input":1,"output":2},{"model":"a","input":1,"output":2}"#),
                "it has two prices for \"a\"",
            ),
        ] {
            let error = Prices::read(json).expect_err(json).to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
    }
}
