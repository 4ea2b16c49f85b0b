//! What a case demands, before anything runs: whether it can be satisfied, what is to blame if not, and what is odd
//! about it.

use std::cell::OnceCell;
use std::fmt;

use planproof_spec::rules::search::{self, Found, SampleCall, WantedSession};
use planproof_spec::rules::{CallRule, EventPattern, Phase, RuleDemand, RulesPlace, UntriedValues, targets};
use serde_json::Value;

use crate::case::Scenario;
use crate::file::Placed;
use crate::judge::ONLY;
use crate::limits::{DEMANDS_PAIRED_MAX, DEMANDS_REVIEWED_MAX};
use crate::worlds;

/// A case, looked at before anything runs.
#[derive(Debug, Clone)]
pub struct CaseReview {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub place: RulesPlace,
    /// A session that satisfies it, of calls that its tools take, with the results that its world has.
    pub right: Found,
    /// The number of the user's message before each of its calls, from 1.
    pub messages: Vec<u32>,
    /// Whether no such session is shorter.
    pub is_shortest: bool,
    /// If tools of the case fail: the calls of an agent that does what can be done all the same, with those that fail.
    /// [`None`] where no tool fails, or where that is not decided.
    pub with_faults: Option<Vec<SampleCall>>,
    /// What it demands: the rules of the file, then what is expected of this case.
    pub demands: Vec<CaseDemand>,
    /// If it cannot be satisfied: why.
    pub blame: Option<CaseBlame>,
    /// What is odd about it. None of it makes it unusable.
    pub oddities: Vec<CaseOddity>,
    /// If it can be satisfied, but nobody knows which of its expectations matter: why, as a sentence without a full
    /// stop.
    pub unrelated: Option<String>,
}

/// Something that a case demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseDemand {
    /// Its name in verdicts.
    pub id: String,
    /// The name of the expectation that it is a part of, or its own.
    pub of: String,
    /// It, as a sentence without a full stop.
    pub sentence: String,
    /// The words of the query that say it.
    pub words: Option<String>,
    /// Where it stands; `None` if that is in another file.
    pub place: Option<RulesPlace>,
    /// It is a rule of the file, not of the case alone.
    pub is_of_file: bool,
}

/// Why a case cannot be satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseBlame {
    /// The numbers of demands that no session satisfies together, of which none can be left out.
    pub demands: Vec<usize>,
    /// What they lack.
    pub reason: CaseBlameReason,
}

/// Why no session satisfies some demands together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseBlameReason {
    /// No world has results with which one does.
    Contradiction,
    /// The world has not the results with which one does.
    World,
    /// Nobody knows whether there is a world in which one does: there are too many sessions to look for.
    Unknown,
}

/// What is odd about a case. Demands are named by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseOddity {
    /// An agent that calls nothing passes.
    NothingToDo,
    /// What one expectation demands follows from other expectations, so it never matters.
    Implied {
        /// The demands of the expectation.
        demands: Vec<usize>,
        /// Those that imply them together, of which none can be left out.
        by: Vec<usize>,
    },
    /// Expectations that leave no session in which a tool is called.
    Contradicting {
        /// The tool.
        tool: String,
        /// The demands, of which none can be left out.
        demands: Vec<usize>,
    },
    /// There are too many demands, or sessions, to find out how they relate.
    NotDecided(String),
    /// Something about the state of its world, in words.
    OfState(String),
    /// A rule that allows one attempt at a call whose tool fails for the moment.
    NoSecondAttempt {
        /// The number of the rule.
        demand: usize,
        /// The tool.
        tool: String,
    },
    /// Something about how it is written, in words.
    Written(String),
}

