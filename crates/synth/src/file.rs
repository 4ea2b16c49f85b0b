//! Case v1, and with it verdict v1: the files, with types of their own.

mod turns;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use planproof_constraint::{Constraint, Day, MINUTE_MAX, Problem, Relation, TimedProblem, Variable};
use planproof_trace::WrittenObject;
use planproof_trace::faults::ToolFaults;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::case::{
    ACTIONS_MAX, Action, ActionId, CaseOptions, CaseTool, ConstraintId, Difficulty, PlanningCase, Rewritten,
    StatedConstraint, timed_relations,
};
use crate::clock::{Bound, clock_time};
use crate::infeasible::{REPORT_TOOL, Sentences};
use crate::messages::{self, restored};
use crate::order_form::{OrderForm, Rule};
use crate::text::Source;
use crate::time_form::{
    CaseTimeOptions, RESTART_TOOL, RESTARTS_MAX, START_TIME_ARGUMENT, StatedBound, TimeForm,
};

use turns::TurnsFile;
pub use verdict::{VERDICT_SCHEMA, VerdictFileError, read_verdict, write_verdict};

/// Schema name of a case file.
pub const CASE_SCHEMA: &str = "planproof/case/v1";

/// Why a case file cannot be used.
#[derive(Debug, Error)]
pub enum CaseFileError {
    /// It is not JSON of this schema: malformed, or a field is unknown, missing or of a wrong type.
    #[error("not a {CASE_SCHEMA} document: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another schema.
    #[error("schema is \"{found}\"; this version reads {CASE_SCHEMA}")]
    Schema { found: String },
    /// It is of this schema but makes no sense.
    #[error("case \"{case}\": {what}")]
    Invalid {
        case: String,
        /// What is wrong, and where.
        what: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    schema: String,
    id: String,
    /// Decimal text: many readers lose precision above 2^53.
    seed: String,
    options: OptionsFile,
    form: Form,
    topic: String,
    query: String,
    paragraph: String,
    actions: Vec<ActionFile>,
    tools: Vec<ToolFile>,
    constraints: Vec<ConstraintFile>,
    /// Time form: minutes by action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    durations: Option<BTreeMap<String, u16>>,
    /// Time form: minutes from midnight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    day: Option<DayFile>,
    feasible: bool,
    /// Infeasible cases: the numbers of the conflicting sentences, from 1, as an agent reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conflict: Option<Vec<u32>>,
    difficulty: DifficultyFile,
    /// Absent in synthesised cases, which are all that earlier versions wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rewritten: Option<RewrittenFile>,
    /// Absent if no tool fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<ToolFaults>,
    /// Absent if the query is the only message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turns: Option<TurnsFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RewrittenFile {
    writer: String,
    kept: Kept,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judge: Option<String>,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kept {
    /// The reader read it back.
    Read,
    /// A judge listed what it demands.
    Judged,
}

impl RewrittenFile {
    fn of(Rewritten { writer, judge }: &Rewritten) -> Self {
        let kept = if judge.is_some() { Kept::Judged } else { Kept::Read };
        Self { writer: writer.clone(), kept, judge: judge.clone() }
    }

    fn read(self) -> Result<Rewritten, String> {
        if self.judge.is_some() != (self.kept == Kept::Judged) {
            return Err(
                "`rewritten` has a `judge` if it was kept as \"judged\", and none if as \"read\"".into()
            );
        }
        Ok(Rewritten { writer: self.writer, judge: self.judge })
    }
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Form {
    Basic,
    Time,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DayFile {
    start: u16,
    end: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsFile {
    actions: u32,
    sentences_max: u32,
    tries_max: u32,
    list_max: u8,
    sub_sentences_max: u8,
    relative_depth: u8,
    distractors: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hard: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<TimeOptionsFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeOptionsFile {
    duration_min: u16,
    duration_max: u16,
    restarts_max: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionFile {
    id: String,
    text: String,
    tool: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    name: String,
    description: String,
    input_schema: WrittenObject,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "AnyConstraint")]
enum ConstraintFile {
    Before {
        id: String,
        first: String,
        second: String,
        source: Vec<SourceFile>,
        /// The rule of the topic that demands it, if no sentence does.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<RuleFile>,
    },
    EndsBy {
        id: String,
        action: String,
        minute: u16,
        source: Vec<SourceFile>,
    },
    StartsFrom {
        id: String,
        action: String,
        minute: u16,
        source: Vec<SourceFile>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RuleFile {
    Before,
    After,
    NeverBefore,
    NeverAfter,
    Flow { argument: String, value: Value },
}

/// A constraint of any kind as it is parsed. For the enum itself, `serde` would buffer everything before it checks
/// `kind`, which took a fifth of the time of reading a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnyConstraint {
    kind: ConstraintKind,
    id: String,
    first: Option<String>,
    second: Option<String>,
    action: Option<String>,
    minute: Option<u16>,
    source: Vec<SourceFile>,
    rule: Option<RuleFile>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ConstraintKind {
    Before,
    EndsBy,
    StartsFrom,
}

impl TryFrom<AnyConstraint> for ConstraintFile {
    type Error = String;

    fn try_from(any: AnyConstraint) -> Result<Self, String> {
        let AnyConstraint { kind, id, first, second, action, minute, source, rule } = any;
        match (kind, first, second, action, minute) {
            (ConstraintKind::Before, Some(first), Some(second), None, None) => {
                Ok(Self::Before { id, first, second, source, rule })
            }
            (ConstraintKind::EndsBy, None, None, Some(action), Some(minute)) if rule.is_none() => {
                Ok(Self::EndsBy { id, action, minute, source })
            }
            (ConstraintKind::StartsFrom, None, None, Some(action), Some(minute)) if rule.is_none() => {
                Ok(Self::StartsFrom { id, action, minute, source })
            }
            (ConstraintKind::Before, ..) => Err(format!(
                "constraint \"{id}\" of kind \"before\" has `first` and `second`, and of the rest at most `rule`"
            )),
            (ConstraintKind::EndsBy | ConstraintKind::StartsFrom, ..) => {
                Err(format!("constraint \"{id}\" with a clock time has `action` and `minute`, and no more"))
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceFile {
    sentence: u32,
    sub_sentence: u32,
    start: u32,
    end: u32,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct DifficultyFile {
    actions: usize,
    constraints: usize,
    /// Decimal text, because 20! exceeds the precision of many readers.
    correct_plans: Option<String>,
    bits: Option<f64>,
}

impl DifficultyFile {
    fn of(difficulty: &Difficulty) -> Self {
        Self {
            actions: difficulty.actions,
            constraints: difficulty.constraints,
            correct_plans: difficulty.correct_plans.map(|count| count.to_string()),
            bits: difficulty.bits,
        }
    }
}

/// Writes a case as one line of JSON, without the line's end.
pub fn write_case(case: &PlanningCase) -> String {
    let file = CaseFile {
        schema: CASE_SCHEMA.to_owned(),
        id: case.id.clone(),
        seed: case.seed.to_string(),
        options: OptionsFile {
            actions: case.options.actions,
            sentences_max: case.options.sentences_max,
            tries_max: case.options.tries_max,
            list_max: case.options.list_max,
            sub_sentences_max: case.options.sub_sentences_max,
            relative_depth: case.options.relative_depth,
            distractors: case.options.distractors,
            hard: case.options.hard.then_some(true),
            time: case.options.time.map(|time| TimeOptionsFile {
                duration_min: time.duration_min,
                duration_max: time.duration_max,
                restarts_max: time.restarts_max,
            }),
        },
        form: if case.time.is_some() { Form::Time } else { Form::Basic },
        topic: case.topic.clone(),
        query: case.query.clone(),
        paragraph: case.paragraph.clone(),
        actions: case
            .actions
            .iter()
            .map(|action| ActionFile {
                id: action.id.0.clone(),
                text: action.text.clone(),
                tool: action.tool.clone(),
            })
            .collect(),
        tools: case
            .tools
            .iter()
            .map(|tool| {
                let tool = tool.to_tool();
                ToolFile { name: tool.name, description: tool.description, input_schema: tool.input_schema }
            })
            .collect(),
        constraints: constraint_files(case),
        durations: case.time.as_ref().map(|time| {
            let ids = case.actions.iter().map(|action| action.id.0.clone());
            ids.zip(time.durations.iter().copied()).collect()
        }),
        day: case.time.as_ref().map(|time| DayFile { start: time.day.start, end: time.day.end }),
        feasible: case.is_feasible(),
        conflict: case.conflict.clone(),
        difficulty: DifficultyFile::of(&case.difficulty),
        rewritten: case.rewritten.as_ref().map(RewrittenFile::of),
        faults: case.faults.clone(),
        turns: case.turns.as_ref().map(|turns| TurnsFile::of(case, turns)),
    };
    json(&file)
}

fn constraint_files(case: &PlanningCase) -> Vec<ConstraintFile> {
    let action = |place: usize| case.actions[place].id.0.clone();
    // Constraints are those of the paragraph; what messages change stands in `turns`.
    let stated = case.turns.as_ref().map(|turns| restored(&case.constraints, turns));
    let pairs = stated.as_ref().unwrap_or(&case.constraints).iter().map(|stated| ConstraintFile::Before {
        id: stated.id.0.clone(),
        first: action(stated.first),
        second: action(stated.second),
        source: source_files(&stated.sources),
        rule: stated.rule.as_ref().map(RuleFile::of),
    });
    let bounds = case.time.iter().flat_map(|time| &time.bounds).map(|stated| {
        let (id, action, source) =
            (stated.id.0.clone(), action(stated.action), source_files(&stated.sources));
        match stated.bound {
            Bound::EndsBy(minute) => ConstraintFile::EndsBy { id, action, minute, source },
            Bound::StartsFrom(minute) => ConstraintFile::StartsFrom { id, action, minute, source },
        }
    });
    pairs.chain(bounds).collect()
}

impl RuleFile {
    fn of(rule: &Rule) -> Self {
        match rule {
            Rule::Order(OrderForm::Before) => Self::Before,
            Rule::Order(OrderForm::After) => Self::After,
            Rule::Order(OrderForm::NeverBefore) => Self::NeverBefore,
            Rule::Order(OrderForm::NeverAfter) => Self::NeverAfter,
            Rule::Flow { argument, value } => Self::Flow { argument: argument.clone(), value: value.clone() },
        }
    }

    fn read(self, id: &str) -> Result<Rule, String> {
        Ok(match self {
            Self::Before => Rule::Order(OrderForm::Before),
            Self::After => Rule::Order(OrderForm::After),
            Self::NeverBefore => Rule::Order(OrderForm::NeverBefore),
            Self::NeverAfter => Rule::Order(OrderForm::NeverAfter),
            Self::Flow { argument, value } if value.is_string() || value.is_u64() => {
                Rule::Flow { argument, value }
            }
            Self::Flow { .. } => {
                return Err(format!("the value of rule \"{id}\" is neither a text nor a whole number"));
            }
        })
    }
}

fn source_files(sources: &[Source]) -> Vec<SourceFile> {
    sources
        .iter()
        .map(|source| SourceFile {
            sentence: source.sentence,
            sub_sentence: source.sub_sentence,
            start: source.start,
            end: source.end,
        })
        .collect()
}

fn json(file: &impl Serialize) -> String {
    serde_json::to_string(file).expect("these types hold nothing that JSON cannot say")
}

/// Reads a case and checks its consistency: ids are unique and known, places lie in the paragraph, the constraints
/// can all hold, or the stated conflict is the only one, and the stated difficulty is correct.
///
/// # Errors
/// See [`CaseFileError`].
pub fn read_case(text: &str) -> Result<PlanningCase, CaseFileError> {
    #[derive(Deserialize)]
    #[serde(expecting = "a JSON object")]
    struct SchemaOnly {
        schema: Option<String>,
    }
    let read = serde_json::from_str::<CaseFile>(text);
    let file = match read {
        Ok(file) if file.schema == CASE_SCHEMA => file,
        // The schema comes first: unknown fields do not matter in a file of another schema.
        read => {
            let SchemaOnly { schema } = serde_json::from_str(text)?;
            match schema {
                Some(schema) if schema == CASE_SCHEMA => read?,
                found => {
                    return Err(CaseFileError::Schema { found: found.unwrap_or_else(|| "(none)".into()) });
                }
            }
        }
    };
    let id = file.id.clone();
    file.into_case().map_err(|what| CaseFileError::Invalid { case: id, what })
}

impl CaseFile {
    fn into_case(self) -> Result<PlanningCase, String> {
        let seed = self.seed.parse().map_err(|_| format!("seed \"{}\" is no whole number", self.seed))?;
        if self.feasible != self.conflict.is_none() {
            return Err("a case has a `conflict` if it is not `feasible`, and none if it is".into());
        }
        // It occurs at the end as a rule, which is quick to check.
        if self.turns.is_none()
            && !self.query.ends_with(&self.paragraph)
            && !self.query.contains(&self.paragraph)
        {
            return Err(
                "its query does not contain its paragraph, so the agent would see something else than what \
                        is judged"
                    .into(),
            );
        }
        let count = self.actions.len();
        if self.options.actions as usize != count {
            return Err(format!("options.actions is {}, but it has {count} actions", self.options.actions));
        }
        if !(2..=ACTIONS_MAX).contains(&count) {
            return Err(format!("it has {count} actions; 2 to {ACTIONS_MAX} are possible"));
        }
        let mut place_of = HashMap::new();
        let mut texts = BTreeSet::new();
        let tool_names: BTreeSet<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        if tool_names.len() != self.tools.len() {
            return Err("two tools have the same name".into());
        }
        let mut action_tools = BTreeSet::new();
        for (place, action) in self.actions.iter().enumerate() {
            if place_of.insert(action.id.clone(), place).is_some() {
                return Err(format!("action id \"{}\" is used twice", action.id));
            }
            // The paragraph names actions by their texts, and a call names them by their tools: both have to be unique.
            if !texts.insert(action.text.as_str()) {
                return Err(format!("two actions have the text \"{}\"", action.text));
            }
            if !tool_names.contains(action.tool.as_str()) {
                return Err(format!(
                    "action \"{}\" names tool \"{}\", which is not there",
                    action.id, action.tool
                ));
            }
            if !action_tools.insert(action.tool.as_str()) {
                return Err(format!("two actions have the tool \"{}\"", action.tool));
            }
        }
        let stated = read_constraints(self.constraints, &place_of, self.paragraph.chars().count())?;
        let ReadConstraints { pairs: constraints, bounds } = stated;
        let is_timed = self.form == Form::Time;
        // The marks of the time form have to agree: form, day, durations and options.
        let time = match (self.day, self.durations, self.options.time.as_ref()) {
            (Some(day), Some(durations), Some(options)) if is_timed => {
                let durations = read_durations(&self.actions, &durations)?;
                let day = Day { start: day.start, end: day.end };
                Some(TimeForm { day, durations, bounds, restarts_max: options.restarts_max })
            }
            (None, None, None) if !is_timed && bounds.is_empty() => None,
            _ => {
                return Err(
                    "a case has `day`, `durations` and `options.time` if its form is \"time\", and neither \
                            these nor constraints with clock times if its form is \"basic\""
                        .into(),
                );
            }
        };
        let difficulty = match (&self.conflict, &time) {
            // Recomputed and compared with the stated one below: chance follows from it.
            (Some(conflict), time) => infeasible_difficulty(count, &constraints, time.as_ref(), conflict)?,
            (None, None) => true_difficulty(count, &constraints)?,
            (None, Some(time)) => true_timed_difficulty(&constraints, time)?,
        };
        if let Some(time) = &time {
            check_timed_tools(&self.actions, &self.tools, time)?;
        }
        let truth = DifficultyFile::of(&difficulty);
        // With turns, it depends on their changes, which are applied to the whole case below.
        if self.turns.is_none() && self.difficulty != truth {
            let [stated, truth] = [&self.difficulty, &truth].map(json);
            return Err(format!("difficulty is {stated}, but actions and constraints make it {truth}"));
        }
        let turns = self.turns.map(|turns| turns.read(&place_of)).transpose()?;
        // A tool without arguments has no schema in memory, so that a case is the same before and after a file.
        let no_arguments = planproof_trace::Tool::without_arguments("", "").input_schema;
        let tools = self
            .tools
            .into_iter()
            .map(|tool| CaseTool {
                name: tool.name,
                description: tool.description,
                input_schema: (tool.input_schema != no_arguments).then_some(tool.input_schema),
            })
            .collect();
        let actions = self
            .actions
            .into_iter()
            .map(|action| Action { id: ActionId(action.id), text: action.text, tool: action.tool })
            .collect();
        let stated_difficulty = self.difficulty;
        let mut case = PlanningCase {
            id: self.id,
            seed,
            options: CaseOptions {
                actions: self.options.actions,
                sentences_max: self.options.sentences_max,
                tries_max: self.options.tries_max,
                list_max: self.options.list_max,
                sub_sentences_max: self.options.sub_sentences_max,
                relative_depth: self.options.relative_depth,
                distractors: self.options.distractors,
                hard: self.options.hard.unwrap_or(false),
                time: self.options.time.map(|time| CaseTimeOptions {
                    duration_min: time.duration_min,
                    duration_max: time.duration_max,
                    restarts_max: time.restarts_max,
                }),
            },
            topic: self.topic,
            query: self.query,
            paragraph: self.paragraph,
            actions,
            tools,
            constraints,
            time,
            conflict: self.conflict,
            rewritten: self.rewritten.map(RewrittenFile::read).transpose()?,
            faults: self.faults,
            turns: None,
            difficulty,
        };
        if let Some(turns) = turns {
            messages::resolve(&mut case, turns)?;
            case.difficulty = messages::difficulty(&case);
            let truth = DifficultyFile::of(&case.difficulty);
            if stated_difficulty != truth {
                let [stated, truth] = [&stated_difficulty, &truth].map(json);
                return Err(format!("difficulty is {stated}, but its turns make it {truth}"));
            }
        }
        if let Some(faults) = &case.faults {
            faults.check()?;
            if case.time.is_some() || !case.is_feasible() {
                return Err("`faults` need a feasible case without clock times".into());
            }
        }
        // What is judged must be in the query, also if another version wrote the file.
        if case.rules_text().is_some_and(|rules| !case.query.contains(&rules)) {
            return Err(
                "its query does not hold its rules as this version writes them, so the agent would not know \
                        what is judged"
                    .into(),
            );
        }
        if !case.is_feasible() && !case.offers_report() {
            return Err(format!(
                "an infeasible case needs a tool \"{REPORT_TOOL}\" as this version makes it"
            ));
        }
        Ok(case)
    }
}

/// The difficulty of a case whose stated conflict is its only one.
fn infeasible_difficulty(
    actions: usize,
    constraints: &[StatedConstraint],
    time: Option<&TimeForm>,
    conflict: &[u32],
) -> Result<Difficulty, String> {
    if let Some(time) = time {
        // The same checks of day, durations and minutes as in a feasible case.
        TimedProblem::new(&time.durations, time.day, timed_relations(constraints, time))
            .map_err(|error| error.to_string())?;
    }
    let found = Sentences::of(actions, constraints, time).and_then(|sentences| sentences.conflict());
    let found = found.map_err(|reason| format!("it is said to be infeasible, but {reason}"))?;
    if found != conflict {
        return Err(format!(
            "conflict is {conflict:?}, but the sentences that cannot hold together are {found:?}"
        ));
    }
    let stated = constraints.len() + time.map_or(0, |time| time.bounds.len());
    Ok(Difficulty::new(actions, stated, Some(0)))
}

/// The constraints of a file, by kind.
struct ReadConstraints {
    pairs: Vec<StatedConstraint>,
    bounds: Vec<StatedBound>,
}

fn read_constraints(
    files: Vec<ConstraintFile>,
    place_of: &HashMap<String, usize>,
    characters: usize,
) -> Result<ReadConstraints, String> {
    let mut ids = BTreeSet::new();
    let mut read = ReadConstraints { pairs: Vec::with_capacity(files.len()), bounds: Vec::new() };
    for file in files {
        let (ConstraintFile::Before { id, .. }
        | ConstraintFile::EndsBy { id, .. }
        | ConstraintFile::StartsFrom { id, .. }) = &file;
        // Ids of all kinds share one space, because verdicts name constraints by them.
        if !ids.insert(id.clone()) {
            return Err(format!("constraint id \"{id}\" is used twice"));
        }
        let place = |id: &str, action: &str| {
            place_of
                .get(action)
                .copied()
                .ok_or_else(|| format!("constraint \"{id}\" names action \"{action}\", which is not there"))
        };
        match file {
            ConstraintFile::Before { id, first, second, source, rule } => {
                let (first, second) = (place(&id, &first)?, place(&id, &second)?);
                let sources = read_sources(&id, source, characters)?;
                let rule = rule.map(|rule| rule.read(&id)).transpose()?;
                // Elsewhere a requirement counts as a rule because it has no source.
                if rule.is_some() && !sources.is_empty() {
                    return Err(format!(
                        "constraint \"{id}\" has a rule and a source; it is demanded by one of them"
                    ));
                }
                read.pairs.push(StatedConstraint { id: ConstraintId(id), first, second, sources, rule });
            }
            ConstraintFile::EndsBy { id, action, minute, source } => {
                let (action, bound) = (place(&id, &action)?, Bound::EndsBy(read_minute(&id, minute)?));
                let sources = read_sources(&id, source, characters)?;
                read.bounds.push(StatedBound { id: ConstraintId(id), action, bound, sources });
            }
            ConstraintFile::StartsFrom { id, action, minute, source } => {
                let (action, bound) = (place(&id, &action)?, Bound::StartsFrom(read_minute(&id, minute)?));
                let sources = read_sources(&id, source, characters)?;
                read.bounds.push(StatedBound { id: ConstraintId(id), action, bound, sources });
            }
        }
    }
    Ok(read)
}

fn read_minute(id: &str, minute: u16) -> Result<u16, String> {
    if minute > MINUTE_MAX {
        return Err(format!("constraint \"{id}\" names minute {minute}; a day has {MINUTE_MAX}"));
    }
    Ok(minute)
}

fn read_sources(id: &str, files: Vec<SourceFile>, characters: usize) -> Result<Vec<Source>, String> {
    let read = |SourceFile { sentence, sub_sentence, start, end }| {
        if start >= end || end as usize > characters {
            return Err(format!(
                "constraint \"{id}\" has its source at {start}..{end}; the paragraph has {characters} characters"
            ));
        }
        Ok(Source { sentence, sub_sentence, start, end })
    };
    files.into_iter().map(read).collect()
}

fn read_durations(actions: &[ActionFile], durations: &BTreeMap<String, u16>) -> Result<Vec<u16>, String> {
    let known: BTreeSet<&str> = actions.iter().map(|action| action.id.as_str()).collect();
    if let Some(unknown) = durations.keys().find(|id| !known.contains(id.as_str())) {
        return Err(format!("durations names action \"{unknown}\", which is not there"));
    }
    actions
        .iter()
        .map(|action| {
            let minutes = durations.get(&action.id).copied();
            let minutes = minutes.ok_or_else(|| format!("action \"{}\" has no duration", action.id))?;
            if !(1..=MINUTE_MAX).contains(&minutes) {
                return Err(format!(
                    "action \"{}\" takes {minutes} minutes; 1 to {MINUTE_MAX} are possible",
                    action.id
                ));
            }
            Ok(minutes)
        })
        .collect()
}

/// A tool for each action that takes a start time, and one to clear the day.
fn check_timed_tools(actions: &[ActionFile], tools: &[ToolFile], time: &TimeForm) -> Result<(), String> {
    if !(1..=RESTARTS_MAX).contains(&time.restarts_max) {
        return Err(format!(
            "options.time.restarts_max is {}; 1 to {RESTARTS_MAX} are possible",
            time.restarts_max
        ));
    }
    for action in actions {
        let tool = tools.iter().find(|tool| tool.name == action.tool);
        let properties = tool.and_then(|tool| tool.input_schema.get("properties"));
        if properties.and_then(|properties| properties.get(START_TIME_ARGUMENT)).is_none() {
            return Err(format!(
                "tool \"{}\" takes no {START_TIME_ARGUMENT}, which a case of the time form needs",
                action.tool
            ));
        }
    }
    let is_free = actions.iter().all(|action| action.tool != RESTART_TOOL);
    if !is_free || tools.iter().all(|tool| tool.name != RESTART_TOOL) {
        return Err(format!("a case of the time form needs a tool \"{RESTART_TOOL}\" that is no action's"));
    }
    Ok(())
}

fn true_timed_difficulty(constraints: &[StatedConstraint], time: &TimeForm) -> Result<Difficulty, String> {
    let problem = TimedProblem::new(&time.durations, time.day, timed_relations(constraints, time))
        .map_err(|error| error.to_string())?;
    if let Some(conflict) = problem.conflict().map_err(|error| format!("its constraints are {error}"))? {
        let ids: Vec<&str> = constraints
            .iter()
            .map(|stated| stated.id.as_str())
            .chain(time.bounds.iter().map(|stated| stated.id.as_str()))
            .enumerate()
            .filter(|(place, _)| conflict.contains(place))
            .map(|(_, id)| id)
            .collect();
        return Err(if ids.is_empty() {
            let total: u32 = time.durations.iter().map(|minutes| u32::from(*minutes)).sum();
            let [start, end] = [time.day.start, time.day.end].map(clock_time);
            format!("its tasks take {total} minutes, which the day from {start} to {end} does not have")
        } else {
            format!("its constraints cannot all hold: there is no schedule for {}", ids.join(", "))
        });
    }
    let stated = constraints.len() + time.bounds.len();
    Ok(Difficulty::new(time.durations.len(), stated, problem.timetable().count_sequences()))
}

fn true_difficulty(actions: usize, constraints: &[StatedConstraint]) -> Result<Difficulty, String> {
    let relations = constraints
        .iter()
        .map(|stated| Constraint {
            relation: Relation::Before {
                first: Variable::new(stated.first),
                second: Variable::new(stated.second),
            },
            source: (),
        })
        .collect();
    let problem = Problem::new(actions, relations).map_err(|error| error.to_string())?;
    let order = problem.order().map_err(|conflict| {
        let ids: Vec<&str> =
            conflict.constraints.iter().map(|&place| constraints[place].id.as_str()).collect();
        format!("its constraints cannot all hold: {} form a cycle", ids.join(", "))
    })?;
    Ok(Difficulty::new(actions, constraints.len(), order.count_sequences()))
}
