//! The options that suites declare: as arguments of the command line, as values for a suite, and as a campaign keeps
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{Act, absolute};
use planproof_config::{MEDIA, data_set};
use planproof_output::failure::Failure;
use planproof_output::values::whole;
use planproof_suite::{OptionForm, OptionUse, Registry, SWITCHED_ON, Suite, SuiteOption};

use super::{ORDER, pages, registry};

/// The option for a set of published data, which the command line has as a use of `--set`.
const SET: &str = "set";

/// Judges as the published evaluator does. In a campaign, it is read from the agent's options.
pub const COMPAT: &str = "compat";

/// The headings of options in the help: those that choose cases stand beside `--data`.
const HEADING_OF_CASES: &str = "Cases";
const HEADING: &str = "Suite";

/// An option, with all suites that have it.
struct Declared {
    option: &'static SuiteOption,
    of: Vec<OptionUse>,
    suites: Vec<&'static str>,
    details: Vec<&'static str>,
}

impl Declared {
    /// All options of suites that `bench` runs, in the order of the suites. Orders have commands of their own.
    fn all(suites: &Registry) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for suite in suites.iter().filter(|suite| suite.name() != ORDER) {
            for option in suite.options() {
                let known = all.iter_mut().find(|declared| declared.option.name == option.name);
                match known {
                    Some(declared) => {
                        declared.of.extend(option.of);
                        declared.suites.push(suite.name());
                        if !declared.details.contains(&option.details) {
                            declared.details.push(option.details);
                        }
                    }
                    None => all.push(Self {
                        option,
                        of: option.of.to_vec(),
                        suites: vec![suite.name()],
                        details: vec![option.details],
                    }),
                }
            }
        }
        all
    }

    fn is_of(&self, uses: &[OptionUse]) -> bool {
        self.of.iter().any(|of| uses.contains(of))
    }

    /// The argument of the command line, without what it conflicts with.
    fn argument(&self) -> Arg {
        let suites: Vec<String> = self.suites.iter().map(|suite| format!("`{suite}`")).collect();
        let help = format!("{} ({})", self.option.help, suites.join(", "));
        let details: Vec<&str> = self.details.iter().copied().filter(|details| !details.is_empty()).collect();
        let heading = if self.of.contains(&OptionUse::Chosen) { HEADING_OF_CASES } else { HEADING };
        argument(self.option, help, &details.join(" ")).help_heading(heading)
    }
}

/// An option as an argument of the command line, with this help.
pub(super) fn argument(option: &SuiteOption, help: String, details: &str) -> Arg {
    let SuiteOption { name, form, value, .. } = *option;
    let argument = Arg::new(name).long(name);
    let argument = match details.is_empty() {
        true => argument.help(help),
        false => argument.long_help(format!("{help}.\n\n{details}")).help(help),
    };
    match form {
        OptionForm::Switch => argument.action(ArgAction::SetTrue),
        OptionForm::Count => argument.value_name(value).value_parser(whole(1, usize::MAX)),
        OptionForm::Number { least, most } => argument.value_name(value).value_parser(whole(least, most)),
        OptionForm::Word | OptionForm::File | OptionForm::Source => argument.value_name(value),
    }
}

/// The value of an option as a suite gets it, if it is given.
pub(super) fn value(option: &SuiteOption, matches: &ArgMatches) -> Option<String> {
    let name = option.name;
    if matches.try_contains_id(name).is_err() || matches.value_source(name) == Some(ValueSource::DefaultValue)
    {
        return None;
    }
    match option.form {
        OptionForm::Switch => {
            let is_on = matches.try_get_one::<bool>(name).ok().flatten().is_some_and(|is_on| *is_on);
            is_on.then(|| SWITCHED_ON.to_owned())
        }
        OptionForm::Count => matches.try_get_one::<usize>(name).ok().flatten().map(usize::to_string),
        OptionForm::Number { .. } => matches.try_get_one::<u32>(name).ok().flatten().map(u32::to_string),
        OptionForm::Word | OptionForm::File | OptionForm::Source => {
            matches.try_get_one::<String>(name).ok().flatten().cloned()
        }
    }
}

/// All options of suites. Registered suites have names and ranks of their own, so there is a registry.
fn declared() -> Vec<Declared> {
    Declared::all(&registry())
}

/// Whether a suite has an option of this name that is about this.
pub fn has(name: &str, of: OptionUse) -> bool {
    declared().iter().any(|declared| declared.option.name == name && declared.is_of(&[of]))
}

