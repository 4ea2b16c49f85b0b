//! Tools that fail as the faults of a case say.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planproof_trace::faults::{FaultyRun, SeenFault, SentAs, ToolFault, ToolFaults};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

use crate::{BoxFuture, Restoring, Toolbox};

/// The tools of one run, some of whose calls fail. A call of a tool that does not exist is left to the tools.
pub struct FaultyTools {
    tools: Arc<dyn Toolbox>,
    faults: ToolFaults,
    run: Mutex<FaultyRun>,
}

impl FaultyTools {
    /// The tools, none of which has been called.
    pub fn new(tools: Arc<dyn Toolbox>, faults: ToolFaults) -> Self {
        Self { tools, faults, run: Mutex::default() }
    }

    /// What happens to the next call of a tool, if anything, and how it is sent if that is a failure.
    fn next(&self, tool: &str) -> Option<(ToolFault, SentAs)> {
        if !self.tools.tools().iter().any(|known| known.name == tool) {
            return None;
        }
        // A panic while it is locked leaves a count that is one too low, at worst.
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = run.next(&self.faults, tool)?;
        Some((fault, run.form(&self.faults, tool)))
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Some((fault, form)) = self.next(&call.name) else { return self.tools.execute(call).await };
        let fails = |fault: SeenFault| {
            let error = ToolResult::error(call.id.clone(), fault.text_as(&call.name, form));
            error.with_form(fault.sent(form))
        };
        match fault {
            ToolFault::Transient => fails(SeenFault::Transient),
            ToolFault::Permanent => fails(SeenFault::Permanent),
            ToolFault::Vanished => fails(SeenFault::Vanished),
            ToolFault::Empty => {
                let result = self.tools.execute(call).await;
                // An error stays one: it says that the work was not done.
                if result.is_error { result } else { ToolResult { text: String::new(), ..result } }
            }
            ToolFault::Slow(milliseconds) => {
                // The work is done when the call arrives, whether its caller waits for the answer or not.
                let result = self.tools.execute(call).await;
                // Whoever tries calls out beside a run, without a runtime, does not wait.
                if tokio::runtime::Handle::try_current().is_ok() {
                    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                }
                result
            }
        }
    }
}

impl fmt::Debug for FaultyTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyTools").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl Toolbox for FaultyTools {
    fn tools(&self) -> &Arc<[Tool]> {
        self.tools.tools()
    }

    /// They do not fail: nothing is known of them when the faults are drawn.
    fn made(&self) -> Vec<Tool> {
        self.tools.made()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.tools.catalogue()
    }

    fn outage(&self) -> Option<String> {
        self.tools.outage()
    }

    fn plan_form(&self) -> Option<&'static str> {
        self.tools.plan_form()
    }

    fn runs_side_by_side(&self) -> bool {
        self.tools.runs_side_by_side()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.tools.is_strictly_sequential()
    }

    /// Which call fails depends on the calls before it, so they are counted again at least.
    fn restoring(&self) -> Restoring {
        self.tools.restoring().max(Restoring::Again)
    }

    /// The count of calls belongs to the run.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let tools = self.tools.for_run().unwrap_or_else(|| Arc::clone(&self.tools));
        Some(Arc::new(Self::new(tools, self.faults.clone())))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use planproof_trace::faults::FaultShares;
    use planproof_trace::{Arguments, CallId};

    use super::*;
    use crate::{MockTool, MockTools, SchemaCache};

    fn tools(shares: FaultShares) -> FaultyTools {
        let mock = |name: &str| MockTool {
            tool: Tool::without_arguments(name, "Does it."),
            answer: format!("{name} is done"),
        };
        let mocks =
            MockTools::new(vec![mock("a"), mock("b")], &SchemaCache::default()).expect("they are tools");
        FaultyTools::new(Arc::new(mocks), ToolFaults::new(3, shares))
    }

    async fn call(tools: &dyn Toolbox, tool: &str) -> (bool, String) {
        let arguments = Arguments::Object(serde_json::Map::new());
        let call = ToolCall { id: CallId::new("1"), name: tool.to_owned(), arguments };
        let result = tools.execute(&call).await;
        (result.is_error, result.text)
    }

    #[tokio::test]
    async fn each_fault_is_answered_as_its_kind() {
        let of = |shares: FaultShares| tools(shares);
        let always = 1.0;
        let transient = of(FaultShares { transient: always, ..FaultShares::default() });
        for _ in 0..2 {
            assert_eq!(call(&transient, "a").await, (true, SeenFault::Transient.text("a")));
            assert_eq!(call(&transient, "a").await, (true, SeenFault::Transient.text("a")));
            assert_eq!(call(&transient, "a").await, (false, "a is done".to_owned()));
        }
        let vanishing = of(FaultShares { vanish: always, ..FaultShares::default() });
        assert_eq!(call(&vanishing, "b").await, (true, SeenFault::Vanished.text("b")));
        let empty = of(FaultShares { empty: always, ..FaultShares::default() });
        assert_eq!(call(&empty, "b").await, (false, String::new()));
        let (is_error, text) = call(&empty, "c").await;
        assert!(is_error && text.contains('c'), "{text}");
        let slow = of(FaultShares { slow: always, delay_ms: 30, ..FaultShares::default() });
        let before = Instant::now();
        assert_eq!(call(&slow, "a").await, (false, "a is done".to_owned()));
        assert!(before.elapsed() >= Duration::from_millis(30));
    }

    #[tokio::test]
    async fn each_run_begins_anew() {
        let once = tools(FaultShares { permanent: 1.0, ..FaultShares::default() });
        assert!(call(&once, "a").await.0);
        let other = once.for_run().expect("its calls are counted");
        assert_eq!(call(&*other, "a").await, (true, SeenFault::Permanent.text("a")));
        let none = tools(FaultShares::default());
        assert_eq!(call(&none, "a").await, (false, "a is done".to_owned()));
    }
}
