//! Case v1 and verdict v1: the files, with types of their own.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use planproof_constraint::{Constraint, Problem, Relation, Variable};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::case::{
    ACTIONS_MAX, Action, ActionId, Case, CaseOptions, CaseTool, ConstraintId, Difficulty, StatedConstraint,
};
use crate::oracle::Verdict;
use crate::text::Source;

/// Schema name of a case file.
pub const CASE_SCHEMA: &str = "planproof/case/v1";
/// Schema name of a verdict file.
pub const VERDICT_SCHEMA: &str = "planproof/verdict/v1";

/// Why a case file cannot be used.
#[derive(Debug, Error)]
pub enum CaseFileError {
    /// It is not JSON of this schema: malformed, a field unknown, missing or of another type.
    #[error("not a {CASE_SCHEMA} document: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another schema.
    #[error("schema is \"{found}\"; this version reads {CASE_SCHEMA}")]
    Schema {
        /// What it says.
        found: String,
    },
    /// It is of this schema but makes no sense.
    #[error("case \"{case}\": {what}")]
    Invalid {
        /// The case's id.
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
    /// Decimal text: many readers lose digits of a number above 2^53.
    seed: String,
    options: OptionsFile,
    form: Form,
    topic: String,
    query: String,
    paragraph: String,
    actions: Vec<ActionFile>,
    tools: Vec<ToolFile>,
    constraints: Vec<ConstraintFile>,
    feasible: bool,
    difficulty: DifficultyFile,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Basic,
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
    input_schema: Arc<Map<String, Value>>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum ConstraintFile {
    Before { id: String, first: String, second: String, source: Vec<SourceFile> },
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
    /// Decimal text, because 20! is more than many readers' numbers hold.
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
pub fn write_case(case: &Case) -> String {
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
        },
        form: Form::Basic,
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
        constraints: case
            .constraints
            .iter()
            .map(|stated| ConstraintFile::Before {
                id: stated.id.0.clone(),
                first: case.actions[stated.first].id.0.clone(),
                second: case.actions[stated.second].id.0.clone(),
                source: stated
                    .sources
                    .iter()
                    .map(|source| SourceFile {
                        sentence: source.sentence,
                        sub_sentence: source.sub_sentence,
                        start: source.start,
                        end: source.end,
                    })
                    .collect(),
            })
            .collect(),
        feasible: true,
        difficulty: DifficultyFile::of(&case.difficulty),
    };
    json(&file)
}

fn json(file: &impl Serialize) -> String {
    serde_json::to_string(file).expect("these types hold nothing that JSON cannot say")
}

/// Reads a case and checks that it makes sense: ids are unique and known, places lie in the paragraph, the
/// constraints can all hold, and the stated difficulty is the true one.
///
/// # Errors
/// See [`CaseFileError`].
pub fn read_case(text: &str) -> Result<Case, CaseFileError> {
    #[derive(Deserialize)]
    struct SchemaOnly {
        schema: Option<String>,
    }
    // The schema first, so that a file of another one is told so instead of which of its fields is unknown here.
    let SchemaOnly { schema } = serde_json::from_str(text)?;
    match schema {
        Some(schema) if schema == CASE_SCHEMA => {}
        found => return Err(CaseFileError::Schema { found: found.unwrap_or_else(|| "(none)".into()) }),
    }
    let file: CaseFile = serde_json::from_str(text)?;
    let id = file.id.clone();
    file.into_case().map_err(|what| CaseFileError::Invalid { case: id, what })
}

impl CaseFile {
    fn into_case(self) -> Result<Case, String> {
        let seed = self.seed.parse().map_err(|_| format!("seed \"{}\" is no whole number", self.seed))?;
        if !self.feasible {
            return Err("infeasible cases are not known to this version".into());
        }
        if !self.query.contains(&self.paragraph) {
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
        let constraints = read_constraints(self.constraints, &place_of, self.paragraph.chars().count())?;
        let difficulty = true_difficulty(count, &constraints)?;
        let truth = DifficultyFile::of(&difficulty);
        if self.difficulty != truth {
            let [stated, truth] = [&self.difficulty, &truth].map(json);
            return Err(format!("difficulty is {stated}, but actions and constraints make it {truth}"));
        }
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
        Ok(Case {
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
            },
            topic: self.topic,
            query: self.query,
            paragraph: self.paragraph,
            actions,
            tools,
            constraints,
            difficulty,
        })
    }
}

fn read_constraints(
    files: Vec<ConstraintFile>,
    place_of: &HashMap<String, usize>,
    characters: usize,
) -> Result<Vec<StatedConstraint>, String> {
    let mut ids = BTreeSet::new();
    let mut constraints = Vec::with_capacity(files.len());
    for ConstraintFile::Before { id, first, second, source } in files {
        if !ids.insert(id.clone()) {
            return Err(format!("constraint id \"{id}\" is used twice"));
        }
        let place = |action: &str| {
            place_of
                .get(action)
                .copied()
                .ok_or_else(|| format!("constraint \"{id}\" names action \"{action}\", which is not there"))
        };
        let (first, second) = (place(&first)?, place(&second)?);
        let mut sources = Vec::with_capacity(source.len());
        for SourceFile { sentence, sub_sentence, start, end } in source {
            if start >= end || end as usize > characters {
                return Err(format!(
                    "constraint \"{id}\" has its source at {start}..{end}; the paragraph has {characters} characters"
                ));
            }
            sources.push(Source { sentence, sub_sentence, start, end });
        }
        constraints.push(StatedConstraint { id: ConstraintId(id), first, second, sources });
    }
    Ok(constraints)
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

#[derive(Serialize)]
struct VerdictFile<'a> {
    schema: &'static str,
    case: &'a str,
    passed: bool,
    class: Option<&'static str>,
    flags: Vec<&'static str>,
    calls: Vec<&'a str>,
    violated: Vec<ViolatedFile<'a>>,
    undetermined: Vec<&'a str>,
    first_wrong_call: Option<usize>,
    core: Vec<&'a str>,
    repair: Vec<&'a str>,
    correct_next: Vec<Vec<&'a str>>,
    refused: Vec<RefusedFile<'a>>,
    cut_short: Option<&'a str>,
}

#[derive(Serialize)]
struct RefusedFile<'a> {
    tool: &'a str,
    answer: &'a str,
}

