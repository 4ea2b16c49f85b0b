//! Whether what a stored or recorded campaign does outside is wanted by the person at the keyboard. This is decided
//! here for every command that runs something of a store or of a recording: a campaign that its user began is theirs,
//! and of any other all that acts has to be named again, as if it were begun now.

use std::path::{Path, PathBuf};

use planproof_agents::{AgentSpec, Reach};
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{Act, Budgets, ProgramOptions, RecordedCampaign, absolute, unnumbered};
use planproof_doors::{self as suites, KeptOptions, SuiteOptions};
use planproof_output::failure::Failure;
use planproof_output::own;
use planproof_output::question::agrees;
use planproof_output::terminal::inline;
use planproof_output::{secrets, tell, terminal};
use planproof_store::{CampaignRow, Matrix, Store};
use planproof_tools::process::shell_word;
use planproof_trace::REDACTED;

use crate::arguments::{ACTING, CampaignArguments, Global, STORE_DEFAULT};
use crate::stored_options::{CampaignOptions, command_of};

/// The act of the agent itself, which has no option.
const AGENT: &str = "agent";

/// The act of reading prices.
const PRICES: &str = "prices";

/// The names of simulated models, which are asked nothing outside, begin with this.
const SIMULATED: &str = "sim/";

/// What the command line names of a campaign, which is used in place of what is stored: that may lack a key.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) agent: AgentSpec,
    pub(crate) program: ProgramOptions,
    pub(crate) serve_model: Option<String>,
    /// `--record` or `--cache`, with its file.
    pub(crate) answers: Option<(&'static str, PathBuf)>,
    /// What the suite keeps for its tools.
    pub(crate) kept: KeptOptions,
    pub(crate) prices: Option<PathBuf>,
}

impl Named {
    /// What `arguments` name, if they name the agent.
    ///
    /// # Errors
    /// They name something that acts, and no agent.
    pub(crate) fn of(
        arguments: &CampaignArguments,
        agent: Option<AgentSpec>,
        program: &ProgramOptions,
        kept: KeptOptions,
        global: &Global,
    ) -> Result<Option<Self>, Failure> {
        let Some(agent) = agent else {
            let mut acting = ACTING.iter().copied().filter(|id| global.given.has(id));
            let of_suite = kept.0.keys().map(String::as_str).next();
            return match acting.next().or(of_suite) {
                Some(id) => Err(Failure::usage(format!(
                    "--{}: name the agent as well. What a stored campaign does outside is named as a whole, or not at all",
                    id.replace('_', "-")
                ))),
                None => Ok(None),
            };
        };
        let recording = &arguments.recording;
        let answers = [("record", &recording.record), ("cache", &recording.cache)];
        let answers = answers.into_iter().find_map(|(option, file)| Some((option, file.as_deref()?)));
        Ok(Some(Self {
            agent,
            program: program.absolute().or_fail()?,
            serve_model: arguments.serve_model.clone(),
            answers: answers
                .map(|(option, file)| Ok::<_, Failure>((option, absolute(file).or_fail()?)))
                .transpose()?,
            kept,
            prices: arguments.budget.prices.clone(),
        }))
    }

    /// The same for the campaign of that number of a matrix, each of which has a recording of its own.
    pub(crate) fn numbered(self, number: u32) -> Self {
        let of_number = |(option, file): (&'static str, PathBuf)| match option {
            "record" => (option, planproof_campaign::numbered(&file, number)),
            _ => (option, file),
        };
        Self { answers: self.answers.map(of_number), ..self }
    }

    /// The same as a store keeps it: without keys.
    fn acts(&self) -> Vec<Act> {
        let Self { agent, program, serve_model, answers, kept, prices } = self;
        let mut acts = vec![Act::new(AGENT, agent.as_str())];
        acts.extend(serve_model.iter().map(|model| Act::new("serve-model", model)));
        acts.extend(program.acts());
        acts.extend(answers.iter().map(|(option, file)| Act::new(option, file.to_string_lossy())));
        acts.extend(kept.acts());
        acts.extend(prices.iter().map(|file| Act::new(PRICES, file.to_string_lossy())));
        let held = secrets::held();
        acts.into_iter().map(|Act { option, value }| Act::new(option, held.redact(&value))).collect()
    }

    /// Puts it in place of what is stored, and returns the agent.
    pub(crate) fn put_into(self, options: &mut CampaignOptions) -> AgentSpec {
        let Self { agent, program, serve_model, answers: _, kept, prices: _ } = self;
        (options.kept.program, options.kept.serve_model) = (program, serve_model);
        options.of_suite.kept = kept;
        agent
    }
}

