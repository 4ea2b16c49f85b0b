//! Execution of a plan: one call after the other, with references to earlier steps replaced by their results.

use std::collections::HashMap;

use planproof_plan::{Plan, Reference, Step, substitute};
use planproof_tools::execute_recorded;
use planproof_trace::{Arguments, CallId, Catalogue, ToolCall};
use serde_json::{Map, Value};

use crate::RunContext;

/// The results of a plan's steps, by number.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    by_step: HashMap<u64, Map<String, Value>>,
    attempt: u32,
}

impl Outputs {
    /// No results yet, in the attempt of this number, which is part of the call ids.
    pub(super) fn of_attempt(attempt: u32) -> Self {
        Self { by_step: HashMap::new(), attempt }
    }

    /// The number that the ids of its calls begin with.
    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The next calls belong to another attempt; the results so far are kept.
    pub(super) fn begin_again(&mut self) {
        self.attempt += 1;
    }

    /// Makes the call of a step.
    ///
    /// # Errors
    /// What went wrong, in words for the model.
    pub(super) async fn take(
        &mut self,
        run: &RunContext<'_>,
        catalogue: &Catalogue,
        step: &Step,
    ) -> Result<Value, String> {
        let mut arguments = Map::with_capacity(step.arguments.len());
        for (name, value) in &step.arguments {
            let given = |reference: &Reference| self.by_step.get(&reference.step)?.get(&reference.key);
            let value = substitute(value, &given).map_err(|fault| format!("step {}: {fault}.", step.id))?;
            arguments.insert(name.clone(), value);
        }
        let Some(tool) = catalogue.find(&step.tool) else {
            return Err(format!("step {}: there is no tool \"{}\".", step.id, step.tool));
        };
        let call = ToolCall {
            id: CallId::new(format!("{}.{}", self.attempt, step.id)),
            name: tool.identifier(),
            arguments: Arguments::Object(arguments),
        };
        let result = execute_recorded(&**run.toolbox, run.recorder, &call).await;
        if result.is_error {
            return Err(format!("step {}, {}: {}", step.id, step.tool, result.text));
        }
        let output = outputs_of(&result.text);
        self.by_step.insert(step.id, output.clone());
        Ok(Value::Object(output))
    }

    /// Makes all calls of a plan, up to the first that fails. Returns the result of the last one.
    ///
    /// # Errors
    /// What went wrong, in words for the model.
    pub(super) async fn take_all(
        &mut self,
        run: &RunContext<'_>,
        catalogue: &Catalogue,
        plan: &Plan,
    ) -> Result<Value, String> {
        let mut last = Value::Null;
        for step in &plan.steps {
            last = self.take(run, catalogue, step).await?;
        }
        if plan.steps.is_empty() { Err("the plan has no steps.".to_owned()) } else { Ok(last) }
    }
}

/// The result of a tool, by key. Anything but an object of outputs is a text.
pub(super) fn outputs_of(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(output)) => output,
        _ => Map::from_iter([("text".to_owned(), Value::from(text))]),
    }
}
