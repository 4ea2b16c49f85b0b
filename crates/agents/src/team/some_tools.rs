//! A subset of a run's tools, for an executor that has no others.

use std::sync::Arc;

use planproof_tools::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// The tools of a toolbox with certain names. The effects of a call are those of the whole toolbox.
pub(super) struct SomeTools {
    whole: Arc<dyn Toolbox>,
    tools: Arc<[Tool]>,
}

impl SomeTools {
    /// The tools of these names, in the order of the toolbox. Unknown names are ignored.
    pub(super) fn new(whole: &Arc<dyn Toolbox>, names: &[String]) -> Self {
        let tools = whole.tools().iter().filter(|tool| names.contains(&tool.name)).cloned().collect();
        Self { whole: Arc::clone(whole), tools }
    }
}

impl Toolbox for SomeTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    /// None: only the listed tools can be called.
    fn made(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if self.tools.iter().any(|tool| tool.name == call.name) {
            return self.whole.execute(call);
        }
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let text = match names.is_empty() {
            true => format!("there is no tool `{}`: you have no tools", call.name),
            false => format!("there is no tool `{}`: you have {}", call.name, names.join(", ")),
        };
        let result = ToolResult::error(call.id.clone(), text);
        Box::pin(std::future::ready(result))
    }

    fn runs_side_by_side(&self) -> bool {
        self.whole.runs_side_by_side()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.whole.is_strictly_sequential()
    }

    fn restoring(&self) -> Restoring {
        self.whole.restoring()
    }

    fn outage(&self) -> Option<String> {
        self.whole.outage()
    }

    /// None, because that of the whole describes other tools, too.
    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        None
    }

    /// None: the form is asked for from who plans the whole.
    fn plan_form(&self) -> Option<&'static str> {
        None
    }

    /// The same selection of the whole's tools for another run.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let whole = self.whole.for_run()?;
        Some(Arc::new(Self { whole, tools: Arc::clone(&self.tools) }))
    }
}