/// All that a stored campaign does outside, the agent first. Every field of a row is named here, without a rest, so
/// that a new one compiles only once somebody has decided whether it acts.
fn acts(row: &CampaignRow, options: &CampaignOptions) -> Result<Vec<Act>, Failure> {
    let CampaignRow {
        id: _,
        created_ms: _,
        command_line: _,
        agent,
        model: _,
        simulated: _,
        // Parsed, in `options`.
        options: _,
        cases: _,
        repeats: _,
        started: _,
        passed: _,
        failed: _,
        unscored: _,
        progress,
        label: _,
    } = row;
    let CampaignOptions { kept, of_suite } = options;
    let mut acts = vec![Act::new(AGENT, agent)];
    acts.extend(kept.acts());
    acts.extend(acts_of_suite(of_suite));
    acts.extend(Budgets::stored(progress).or_fail()?.acts());
    Ok(acts)
}

/// What the options of a suite do outside.
fn acts_of_suite(options: &SuiteOptions) -> Vec<Act> {
    let SuiteOptions {
        // How its cases are judged and drawn, with the topics themselves and not their file.
        own: _,
        // How many runs are made beside those of the cases.
        sequels: _,
        kept,
    } = options;
    kept.acts()
}

/// In words what an act does; nothing if it reaches nothing outside.
fn words(act: &Act) -> Vec<String> {
    let Act { option, value } = act;
    let model = |name: &str| (!name.starts_with(SIMULATED)).then(|| format!("ask the model {name}"));
    match *option {
        AGENT => match AgentSpec::parse(value) {
            Ok(agent) => {
                let reach = |reach| match reach {
                    Reach::Program(command) => Some(format!("start the program {command}")),
                    Reach::Service(url) => Some(format!("send requests to {url}")),
                    Reach::File(file) => Some(format!("read the file {file}")),
                    Reach::Model(name) => model(name),
                };
                agent.reaches().into_iter().filter_map(reach).collect()
            }
            // It cannot be run either, which is said where it is tried.
            Err(_) => Vec::new(),
        },
        "serve-model" => model(value).into_iter().collect(),
        "header" => vec![format!("send the header {value}")],
        "record" | "cache" => vec![format!("write to the file {value}")],
        "prices" | "env-file" | "may-differ" | "replay" => vec![format!("read the file {value}")],
        option => {
            let of_suite = suites::act_in_words(option, value);
            vec![of_suite.unwrap_or_else(|| format!("use --{option} {value}"))]
        }
    }
}

/// A campaign of the store that is to go on.
pub(crate) struct Stored<'a> {
    pub(crate) store: &'a Store,
    pub(crate) row: &'a CampaignRow,
    pub(crate) options: &'a CampaignOptions,
}

impl Stored<'_> {
    /// Makes sure that all it does outside is wanted, by what the command line names of it, if that names anything.
    ///
    /// # Errors
    /// It is not known to be wanted. The error has the command line that would say so.
    pub(crate) fn must_be_wanted(&self, named: Option<&Named>) -> Result<(), Failure> {
        let Self { store, row, options } = *self;
        let asked = Asked {
            what: format!("the campaign {}", row.id),
            where_: store.path(),
            command: command_of(&options.kept),
            id: &row.id,
            number: None,
            acts: acts(row, options)?,
            agents: vec![row.agent.clone()],
        };
        let is_own = planproof_campaign::is_own(store.path(), row, own::key()).or_fail()?;
        asked.decide(named.map(Named::acts).as_deref(), is_own)
    }
}

/// The same of a matrix, whose campaigns these are, each with its options. `named` is what the command line names of
/// each.
pub(crate) fn matrix_must_be_wanted(
    store: &Store,
    matrix: &Matrix,
    campaigns: &[(CampaignRow, CampaignOptions)],
    named: Option<&[Named]>,
) -> Result<(), Failure> {
    let Matrix { id, created_ms: _, command_line: _, budgets } = matrix;
    let mut is_own = planproof_campaign::is_own_matrix(store.path(), matrix, own::key()).or_fail()?;
    let prices = Budgets::read(budgets).or_fail()?.acts();
    if let Some(named) = named.filter(|named| named.len() != campaigns.len()) {
        return Err(Failure::usage(format!(
            "the matrix {id} has {} combinations, and the command line names {}",
            campaigns.len(),
            named.len()
        )));
    }
    let agents: Vec<String> = campaigns.iter().map(|(row, _)| row.agent.clone()).collect();
    let mut of_all = Vec::new();
    for (row, options) in campaigns {
        is_own &= planproof_campaign::is_own(store.path(), row, own::key()).or_fail()?;
        of_all.push([acts(row, options)?, prices.clone()].concat());
    }
    for (place, acts) in of_all.into_iter().enumerate() {
        let agents = agents.clone();
        let number = u32::try_from(place + 1).ok();
        let what = format!("the campaign {} of the matrix {id}", place + 1);
        let command = command_of(&campaigns[place].1.kept);
        let asked = Asked { what, where_: store.path(), command, id, number, acts, agents };
        asked.decide(named.map(|named| named[place].acts()).as_deref(), is_own)?;
    }
    Ok(())
}

