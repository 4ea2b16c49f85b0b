//! What a suite can be asked for beside its name: options that it declares, and that whoever opens it gives values.

use crate::CaseError;

/// An option of a suite.
///
/// The command line has it as `--NAME`, a configuration file as a key. Several suites may share an option: it then has
/// the same form, placeholder and help in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuiteOption {
    /// Lower-case letters and hyphens: `level`.
    pub name: &'static str,
    /// The form of its values.
    pub form: OptionForm,
    /// What the option is about, which decides where it can be given.
    pub of: &'static [OptionUse],
    /// What stands for a value in the help: `LEVEL`.
    pub value: &'static str,
    /// What it does, in a few words without a full stop: `Take only cases of this level`.
    pub help: &'static str,
    /// What else is to be known of it in this suite, in whole sentences; may be empty.
    pub details: &'static str,
}

impl SuiteOption {
    /// The option of suites whose cases have a level. `details` lists the levels of the suite.
    pub const fn level(details: &'static str) -> Self {
        Self {
            name: "level",
            form: OptionForm::Word,
            of: &[OptionUse::Chosen],
            value: "LEVEL",
            help: "Take only cases of this level",
            details,
        }
    }

    /// The option of suites whose predictions can be judged by the published evaluator; `of` says what else is.
    pub const fn compat(of: &'static [OptionUse]) -> Self {
        Self {
            name: "compat",
            form: OptionForm::Word,
            of,
            value: "HOW",
            help: "With `original`, score as the published evaluator does, faults included",
            details: "",
        }
    }

    /// Whether it is about this, perhaps among other things.
    pub fn is_of(&self, of: OptionUse) -> bool {
        self.of.contains(&of)
    }

    /// Its value among values of options by their names, if it is given.
    pub fn value<'a>(&self, values: &[(&str, &'a str)]) -> Option<&'a str> {
        values.iter().find(|(name, _)| *name == self.name).map(|(_, value)| *value)
    }

    /// Its value as a number, if it is given.
    ///
    /// # Errors
    /// It is not a whole number, or its form has other bounds.
    pub fn number(&self, values: &[(&str, &str)]) -> Result<Option<u32>, CaseError> {
        let (least, most) = match self.form {
            OptionForm::Number { least, most } => (least, most),
            _ => (0, u32::MAX),
        };
        let Some(value) = self.value(values) else { return Ok(None) };
        let number = value.parse().ok().filter(|number| (least..=most).contains(number));
        number.map(Some).ok_or_else(|| {
            let Self { name, .. } = self;
            CaseError::new(format!("{name} is {value}; it must be a whole number from {least} to {most}"))
        })
    }
}

/// The form of an option's values. A suite gets each of them as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionForm {
    /// Any text, mostly one of a few words.
    Word,
    /// A whole number from 1.
    Count,
    /// A whole number within these bounds, both included.
    Number {
        /// The lower bound.
        least: u32,
        /// The upper bound.
        most: u32,
    },
    /// No value: the option is given or not. The suite gets [`SWITCHED_ON`].
    Switch,
    /// The path of a file. A campaign keeps it as an absolute path.
    File,
    /// A source of tools, as `--tools` of `planproof run` has them: `search:FOLDER`. A campaign keeps its folder as an
    /// absolute path.
    Source,
}

/// The value of a switch that is given.
pub const SWITCHED_ON: &str = "yes";

/// What an option is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionUse {
    /// Which data are read.
    Data,
    /// Which cases of the data are taken.
    Chosen,
    /// What agents are asked.
    Asked,
    /// How runs are judged.
    Judged,
    /// How finished predictions are read and judged.
    Scored,
    /// What the tools of runs use outside. A campaign keeps these options, and somebody who resumes a campaign of
    /// another person names them again.
    Tools,
    /// Which sequels a campaign has, and how they are done.
    Sequel,
}

/// An agent, as far as a suite is concerned with it.
#[derive(Clone, Copy)]
pub struct AgentCard<'a> {
    /// The word for its kind: `team`.
    pub kind: &'a str,
    /// Its whole name, for errors.
    pub name: &'a str,
    /// The value of one of its options, as it stands in its name.
    pub option: &'a dyn Fn(&str) -> Option<&'a str>,
}

impl std::fmt::Debug for AgentCard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentCard").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Data that was read for a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedData {
    /// The text for [`Suite::load`](crate::Suite::load).
    pub text: String,
    /// The file or folder, for errors.
    pub file: String,
}
