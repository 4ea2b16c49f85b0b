//! The cases of simulated campaigns: a ball has to be thrown a given number of times. The outcome of a run follows
//! from its trace alone.

use std::sync::Arc;

use planproof_suite::{
    BoxFuture, Card, Case, CaseError, Class, ClassInfo, Explanation, Scored, SizeUnit, Suite, Toolbox,
    Unscored, Verdict,
};
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{EndReason, Event, EventKind, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::machine::Machine;

/// A kind of case.
pub(crate) struct Games {
    pub(crate) machine: Arc<Machine>,
}

/// Throw the ball `number % 3` times.
struct Game {
    card: Card,
    number: u64,
    prompt: String,
    machine: Arc<Machine>,
}

static CLASSES: [ClassInfo; 3] = [
    ClassInfo { name: "late", meaning: "A limit came first.", rank: 0 },
    ClassInfo { name: "few", meaning: "It was thrown too seldom.", rank: 1 },
    ClassInfo { name: "many", meaning: "It was thrown too often.", rank: 2 },
];

/// The class of runs ended by a limit.
pub(crate) const LATE: &str = "late";

/// How often the ball of this case has to be thrown.
pub(crate) fn throws_wanted(number: u64) -> u64 {
    number % 3
}

impl Games {
    /// The case with this number.
    pub(crate) fn case(&self, number: u64) -> Arc<dyn Case> {
        let card = Card::new(format!("game-{number}"), 1);
        Arc::new(Game { card, number, prompt: format!("Game {number}"), machine: Arc::clone(&self.machine) })
    }
}

impl std::fmt::Debug for Game {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Game({})", self.number)
    }
}

/// Tools at which the machine may die.
struct Field(MockTools, Arc<Machine>);

impl Toolbox for Field {
    fn tools(&self) -> &Arc<[Tool]> {
        self.0.tools()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            self.1.lives_on().await;
            let result = self.0.execute(call).await;
            self.1.lives_on().await;
            result
        })
    }
}

impl Case for Game {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        json!({ "game": self.number }).to_string()
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        let tool = MockTool { tool: Tool::without_arguments("ball", "Flies."), answer: "It flew.".into() };
        let tools = MockTools::new(vec![tool], &SchemaCache::default()).map_err(CaseError::new)?;
        Ok(Arc::new(Field(tools, Arc::clone(&self.machine))))
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        let class = match events.last().map(|event| &event.kind) {
            Some(EventKind::End(EndReason::Unscored { reason })) => {
                return Err(Unscored::Outside { reason: reason.clone() });
            }
            Some(EventKind::End(EndReason::Answered { .. })) => {
                let is_throw = |event: &&Event| matches!(event.kind, EventKind::Call(_));
                let thrown = events.iter().filter(is_throw).count() as u64;
                match thrown.cmp(&throws_wanted(self.number)) {
                    std::cmp::Ordering::Less => Some("few"),
                    std::cmp::Ordering::Equal => None,
                    std::cmp::Ordering::Greater => Some("many"),
                }
            }
            _ => Some(LATE),
        };
        let class = class.and_then(|name| Class::find(&CLASSES, name));
        let scored = Scored { class, flags: Vec::new(), scores: Vec::new() };
        Ok(Verdict { scored, detail: "{}".to_owned() })
    }

    fn explain(&self, _: &Verdict) -> Explanation {
        Explanation::default()
    }

    fn target(&self) -> String {
        String::new()
    }
}

impl Suite for Games {
    fn name(&self) -> &'static str {
        "games"
    }

    fn about(&self) -> &'static str {
        "games"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        let line: Value = serde_json::from_str(line).map_err(CaseError::new)?;
        line["game"].as_u64().map(|number| self.case(number)).ok_or_else(|| CaseError::new("no game"))
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "throw", many: "throws" }
    }
}
