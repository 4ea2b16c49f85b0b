//! A topic of the user's own tools: each with a text, by rule, by a model, or given.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use planproof_model::{Model, ModelError};
use planproof_synth::topic_prompts;
use planproof_synth::{
    Activity, DESCRIPTION_CHARACTERS_MAX, ToolText, Topic, activity_fault, begins_another, listed_activity,
    natural_orders, sameness, snake_case, texts_of_tool_names, tool_fault,
};
use planproof_tools::SchemaCache;
use planproof_trace::Tool;
use planproof_trace::sample_arguments;
use serde_json::Value;

use super::{Conversation, Dropped, more, shortened};

/// Most tools in one request to a model.
const TOOLS_ASKED_MAX: usize = 50;

/// Most characters of a description in a request for names.
const DESCRIPTION_SHOWN_MAX: usize = 300;

/// Where the texts come from.
#[derive(Debug, Clone, Default)]
pub struct OwnTools {
    /// The job in the query.
    pub job: String,
    /// Texts from the user, by the tools' names; `None` leaves the tool out. The rule names the others.
    pub given: BTreeMap<String, Option<String>>,
    /// Texts from a model, by the tools' names.
    pub by_model: BTreeMap<String, String>,
    /// The tools' original names, by their names here, if the two differ. The rule uses the original names.
    pub own_names: BTreeMap<String, String>,
    /// Whether cases leave the tools' descriptions as they are.
    pub descriptions_as_is: bool,
}

/// A tool that is not in the topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub tool: String,
    pub why: String,
}

/// What came of it.
#[derive(Debug)]
pub struct NamedTools {
    /// The topic, which a bank may still reject.
    pub topic: Topic,
    /// Tools that are not in it.
    pub left_out: Vec<LeftOut>,
    /// Tools with names that the rule did not understand, and the texts that they have all the same.
    pub not_understood: Vec<(String, String)>,
    /// Tools whose description is cut.
    pub cut: Vec<String>,
    /// Tools for whose schemas our simulated models cannot make arguments.
    pub not_simulated: Vec<String>,
    /// Pairs of texts that seem to have a natural order, the earlier one first.
    pub in_order: Vec<(String, String)>,
}

impl OwnTools {
    /// The topic of these tools.
    ///
    /// # Errors
    /// A given text is unusable, or belongs to an unknown tool.
    pub fn topic(&self, tools: &[Tool]) -> Result<NamedTools, String> {
        self.check_given(tools)?;
        let schemas = SchemaCache::default();
        let mut left_out = Vec::new();
        let mut usable: Vec<&Tool> = Vec::new();
        for tool in tools {
            let why = match (self.given.get(&tool.name), schemas.check_schema(&tool.input_schema)) {
                // What the user left out needs no usable schema.
                (Some(None), _) => Some("the file of names says so".to_owned()),
                (_, Err(reason)) => Some(format!("its input schema cannot be used: {}", shortened(&reason))),
                (_, Ok(())) => None,
            };
            match why {
                Some(why) => left_out.push(LeftOut { tool: tool.name.clone(), why }),
                None => usable.push(tool),
            }
        }
        let given = |name: &str| {
            let given = self.given.get(name).and_then(Option::as_ref);
            given.or_else(|| self.by_model.get(name))
        };
        // The rule sees all remaining tools at once, because no text may begin another.
        let by_rule = usable.iter().map(|tool| tool.name.as_str()).filter(|name| given(name).is_none());
        let own_names = by_rule.clone().map(|name| self.own_name(name));
        let taken = usable.iter().filter_map(|tool| given(&tool.name)).map(String::as_str);
        let texts = texts_of_tool_names(own_names, taken);
        let by_rule: HashMap<&str, Option<ToolText>> = by_rule.zip(texts).collect();
        let mut named = NamedTools {
            topic: Topic { descriptions_as_is: self.descriptions_as_is, ..Topic::of(&self.job, Vec::new()) },
            left_out,
            not_understood: Vec::new(),
            cut: Vec::new(),
            not_simulated: Vec::new(),
            in_order: Vec::new(),
        };
        for tool in usable {
            let ruled = by_rule.get(tool.name.as_str()).and_then(Option::as_ref);
            let Some(text) = given(&tool.name).or(ruled.map(|ruled| &ruled.text)) else {
                let why = "no text can be made of its name; give it one with --names".to_owned();
                named.left_out.push(LeftOut { tool: tool.name.clone(), why });
                continue;
            };
            let mut tool = tool.clone();
            if tool.description.chars().count() > DESCRIPTION_CHARACTERS_MAX {
                tool.description = cut(&tool.description);
                named.cut.push(tool.name.clone());
            }
            if let Some(fault) = tool_fault(&tool) {
                named.left_out.push(LeftOut { tool: tool.name, why: format!("it {fault}") });
                continue;
            }
            // Only noted: a real agent can still call the tool.
            let sample = Value::Object(sample_arguments(&tool.input_schema));
            if schemas.check(&tool.input_schema, &sample).is_err() {
                named.not_simulated.push(tool.name.clone());
            }
            if ruled.is_some_and(|ruled| !ruled.is_understood) {
                named.not_understood.push((tool.name.clone(), text.clone()));
            }
            named.topic.activities.push(Activity { text: text.clone(), tool: Some(tool) });
        }
        let texts: Vec<&str> = named.topic.activities.iter().map(|activity| activity.text.as_str()).collect();
        let pairs = natural_orders(&texts);
        named.in_order =
            pairs.into_iter().map(|(one, other)| (texts[one].to_owned(), texts[other].to_owned())).collect();
        Ok(named)
    }

