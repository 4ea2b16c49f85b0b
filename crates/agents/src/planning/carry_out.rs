//! Carrying out a plan: one call after the other, with what earlier steps gave in the places that refer to it.

use std::collections::HashMap;

use planproof_plan::{Plan, Reference, Step, substitute};
use planproof_tools::execute_recorded;
use planproof_trace::{Arguments, CallId, Catalogue, ToolCall};
use serde_json::{Map, Value};

use crate::RunContext;

/// What the steps of a plan gave, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    by_step: HashMap<u64, Map<String, Value>>,
    attempt: u32,
}

impl Outputs {
    /// Nothing was carried out yet, in the attempt of this number. The ids of calls name it.
    pub(super) fn of_attempt(attempt: u32) -> Self {
        Self { by_step: HashMap::new(), attempt }
    }

    /// The number that the ids of its calls begin with.
    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The next calls belong to another attempt; what was given stays.
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
        let output = match serde_json::from_str(&result.text) {
            Ok(Value::Object(output)) => output,
            // What is no object of outputs is a text.
            _ => Map::from_iter([("text".to_owned(), Value::from(result.text))]),
        };
        self.by_step.insert(step.id, output.clone());
        Ok(Value::Object(output))
    }

    /// Makes all calls of a plan, up to the first that fails. Gives what the last one gave.
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