#[derive(Serialize)]
struct ViolatedFile<'a> {
    id: &'a str,
    words: &'a str,
}

/// Writes a verdict as one line of JSON, without the line's end.
pub fn write_verdict(case: &str, verdict: &Verdict) -> String {
    fn ids(actions: &[ActionId]) -> Vec<&str> {
        actions.iter().map(ActionId::as_str).collect()
    }
    let file = VerdictFile {
        schema: VERDICT_SCHEMA,
        case,
        passed: verdict.passed,
        class: verdict.class.map(crate::Class::as_str),
        flags: verdict.flags.iter().map(|flag| flag.as_str()).collect(),
        calls: ids(&verdict.calls),
        violated: verdict
            .violated
            .iter()
            .map(|violated| ViolatedFile { id: violated.id.as_str(), words: &violated.words })
            .collect(),
        undetermined: verdict.undetermined.iter().map(ConstraintId::as_str).collect(),
        first_wrong_call: verdict.first_wrong_call,
        core: verdict.core.iter().map(ConstraintId::as_str).collect(),
        repair: ids(&verdict.repair),
        correct_next: verdict.correct_next.iter().map(|next| ids(next)).collect(),
        refused: verdict
            .refused
            .iter()
            .map(|refused| RefusedFile { tool: &refused.tool, answer: &refused.answer })
            .collect(),
        cut_short: verdict.cut_short.as_deref(),
    };
    json(&file)
}
