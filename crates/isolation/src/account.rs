//! The layers of isolation, and which of them held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::memory::size;

/// A layer of isolation around a program under test, in the order in which reports list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The program has no privileges outside its user namespace, and cannot gain any.
    UserNamespace,
    /// The run store and other files with answers are covered.
    MountNamespace,
    /// It sees only its own processes, and they end with it.
    PidNamespace,
    /// A program run as root has no more rights than in a container.
    FewerCapabilities,
    /// The kernel's Landlock confines its signals and abstract sockets, and also its files if nothing else does.
    Landlock,
    /// The memory and environment of planproof are not readable by other programs of the same user.
    NotDumpable,
    /// The cases were drawn with a random seed that the program cannot read.
    SecretSeed,
}

impl Layer {
    /// The layers that `strict` requires. The others are additional protection against the same things, or depend
    /// on other options.
    pub const OF_STRICT: [Self; 3] = [Self::MountNamespace, Self::PidNamespace, Self::NotDumpable];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserNamespace => "user namespace",
            Self::MountNamespace => "mount namespace",
            Self::PidNamespace => "process namespace",
            Self::FewerCapabilities => "fewer capabilities",
            Self::Landlock => "Landlock",
            Self::NotDumpable => "not dumpable",
            Self::SecretSeed => "secret seed",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The level of isolation requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolate {
    /// All of [`Layer::OF_STRICT`]; otherwise nothing is run.
    Strict,
    /// As much as the machine offers.
    #[default]
    Best,
    None,
}

impl Isolate {
    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Best => "best",
            Self::None => "none",
        }
    }

    /// Whether this is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Which layers held in the runs of a campaign, and which did not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// The layers that held in all of its runs.
    pub held: BTreeSet<Layer>,
    /// The layers that were requested but did not hold, each with the reason.
    pub missing: BTreeMap<Layer, String>,
    /// Whether the run store was hidden from the program.
    pub store_hidden: bool,
    /// Maximum memory in bytes of a run, or of a worker; `None` if it was not limited.
    pub memory_bytes: Option<u64>,
}

impl Account {
    /// Records whether a requested layer holds, or why not.
    pub fn note(&mut self, layer: Layer, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => {
                self.held.insert(layer);
            }
            Err(why) => {
                self.missing.insert(layer, why);
            }
        }
    }

    /// Combines this account with that of other runs of the same campaign: only what held in both still holds.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (layer, why) in &other.missing {
            self.missing.entry(*layer).or_insert_with(|| why.clone());
        }
        let lost = self.held.difference(&other.held).copied().filter(|it| !other.missing.contains_key(it));
        let lost: Vec<Layer> = lost.collect();
        for layer in lost {
            self.missing.insert(layer, "an earlier part of the campaign was run without it".to_owned());
        }
        self.held = self.held.intersection(&other.held).copied().collect();
        self.store_hidden &= other.store_hidden;
        // Of two limits, only the larger held in all runs.
        self.memory_bytes = self.memory_bytes.zip(other.memory_bytes).map(|(one, other)| one.max(other));
        self
    }

    /// Why a run that exceeded its memory limit failed.
    pub fn over_memory(&self) -> String {
        let most = self.memory_bytes.map_or_else(|| "it may".to_owned(), |bytes| size(bytes, " "));
        format!("used more than {most} of memory, its limit (--agent-memory)")
    }

    /// Why some of what `strict` requires does not hold; `None` if all of it holds.
    pub fn lacks(&self) -> Option<String> {
        let lacking = Layer::OF_STRICT.into_iter().filter(|layer| !self.held.contains(layer));
        let lacking: Vec<String> = lacking.map(|layer| self.reason(layer)).collect();
        (!lacking.is_empty()).then(|| lacking.join("; "))
    }

    fn reason(&self, layer: Layer) -> String {
        match self.missing.get(&layer) {
            Some(why) => format!("{layer} ({why})"),
            None => layer.to_string(),
        }
    }
}

/// One line: what held, then what did not, then the memory limit.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held: Vec<&str> = self.held.iter().map(|layer| layer.as_str()).collect();
        f.write_str(if held.is_empty() { "none" } else { "" })?;
        f.write_str(&held.join(", "))?;
        if !self.missing.is_empty() {
            let missing: Vec<String> = self.missing.keys().map(|layer| self.reason(*layer)).collect();
            write!(f, "; without {}", missing.join(", "))?;
        }
        match self.memory_bytes {
            Some(bytes) => write!(f, "; at most {} of memory", size(bytes, " ")),
            None => f.write_str("; no limit on memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_held_in_one_part_alone_did_not_hold() {
        let mut first = Account { store_hidden: true, ..Account::default() };
        first.note(Layer::MountNamespace, Ok(()));
        first.note(Layer::NotDumpable, Ok(()));
        let mut second = Account::default();
        second.note(Layer::MountNamespace, Err("forbidden".to_owned()));
        second.note(Layer::NotDumpable, Ok(()));
        let both = first.clone().and(&second);
        let expected = "not dumpable; without mount namespace (forbidden); no limit on memory";
        assert_eq!(both.to_string(), expected);
        assert_eq!(second.and(&first), both);
        assert!(!both.store_hidden);
        let nothing = first.and(&Account::default());
        assert!(nothing.held.is_empty() && nothing.missing.len() == 2, "{nothing}");
    }

    #[test]
    fn the_larger_limit_held_in_both_parts() {
        let with = |memory_bytes| Account { memory_bytes, ..Account::default() };
        let both = with(Some(512 << 20)).and(&with(Some(4 << 30)));
        assert_eq!(both.to_string(), "none; at most 4 GiB of memory");
        assert_eq!(both.over_memory(), "used more than 4 GiB of memory, its limit (--agent-memory)");
        assert_eq!(both.and(&with(None)).to_string(), "none; no limit on memory");
    }

    #[test]
    fn strict_names_what_it_lacks() {
        let mut account = Account::default();
        for layer in Layer::OF_STRICT {
            account.note(layer, Ok(()));
        }
        assert_eq!(account.lacks(), None);
        account.held.remove(&Layer::PidNamespace);
        account.note(Layer::PidNamespace, Err("no".to_owned()));
        assert_eq!(account.lacks().as_deref(), Some("process namespace (no)"));
    }
}
