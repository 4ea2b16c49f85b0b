//! The shares of calls that fail in each way, as options and files have them.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{FaultForm, ToolFault};
use crate::bounded::count;

/// Longest delay of a slow call, in milliseconds.
pub const DELAY_MS_MAX: u64 = 600_000;

/// The delay of a slow call where none is given, in milliseconds.
const DELAY_MS: u64 = 1_000;

/// The shares of calls, 0 to 1, that fail in each way. Together they are at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultShares {
    /// Of [`ToolFault::Transient`].
    #[serde(skip_serializing_if = "is_none")]
    pub transient: f64,
    /// Of [`ToolFault::Permanent`].
    #[serde(skip_serializing_if = "is_none")]
    pub permanent: f64,
    /// Of [`ToolFault::Vanished`].
    #[serde(skip_serializing_if = "is_none")]
    pub vanish: f64,
    /// Of [`ToolFault::Empty`].
    #[serde(skip_serializing_if = "is_none")]
    pub empty: f64,
    /// Of [`ToolFault::Slow`].
    #[serde(skip_serializing_if = "is_none")]
    pub slow: f64,
    /// The delay of slow calls, in milliseconds.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "count")]
    pub delay_ms: u64,
    /// How failures reach agents.
    #[serde(rename = "as", skip_serializing_if = "FaultForm::is_result")]
    pub form: FaultForm,
    /// How long no answer comes in [`FaultForm::Timeout`], in milliseconds.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "count")]
    pub wait_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_none(share: &f64) -> bool {
    *share == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(delay: &u64) -> bool {
    *delay == 0
}

/// Why a text does not say how tools fail.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}; write for example transient=0.2,permanent=0.1,slow=0.1:5s,empty=0.05,vanish=0.05")]
pub struct FaultsError(String);

impl FaultShares {
    /// The names of the ways, in the order in which they are written.
    pub const NAMES: [&'static str; 5] = ["transient", "permanent", "vanish", "empty", "slow"];

    /// Reads shares such as `transient=0.2,slow=0.1:5s`. A delay has the unit `ms` or `s`.
    ///
    /// # Errors
    /// A name, share or delay is not one, a name occurs twice, or the shares add up to more than 1.
    pub fn parse(text: &str) -> Result<Self, FaultsError> {
        let mut shares = Self::default();
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim) {
            let fail = |what: &str| FaultsError(format!("`{part}` {what}"));
            let (name, value) = part.split_once('=').ok_or_else(|| fail("is not NAME=SHARE"))?;
            if seen.contains(&name) {
                return Err(fail("occurs twice"));
            }
            seen.push(name);
            let (value, delay) = match value.split_once(':') {
                Some((value, delay)) if name == "slow" || name == "as" => (value, Some(delay)),
                Some(_) => return Err(fail("has a delay, which only `slow` and `as` have")),
                None => (value, None),
            };
            let read = |delay: Option<&str>| {
                let delay = delay.map_or(Some(DELAY_MS), read_delay);
                delay.ok_or_else(|| fail("has no delay such as 500ms or 5s, at most 600s"))
            };
            if name == "as" {
                let form = FaultForm::ALL.into_iter().find(|(name, _)| *name == value);
                let (_, form) =
                    form.ok_or_else(|| fail("has no form; write as=result, rpc, closed, timeout or mixed"))?;
                shares.form = form;
                match (form.waits(), delay) {
                    (true, delay) => shares.wait_ms = read(delay)?,
                    (false, Some(_)) => return Err(fail("has a delay, which only timeout and mixed have")),
                    (false, None) => {}
                }
                continue;
            }
            let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            let share: f64 = share.ok_or_else(|| fail("has no share from 0 to 1"))?;
            match name {
                "transient" => shares.transient = share,
                "permanent" => shares.permanent = share,
                "vanish" => shares.vanish = share,
                "empty" => shares.empty = share,
                "slow" => {
                    shares.slow = share;
                    shares.delay_ms = read(delay)?;
                }
                _ => return Err(fail(&format!("names none of {} and as", Self::NAMES.join(", ")))),
            }
        }
        shares.check().map_err(FaultsError)?;
        Ok(shares)
    }

    /// Checks shares that come from a file.
    ///
    /// # Errors
    /// What is wrong: a share outside 0 to 1, a sum above 1, or a delay above [`DELAY_MS_MAX`].
    pub fn check(&self) -> Result<(), String> {
        let shares = self.shares();
        if let Some((name, _)) = shares.into_iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Err(format!("the share of `{name}` is not a number from 0 to 1"));
        }
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        // A little more than 1 is what the sum of rounded shares may be.
        if sum > 1.0 + 1e-9 {
            return Err(format!("the shares add up to {sum}, and all calls together are 1"));
        }
        if self.delay_ms.max(self.wait_ms) > DELAY_MS_MAX {
            return Err(format!("a delay is at most {} s", DELAY_MS_MAX / 1000));
        }
        Ok(())
    }

    fn shares(&self) -> [(&'static str, f64); 5] {
        let shares = [self.transient, self.permanent, self.vanish, self.empty, self.slow];
        let mut named = [("", 0.0); 5];
        for (slot, pair) in named.iter_mut().zip(Self::NAMES.into_iter().zip(shares)) {
            *slot = pair;
        }
        named
    }

    /// Whether no call fails.
    pub fn is_nothing(&self) -> bool {
        self.shares().iter().all(|(_, share)| *share == 0.0)
    }

    /// The way at a point of the unit interval.
    pub(super) fn at(&self, point: f64) -> Option<ToolFault> {
        let mut end = 0.0;
        let found = self.shares().into_iter().position(|(_, share)| {
            end += share;
            point < end
        })?;
        Some(match found {
            0 => ToolFault::Transient,
            1 => ToolFault::Permanent,
            2 => ToolFault::Vanished,
            3 => ToolFault::Empty,
            _ => ToolFault::Slow(self.delay_ms),
        })
    }
}

/// A delay such as `500ms` or `5s`, in milliseconds.
fn read_delay(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let delay = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (delay <= DELAY_MS_MAX).then_some(delay)
}

impl fmt::Display for FaultShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for (name, share) in self.shares().into_iter().filter(|(_, share)| *share > 0.0) {
            let comma = if std::mem::take(&mut is_first) { "" } else { "," };
            write!(f, "{comma}{name}={share}")?;
            if name == "slow" {
                write!(f, ":{}ms", self.delay_ms)?;
            }
        }
        if self.form != FaultForm::Result {
            write!(f, "{}as={}", if is_first { "" } else { "," }, self.form.name())?;
            if self.form.waits() {
                write!(f, ":{}ms", self.wait_ms)?;
            }
        }
        Ok(())
    }
}