/// Makes sure that a replay starts, asks and reads nothing that only the recording names. Models are not asked, and how
/// a program is started is said by the command line in any case.
///
/// # Errors
/// Says what has to be named.
pub(crate) fn replay_must_be_wanted(
    recorded: &RecordedCampaign,
    of_suite: &SuiteOptions,
    agent: Option<&AgentSpec>,
    kept: &KeptOptions,
) -> Result<(), Failure> {
    let note = &recorded.campaign;
    let refuse = |what: String| Err(Failure::usage(format!("the recording is of {what}")));
    if agent.is_none() {
        let reach = recorded.agent.reaches().into_iter().find(|reach| !matches!(reach, Reach::Model(_)));
        match reach {
            Some(Reach::Program(_)) if recorded.agent.is_judged_by_program() => {
                return refuse(format!(
                    "{:?}, whose answers a program judges: to run it, name the agent before --replay",
                    note.agent
                ));
            }
            Some(Reach::Program(_)) => {
                return refuse(format!("a program, {:?}: to run it, name it before --replay", note.agent));
            }
            Some(Reach::Service(_)) => {
                return refuse(format!("a service, {:?}: to ask it, name it before --replay", note.agent));
            }
            Some(Reach::File(file)) => {
                return refuse(format!(
                    "{:?}, which is made from the file {}: to read it, name the agent before --replay",
                    note.agent,
                    inline(file)
                ));
            }
            Some(Reach::Model(_)) | None => {}
        }
    }
    let now = kept.acts();
    match acts_of_suite(of_suite).into_iter().find(|act| !now.contains(act)) {
        Some(Act { option, value }) => refuse(format!(
            "tools over {}: to use them, add --{option} {}",
            inline(&value),
            shell_word(&inline(&value))
        )),
        None => Ok(()),
    }
}

/// What a stored campaign does, and how to say that it is wanted.
struct Asked<'a> {
    what: String,
    where_: &'a Path,
    /// The command that such a campaign belongs to.
    command: String,
    /// What is resumed.
    id: &'a str,
    /// Which campaign of a matrix it is, from 1: its recording has the number in its name.
    number: Option<u32>,
    acts: Vec<Act>,
    /// All agents of the command line.
    agents: Vec<String>,
}