/// Whether the suite of that name judges runs by `compat`.
pub fn judges_by_compat(suite: &str) -> bool {
    let is_so = |option: &SuiteOption| option.name == COMPAT && option.is_of(OptionUse::Judged);
    registry().find(suite).is_ok_and(|suite| suite.options().iter().any(is_so))
}

/// The names of the suites that have an option of this name.
pub fn suites_with(name: &str) -> Vec<&'static str> {
    let with = declared().into_iter().find(|declared| declared.option.name == name);
    with.map(|declared| declared.suites).unwrap_or_default()
}

/// Names as a part of a sentence: `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Makes sure that suites of somebody else declare options that the command line can have.
///
/// # Errors
/// One has the name of another option, or differs from an option of the same name of another suite.
pub(super) fn must_be_usable(suites: &Registry, commands: &[&Command]) -> Result<(), Failure> {
    let all = Declared::all(suites);
    for suite in suites.iter() {
        for option in suite.options() {
            let SuiteOption { name, form, value, help, .. } = *option;
            let fail =
                |what: &str| Failure::usage(format!("option `{name}` of suite `{}`: {what}", suite.name()));
            let is_name = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(fail("a name has lower-case letters, digits and hyphens"));
            }
            let first =
                all.iter().find(|declared| declared.option.name == name).map(|declared| declared.option);
            if first.is_some_and(|first| (first.form, first.value, first.help) != (form, value, help)) {
                return Err(fail(
                    "another suite has one of this name with another form, placeholder or help",
                ));
            }
            let of_suites: Vec<&str> = all.iter().map(|declared| declared.option.name).collect();
            let is_taken = |command: &&Command| {
                let mut others =
                    command.get_arguments().filter(|it| !of_suites.contains(&it.get_id().as_str()));
                others.any(|other| other.get_long() == Some(name))
            };
            let is_shared = [SET, COMPAT].contains(&name);
            if !is_shared && commands.iter().any(is_taken) {
                return Err(fail("the command has an option of this name"));
            }
        }
    }
    Ok(())
}

/// The values of options of suites on a command line: of `score` if `SCORE`, otherwise of `bench`.
#[derive(Debug, Clone, Default)]
pub struct SuiteArguments<const SCORE: bool> {
    given: BTreeMap<&'static str, String>,
    /// The files among them, each with its option as it is typed.
    files: Vec<(String, PathBuf)>,
}

impl<const SCORE: bool> SuiteArguments<SCORE> {
    /// What the options of this command are about.
    const USES: &'static [OptionUse] = match SCORE {
        true => &[OptionUse::Data, OptionUse::Chosen, OptionUse::Scored],
        false => &[
            OptionUse::Data,
            OptionUse::Chosen,
            OptionUse::Asked,
            OptionUse::Judged,
            OptionUse::Tools,
            OptionUse::Sequel,
        ],
    };

    /// Whether the command line has options that choose cases.
    pub fn are_choosing(&self) -> bool {
        self.given.keys().any(|name| has(name, OptionUse::Chosen))
    }

    /// The files that options name, each with its option.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.files.iter().map(|(flag, path)| (flag.as_str(), path.as_path()))
    }

    /// The value of an option, if it is given.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str)
    }

    /// Whether the suite has an option of this name that this command takes.
    fn is_option_of(suite: &dyn Suite, name: &str) -> bool {
        suite
            .options()
            .iter()
            .any(|option| option.name == name && Self::USES.iter().any(|of| option.is_of(*of)))
    }

    /// Whether this command has an argument for an option of suites. The set of data and, in campaigns, `compat` are
    /// arguments of another kind.
    fn is_argument(declared: &Declared) -> bool {
        let name = declared.option.name;
        declared.is_of(Self::USES) && name != SET && (SCORE || name != COMPAT)
    }

    /// The values for this suite, with the set of data and the `compat` that the command has elsewhere.
    ///
    /// # Errors
    /// The suite has no such option, which says which suites have it.
    pub fn of_suite(
        &self,
        suite: &dyn Suite,
        compat: Option<&str>,
        sets: &[String],
    ) -> Result<SuiteValues, Failure> {
        let mut values = self.given.clone();
        values.extend(compat.map(|compat| (COMPAT, compat.to_owned())));
        let set = data_set(sets)?;
        if let Some(name) = values.keys().find(|name| !Self::is_option_of(suite, name)) {
            let registry = registry();
            let with = registry.iter().filter(|other| Self::is_option_of(&***other, name));
            let with: Vec<&str> = with.map(|other| other.name()).collect();
            return Err(Failure::usage(format!(
                "--{name} is for {} here, not for {}",
                listed(&with),
                suite.name()
            )));
        }
        if let Some(set) = set {
            if !suite.options().iter().any(|option| option.name == SET) {
                // A `--set` without a value is a key whose value was forgotten.
                return Err(Failure::usage(format!(
                    "--set {set}: write --set KEY=VALUE, as in --set bench.limit=20; a name alone is one of the sets \
                     of {}",
                    listed(&suites_with(SET))
                )));
            }
            values.insert(SET, set.to_owned());
        }
        Ok(SuiteValues(values))
    }

    /// The option, if one is given, with which the tools of cases ask servers.
    pub fn asking_servers(&self) -> Option<&'static str> {
        let all = self.given.iter();
        all.filter(|(name, value)| ***name == *MEDIA || value.contains("://")).map(|(name, _)| *name).next()
    }
}

