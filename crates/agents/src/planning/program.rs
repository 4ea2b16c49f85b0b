//! Execution of a plan that is a program: in the sandbox, with the tools as its functions.

use std::sync::atomic::{AtomicU32, Ordering};

use planproof_plan::{entry_to_call, findings};
use planproof_sandbox::{
    CallError, CallFuture, Functions, Program, ProgramCall, ProgramEnd, Sandbox, SandboxError, SandboxLimits,
};
use planproof_tools::{Toolbox, execute_recorded};
use planproof_trace::{Arguments, CallId, Catalogue, Recorder, Signature, ToolCall};
use serde_json::Value;

use super::carry_out::outputs_of;
use super::catalogue;

/// Carries out a program that is a plan, with these tools as its functions. The calls are recorded, with `attempt` in
/// their ids. Returns a note of [`findings`] and its explanation, in words for the model.
///
/// # Errors
/// No worker is available.
pub async fn carry_out_program(
    sandbox: &Sandbox,
    text: &str,
    toolbox: &dyn Toolbox,
    recorder: &Recorder,
    attempt: u32,
) -> Result<(&'static str, String), SandboxError> {
    // A program that defines the entry function does its work there, and any other one at its top level.
    let program = match entry_to_call(text) {
        Some(entry) => Program::function(text, entry),
        None => Program::whole(text),
    };
    let catalogue = &*catalogue(toolbox);
    let tools = Tools { toolbox, recorder, catalogue, attempt, made: AtomicU32::new(0) };
    let outcome = sandbox.run(&program.refusing_input(), &tools, &SandboxLimits::default()).await?;
    let note = match &outcome.end {
        ProgramEnd::Finished { .. } => findings::FINE,
        ProgramEnd::Unsupported { .. } => findings::UNSUPPORTED,
        ProgramEnd::Raised(_)
        | ProgramEnd::Limit(_)
        | ProgramEnd::Refused { .. }
        | ProgramEnd::Crashed { .. } => findings::FAULTY,
    };
    Ok((note, in_words(&outcome.end)))
}

/// How a program ended, as a sentence.
fn in_words(end: &ProgramEnd) -> String {
    match end {
        ProgramEnd::Finished { .. } => format!("the program {end}."),
        ProgramEnd::Raised(_) => format!("{}{end}.", findings::RAISED),
        ProgramEnd::Unsupported { .. } => format!("the program could not be run: {end}."),
        ProgramEnd::Limit(limit) => format!("{}{limit}.", findings::LIMIT_REACHED),
        ProgramEnd::Refused { found } => format!("the program was refused, because it has `{found}`."),
        ProgramEnd::Crashed { how } => format!("the program broke its interpreter: {how}."),
    }
}

/// The tools of a run as functions of a program.
struct Tools<'a> {
    toolbox: &'a dyn Toolbox,
    recorder: &'a Recorder,
    catalogue: &'a Catalogue,
    attempt: u32,
    made: AtomicU32,
}

impl Functions for Tools<'_> {
    fn names(&self) -> Vec<String> {
        self.catalogue.signatures().iter().map(Signature::identifier).collect()
    }

    fn call(&self, call: ProgramCall) -> CallFuture<'_> {
        Box::pin(async move {
            let mut arguments = call.kwargs;
            let signatures = self.catalogue.signatures();
            let signature = signatures.iter().find(|signature| signature.identifier() == call.function);
            let names = signature.map(|signature| &signature.arguments[..]).unwrap_or_default();
            // Arguments are bound by Python's rules, with the words of its errors, so that a tool behaves like any
            // function.
            if call.args.len() > names.len() {
                return Err(CallError::arguments(format!(
                    "{}() takes {} positional arguments but {} were given",
                    call.function,
                    names.len(),
                    call.args.len()
                )));
            }
            for (port, value) in names.iter().zip(call.args) {
                if arguments.insert(port.name.clone(), value).is_some() {
                    return Err(CallError::arguments(format!(
                        "{}() got multiple values for argument '{}'",
                        call.function, port.name
                    )));
                }
            }
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            let call = ToolCall {
                id: CallId::new(format!("{}.{number}", self.attempt)),
                name: call.function,
                arguments: Arguments::Object(arguments),
            };
            let result = execute_recorded(self.toolbox, self.recorder, &call).await;
            if result.is_error {
                return Err(CallError::runtime(result.text));
            }
            Ok(Value::Object(outputs_of(&result.text)))
        })
    }
}
