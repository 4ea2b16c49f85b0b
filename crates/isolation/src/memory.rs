//! The memory limit of a program under test and everything it starts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MIB: u64 = 1 << 20;

/// Units of a size, largest first.
const UNITS: [(&str, u64); 3] = [("TiB", MIB << 20), ("GiB", MIB << 10), ("MiB", MIB)];

/// Default memory limit of a run or a worker.
const BYTES_DEFAULT: u64 = 4 << 30;

/// The smallest limit: hardly any program starts with less memory.
const BYTES_MIN: u64 = 16 * MIB;

/// The largest limit: more than any machine has.
const BYTES_MAX: u64 = 1 << 50;

/// Memory limit of a run of a program, or of a worker: for the program and everything it starts, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentMemory(Option<u64>);

impl AgentMemory {
    /// No limit.
    pub const NONE: Self = Self(None);

    /// The limit in bytes; `None` if there is no limit.
    pub fn bytes(self) -> Option<u64> {
        self.0
    }

    /// Whether this is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for AgentMemory {
    fn default() -> Self {
        Self(Some(BYTES_DEFAULT))
    }
}

/// Parses an integer with its unit, such as `512MiB`, or `none`. An error says what is allowed.
impl FromStr for AgentMemory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::NONE);
        }
        let in_unit = |(unit, bytes): (&str, u64)| {
            let number = text.strip_suffix(unit)?.trim_end();
            // `parse` would also accept a plus sign.
            let is_whole = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse::<u64>().ok().filter(|_| is_whole)?.checked_mul(bytes)
        };
        let bytes = UNITS.into_iter().find_map(in_unit);
        let bytes = bytes.filter(|bytes| (BYTES_MIN..=BYTES_MAX).contains(bytes));
        let wrong = || {
            let [least, most] = [BYTES_MIN, BYTES_MAX].map(|bytes| Self(Some(bytes)));
            format!("write a size between {least} and {most}, as in 512MiB or 4GiB, or none")
        };
        bytes.map(|bytes| Self(Some(bytes))).ok_or_else(wrong)
    }
}

/// Formats it as on the command line.
impl fmt::Display for AgentMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => f.write_str(&size(bytes, "")),
            None => f.write_str("none"),
        }
    }
}

impl Serialize for AgentMemory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AgentMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Formats a size in the largest unit that gives an integer, with `between` between number and unit.
pub(crate) fn size(bytes: u64, between: &str) -> String {
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{}{between}{name}", bytes / unit),
        None => format!("{bytes}{between}bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_back_as_they_were_written() {
        for text in ["16MiB", "512MiB", "4GiB", "1500MiB", "1024TiB", "none"] {
            let memory: AgentMemory = text.parse().unwrap();
            let expected = if text == "1024TiB" { "1024TiB" } else { text };
            assert_eq!(memory.to_string(), expected);
            let json = serde_json::to_string(&memory).unwrap();
            assert_eq!(serde_json::from_str::<AgentMemory>(&json).unwrap(), memory);
        }
        assert_eq!("1024MiB".parse::<AgentMemory>().unwrap().to_string(), "1GiB");
        assert_eq!(AgentMemory::default().to_string(), "4GiB");
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let wrong = ["", "4", "4GB", "GiB", "-4GiB", "+4GiB", "4.5GiB", "15MiB", "1025TiB", "None", "0GiB"];
        for text in wrong.into_iter().chain(["99999999999999999999GiB", "18446744073709551615TiB"]) {
            let error = text.parse::<AgentMemory>().unwrap_err();
            let expected = "write a size between 16MiB and 1024TiB, as in 512MiB or 4GiB, or none";
            assert_eq!(error, expected, "{text}");
        }
    }
}
