//! A minimal suite, in which each case determines in advance how its runs are judged.

use std::sync::Arc;

use planproof_suite::{
    Baseline, BoxFuture, Card, Case, CaseError, Class, ClassInfo, Explanation, FlagInfo, Judged, Metric,
    Score, Scored, Section, SizeUnit, Suite, Toolbox, Unscored, Verdict,
};
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{EndReason, Event, EventKind, Tool, ToolCall, ToolResult};
use serde_json::json;

/// A kind of case.
pub(crate) struct Toys;

/// How the runs of a case are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Passes,
    Fails,
    /// The judge panics because of a bug.
    Panics,
    /// A tool could not work because something external was missing; otherwise the run passes.
    LacksTool,
}

const FATES: [Fate; 4] = [Fate::Passes, Fate::Fails, Fate::Panics, Fate::LacksTool];

/// A case.
#[derive(Debug)]
pub(crate) struct Toy {
    card: Card,
    fate: Fate,
}

static CLASSES: [ClassInfo; 2] = [
    ClassInfo { name: "late", meaning: "It came too late.", rank: 0 },
    ClassInfo { name: "broken", meaning: "It broke.", rank: 1 },
];

static FLAGS: [FlagInfo; 2] =
    [FlagInfo { name: "broken", meaning: "It broke." }, FlagInfo { name: "loud", meaning: "It made noise." }];

static BASELINES: [Baseline; 2] = [
    Baseline { name: "coin", title: "Coin", who: "a coin", of: &[0] },
    Baseline { name: "guess", title: "Guess", who: "the better of two guesses", of: &[1, 2] },
];

/// A card of this size, with the probability that each of the three agents without a plan passes.
pub(crate) fn card(id: &str, size: u32, baselines: [Option<f64>; 3]) -> Card {
    Card { baselines: baselines.into(), ..Card::new(id, size) }
}

pub(crate) fn class(name: &str) -> Class {
    Class::find(&CLASSES, name).expect("there is the class")
}

/// A case of size 1.
pub(crate) fn toy(id: &str, fate: Fate) -> Arc<dyn Case> {
    Arc::new(Toy { card: card(id, 1, [Some(0.5); 3]), fate })
}

/// Tools, one of which is unavailable.
struct Away(MockTools);

impl Toolbox for Away {
    fn tools(&self) -> &Arc<[Tool]> {
        self.0.tools()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.execute(call)
    }

    fn outage(&self) -> Option<String> {
        Some("the ball is away".to_owned())
    }
}

impl Case for Toy {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        "Play."
    }

    fn to_line(&self) -> String {
        json!({ "schema": "toy", "id": self.card.id, "fate": format!("{:?}", self.fate) }).to_string()
    }

    fn identity(&self) -> String {
        self.card.id.clone()
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        let tool = MockTool { tool: Tool::without_arguments("ball", "Bounces."), answer: "Boing.".into() };
        let tools = MockTools::new(vec![tool], &SchemaCache::default()).map_err(CaseError::new)?;
        Ok(match self.fate {
            Fate::LacksTool => Arc::new(Away(tools)),
            _ => Arc::new(tools),
        })
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        if let Some(EventKind::End(EndReason::Unscored { reason })) = events.last().map(|event| &event.kind) {
            return Err(Unscored::Outside { reason: reason.clone() });
        }
        let class = match self.fate {
            Fate::Passes | Fate::LacksTool => None,
            Fate::Fails => Some(class("broken")),
            Fate::Panics => panic!("case {} is out of order", self.card.id),
        };
        let flags = if class.is_some() { vec!["broken"] } else { Vec::new() };
        let scores = vec![Score::new("bounces", events.len() as f64)];
        let scored = Scored { class, flags, scores };
        Ok(Verdict { scored, detail: json!({ "case": self.card.id }).to_string() })
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        Explanation::of_class(String::new(), verdict)
    }

    fn target(&self) -> String {
        "play".to_owned()
    }
}

impl Suite for Toys {
    fn name(&self) -> &'static str {
        "toys"
    }

    fn about(&self) -> &'static str {
        "toys"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        let line: serde_json::Value =
            serde_json::from_str(line).map_err(|_| CaseError::new("this is no JSON"))?;
        let fate = FATES.into_iter().find(|fate| line["fate"] == format!("{fate:?}"));
        let (Some(id), Some(fate)) = (line["id"].as_str(), fate) else {
            return Err(CaseError::new("this is no toy"));
        };
        Ok(toy(id, fate))
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &FLAGS
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "part", many: "parts" }
    }

    fn baselines(&self) -> &'static [Baseline] {
        &BASELINES
    }

    fn baseline_names(&self) -> &'static [&'static str] {
        &["coin", "left", "right"]
    }

    fn score_names(&self) -> &'static [&'static str] {
        &["bounces", "rolls"]
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        let bounces = runs.iter().filter_map(|run| run.scored?.score("bounces"));
        vec![Metric {
            name: "bounces",
            title: "Bounces",
            value: Some(bounces.sum()),
            interval: None,
            is_share: false,
        }]
    }

    fn sections(&self, runs: &[Judged<'_>], planned: &[Card], repeats: u32) -> Vec<Section> {
        vec![Section {
            key: "playground",
            title: "Playground",
            intro: String::new(),
            json: json!({ "runs": runs.len(), "planned": planned.len() as u64 * u64::from(repeats) }),
            ..Section::default()
        }]
    }
}
