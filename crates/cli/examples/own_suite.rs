//! A kind of case of one's own: the whole command, with a suite that planproof does not come with. Try it with
//! `cargo run --example own_suite -- bench doubles direct@sim/gold`.

use std::sync::Arc;

use planproof::suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Data, Gold, NoTools, Scored, Suite, Toolbox,
    Unscored, Verdict, runs::Ended,
};
use planproof::trace::Event;

struct Doubles;

/// A number that is to be doubled, with what is asked.
#[derive(Debug)]
struct Double(u64, Card, String);

static CLASSES: [ClassInfo; 1] =
    [ClassInfo { name: "not-double", meaning: "The answer is not the double.", rank: 0 }];

fn double(number: u64) -> Arc<dyn Case> {
    let card = Card::new(format!("double-{number}"), 1);
    Arc::new(Double(number, card, format!("What is {number} plus {number}? Answer with the number alone.")))
}

impl Case for Double {
    fn card(&self) -> &Card {
        &self.1
    }
    fn prompt(&self) -> &str {
        &self.2
    }
    fn to_line(&self) -> String {
        self.0.to_string()
    }
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(NoTools::default()))
    }
    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        let is_right = Ended::of(self, events)?.answer().is_some_and(|answer| answer.trim() == self.target());
        let class = if is_right { None } else { Class::find(&CLASSES, "not-double") };
        Ok(Verdict { scored: Scored { class, ..Scored::default() }, detail: "{}".to_owned() })
    }
    fn target(&self) -> String {
        (2 * u128::from(self.0)).to_string()
    }
    fn gold(&self) -> Option<Gold> {
        Some(Gold { answer: self.target(), wrong_answer: self.0.to_string(), ..Gold::default() })
    }
}

impl Suite for Doubles {
    fn name(&self) -> &'static str {
        "doubles"
    }
    fn about(&self) -> &'static str {
        "twice a number"
    }
    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        line.trim().parse().map(double).map_err(CaseError::new)
    }
    fn load(
        &self,
        _: Option<Data<'_>>,
        taken: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        taken.take((1..=40).map(double).collect(), limit)
    }
    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }
}

fn main() {
    planproof::main([Arc::new(Doubles) as Arc<dyn Suite>]);
}
