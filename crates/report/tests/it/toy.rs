//! A kind of case that nobody has thought of: all that a campaign has works for it, untouched.

use std::sync::Arc;

use planproof_suite::{self as suite, Card, Case, CaseError, Class, ClassInfo, FlagInfo, Suite, Verdict};
use planproof_tools::{MockTools, SchemaCache, Toolbox};
use planproof_trace::{EndReason, Event, EventKind};

use crate::any_suite;

#[test]
fn a_kind_of_case_of_a_hundred_lines_has_all_that_a_campaign_has() {
    let test = "toy::a_kind_of_case_of_a_hundred_lines_has_all_that_a_campaign_has";
    any_suite::has_everything(test, &Sums, |count| (0..count).map(Sum::of).collect());
}

struct Sums;
static CLASSES: [ClassInfo; 1] = [ClassInfo { name: "wrong_sum", meaning: "It is another number.", rank: 0 }];

impl Suite for Sums {
    fn name(&self) -> &'static str {
        "sums"
    }
    fn about(&self) -> &'static str {
        "two numbers to be added"
    }
    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }
    fn flags(&self) -> &'static [FlagInfo] {
        &[]
    }
    fn unit(&self) -> suite::Unit {
        suite::Unit { one: "digit", many: "digits" }
    }
    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(Sum::of(line.trim().parse().map_err(|_| CaseError::new("no number"))?))
    }
}

#[derive(Debug)]
struct Sum(u64, Card, String);

impl Sum {
    fn of(number: u64) -> Arc<dyn Case> {
        let (size, baselines) = (number.to_string().len() as u32, Vec::new());
        let (id, label, detail_sizes) = (format!("s{number}"), String::new(), [number as u32, 0]);
        let card = Card { id, label, size, detail_sizes, baselines, apart: None, marks: 0 };
        Arc::new(Self(number, card, format!("How much is {number} and one?")))
    }
}

impl Case for Sum {
    fn card(&self) -> &Card {
        &self.1
    }
    fn prompt(&self) -> &str {
        &self.2
    }
    fn to_line(&self) -> String {
        self.0.to_string()
    }
    fn identity(&self) -> String {
        self.to_line()
    }
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(MockTools::new(Vec::new(), &SchemaCache::default()).map_err(CaseError::new)?))
    }
    fn target(&self) -> String {
        (self.0 + 1).to_string()
    }
    fn essence(&self, verdict: &Verdict) -> String {
        verdict.detail.clone()
    }
    fn gold(&self) -> Option<suite::Gold> {
        Some(suite::Gold { answer: self.target(), wrong_answer: self.to_line(), ..suite::Gold::default() })
    }
    fn judge(&self, events: &[Event]) -> Result<Verdict, suite::Unscored> {
        let Some(EventKind::End(EndReason::Answered { text })) = events.last().map(|event| &event.kind)
        else {
            return Err(suite::Unscored::CutOff);
        };
        let class = (*text != self.target()).then_some(Class::new(&CLASSES[0]));
        Ok(Verdict {
            scored: suite::Scored { class, ..suite::Scored::default() },
            detail: format!("{text:?}"),
        })
    }
    fn explain(&self, verdict: &Verdict) -> suite::Explanation {
        let facts =
            vec![suite::Fact::text("answered", &*verdict.detail), suite::Fact::text("right", self.target())];
        suite::Explanation {
            text: self.2.clone(),
            gist: "not the sum".into(),
            facts,
            ..suite::Explanation::default()
        }
    }
}
