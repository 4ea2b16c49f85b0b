//! A made-up kind of case: every part of a campaign works for it without changes.

use std::sync::Arc;

use planproof_suite::{self as suite, Card, Case, CaseError, Class, ClassInfo, Suite, Verdict};
use planproof_tools::{MockTools, SchemaCache, Toolbox};
use planproof_trace::{EndReason, Event, EventKind};

use crate::any_suite;

#[test]
#[ignore = "slow"]
fn a_kind_of_case_of_a_hundred_lines_has_all_that_a_campaign_has() {
    let test = "toy::a_kind_of_case_of_a_hundred_lines_has_all_that_a_campaign_has";
    let page = any_suite::has_everything(test, &Sums, |count| (0..count).map(Sum::of).collect());
    if let Some(page) = page {
        pictures_are_drawn_and_foreign_words_stay_words(&page);
    }
}

/// The strict parser of our pages rejects any markup that is not ours.
fn pictures_are_drawn_and_foreign_words_stay_words(page: &str) {
    let page = crate::markup::parse(page).expect("the page is all ours");
    let map = page.all("div", "map")[0];
    assert_eq!([map.all("circle", "").len(), map.all("path", "line").len()], [2, 2]);
    assert_eq!(map.all("g", "broken").len(), 1);
    let timeline = page.all("ol", "timeline")[0];
    assert_eq!([timeline.all("li", "broken").len(), timeline.all("p", "remark").len()], [1, 2]);
    let words = timeline.lines().replace("\n", " ");
    // For the period: its title, note and remark; for the entry: its time, text, note and remark.
    assert_eq!(words.matches(&HOSTILE.replace('\u{202e}', "⟨U+202E⟩")).count(), 7, "{words}");
}

/// It closes every element that it could be in.
pub(crate) const HOSTILE: &str =
    "</text></svg></style><script>alert('1')</script><img src=x onerror=\"x\"> & \u{202e}x";

pub(crate) struct Sums;
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
    fn unit(&self) -> suite::SizeUnit {
        suite::SizeUnit { one: "digit", many: "digits" }
    }
    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(Sum::of(line.trim().parse().map_err(|_| CaseError::new("no number"))?))
    }
}

#[derive(Debug)]
pub(crate) struct Sum(u64, Card, String);

impl Sum {
    pub(crate) fn of(number: u64) -> Arc<dyn Case> {
        let size = number.to_string().len() as u32;
        let card = Card { detail_sizes: [number as u32, 0], ..Card::new(format!("s{number}"), size) };
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
        // Pictures of every kind with hostile texts.
        let text = || HOSTILE.to_owned();
        let place = |east| suite::MapPlace { name: text(), east, north: -east / 2.0 };
        let way = |from, to| suite::MapWay { from, to, label: text(), is_wrong: from > to };
        let entry =
            suite::PeriodEntry { kind: "sum", when: text(), text: text(), note: text(), wrong: vec![text()] };
        let period = suite::Period { title: text(), note: text(), wrong: vec![text()], entries: vec![entry] };
        let map = suite::Map {
            caption: text(),
            places: vec![place(0.0), place(4.0), place(f64::NAN)],
            ways: vec![way(0, 1), way(1, 0), way(1, 2), way(7, 0)],
        };
        let facts = vec![
            suite::Fact::text("answered", &*verdict.detail),
            suite::Fact::text("right", self.target()),
            suite::Fact { label: "map", content: suite::Content::Map(map) },
            suite::Fact { label: "days", content: suite::Content::Timeline(vec![period]) },
        ];
        suite::Explanation {
            text: self.2.clone(),
            gist: "not the sum".into(),
            facts,
            ..suite::Explanation::default()
        }
    }
}