impl Asked<'_> {
    fn decide(&self, named: Option<&[Act]>, is_own: bool) -> Result<(), Failure> {
        if let Some(named) = named {
            return self.compare(named, is_own);
        }
        let holds_key = self.acts.iter().find(|act| act.value.contains(REDACTED));
        if let Some(Act { option, .. }) = holds_key {
            let option = if *option == AGENT { "the agent".to_owned() } else { format!("--{option}") };
            return Err(Failure::usage(format!(
                "{}: {option} was given with a key, which is not stored. Name all of it again, with the key in place of \
                 {REDACTED}: {}",
                self.what,
                self.line()
            )));
        }
        let does: Vec<String> = self.acts.iter().flat_map(words).map(|words| inline(&words)).collect();
        if is_own || does.is_empty() {
            return Ok(());
        }
        let store = inline(&self.where_.to_string_lossy());
        let why = own::why_none().map(|why| format!(" ({})", inline(why))).unwrap_or_default();
        let begun =
            format!("{} in {store} is not known to be begun by you, here and as it is{why}", self.what);
        if terminal::is_interactive() {
            tell!("{begun}. It will:");
            does.iter().for_each(|what| tell!("  {what}"));
            return match agrees("Is that what you want? [y/N] ") {
                true => Ok(()),
                false => Err(Failure::usage("nothing was run")),
            };
        }
        if let Some(Act { value, .. }) = self.acts.iter().find(|act| act.option == "replay") {
            return Err(Failure::usage(format!(
                "{begun}: replay the recording yourself, `planproof {} --replay {}`",
                self.command,
                shell_word(&inline(value))
            )));
        }
        Err(Failure::usage(format!(
            "{begun}. It would {}. Nothing was run. If that is what you want, name it: {}",
            does.join("; "),
            self.line()
        )))
    }

    /// Compares what is named with what is stored.
    fn compare(&self, named: &[Act], is_own: bool) -> Result<(), Failure> {
        let shown = |act: &Act| match act.option {
            AGENT => inline(&act.value),
            option => format!("--{option} {}", inline(&act.value)),
        };
        // New budgets replace the old ones, and so do their prices: any will do, and the own ones need not be named.
        let has_prices = is_own || named.iter().any(|act| act.option == PRICES);
        let is_named = |act: &Act| named.contains(act) || (act.option == PRICES && has_prices);
        let lacking = self.acts.iter().filter(|act| !is_named(act));
        let lacking: Vec<String> = lacking.map(|act| format!("stored: {}", shown(act))).collect();
        let other = named.iter().filter(|act| act.option != PRICES && !self.acts.contains(act));
        let all: Vec<String> =
            lacking.into_iter().chain(other.map(|act| format!("named: {}", shown(act)))).collect();
        if all.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} differs from the command line ({}). Name what is stored, `{}`, or begin a new campaign",
            self.what,
            all.join("; "),
            self.line()
        )))
    }

    /// The command line that names all of it.
    fn line(&self) -> String {
        let mut words: Vec<String> = self.agents.iter().map(|agent| shell_word(&inline(agent))).collect();
        for Act { option, value } in self.acts.iter().filter(|act| act.option != AGENT) {
            let value = match self.number.filter(|_| *option == "record") {
                Some(number) => unnumbered(Path::new(value), number).to_string_lossy().into_owned(),
                None => value.clone(),
            };
            words.extend([format!("--{option}"), shell_word(&inline(&value))]);
        }
        words.extend(["--resume".to_owned(), shell_word(self.id)]);
        if self.where_ != Path::new(STORE_DEFAULT) {
            words.extend(["--store".to_owned(), shell_word(&inline(&self.where_.to_string_lossy()))]);
        }
        format!("planproof {} {}", self.command, words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planproof_campaign::Answers;
    use planproof_isolation::Isolate;

    use super::*;

    /// Whatever a store can name, the command line can name again, and has to.
    #[test]
    fn all_that_acts_can_be_named_again() {
        let text = r#"{"seed":"1","concurrency":1,"timeout_ms":1,"iterations":1,"serve_model":"openai/x","solver_calls":0,
            "solver_ns":0,"synthesis_ns":0,"media":"/media","pages":"search:/pages"}"#;
        let mut options = CampaignOptions::parse(text).unwrap();
        let path = || Some(PathBuf::from("/file"));
        options.kept.program = ProgramOptions {
            env: vec!["NAME".into()],
            env_file: path(),
            cwd: path(),
            allow_hosts: vec!["host".into()],
            headers: vec!["a: ${B}".into()],
            body: Some("chat".into()),
            answer: Some("text".into()),
            isolate: Isolate::None,
            agent_memory: "none".parse().unwrap(),
            hidden: vec!["/hidden".into()],
        };
        let mut found = BTreeSet::new();
        for answers in [Answers::Record("/file".into()), Answers::Cache("/file".into())] {
            options.kept.answers = answers;
            let acts = options.kept.acts().into_iter().chain(acts_of_suite(&options.of_suite));
            for act in acts {
                assert!(!words(&act).is_empty(), "{act:?} is not shown");
                found.insert(act.option.replace('-', "_"));
            }
        }
        for option in ["media", "pages"] {
            assert!(found.remove(option), "{option} is an option of a suite");
        }
        assert_eq!(found, ACTING.iter().map(|id| (*id).to_owned()).collect());
        // A replay is begun anew, and cannot be named.
        (options.kept.answers, options.kept.may_differ) = (Answers::Replay("/file".into()), path());
        let acts = options.kept.acts();
        for option in ["replay", "may-differ"] {
            assert!(acts.iter().any(|act| act.option == option), "{option}");
        }
    }

    #[test]
    fn what_an_agent_reaches_is_said() {
        for (agent, expected) in [
            ("tools@sim/perfect", vec![]),
            ("tools@openai/x", vec!["ask the model openai/x"]),
            ("tools@sim=http://h/v1/x", vec!["ask the model sim=http://h/v1/x"]),
            ("command:id", vec!["start the program id"]),
            ("url:http://h", vec!["send requests to http://h"]),
            ("spec:a.spec@sim/perfect", vec!["read the file a.spec"]),
            ("react:evaluator=program:id@sim/perfect", vec!["start the program id"]),
        ] {
            assert_eq!(words(&Act::new(AGENT, agent)), expected, "{agent}");
        }
    }
}
