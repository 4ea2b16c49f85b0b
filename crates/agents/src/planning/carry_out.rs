//! Execution of a plan: one call after the other, with references to earlier steps replaced by their results.

use std::collections::HashMap;

use planproof_plan::{Plan, Reference, Step, substitute};
use planproof_tools::execute_recorded;
use planproof_trace::{Arguments, CallId, Catalogue, ToolCall};
use serde_json::{Map, Value};

use crate::RunContext;

/// Most bytes of earlier results that references stand for in all arguments together. Where results repeat the
/// arguments, as those of many tools do, each step could double them.
const REFERRED_BYTES_MAX: usize = 16 << 20;

/// The results of a plan's steps, by number.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    by_step: HashMap<u64, Map<String, Value>>,
    attempt: u32,
    /// The bytes that references have stood for so far.
    referred: usize,
}

impl Outputs {
    /// No results yet, in the attempt of this number, which is part of the call ids.
    pub(super) fn of_attempt(attempt: u32) -> Self {
        Self { attempt, ..Self::default() }
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
        self.count_references(step)?;
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

    /// Counts what the references of a step stand for, before anything is put in.
    fn count_references(&mut self, step: &Step) -> Result<(), String> {
        for reference in step.arguments.iter().flat_map(|(_, value)| value.references()) {
            let given = self.by_step.get(&reference.step).and_then(|outputs| outputs.get(&reference.key));
            let bytes = match given {
                Some(Value::String(text)) => text.len(),
                Some(other) => other.to_string().len(),
                // A fault of its own, which is found when it is put in.
                None => 0,
            };
            self.referred = self.referred.saturating_add(bytes);
            if self.referred > REFERRED_BYTES_MAX {
                return Err(format!(
                    "step {}: the references up to here stand for more than {REFERRED_BYTES_MAX} bytes of earlier \
                     results, which is the most: refer to fewer or shorter ones.",
                    step.id
                ));
            }
        }
        Ok(())
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
