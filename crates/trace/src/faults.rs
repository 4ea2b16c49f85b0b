//! Tools that fail: how often, in which ways, and how a trace shows it.
//!
//! The failures of a case are drawn from its seed, the tool's name and the number of the call to that tool, so every
//! agent meets the same world and a replay repeats it. A failure that will pass is recognised by its text, as is one
//! that will not, so a judge needs the trace alone.

mod form;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Draw;
use crate::bounded::count;

pub use form::{FaultForm, SentAs};

/// Most transient failures of a tool in a row: the call after them is answered, so whoever tries again gets through.
pub const TRANSIENTS_IN_ROW_MAX: u32 = 2;

/// Longest delay of a slow call, in milliseconds.
pub const DELAY_MS_MAX: u64 = 600_000;

/// Most tools with shares of their own.
pub const FAULTY_TOOLS_MAX: usize = 1_000;

/// The delay of a slow call where none is given, in milliseconds.
const DELAY_MS: u64 = 1_000;

/// What a tool does to a call besides, or instead of, its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFault {
    /// It fails, and works again when it is tried again.
    Transient,
    /// It fails, and so does every later call of it.
    Permanent,
    /// It is no longer there: this call and every later one is answered as that of an unknown tool.
    Vanished,
    /// It does its work and answers with an empty text.
    Empty,
    /// It does its work, and answers so many milliseconds later.
    Slow(u64),
}

/// A failure as a trace shows it: what the agent can know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenFault {
    /// The same call would get through if it is tried again.
    Transient,
    /// The tool will not work again in this run.
    Permanent,
    /// The tool is gone.
    Vanished,
}

/// What official clients of MCP make of an error of the protocol: `MCP error CODE: MESSAGE`.
const RPC_BEFORE: &str = "MCP error ";
/// The code of an internal error, and that of parameters such as the name of a tool that there is not.
const INTERNAL: i32 = -32603;
const INVALID: i32 = -32602;
/// What these clients say where no answer came.
const CLOSED: &str = "MCP error -32000: Connection closed";
const TIMED_OUT: &str = "MCP error -32001: Request timed out";

const TRANSIENT: &str = " is unavailable at the moment (503). This is temporary: try again.";
const PERMANENT: &str =
    " is out of service (410). It will not work again in this session, so do not call it again.";
const VANISHED: &str = ". The server has removed this tool.";
const VANISHED_BEFORE: &str = "unknown tool: ";

impl SeenFault {
    /// The error that a call of a tool is answered with.
    pub fn text(self, tool: &str) -> String {
        match self {
            Self::Transient => format!("{tool}{TRANSIENT}"),
            Self::Permanent => format!("{tool}{PERMANENT}"),
            Self::Vanished => format!("{VANISHED_BEFORE}{tool}{VANISHED}"),
        }
    }

    /// The form in which it is sent, where this form is asked for. What will not pass has to be said.
    pub fn sent(self, form: SentAs) -> SentAs {
        match form {
            SentAs::Closed | SentAs::Timeout(_) if self != Self::Transient => SentAs::Rpc,
            form => form,
        }
    }

    /// The code of the protocol's error.
    pub fn code(self) -> i32 {
        if self == Self::Vanished { INVALID } else { INTERNAL }
    }

    /// What an agent gets to read of it from an official client of MCP.
    pub fn text_as(self, tool: &str, form: SentAs) -> String {
        match self.sent(form) {
            SentAs::Result => self.text(tool),
            SentAs::Rpc => format!("{RPC_BEFORE}{}: {}", self.code(), self.text(tool)),
            SentAs::Closed => CLOSED.to_owned(),
            SentAs::Timeout(_) => TIMED_OUT.to_owned(),
        }
    }

    /// The failure that an error of a tool reports, if it is one of these, in whatever form it was sent.
    pub fn of(tool: &str, error: &str) -> Option<Self> {
        if [CLOSED, TIMED_OUT].contains(&error) {
            return Some(Self::Transient);
        }
        if let Some((code, text)) = error.strip_prefix(RPC_BEFORE).and_then(|rest| rest.split_once(": ")) {
            return Self::of(tool, text).filter(|fault| fault.code().to_string() == code);
        }
        let is_of = |before: &str, behind: &str| {
            error.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind)) == Some(tool)
        };
        match () {
            () if is_of("", TRANSIENT) => Some(Self::Transient),
            () if is_of("", PERMANENT) => Some(Self::Permanent),
            () if is_of(VANISHED_BEFORE, VANISHED) => Some(Self::Vanished),
            () => None,
        }
    }

    /// Whether no later call of the tool gets through.
    pub fn is_final(self) -> bool {
        self != Self::Transient
    }
}

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
    fn at(&self, point: f64) -> Option<ToolFault> {
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

/// How the tools of a case fail.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFaults {
    /// What the failures are drawn from, as decimal text: many readers lose precision above 2^53.
    pub seed: String,
    /// The shares for each tool that has none of its own.
    #[serde(default, skip_serializing_if = "FaultShares::is_nothing")]
    pub all: FaultShares,
    /// Shares by the name of the tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, FaultShares>,
}