impl<const SCORE: bool> Args for SuiteArguments<SCORE> {
    fn augment_args(command: Command) -> Command {
        declared().into_iter().filter(Self::is_argument).fold(command, |command, declared| {
            let argument = declared.argument();
            command.arg(match SCORE {
                true => argument,
                // Cases of a file or of a campaign are made already. What acts outside may be named again, and a
                // sequel may follow a finished campaign.
                false if declared.is_of(&[OptionUse::Tools, OptionUse::Sequel]) => argument,
                false => argument.conflicts_with_all(["resume", "from"]),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SCORE: bool> FromArgMatches for SuiteArguments<SCORE> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut given, mut files) = (BTreeMap::new(), Vec::new());
        for Declared { option, .. } in declared().into_iter().filter(Self::is_argument) {
            let value = value(option, matches);
            if let Some(file) = value.as_ref().filter(|_| option.form == OptionForm::File) {
                files.push((format!("--{}", option.name), file.into()));
            }
            given.extend(value.map(|value| (option.name, value)));
        }
        Ok(Self { given, files })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The values of options of one suite, each of which it has.
#[derive(Debug, Clone, Default)]
pub struct SuiteValues(pub(super) BTreeMap<&'static str, String>);

impl SuiteValues {
    /// As a suite takes them.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// The same without those about sequels, and these alone.
    pub fn apart_from_sequels(&self) -> (Self, Self) {
        let (sequels, others) =
            self.0.clone().into_iter().partition(|(name, _)| has(name, OptionUse::Sequel));
        (Self(others), Self(sequels))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those for finished predictions alone: without a choice of cases.
    pub fn of_all_cases(&self) -> Self {
        let of_all = self.0.iter().filter(|(name, _)| !has(name, OptionUse::Chosen));
        Self(of_all.map(|(name, value)| (*name, value.clone())).collect())
    }

    /// What a campaign keeps, with absolute paths, so that it finds its files from wherever it is resumed.
    ///
    /// # Errors
    /// A path or a source cannot be written so.
    pub fn kept(&self) -> Result<KeptOptions, Failure> {
        let mut kept = BTreeMap::new();
        let all = declared();
        for (name, value) in &self.0 {
            let Some(declared) = all.iter().find(|it| it.option.name == *name) else { continue };
            if !declared.is_of(&[OptionUse::Tools]) {
                continue;
            }
            let value = match declared.option.form {
                OptionForm::File => absolute(Path::new(value)).or_fail()?.to_string_lossy().into_owned(),
                OptionForm::Source => pages::absolute(value)?,
                OptionForm::Word | OptionForm::Count | OptionForm::Number { .. } | OptionForm::Switch => {
                    value.clone()
                }
            };
            kept.insert((*name).to_owned(), value);
        }
        Ok(KeptOptions(kept))
    }
}

/// The options of a suite that a campaign keeps, because its tools need them: by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptOptions(pub BTreeMap<String, String>);

impl KeptOptions {
    /// As a suite takes them.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// What they do outside.
    pub fn acts(&self) -> Vec<Act> {
        let all = declared();
        let named = |(name, value): (&String, &String)| {
            let declared = all.iter().find(|declared| declared.option.name == name)?;
            Some(Act::new(declared.option.name, value.as_str()))
        };
        self.0.iter().filter_map(named).collect()
    }
}

/// What an act of an option of a suite does, in words; `None` for another option.
pub fn act_in_words(name: &str, value: &str) -> Option<String> {
    let declared =
        declared().into_iter().find(|it| it.option.name == name && it.is_of(&[OptionUse::Tools]))?;
    Some(match declared.option.form {
        OptionForm::File => format!("read the file {value}"),
        OptionForm::Source => format!("use the tools of {value}"),
        OptionForm::Word | OptionForm::Count | OptionForm::Number { .. } | OptionForm::Switch => {
            format!("use --{name} {value}")
        }
    })
}
