//! The tools of the suite `tptu` in addition to `sql`: Python, and the everyday tools as distractors.

use std::sync::{Arc, OnceLock};

use planproof_assembly::{python, sources};
use planproof_everyday::PythonTool;
use planproof_output::failure::Failure;
use planproof_sandbox::SandboxLimits;
use planproof_suite::{BoxFuture, CaseError, Restoring, Toolbox};
use planproof_tools::{CombinedTools, OpenSource, toolbox_for_run};
use planproof_tptu::MakeEvaluationTools;
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// The tools for the runs of a suite, over one sandbox that is started when it is first needed. Those of everyday work
/// are the real ones, with no server configured.
pub(super) fn tools() -> MakeEvaluationTools {
    let sandbox = python::sandbox();
    let everyday: OnceLock<Result<Arc<dyn Toolbox>, CaseError>> = OnceLock::new();
    Arc::new(move |evaluation| {
        let python: Arc<dyn Toolbox> =
            Arc::new(PythonTool::new(Arc::clone(&sandbox), SandboxLimits::default()));
        if !evaluation.has_unrelated_tools() {
            return Ok(python);
        }
        let made = everyday.get_or_init(|| sources::everyday(None).map_err(Failure::into_case_error));
        let shared = made.as_ref().map_err(CaseError::clone)?;
        // Servers and programs are shared, but the files that calls write belong to one run.
        let unrelated: Arc<dyn Toolbox> = Arc::new(Unrelated(toolbox_for_run(shared)));
        let both = [("python", python), ("the tools of everyday work", unrelated)];
        let both = both.map(|(label, toolbox)| OpenSource::new(label, None, toolbox));
        Ok(Arc::new(CombinedTools::new(both.into()).map_err(CaseError::new)?))
    })
}

/// Tools that no right plan uses. If one of them lacks a server, that does not keep an agent from the right plan, so
/// it is not an outage of the run.
struct Unrelated(Arc<dyn Toolbox>);

impl Toolbox for Unrelated {
    fn tools(&self) -> &Arc<[Tool]> {
        self.0.tools()
    }

    fn made(&self) -> Vec<Tool> {
        self.0.made()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.execute(call)
    }

    fn runs_side_by_side(&self) -> bool {
        self.0.runs_side_by_side()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.0.is_strictly_sequential()
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.0.catalogue()
    }

    /// Never: no right plan needs them.
    fn outage(&self) -> Option<String> {
        None
    }

    fn plan_form(&self) -> Option<&'static str> {
        self.0.plan_form()
    }

    fn restoring(&self) -> Restoring {
        self.0.restoring()
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        self.0.for_run().map(|tools| Arc::new(Self(tools)) as Arc<dyn Toolbox>)
    }
}

#[cfg(test)]
mod tests {
    use planproof_tptu::evaluation::PaperEvaluation;
    use planproof_tptu::tool::ToolName;
    use planproof_trace::{Arguments, CallId};

    use super::*;

    fn names(toolbox: &dyn Toolbox) -> Vec<String> {
        toolbox.tools().iter().map(|tool| tool.name.clone()).collect()
    }

    #[test]
    fn unrelated_tools_have_the_names_of_the_real_ones() {
        let make = tools();
        let called: Vec<&str> = ToolName::ALL[1..].iter().map(|tool| tool.call_name()).collect();
        for evaluation in PaperEvaluation::ALL {
            let found = names(&*make(evaluation).expect("tools"));
            if evaluation.has_unrelated_tools() {
                let (mut found, mut called) = (found, called.clone());
                found.sort_unstable();
                called.sort_unstable();
                assert_eq!(found, called);
            } else {
                assert_eq!(found, ["python"]);
            }
        }
    }

    #[tokio::test]
    async fn a_missing_server_of_an_unrelated_tool_is_no_outage() {
        let tools = tools()(PaperEvaluation::PairsUnrelated).expect("tools");
        let call = ToolCall {
            id: CallId::new("c"),
            name: "weather".to_owned(),
            arguments: Arguments::from_text(r#"{"place": "Trier"}"#),
        };
        let result = tools.execute(&call).await;
        assert!(result.is_error && result.text.contains("geocoding"), "{}", result.text);
        assert_eq!(tools.outage(), None);
    }
}