impl ToolFaults {
    /// Failures with these shares for all tools.
    pub fn new(seed: u64, all: FaultShares) -> Self {
        Self { seed: seed.to_string(), all, tools: BTreeMap::new() }
    }

    /// The failures of a case in a campaign with this seed.
    pub fn of_case(id: &str, seed: u64, all: FaultShares) -> Self {
        Self::new(hash(id) ^ seed, all)
    }

    /// Checks what a file says.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.seed.parse::<u64>().is_err() {
            return Err("the seed of the faults is not a number below 2^64 as a text".to_owned());
        }
        if self.tools.len() > FAULTY_TOOLS_MAX {
            let number = self.tools.len();
            return Err(format!(
                "{number} tools have faults of their own, and at most {FAULTY_TOOLS_MAX} may"
            ));
        }
        self.all.check()?;
        self.tools
            .iter()
            .try_for_each(|(name, shares)| shares.check().map_err(|what| format!("{name}: {what}")))
    }

    /// Whether no call fails.
    pub fn is_nothing(&self) -> bool {
        self.all.is_nothing() && self.tools.values().all(FaultShares::is_nothing)
    }

    fn seed(&self) -> u64 {
        // Whoever reads a case checks it.
        self.seed.parse().unwrap_or_default()
    }

    fn of(&self, tool: &str) -> &FaultShares {
        self.tools.get(tool).unwrap_or(&self.all)
    }
}

