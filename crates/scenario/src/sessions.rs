//! The search for sessions of a case: the calls that are tried, and what is certain of what was found.

use std::collections::{BTreeSet, HashMap};

use planproof_spec::rules::search::{self, Found, SampleCall, WantedSession};
use planproof_spec::rules::{
    CallMaking, CallableTool, FixedOutcomes, PossibleCalls, RuleDemand, Session, UntriedValues, ValueCheck,
    calls_of,
};
use planproof_trace::sample_arguments;
use serde_json::{Map, Value, json};

use crate::case::Scenario;
use crate::limits::VALUES_TAKEN_MAX;
use crate::state::Values;
use crate::turns::{self, without_turn};
use crate::world::AnsweringTool;
use crate::worlds::{
    ExactWorld, LooseWorld, SilentWorld, depends_on_arguments, effect_of, has_sums, results_of, schema_at,
    tried_values,
};

impl Scenario {
    /// The shortest session of these calls that is as wanted, of these tools alone or else of all. [`Found::None`] only
    /// if there is none in the world of the case, whatever the arguments.
    pub(crate) fn find(
        &self,
        calls: &[SampleCall],
        wanted: WantedSession<'_>,
        only: Option<&[String]>,
    ) -> Found {
        let proven = |holds: &[usize]| {
            let wanted = WantedSession { holds, ..wanted };
            self.are_all_tried(wanted, only) && self.find_tried(calls, wanted) == Found::None
        };
        match self.find_tried(calls, wanted) {
            Found::None if !self.are_all_tried(wanted, only) => match search::few(wanted.holds, proven) {
                Some(_) => Found::None,
                None => Found::TooMany,
            },
            found => found,
        }
    }

    /// The same, of which [`Found::None`] says nothing of other values than those that are tried.
    fn find_tried(&self, calls: &[SampleCall], wanted: WantedSession<'_>) -> Found {
        if self.beginning.is_empty() {
            return search::session_of_calls(&self.bound, calls, wanted);
        }
        let loose = |calls: &[SampleCall]| {
            let world = LooseWorld::new(&self.tools, &self.bound, &self.beginning, calls);
            search::session_in(&world, LooseWorld::state(&self.beginning), &self.bound, calls, wanted)
        };
        let exact = || {
            let (world, start) = (ExactWorld::new(&self.tools), self.beginning.clone());
            search::session_in(&world, start, &self.bound, calls, wanted)
        };
        self.certain(exact, || loose(calls))
    }

    /// How a session, after which the world has these values and some tools are `silent`, has to be continued so that
    /// some rules hold. [`Found::None`] only if it cannot be, whatever the arguments.
    pub(crate) fn continuation(
        &self,
        values: &Values,
        session: &Session,
        (calls, silent): (&[SampleCall], &BTreeSet<String>),
        holds: &[usize],
    ) -> Found {
        if self.beginning.is_empty() {
            let world = SilentWorld::new(&FixedOutcomes, silent);
            return search::continuation_in(&world, (), session, calls, holds);
        }
        let loose = || {
            let world = LooseWorld::new(&self.tools, &self.bound, values, calls);
            let world = SilentWorld::new(&world, silent);
            search::continuation_in(&world, LooseWorld::state(values), session, calls, holds)
        };
        let exact = || {
            let world = ExactWorld::new(&self.tools);
            let world = SilentWorld::new(&world, silent);
            search::continuation_in(&world, values.clone(), session, calls, holds)
        };
        self.certain(exact, loose)
    }

    /// What is certain of a search in the world as it is. If arguments have a say in the state, not all of them are
    /// tried, and if numbers grow, there is no end of states; then there is no session only if there is none in the
    /// world in which more is possible.
    fn certain(&self, exact: impl FnOnce() -> Found, loose: impl FnOnce() -> Found) -> Found {
        let (depends, grows) = (depends_on_arguments(&self.tools), has_sums(&self.tools));
        if (depends || grows) && loose() == Found::None {
            return Found::None;
        }
        match exact() {
            Found::None if depends => Found::TooMany,
            found => found,
        }
    }

    pub(crate) fn any_session(&self, calls: &[SampleCall]) -> Option<Vec<SampleCall>> {
        match self.beginning.is_empty() {
            true => search::any_session_of_calls(&self.bound, calls),
            false => {
                let world = ExactWorld::new(&self.tools);
                search::any_session_in(&world, self.beginning.clone(), &self.bound, calls)
            }
        }
    }