    /// A tool's original name, unless another source has one with that name.
    fn own_name<'a>(&'a self, name: &'a str) -> &'a str {
        let Some(own) = self.own_names.get(name) else { return name };
        let is_alone = self.own_names.values().filter(|other| *other == own).count() == 1;
        if is_alone { own } else { name }
    }

    fn check_given(&self, tools: &[Tool]) -> Result<(), String> {
        let mut known: HashMap<String, &str> = HashMap::new();
        for (name, text) in &self.given {
            if tools.iter().all(|tool| tool.name != *name) {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).take(20).collect();
                return Err(format!("there is no tool `{name}`; there are {}", names.join(", ")));
            }
            let Some(text) = text else { continue };
            if let Some(fault) = activity_fault(text) {
                return Err(format!("the text of `{name}`, \"{}\", {fault}", shortened(text)));
            }
            if let Some(other) = known.insert(snake_case(text), name) {
                return Err(format!("`{other}` and `{name}` have the same text, \"{text}\""));
            }
        }
        let texts = || self.given.values().flatten().map(String::as_str);
        match texts().find_map(|text| Some((text, begins_another(text, texts())?))) {
            Some((shorter, longer)) => Err(format!(
                "\"{longer}\" begins with \"{shorter}\", so that a sentence could be read in two ways"
            )),
            None => Ok(()),
        }
    }
}

/// A description that is not too long.
fn cut(description: &str) -> String {
    let mark = " ...";
    // The mark is ASCII, so its bytes are its characters.
    let kept: String = description.chars().take(DESCRIPTION_CHARACTERS_MAX - mark.len()).collect();
    kept + mark
}

/// Asks a model what each tool does, as a noun phrase. Returns the usable texts, by the tools' names, and the
/// rejected ones. For missing ones it is asked again.
///
/// # Errors
/// The model is unavailable.
pub async fn name_tools(
    model: &Arc<dyn Model>,
    tools: &[Tool],
    seed: u64,
) -> Result<(BTreeMap<String, String>, Vec<Dropped>), ModelError> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut dropped = Vec::new();
    for tools in tools.chunks(TOOLS_ASKED_MAX) {
        let mut conversation = Conversation::new(model, seed);
        let mut faults: Vec<Dropped> = Vec::new();
        while conversation.may_ask() {
            let missing: Vec<&Tool> = tools.iter().filter(|tool| !texts.contains_key(&tool.name)).collect();
            if missing.is_empty() {
                break;
            }
            let asked = missing.iter().map(|tool| {
                let description: Vec<&str> = tool.description.split_whitespace().collect();
                (tool.name.clone(), description.join(" ").chars().take(DESCRIPTION_SHOWN_MAX).collect())
            });
            let mut prompt = topic_prompts::tools(&asked.collect::<Vec<_>>());
            if !faults.is_empty() {
                prompt.push_str("\n\n");
                prompt.push_str(&more(missing.len(), &faults));
            }
            // The faults of the last reply are in the prompt now.
            faults.clear();
            let reply = conversation.ask(prompt).await?;
            for line in reply.lines() {
                let Some((name, phrase)) = line.split_once(':') else { continue };
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                // A list or emphasis mark may precede the name.
                let name =
                    name.trim_end_matches(|c| !is_part(c)).rsplit(|c| !is_part(c)).next().unwrap_or_default();
                // Other lines can have a colon as well, and a tool can be named twice.
                if !missing.iter().any(|tool| tool.name == name) || texts.contains_key(name) {
                    continue;
                }
                match usable_text(phrase, &texts) {
                    Ok(text) => drop(texts.insert(name.to_owned(), text)),
                    Err(why) => faults.push(Dropped {
                        job: Some(name.to_owned()),
                        text: shortened(phrase.trim()),
                        why,
                    }),
                }
            }
            dropped.extend(faults.iter().cloned());
        }
    }
    Ok((texts, dropped))
}

fn usable_text(phrase: &str, known: &BTreeMap<String, String>) -> Result<String, String> {
    let text = listed_activity(phrase).map_err(|(_, why)| why.to_owned())?;
    let others = || known.values().map(String::as_str);
    let longer = begins_another(&text, others());
    if let Some(other) =
        longer.or_else(|| others().find(|other| begins_another(other, [text.as_str()].into_iter()).is_some()))
    {
        return Err(format!(
            "begins or goes on like \"{other}\", so that a sentence could have two readings"
        ));
    }
    let is_known = others().any(|other| sameness(other) == sameness(&text));
    if is_known { Err("is there already".to_owned()) } else { Ok(text) }
}