/// What has become of the tools of one run.
#[derive(Debug, Clone, Default)]
pub struct FaultyRun {
    tools: HashMap<String, Used>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Used {
    calls: u64,
    transients_in_row: u32,
    end: Option<ToolFault>,
}

impl FaultyRun {
    /// What happens to the next call of a tool, if anything. Takes a fraction of a microsecond.
    pub fn next(&mut self, faults: &ToolFaults, tool: &str) -> Option<ToolFault> {
        let shares = faults.of(tool);
        if shares.is_nothing() {
            return None;
        }
        let used = match self.tools.get_mut(tool) {
            Some(used) => used,
            None => self.tools.entry(tool.to_owned()).or_default(),
        };
        if used.end.is_some() {
            return used.end;
        }
        let mut draw = Draw::new(faults.seed() ^ hash(tool), used.calls, "tool-faults/1");
        used.calls += 1;
        let fault = match shares.at(draw.unit()) {
            Some(ToolFault::Transient) if used.transients_in_row >= TRANSIENTS_IN_ROW_MAX => None,
            fault => fault,
        };
        used.transients_in_row = match fault {
            Some(ToolFault::Transient) => used.transients_in_row + 1,
            _ => 0,
        };
        if matches!(fault, Some(ToolFault::Permanent | ToolFault::Vanished)) {
            used.end = fault;
        }
        fault
    }
}

impl FaultyRun {
    /// How the failure of the latest call of a tool is sent. The same for everybody, too.
    pub fn form(&self, faults: &ToolFaults, tool: &str) -> SentAs {
        let shares = faults.of(tool);
        let form = match shares.form {
            FaultForm::Mixed => {
                let calls = self.tools.get(tool).map_or(0, |used| used.calls);
                let drawn = Draw::new(faults.seed() ^ hash(tool), calls, "tool-fault-forms/1").unit();
                let forms = [FaultForm::Result, FaultForm::Rpc, FaultForm::Closed, FaultForm::Timeout];
                forms[((drawn * 4.0) as usize).min(3)]
            }
            form => form,
        };
        match form {
            FaultForm::Result | FaultForm::Mixed => SentAs::Result,
            FaultForm::Rpc => SentAs::Rpc,
            FaultForm::Closed => SentAs::Closed,
            FaultForm::Timeout => SentAs::Timeout(shares.wait_ms),
        }
    }
}

/// FNV-1a, 64 bits, which never changes.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_written() {
        let read = |text: &str| FaultShares::parse(text).map(|shares| shares.to_string());
        let whole = "transient=0.2,permanent=0.1,vanish=0.05,empty=0.05,slow=0.1:5000ms";
        assert_eq!(read(whole).as_deref(), Ok(whole));
        assert_eq!(read("transient=0.5, slow=0.25:2s").as_deref(), Ok("transient=0.5,slow=0.25:2000ms"));
        assert_eq!(read("slow=1").as_deref(), Ok("slow=1:1000ms"));
        for form in ["as=rpc", "as=closed", "as=timeout:2000ms", "as=mixed:500ms"] {
            let text = format!("transient=0.2,{form}");
            assert_eq!(read(&text).as_deref(), Ok(text.as_str()));
        }
        assert_eq!(read("transient=1,as=timeout").as_deref(), Ok("transient=1,as=timeout:1000ms"));
        assert_eq!(read("as=result,transient=1").as_deref(), Ok("transient=1"));
        for wrong in [
            "",
            "transient",
            "transient=",
            "transient=2",
            "transient=-0.1",
            "transient=NaN",
            "permanent=0.1:5s",
            "as=",
            "as=loud",
            "as=rpc:5s",
            "as=timeout:5",
            "as=rpc,as=closed",
            "slow=0.1:5",
            "slow=0.1:601s",
            "slow=0.1:18446744073709551615s",
            "often=0.1",
            "empty=0.1,empty=0.2",
            "transient=0.1,transient=0.2",
            "permanent=0.6,vanish=0.6",
        ] {
            assert!(FaultShares::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_failure_is_known_by_its_text_alone() {
        for fault in [SeenFault::Transient, SeenFault::Permanent, SeenFault::Vanished] {
            assert_eq!(SeenFault::of("refund", &fault.text("refund")), Some(fault));
            assert_eq!(SeenFault::of("refund", &fault.text("other")), None);
            assert_eq!(SeenFault::of("refund", &format!("{} ", fault.text("refund"))), None);
            for form in [SentAs::Result, SentAs::Rpc, SentAs::Closed, SentAs::Timeout(5)] {
                assert_eq!(SeenFault::of("refund", &fault.text_as("refund", form)), Some(fault), "{form:?}");
            }
            assert_eq!(SeenFault::of("refund", &format!("MCP error -1: {}", fault.text("refund"))), None);
        }
    }

    #[test]
    fn a_world_is_the_same_for_everybody_and_lets_those_through_who_try_again() {
        let shares = FaultShares { transient: 0.6, permanent: 0.02, empty: 0.1, ..FaultShares::default() };
        let faults = ToolFaults::new(7, shares);
        let calls = |tool: &str, number: usize| -> Vec<Option<ToolFault>> {
            let mut run = FaultyRun::default();
            (0..number).map(|_| run.next(&faults, tool)).collect()
        };
        let all = calls("a", 2000);
        assert_eq!(calls("a", 40), all[..40]);
        // Calls of other tools in between change nothing.
        let mut run = FaultyRun::default();
        let between: Vec<_> = (0..40).map(|_| (run.next(&faults, "b"), run.next(&faults, "a")).1).collect();
        assert_eq!(between, all[..40]);
        let is_transient = |fault: &&Option<ToolFault>| **fault == Some(ToolFault::Transient);
        assert!(all.windows(3).all(|three| three.iter().filter(is_transient).count() < 3));
        let end = all.iter().position(|fault| *fault == Some(ToolFault::Permanent)).expect("it ends");
        assert!(all[end..].iter().all(|fault| *fault == Some(ToolFault::Permanent)));
        assert_ne!(calls("a", 40), calls("c", 40));
    }

    #[test]
    fn shares_are_met_within_what_chance_allows() {
        let shares = FaultShares { empty: 0.3, slow: 0.2, delay_ms: 5, ..FaultShares::default() };
        let faults = ToolFaults::new(1, shares);
        let mut run = FaultyRun::default();
        let all: Vec<_> = (0..10_000).map(|_| run.next(&faults, "a")).collect();
        let share = |fault| all.iter().filter(|it| **it == Some(fault)).count() as f64 / 10_000.0;
        // More than six standard deviations.
        assert!((share(ToolFault::Empty) - 0.3).abs() < 0.03, "{}", share(ToolFault::Empty));
        assert!((share(ToolFault::Slow(5)) - 0.2).abs() < 0.03, "{}", share(ToolFault::Slow(5)));
    }

    #[test]
    fn what_a_file_says_is_checked() {
        let read = |text: &str| {
            let faults: ToolFaults = serde_json::from_str(text).map_err(|error| error.to_string())?;
            faults.check().map(|()| faults)
        };
        let written = r#"{"seed":"18446744073709551615","tools":{"refund":{"permanent":1.0}}}"#;
        let faults = read(written).expect("reads");
        assert_eq!(serde_json::to_string(&faults).expect("writes"), written);
        for wrong in [
            r#"{"seed":"x"}"#,
            r#"{"seed":7}"#,
            r#"{"seed":"7","all":{"permanent":2}}"#,
            r#"{"all":{}}"#,
            r#"{"seed":"7","all":{"slow":1,"delay_ms":600001}}"#,
            r#"{"seed":"7","all":{"often":1}}"#,
            r#"{"seed":"7","tools":{"a":{"empty":-1}}}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