    /// Whether no session with other amounts is shorter than one that was found as a shortest.
    pub(crate) fn is_none_shorter(
        &self,
        calls: &[SampleCall],
        wanted: WantedSession<'_>,
        length: usize,
    ) -> bool {
        // Nothing is shorter than one call but none, which needs no values.
        if length <= 1 {
            return true;
        }
        if !self.are_all_tried(wanted, self.line.only.as_deref()) {
            return false;
        }
        if self.beginning.is_empty() || !depends_on_arguments(&self.tools) {
            return true;
        }
        let loose = LooseWorld::new(&self.tools, &self.bound, &self.beginning, calls);
        let start = LooseWorld::state(&self.beginning);
        let found = search::session_in(&loose, start, &self.bound, calls, wanted);
        found.session().is_some_and(|shortest| shortest.len() >= length)
    }

    /// Whether all values were tried that matter to what a session has to be like, which has calls of these tools alone
    /// or else of all.
    pub(crate) fn are_all_tried(&self, wanted: WantedSession<'_>, only: Option<&[String]>) -> bool {
        let numbers: Vec<usize> = wanted.holds.iter().chain(wanted.violates).copied().collect();
        search::has_enough_values(&self.rules, &numbers)
            && self.untried(&numbers, only).next().is_none()
            && wanted.calls.is_none_or(|tool| {
                !self.possible().untried.iter().any(|it| it.tool == tool && it.place.is_none())
            })
    }

