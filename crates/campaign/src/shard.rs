//! A part of a campaign that one machine runs by itself: a shard. All machines make the same cases from the same
//! options, and each keeps those of its own shard, so that nothing has to be handed out.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cases::{CASES_MAX, Cases};
use crate::error::CampaignError;

/// Which of how many shards, from 1. Written as `3/40`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    number: u32,
    count: u32,
}

/// The shard that a stored campaign is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredShard {
    #[serde(flatten)]
    pub shard: Shard,
    /// How many cases all shards have together.
    pub cases: u32,
    /// The places of its cases among them, ascending. The seed of a run follows from it.
    pub places: Vec<u32>,
    /// Whether it is not a shard itself, but those that a merge found so far; the shard is then one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
}

impl Shard {
    /// Which of the shards, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many shards there are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The shard with another number.
    pub fn with_number(self, number: u32) -> Self {
        Self { number, ..self }
    }

    /// Keeps the cases of this shard, and returns its stored form; does not look at cases that were dealt out before
    /// they were made.
    ///
    /// # Errors
    /// There are fewer cases than shards.
    pub fn take(self, made: &mut Cases) -> Result<StoredShard, CampaignError> {
        if let Some(dealt) = made.dealt.take() {
            return Ok(dealt);
        }
        let cases = &mut made.cases;
        let dealt = self.deal(cases.iter().map(|case| &case.card().id))?;
        *cases = dealt.places.iter().map(|place| Arc::clone(&cases[*place as usize])).collect();
        Ok(dealt)
    }

    /// The shard of cases with these ids. They are dealt out in the order of digests of their ids, so the numbers of
    /// cases of any two shards differ by at most one, and similar cases are spread.
    ///
    /// # Errors
    /// There are fewer cases than shards.
    pub fn deal(self, ids: impl Iterator<Item = impl AsRef<str>>) -> Result<StoredShard, CampaignError> {
        let mut order: Vec<(u64, u32)> =
            (0u32..).zip(ids).map(|(place, id)| (digest(id.as_ref()), place)).collect();
        let all = order.len();
        if all < self.count as usize {
            return Err(CampaignError::usage(format!(
                "--shard {self}: there are {all} cases, and so at most {all} shards"
            )));
        }
        order.sort_unstable();
        let own = order.into_iter().skip(self.number as usize - 1).step_by(self.count as usize);
        let mut places: Vec<u32> = own.map(|(_, place)| place).collect();
        places.sort_unstable();
        Ok(StoredShard { shard: self, cases: all as u32, places, merged: false })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "write which shard of how many, from 1, as in 3/40";
        let (number, count) = text.split_once('/').ok_or(FORM)?;
        let part = |text: &str| text.parse::<NonZeroU32>().map(NonZeroU32::get).map_err(|_| FORM);
        let (number, count) = (part(number)?, part(count)?);
        if number > count || u64::from(count) > CASES_MAX {
            return Err(FORM);
        }
        Ok(Self { number, count })
    }
}

/// A digest of an id that is the same on every machine: FNV-1a of 64 bits, and a last step that spreads its bits.
fn digest(id: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for text in ["1/1", "3/40", "40/40"] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "3", "0/0", "0/4", "5/4", "-1/4", "1/4/2", "a/b", "1/100001"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn digests_never_change() {
        // Computed by hand in Python.
        assert_eq!(digest(""), 0xecba_3df2_c338_3c52);
        assert_eq!(digest("7-0"), 0xa433_45f0_40d1_e2fb);
    }
}
