//! Tools that fail: how often, in which ways, and how a trace shows it.
//!
//! The failures of a case are drawn from its seed, the tool's name and the number of the call to that tool, so every
//! agent meets the same world and a replay repeats it. A failure that will pass is recognised by its text, as is one
//! that will not, so a judge needs the trace alone.

mod form;
mod seen;
mod shares;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::Draw;

pub use form::{FaultForm, SentAs};
pub use seen::SeenFault;
pub use shares::{DELAY_MS_MAX, FaultShares, FaultsError};

/// Most transient failures of a tool in a row: the call after them is answered, so whoever tries again gets through.
pub const TRANSIENTS_IN_ROW_MAX: u32 = 2;

/// Most tools with shares of their own.
pub const FAULTY_TOOLS_MAX: usize = 1_000;

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

    /// The shares for a tool.
    pub fn of(&self, tool: &str) -> &FaultShares {
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
