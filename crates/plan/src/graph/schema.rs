//! The JSON schema of a manager's output.

use serde_json::{Value as Json, json};

use crate::graph::form::SubTaskGraph;
use crate::limits::{
    CONSTRAINT_CHARACTERS_MAX, CONSTRAINTS_MAX, ID_CHARACTERS_MAX, SUB_TASKS_MAX, TASK_CHARACTERS_MAX,
};

impl SubTaskGraph {
    /// The JSON schema of a graph over these executors, in the part of JSON Schema 2020-12 that servers accept for
    /// structured output: every field is required, and there are no others.
    ///
    /// `typed` is the schema of the checkable form of a constraint, which may then also be `null`; without one,
    /// constraints are in words alone. Conditions that a schema cannot express, such as the absence of cycles, have
    /// to be checked separately.
    pub fn schema(executors: &[&str], typed: Option<&Json>) -> Json {
        let mut constraint = json!({
            "type": "object",
            "properties": {
                "words": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": CONSTRAINT_CHARACTERS_MAX,
                    "description": "What has to hold, in the words of the task.",
                },
            },
            "required": ["words"],
            "additionalProperties": false,
        });
        if let Some(typed) = typed {
            constraint["properties"]["typed"] = json!({ "anyOf": [typed, { "type": "null" }] });
            constraint["required"] = json!(["words", "typed"]);
        }
        let constraints = |description: &str| {
            json!({
                "type": "array",
                "items": constraint,
                "maxItems": CONSTRAINTS_MAX,
                "description": description,
            })
        };
        let id = |description: &str| {
            json!({
                "type": "string",
                "minLength": 1,
                "maxLength": ID_CHARACTERS_MAX,
                "description": description,
            })
        };
        let sub_task = json!({
            "type": "object",
            "properties": {
                "id": id("A short name that no other sub-task has."),
                "task": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": TASK_CHARACTERS_MAX,
                    "description": "What the executor is to do.",
                },
                "executor": {
                    "type": "string",
                    "enum": executors,
                    "description": "Who is to do it.",
                },
                "after": {
                    "type": "array",
                    "items": id("The id of another sub-task."),
                    "maxItems": SUB_TASKS_MAX,
                    "description": "The sub-tasks whose results it needs. There must be no cycles.",
                },
                "constraints": constraints("What has to hold of its result alone."),
            },
            "required": ["id", "task", "executor", "after", "constraints"],
            "additionalProperties": false,
        });
        json!({
            "type": "object",
            "properties": {
                "sub_tasks": {
                    "type": "array",
                    "items": sub_task,
                    "minItems": 1,
                    "maxItems": SUB_TASKS_MAX,
                },
                "constraints": constraints("What has to hold of the results of two or more sub-tasks together."),
            },
            "required": ["sub_tasks", "constraints"],
            "additionalProperties": false,
        })
    }
}