impl CaseReview {
    /// An oddity in words, with each demand as `name` has it.
    pub fn in_words(&self, oddity: &CaseOddity, name: impl Fn(&CaseDemand) -> String) -> String {
        let named = |numbers: &[usize]| {
            let mut names: Vec<String> = numbers.iter().map(|number| name(&self.demands[*number])).collect();
            // The demands of one list of tools share its name.
            names.dedup();
            listed(&names)
        };
        match oddity {
            CaseOddity::NothingToDo => {
                "an agent that calls nothing passes: expect a call with `do` or `with`".to_owned()
            }
            CaseOddity::Implied { demands, by } if by.is_empty() => {
                format!("{} never decides a verdict: no session of these tools violates it", named(demands))
            }
            CaseOddity::Implied { demands, by } => {
                format!("{} never decides a verdict: it follows from {}", named(demands), named(by))
            }
            CaseOddity::Contradicting { tool, demands } => {
                format!("{} contradict one another as soon as {tool} is called", named(demands))
            }
            CaseOddity::NotDecided(what) | CaseOddity::OfState(what) | CaseOddity::Written(what) => {
                what.clone()
            }
            CaseOddity::NoSecondAttempt { demand, tool } => format!(
                "{} counts calls that fail as well, so a call of {tool} that failed for the moment must not be made \
                 again: write `done: {tool}` to count results",
                named(&[*demand])
            ),
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl fmt::Display for CaseDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// Looks at a case.
pub(crate) fn review(placed: Placed) -> CaseReview {
    let Placed { case, place, places, only, flags } = placed;
    let demands = demands_of(&case, &places, only);
    let right = case.right().clone();
    let looked = Looked::new(&case, &demands);
    let written = flags.iter().map(|flag| CaseOddity::Written(flag.in_words()));
    let (mut blame, mut oddities, mut unrelated) = (None, written.collect::<Vec<_>>(), None);
    match &right {
        _ if demands.len() > DEMANDS_REVIEWED_MAX => oddities.push(CaseOddity::NotDecided(format!(
            "there are {} demands; how they relate is only looked for among up to {DEMANDS_REVIEWED_MAX}",
            demands.len()
        ))),
        Found::None => blame = Some(looked.blame()),
        Found::TooMany => oddities.push(CaseOddity::NotDecided(looked.undecided())),
        Found::Session(calls) => {
            if calls.is_empty() {
                oddities.push(CaseOddity::NothingToDo);
            }
            // Where a shortest session is out of reach, so is every session that violates one expectation alone.
            if case.is_shortest() {
                oddities.extend(looked.implied());
                oddities.extend(looked.contradicting());
            } else {
                unrelated = Some(looked.unrelated());
            }
        }
    }
    oddities.extend(no_second_attempts(&case));
    if !case.beginning.is_empty() {
        let calls = case.calls_in_first_turn();
        oddities.extend(
            worlds::oddities(&case.tools, &case.rules, &case.beginning, &calls, &case.possible().untried)
                .into_iter()
                .map(CaseOddity::OfState),
        );
    }
    let (id, is_shortest) = (case.line.id.clone(), case.is_shortest());
    let messages = case.messages_of_calls().to_vec();
    let fails = case.line.faults.as_ref().is_some_and(|faults| !faults.is_nothing());
    let with_faults = if fails { case.right_calls().map(<[SampleCall]>::to_vec) } else { None };
    CaseReview { id, place, right, messages, is_shortest, with_faults, demands, blame, oddities, unrelated }
}

/// The rules that allow one attempt at a call which has to be made again where it fails for the moment.
fn no_second_attempts(case: &Scenario) -> Vec<CaseOddity> {
    let Some(faults) = &case.line.faults else { return Vec::new() };
    let rules = case.rules.rules().iter().enumerate();
    rules
        .filter_map(|(demand, rule)| match &rule.demand {
            RuleDemand::AtMost(1, event) if event.moment == Phase::Call => {
                let mut names = case.tools.iter().map(|tool| &tool.tool.name);
                let tool = names.find(|name| event.is_of(name) && faults.of(name).transient > 0.0)?;
                Some(CaseOddity::NoSecondAttempt { demand, tool: tool.clone() })
            }
            _ => None,
        })
        .collect()
}

/// The demands of a case: its rules in their order, then that no other tool is called.
fn demands_of(case: &Scenario, places: &[Option<RulesPlace>], only: Option<RulesPlace>) -> Vec<CaseDemand> {
    let of_file = case.line.rules.len();
    let rules = case.rules.rules().iter().enumerate();
    let mut demands: Vec<CaseDemand> = rules
        .map(|(number, rule)| CaseDemand {
            id: rule.id.clone(),
            of: expectation_of(rule),
            sentence: case.sentence(rule),
            words: case.words_of(&rule.id).map(str::to_owned),
            place: places.get(number).copied().flatten(),
            is_of_file: number < of_file,
        })
        .collect();
    if let Some(tools) = &case.line.only {
        demands.push(CaseDemand {
            id: ONLY.to_owned(),
            of: ONLY.to_owned(),
            sentence: format!("No tool is called but {}", listed(tools)),
            words: None,
            place: only,
            is_of_file: false,
        });
    }
    demands
}

/// The name of the expectation that a rule was made of: a list of tools makes one for each of them.
fn expectation_of(rule: &CallRule) -> String {
    let name = match &rule.demand {
        RuleDemand::AtLeast(1, event) => event.tools.as_ref().and_then(|tools| {
            let name = rule.id.strip_suffix(tools.written())?.strip_suffix(": ")?;
            Some(name.to_owned())
        }),
        _ => None,
    };
    name.unwrap_or_else(|| rule.id.clone())
}

/// A case whose demands are held against sessions of one set of calls, so that the answers for different demands fit
/// together.
struct Looked<'a> {
    case: &'a Scenario,
    demands: &'a [CaseDemand],
    /// The calls of all tools.
    calls: Vec<SampleCall>,
    /// Whether all outcomes are known that the demands tell apart.
    knows_outcomes: OnceCell<bool>,
}

impl<'a> Looked<'a> {
    fn new(case: &'a Scenario, demands: &'a [CaseDemand]) -> Self {
        Self { case, demands, calls: case.possible_calls(None), knows_outcomes: OnceCell::new() }
    }

    /// Why it is not known whether the case can be satisfied.
    fn undecided(&self) -> String {
        let rules: Vec<usize> = (0..self.case.rules.rules().len()).collect();
        let why = self.untried().unwrap_or_else(|| {
            if worlds::depends_on_arguments(&self.case.tools) {
                "no session was found among the amounts that were tried and within the limit of sessions, and others \
                 may do"
            } else if !search::has_enough_values(&self.case.rules, &rules) {
                "so many different values as the rules may need are not tried"
            } else {
                "there are too many sessions"
            }
            .to_owned()
        });
        format!("whether it can be satisfied is not known: {why}")
    }

    /// Why it is not known which expectations matter.
    fn unrelated(&self) -> String {
        let otherwise = || "not all sessions and amounts are tried, so a shorter session may do".to_owned();
        let why = self.untried().unwrap_or_else(otherwise);
        format!("whether each expectation matters is not known: {why}")
    }

    /// Which arguments are not tried, why, and what to do about it.
    fn untried(&self) -> Option<String> {
        let rules: Vec<usize> = (0..self.case.rules.rules().len()).collect();
        let UntriedValues { tool, place, cause } =
            self.case.untried(&rules, self.case.line.only.as_deref()).next()?;
        Some(match place {
            Some(place) => format!(
                "not all values of {place} that {tool} takes are tried, because {cause}; name one in the `where` of a \
                 line of its world"
            ),
            None => format!("{cause}; name some in the `where` of a line of its world"),
        })
    }

    /// The number of what `only` demands.
    fn only(&self) -> Option<usize> {
        self.case.line.only.as_ref().map(|_| self.demands.len() - 1)
    }

    /// The shortest session that holds some demands, violates one of some others, if there are any, and calls a tool,
    /// if one is named.
    fn find(&self, holds: &[usize], violates: &[usize], tool: Option<&str>) -> Found {
        let only = self.only().filter(|only| holds.contains(only)).and(self.case.line.only.as_deref());
        self.find_among(&self.calls, holds, violates, tool, |calls, wanted| {
            self.case.find(calls, wanted, only)
        })
    }

    /// The shortest session that holds some demands in some world: each of these calls has the outcome that it comes
    /// with.
    fn find_in_any_world(&self, holds: &[usize], free: &[SampleCall]) -> Found {
        let only = self.only().filter(|only| holds.contains(only)).and(self.case.line.only.as_deref());
        let knows_outcomes = || *self.knows_outcomes.get_or_init(|| self.case.has_all_outcomes());
        self.find_among(free, holds, &[], None, |calls, wanted| {
            match search::session_of_calls(&self.case.bound, calls, wanted) {
                Found::None
                    if !knows_outcomes()
                        || !self.can_be_taken(free, holds)
                        || !self.case.are_all_tried(wanted, only) =>
                {
                    Found::TooMany
                }
                found => found,
            }
        })
    }

    /// Whether each value that a call may have, and has to take from a result, is in one of the results.
    fn can_be_taken(&self, calls: &[SampleCall], holds: &[usize]) -> bool {
        let rules = holds.iter().filter_map(|rule| self.case.rules.rules().get(*rule));
        rules.into_iter().all(|rule| {
            let RuleDemand::Takes { event, argument, from, value } = &rule.demand else { return true };
            let of = |pattern: &EventPattern| {
                let pattern = pattern.clone();
                calls.iter().filter(move |call| pattern.is_of(&call.tool))
            };
            let given: Vec<&Value> = of(from)
                .filter_map(|call| call.outcome.as_ref()?.as_ref().ok())
                .flat_map(|result| targets(result, value))
                .collect();
            let mut taken = of(event).filter_map(|call| call.arguments.pointer(argument.as_str()));
            taken.all(|value| given.contains(&value))
        })
    }

    fn find_among(
        &self,
        calls: &[SampleCall],
        holds: &[usize],
        violates: &[usize],
        tool: Option<&str>,
        search: impl Fn(&[SampleCall], WantedSession<'_>) -> Found,
    ) -> Found {
        let only = self.only();
        let is_rule = |number: &usize| Some(*number) != only;
        let held: Vec<usize> = holds.iter().copied().filter(is_rule).collect();
        let violated: Vec<usize> = violates.iter().copied().filter(is_rule).collect();
        let mut calls = calls.to_vec();
        if only.is_some_and(|only| holds.contains(&only)) {
            let allowed = self.case.line.only.as_deref().unwrap_or_default();
            calls.retain(|call| allowed.contains(&call.tool));
        }
        let wanted = WantedSession { holds: &held, violates: &violated, calls: tool };
        search(&calls, wanted)
    }

    /// A set of demands of which none can be left out, of those for which something still holds. It holds for all of
    /// `all`, though that may be too much to see. One demand, or two, are named where that is enough; otherwise earlier
    /// ones are left out first.
    fn smallest(all: &[usize], holds: impl Fn(&[usize]) -> bool) -> Vec<usize> {
        if holds(&[]) {
            return Vec::new();
        }
        if let Some(one) = all.iter().find(|one| holds(&[**one])) {
            return vec![*one];
        }
        let mut kept = all.to_vec();
        if !holds(all)
            && let Some(few) = search::few(all, &holds)
        {
            kept = few;
        }
        for demand in kept.clone() {
            let fewer: Vec<usize> = kept.iter().copied().filter(|other| *other != demand).collect();
            if holds(&fewer) {
                kept = fewer;
            }
        }
        if kept.len() > 2 && all.len() <= DEMANDS_PAIRED_MAX {
            let pairs =
                all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(|two| [*one, *two]));
            for pair in pairs {
                if holds(&pair) {
                    return pair.to_vec();
                }
            }
        }
        kept
    }

    fn blame(&self) -> CaseBlame {
        let all: Vec<usize> = (0..self.demands.len()).collect();
        let free = self.case.in_any_world(&self.calls);
        let contradict = |some: &[usize]| self.find_in_any_world(some, &free) == Found::None;
        // What contradicts in every world explains more than what does so in this one.
        if contradict(&all) {
            return CaseBlame {
                demands: Self::smallest(&all, contradict),
                reason: CaseBlameReason::Contradiction,
            };
        }
        let demands = Self::smallest(&all, |some| self.find(some, &[], None) == Found::None);
        // All demands together may have been too many to look for a session in any world. Of the few that are to blame,
        // it is often known.
        let reason = match self.find_in_any_world(&demands, &free) {
            Found::None => CaseBlameReason::Contradiction,
            Found::Session(_) => CaseBlameReason::World,
            Found::TooMany => CaseBlameReason::Unknown,
        };
        CaseBlame { demands, reason }
    }

    /// The demands by expectation, in the order of the file. Rules of the file are left out: they hold in every case,
    /// whether they matter in this one or not.
    fn expectations(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        for (number, demand) in self.demands.iter().enumerate().filter(|(_, demand)| !demand.is_of_file) {
            match groups.last_mut().filter(|_| last == Some(demand.place)) {
                Some(group) => group.push(number),
                None => groups.push(vec![number]),
            }
            last = Some(demand.place);
        }
        // What `only` demands is a part of the list of tools that it stands in.
        if let Some(only) = self.only() {
            let place = self.demands[only].place;
            groups.retain(|group| group != &[only]);
            match groups.iter_mut().find(|group| self.demands[group[0]].place == place) {
                Some(group) => group.push(only),
                None => groups.push(vec![only]),
            }
        }
        groups
    }

    /// The expectations that follow from the others. All of those that are named can be left out together. Rules of the
    /// file are no reason to leave out what the words of a query say: findings quote them.
    fn implied(&self) -> Vec<CaseOddity> {
        let mut left: Vec<usize> =
            (0..self.demands.len()).filter(|number| !self.demands[*number].is_of_file).collect();
        let mut found = Vec::new();
        // The later ones first, because the first ones usually say what a case is about.
        for group in self.expectations().into_iter().rev() {
            // A list of tools is a summary for readers: that more precise expectations say it, too, is no mistake.
            if group.iter().all(|number| self.demands[*number].id != self.demands[*number].of) {
                continue;
            }
            if self.only().is_some_and(|only| group.contains(&only)) {
                // Calls of other tools are part of no session here, so whether it matters cannot be seen.
                continue;
            }
            let others: Vec<usize> = left.iter().copied().filter(|other| !group.contains(other)).collect();
            let is_implied = |by: &[usize]| self.find(by, &group, None) == Found::None;
            if is_implied(&others) {
                let by = Self::smallest(&others, is_implied);
                found.push(CaseOddity::Implied { demands: group, by });
                left = others;
            }
        }
        found.reverse();
        found
    }

    /// Tools that no session calls because two expectations or more contradict one another.
    fn contradicting(&self) -> Vec<CaseOddity> {
        let all: Vec<usize> = (0..self.demands.len()).collect();
        let mut found: Vec<CaseOddity> = Vec::new();
        for tool in search::tools(&self.case.rules) {
            let is_forbidden = self.case.rules.rules().iter().any(|rule| match &rule.demand {
                RuleDemand::Never(event) | RuleDemand::AtMost(0, event) => {
                    event.moment == Phase::Call
                        && event.arguments.is_empty()
                        && event.tools.as_ref().is_none_or(|tools| tools.written() == tool)
                }
                _ => false,
            });
            let is_left_out = self.case.line.only.as_ref().is_some_and(|only| !only.contains(&tool));
            if is_forbidden || is_left_out {
                continue;
            }
            let is_unusable = |some: &[usize]| self.find(some, &[], Some(&tool)) == Found::None;
            if is_unusable(&all) {
                let demands = Self::smallest(&all, is_unusable);
                let is_new = !found.iter().any(
                    |other| matches!(other, CaseOddity::Contradicting { demands: those, .. } if *those == demands),
                );
                // A rule that the world makes impossible to follow is often what a case is about.
                let expected = demands.iter().filter(|number| !self.demands[**number].is_of_file).count();
                if expected > 1 && is_new {
                    found.push(CaseOddity::Contradicting { tool, demands });
                }
            }
        }
        found
    }
}