    /// The arguments that were not tried and matter to these demands.
    pub(crate) fn untried<'a>(
        &'a self,
        numbers: &'a [usize],
        only: Option<&'a [String]>,
    ) -> impl Iterator<Item = &'a UntriedValues> {
        let tools = &self.tools;
        // What comes of later calls may depend on calls that no demand speaks of.
        let has_state = !self.beginning.is_empty();
        self.possible().untried.iter().filter(move |untried| {
            let of_tool = tools.iter().find(|tool| tool.tool.name == untried.tool);
            let asks = |place: &str| {
                let tests = of_tool.into_iter().flat_map(AnsweringTool::tests).flatten();
                tests.into_iter().any(|check| check.pointer.as_str() == place)
            };
            let may_change = has_state && of_tool.is_some_and(|tool| !tool.tool.answers.is_empty());
            only.is_none_or(|only| only.contains(&untried.tool))
                && (may_change || search::concerns(&self.rules, numbers, untried, asks))
        })
    }

    /// Calls to look for sessions among, of these tools, or else of all. No right agent makes a call that its tool
    /// refuses, so there is none.
    pub(crate) fn possible_calls(&self, only: Option<&[String]>) -> Vec<SampleCall> {
        let mut calls = self.calls_in_first_turn();
        calls.retain(|call| only.is_none_or(|only| only.contains(&call.tool)));
        self.in_each_turn(calls)
    }

    fn in_each_turn(&self, calls: Vec<SampleCall>) -> Vec<SampleCall> {
        match turns::count(&self.line) {
            1 => calls,
            turns => turns::in_each_turn(&calls, turns),
        }
    }

    /// The same of all tools, before the user says more.
    pub(crate) fn calls_in_first_turn(&self) -> Vec<SampleCall> {
        self.possible().calls.clone()
    }

    pub(crate) fn possible(&self) -> &PossibleCalls {
        let outcome = |name: &str, arguments: &Value| self.answer(&self.beginning, name, arguments).outcome;
        self.possible.get_or_init(|| self.calls_that(&outcome))
    }

    /// Calls of all tools that rules or the world tell apart if each has this outcome.
    fn calls_that(&self, outcome: &dyn Fn(&str, &Value) -> Result<Value, Value>) -> PossibleCalls {
        let find = |name: &str| self.tools.iter().find(|tool| tool.tool.name == name);
        let done = json!("done");
        let results: Vec<Vec<Value>> = self
            .tools
            .iter()
            .map(|tool| match tool.tool.answers.is_empty() {
                true => vec![done.clone()],
                false => results_of(&self.tools, &self.beginning, tool),
            })
            .collect();
        let lines: Vec<Vec<Vec<ValueCheck>>> = self
            .tools
            .iter()
            .map(|tool| {
                let tried = tried_values(&self.rules, &self.tools, &self.beginning, tool);
                tool.tests().iter().cloned().chain(tried).collect()
            })
            .collect();
        let callable = self.tools.iter().zip(&results).zip(&lines).map(|((tool, results), lines)| {
            CallableTool { name: &tool.tool.name, lines, results, schema: &tool.tool.input_schema }
        });
        let callable: Vec<CallableTool<'_>> = callable.collect();
        let complete = |name: &str, arguments: Value| {
            let tool = find(name)?;
            let sampled = Value::Object(sample_arguments(&tool.tool.input_schema));
            let whole = search::joined(&sampled, &arguments);
            tool.fits(&whole).then_some(whole)
        };
        let fits = |name: &str, arguments: &Value| {
            find(name).is_some_and(|tool| tool.fits(&without_turn(arguments)))
        };
        let sample = |name: &str, pointer: &str| {
            let schema = find(name).and_then(|tool| Some(schema_at(&tool.tool.input_schema, pointer)?.0));
            schema.map_or(Value::Null, sample_of)
        };
        let effect = |name: &str, arguments: &Value| match find(name).filter(|_| !self.beginning.is_empty()) {
            Some(tool) => effect_of(&self.rules, tool, arguments),
            None => Vec::new(),
        };
        let making =
            CallMaking { complete: &complete, fits: &fits, sample: &sample, outcome, effect: &effect };
        calls_of(&self.rules, &callable, &making)
    }

    /// Whether [`in_any_world`](Self::in_any_world) has all outcomes that matter to some demands.
    pub(crate) fn has_all_outcomes(&self) -> bool {
        self.tools.iter().all(|tool| search::knows_all_outcomes(&self.rules, &tool.tool.name))
    }

    /// Calls with every outcome that the rules tell apart, as if the world had all of them: these, and those that rules
    /// tell apart only by results or errors that the world does not have.
    pub(crate) fn in_any_world(&self, calls: &[SampleCall]) -> Vec<SampleCall> {
        let mut all = calls.to_vec();
        for outcome in [Ok(json!("done")), Err(json!("failed"))] {
            let others = self.in_each_turn(self.calls_that(&|_, _| outcome.clone()).calls);
            let is_known = |other: &SampleCall| {
                all.iter().any(|call| (&call.tool, &call.arguments) == (&other.tool, &other.arguments))
            };
            let new: Vec<SampleCall> = others.into_iter().filter(|other| !is_known(other)).collect();
            all.extend(new);
        }
        let mut free = Vec::new();
        let names = self.tools.iter().map(|tool| tool.tool.name.as_str());
        let known: HashMap<&str, _> =
            names.map(|name| (name, search::outcomes_of(&self.rules, name))).collect();
        for call in all {
            let outcomes = known.get(call.tool.as_str()).cloned().unwrap_or_default();
            let others =
                outcomes.into_iter().map(|outcome| SampleCall { outcome: Some(outcome), ..call.clone() });
            free.extend(others.collect::<Vec<_>>());
            free.push(call);
        }
        self.with_values_to_take(free)
    }

    /// These calls, and those of them whose results other calls take values from, with the values that these have.
    fn with_values_to_take(&self, mut calls: Vec<SampleCall>) -> Vec<SampleCall> {
        for rule in self.rules.rules() {
            let RuleDemand::Takes { event, argument, from, value: place } = &rule.demand else { continue };
            let mut values: Vec<Value> = Vec::new();
            for call in calls.iter().filter(|call| event.is_of(&call.tool)) {
                let taken = call.arguments.pointer(argument.as_str());
                values.extend(taken.filter(|taken| !values.contains(taken)).cloned());
            }
            let mut more: Vec<SampleCall> = Vec::new();
            for call in calls.iter().filter(|call| from.is_of(&call.tool)) {
                for value in &values {
                    let mut result = call.outcome.clone().and_then(Result::ok).unwrap_or_default();
                    search::put(&mut result, place, value.clone());
                    let given = SampleCall { outcome: Some(Ok(result)), ..call.clone() };
                    if !more.contains(&given) && !calls.contains(&given) && more.len() < VALUES_TAKEN_MAX {
                        more.push(given);
                    }
                }
            }
            calls.extend(more);
        }
        calls
    }
}

/// A simple value that a schema within another one allows.
fn sample_of(schema: &Map<String, Value>) -> Value {
    let whole = json!({"type": "object", "properties": {"value": schema}, "required": ["value"]});
    let sampled = whole.as_object().map(sample_arguments);
    sampled.and_then(|mut sampled| sampled.remove("value")).unwrap_or_default()
}
