//! Topics v1: the file of a topic bank.

use std::fmt;

use planproof_trace::{Tool, WrittenObject};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Activity, Topic, TopicBank, TopicError};
use crate::order_form::OrderForm;
use crate::rule::{TopicFlow, TopicOrder};

/// Schema name of a file of topics.
pub const TOPICS_SCHEMA: &str = "planproof/topics/v1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankFile {
    schema: String,
    topics: Vec<TopicFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicFile {
    job: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    industry: String,
    activities: Vec<ActivityFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<OrderFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flows: Vec<FlowFile>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    descriptions_as_is: bool,
}

/// An order: a task, and one of the four forms with the other task.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "OrderFields", into = "OrderFields")]
struct OrderFile(TopicOrder);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderFields {
    task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    never_before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    never_after: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowFile {
    from: String,
    to: String,
    argument: String,
}

impl From<OrderFile> for OrderFields {
    fn from(OrderFile(TopicOrder { task, form, other }): OrderFile) -> Self {
        let mut fields = Self { task, before: None, after: None, never_before: None, never_after: None };
        let field = match form {
            OrderForm::Before => &mut fields.before,
            OrderForm::After => &mut fields.after,
            OrderForm::NeverBefore => &mut fields.never_before,
            OrderForm::NeverAfter => &mut fields.never_after,
        };
        *field = Some(other);
        fields
    }
}

impl TryFrom<OrderFields> for OrderFile {
    type Error = String;

    fn try_from(fields: OrderFields) -> Result<Self, String> {
        let OrderFields { task, before, after, never_before, never_after } = fields;
        let others = [
            (OrderForm::Before, before),
            (OrderForm::After, after),
            (OrderForm::NeverBefore, never_before),
            (OrderForm::NeverAfter, never_after),
        ];
        let mut stated = others.into_iter().filter_map(|(form, other)| Some((form, other?)));
        match (stated.next(), stated.next()) {
            (Some((form, other)), None) => Ok(Self(TopicOrder { task, form, other })),
            _ => Err(format!(
                "the order of \"{task}\" needs exactly one of before, after, never_before and never_after"
            )),
        }
    }
}

/// A text, or a text with a tool of the user's own.
#[derive(Serialize)]
#[serde(untagged)]
enum ActivityFile {
    Text(String),
    Own(OwnFile),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnFile {
    text: String,
    tool: ToolFile,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    name: String,
    #[serde(default)]
    description: String,
    input_schema: WrittenObject,
}

impl<'de> Deserialize<'de> for ActivityFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        // Hand-written, because serde's message for a value that is neither does not explain the fault.
        impl<'de> Visitor<'de> for Either {
            type Value = ActivityFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an activity: a text, or an object with text and tool")
            }

            fn visit_str<E>(self, text: &str) -> Result<ActivityFile, E> {
                Ok(ActivityFile::Text(text.to_owned()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<ActivityFile, M::Error> {
                OwnFile::deserialize(MapAccessDeserializer::new(map)).map(ActivityFile::Own)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl From<&Topic> for TopicFile {
    fn from(topic: &Topic) -> Self {
        let activity = |Activity { text, tool }: &Activity| match tool {
            None => ActivityFile::Text(text.clone()),
            Some(Tool { name, description, input_schema }) => ActivityFile::Own(OwnFile {
                text: text.clone(),
                tool: ToolFile {
                    name: name.clone(),
                    description: description.clone(),
                    input_schema: input_schema.clone(),
                },
            }),
        };
        Self {
            job: topic.job.clone(),
            industry: topic.industry.clone(),
            activities: topic.activities.iter().map(activity).collect(),
            orders: topic.orders.iter().cloned().map(OrderFile).collect(),
            flows: topic
                .flows
                .iter()
                .cloned()
                .map(|TopicFlow { from, to, argument }| FlowFile { from, to, argument })
                .collect(),
            descriptions_as_is: topic.descriptions_as_is,
        }
    }
}

impl From<TopicFile> for Topic {
    fn from(file: TopicFile) -> Self {
        let activity = |file: ActivityFile| match file {
            ActivityFile::Text(text) => Activity { text, tool: None },
            ActivityFile::Own(OwnFile { text, tool: ToolFile { name, description, input_schema } }) => {
                Activity { text, tool: Some(Tool { name, description, input_schema }) }
            }
        };
        Self {
            job: file.job,
            industry: file.industry,
            activities: file.activities.into_iter().map(activity).collect(),
            orders: file.orders.into_iter().map(|OrderFile(order)| order).collect(),
            flows: file
                .flows
                .into_iter()
                .map(|FlowFile { from, to, argument }| TopicFlow { from, to, argument })
                .collect(),
            descriptions_as_is: file.descriptions_as_is,
        }
    }
}

impl BankFile {
    fn of(topics: &[Topic]) -> Self {
        Self { schema: TOPICS_SCHEMA.to_owned(), topics: topics.iter().map(TopicFile::from).collect() }
    }

    fn into_bank(self) -> Result<TopicBank, TopicError> {
        TopicBank::new(self.topics.into_iter().map(Topic::from).collect())
    }
}

impl TopicBank {
    /// Reads a bank from JSON and checks it.
    ///
    /// # Errors
    /// Names the topic and the unusable activity, with the reason.
    pub fn from_json(text: &str) -> Result<Self, TopicError> {
        #[derive(Deserialize)]
        #[serde(expecting = "a JSON object")]
        struct SchemaOnly {
            schema: Option<String>,
        }
        let json = |error: serde_json::Error| TopicError(error.to_string());
        // The schema comes first, so that another schema is reported as such instead of as an unknown field.
        let SchemaOnly { schema } = serde_json::from_str(text).map_err(json)?;
        match schema {
            Some(schema) if schema == TOPICS_SCHEMA => {}
            Some(schema) => {
                return Err(TopicError(format!("schema is \"{schema}\", expected \"{TOPICS_SCHEMA}\"")));
            }
            None => return Err(TopicError(format!("it names no schema; expected \"{TOPICS_SCHEMA}\""))),
        }
        serde_json::from_str::<BankFile>(text).map_err(json)?.into_bank()
    }

    /// Writes the bank as JSON over several lines, which [`from_json`](Self::from_json) reads.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&BankFile::of(&self.topics))
            .expect("these types hold nothing that JSON cannot say");
        text.push('\n');
        text
    }
}

impl Topic {
    /// Writes the topic as a line of JSON, in the format of its bank's file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&TopicFile::from(self)).expect("these types hold nothing that JSON cannot say")
    }
}

impl Serialize for TopicBank {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BankFile::of(&self.topics).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TopicBank {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BankFile::deserialize(deserializer)?.into_bank().map_err(D::Error::custom)
    }
}
