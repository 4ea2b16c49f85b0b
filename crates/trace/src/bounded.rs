//! Counts that are read from somewhere else: replies of servers, traces, recordings, run stores.
//!
//! Counts are added up, over the turns of a run and the runs of a campaign. A count that claims to be near the largest
//! number would overflow every sum that it enters, so a larger one than [`COUNT_MAX`] is read as that number. The check
//! of the repository (`xtask/src/tidy/counts.rs`) finds fields that are read without it.

use serde::{Deserialize, Deserializer};

/// Largest count that is read from outside: about 1.1e12. Sixteen million such counts can be added.
pub const COUNT_MAX: u64 = 1 << 40;

/// A count, for the attribute `deserialize_with` of serde.
///
/// # Errors
/// It is not a number that is a `u64`.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::deserialize(deserializer).map(|count| count.min(COUNT_MAX))
}

/// A count that may be `null`, likewise. A field that may be absent needs the attribute `default` as well.
///
/// # Errors
/// It is neither `null` nor a number that is a `u64`.
pub fn some_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Option::<u64>::deserialize(deserializer).map(|count| count.map(|count| count.min(COUNT_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Counted {
        #[serde(deserialize_with = "count")]
        all: u64,
        #[serde(default, deserialize_with = "some_count")]
        some: Option<u64>,
    }

    #[test]
    fn a_count_is_read_up_to_the_largest() {
        let read = |text: &str| serde_json::from_str(text).map(|Counted { all, some }| (all, some));
        assert_eq!(read(r#"{"all":7,"some":null}"#).expect("reads"), (7, None));
        assert_eq!(read(r#"{"all":1099511627776}"#).expect("reads"), (COUNT_MAX, None));
        let most = read(r#"{"all":18446744073709551615,"some":1099511627777}"#).expect("reads");
        assert_eq!(most, (COUNT_MAX, Some(COUNT_MAX)));
        for wrong in [r#"{"all":-1}"#, r#"{"all":18446744073709551616}"#, r#"{"all":1.5}"#, "{}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
