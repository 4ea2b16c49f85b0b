//! Outcomes with the verdict as the oracle gives it.

use std::time::Duration;

use planproof_engine::{Outcome, Unit};
use planproof_order::{OrderRun as _, OrderSuite, typed};
use planproof_suite::Unscored;
use planproof_synth::{JudgeOptions, judge};

use crate::{call, chain, events, report, synthesise};

#[test]
fn typed_verdicts_are_the_oracles() {
    let suite = OrderSuite::default();
    let infeasible = suite.wrap(synthesise(Some(1.0), false, 0));
    let unit = Unit { ordinal: 3, repeat: 1 };
    for (case, line) in [
        (chain(), call("egg_collection") + &call("feed_mixing") + "answer \"\""),
        (chain(), call("feed_mixing") + &call("egg_collection") + &call("barn_inspection") + "answer \"\""),
        (infeasible.clone(), report(&[1]) + "answer \"\""),
        (infeasible.clone(), "answer \"\"".to_owned()),
    ] {
        let events = events(&line);
        let outcome = Outcome::of(&*case, unit, &events, Duration::from_millis(5));
        let found = typed(&outcome);
        let expected = judge(case.case(), &events, JudgeOptions::default()).expect("it is scored");
        assert_eq!((found.passed(), found.class()), (Some(expected.passed), expected.class));
        assert_eq!((found.passed(), found.unit(), found.wall), (outcome.passed(), unit, outcome.wall));
        assert_eq!(found.is_infeasible(), !case.case().is_feasible());
        assert_eq!(found.verdict, Ok(expected));
    }
}

#[test]
fn what_cannot_be_read_is_unscored() {
    let case = chain();
    let unit = Unit { ordinal: 0, repeat: 0 };
    let mut outcome = Outcome::of(&*case, unit, &events("answer \"\""), Duration::ZERO);
    outcome.verdict.as_mut().expect("it is scored").detail = "{}".to_owned();
    let found = typed(&outcome);
    assert_eq!((found.passed(), found.class(), found.is_infeasible()), (None, None, false));
    let reason = found.verdict.expect_err("it is unscored").to_string();
    assert!(reason.starts_with("what the judge said of the run cannot be read: "), "{reason}");
    outcome.verdict = Err(Unscored::CutOff);
    assert_eq!(typed(&outcome).verdict, Err(Unscored::CutOff));
}
