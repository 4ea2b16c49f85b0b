//! The tools of a case that asks for a plan in one of the paper's forms.

use std::sync::Arc;

use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// Tools, and the form of the plan.
pub(crate) struct AskedFor {
    pub(crate) tools: Arc<dyn Toolbox>,
    pub(crate) form: &'static str,
}

impl Toolbox for AskedFor {
    fn tools(&self) -> &Arc<[Tool]> {
        self.tools.tools()
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.tools.catalogue()
    }

    fn made(&self) -> Vec<Tool> {
        self.tools.made()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.tools.execute(call)
    }

    fn runs_side_by_side(&self) -> bool {
        self.tools.runs_side_by_side()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.tools.is_strictly_sequential()
    }

    fn outage(&self) -> Option<String> {
        self.tools.outage()
    }

    fn plan_form(&self) -> Option<&'static str> {
        Some(self.form)
    }

    fn restoring(&self) -> Restoring {
        self.tools.restoring()
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let tools = self.tools.for_run()?;
        Some(Arc::new(Self { tools, form: self.form }))
    }
}
