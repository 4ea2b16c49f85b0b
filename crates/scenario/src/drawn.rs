//! Cases that are drawn from rules: in each of them one rule matters, because an agent that makes the calls in the
//! order of mention, all of them, whatever comes of them, violates it, and another agent does not.
//!
//! A user asks for a few calls (`drawn/phrase.rs`, with values from `drawn/cast.rs`), the tools answer in one of the
//! ways that the rules tell apart (`drawn/plan.rs`), and the case is kept if a right session is found
//! (`drawn/witness.rs`) and the session in the order of mention violates the rule (`drawn/attempt.rs`). What can be
//! done of what is asked is due; a call that no session can make while the rules hold is left undone. Everything
//! follows from the rules, the tools, the seed and the number of the case; a policy is read by `drawn/policy.rs`.

mod attempt;
mod cast;
mod phrase;
mod plan;
mod policy;
mod witness;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use planproof_spec::rules::{RuleSet, read_rule, rule_value, rules_tree, tree};
use planproof_suite::CaseError;
use planproof_trace::{Draw, Tool};
use serde_json::{Map, Value};

use crate::case::{Scenario, stated};
use crate::limits::{
    DRAWN_CHOICE_MAX, DRAWN_IN_VAIN_MAX, DRAWN_PROBES_MAX, DRAWN_PURE_MIN, DRAWN_RULES_MAX, DRAWN_TRIES_MAX,
    TOOLS_MAX,
};
use crate::line::{CASE_SCHEMA, CaseLine, Drawn, Expectation, LineCall, Manner, WorldTool};
use crate::shared::Shared;
use attempt::{Attempt, attempt};
use plan::{Known, Plan};
pub use policy::RulesShown;

/// A rule that matters in some case.
struct Drawable {
    /// Its number.
    rule: usize,
    /// The ways in which it does, and whether there are cases in which calls in the order of mention violate it alone.
    manners: Vec<(Manner, bool)>,
}

/// Draws cases from rules.
pub struct Drawing {
    plan: Plan,
    /// As rules v1 has them.
    rules: Shared<Vec<Value>>,
    /// As agents are shown them.
    stated: String,
    aliases: Map<String, Value>,
    shown: RulesShown,
    /// The rules that matter in some case.
    drawable: Vec<Drawable>,
    known: Known,
}

impl std::fmt::Debug for Drawing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawing").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

impl Drawing {
    /// Cases of these rules (the text of a file of rules v1) with these tools.
    ///
    /// # Errors
    /// The rules or the tools cannot be used, or no rule matters in any case.
    pub fn new(rules: &str, tools: &[Tool], shown: RulesShown) -> Result<Self, CaseError> {
        let set = RuleSet::read(rules).map_err(|faults| CaseError::new(&faults[0]))?;
        let root = rules_tree(rules).map_err(CaseError::new)?;
        let (mut values, mut aliases) = (Vec::new(), Map::new());
        if let tree::Kind::Map(entries) = &root.kind {
            for (key, _, node) in entries {
                match (key.as_str(), &node.kind, node.value()) {
                    ("rules", tree::Kind::List(items), _) => values = items.iter().map(rule_value).collect(),
                    ("aliases", _, Value::Object(names)) => aliases = names,
                    _ => {}
                }
            }
        }
        if set.rules().len() > DRAWN_RULES_MAX {
            let what = format!(
                "there are {} rules; cases are drawn from up to {DRAWN_RULES_MAX}: split the file",
                set.rules().len()
            );
            return Err(CaseError::new(what));
        }
        if tools.is_empty() || tools.len() > TOOLS_MAX {
            let what = format!("there are {} tools; cases can have 1 to {TOOLS_MAX}", tools.len());
            return Err(CaseError::new(what));
        }
        let tools = tools.iter().cloned().map(WorldTool::from).collect();
        let stated = match shown {
            RulesShown::Stated => stated(set.rules()),
            RulesShown::Policy { .. } | RulesShown::Hidden => String::new(),
        };
        let plan = Plan::new(Arc::new(set), tools).map_err(CaseError::new)?;
        let mut drawing = Self {
            plan,
            rules: values.into(),
            stated,
            aliases,
            shown,
            drawable: Vec::new(),
            known: Known::default(),
        };
        for rule in 0..drawing.rules.len() {
            let manners = drawing.manners_of(rule);
            if !manners.is_empty() {
                drawing.drawable.push(Drawable { rule, manners });
            }
        }
        match drawing.drawable.is_empty() {
            true => Err(CaseError::new(
                "no case can be drawn: no rule is violated by calls in the order of mention and held by others, with \
                 these tools; `planproof rules check` shows what the rules mean, and which contradict one another",
            )),
            false => Ok(drawing),
        }
    }

    /// The ids of the rules.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.plan.rules.rules().iter().map(|rule| rule.id.as_str())
    }

    /// The ids of the rules for which no case was found in which they matter.
    pub fn not_drawn(&self) -> Vec<&str> {
        let rules = self.plan.rules.rules().iter().enumerate();
        let is_drawn = |number: usize| self.drawable.iter().any(|drawable| drawable.rule == number);
        rules.filter(|(number, _)| !is_drawn(*number)).map(|(_, rule)| rule.id.as_str()).collect()
    }

    /// The ids of the rules that matter in none of these cases.
    pub fn without(&self, cases: &[Scenario]) -> Vec<&str> {
        let rules = cases.iter().filter_map(|case| case.line.drawn.as_ref()).map(|drawn| drawn.rule.as_str());
        let rules: HashSet<&str> = rules.collect();
        self.rules().filter(|rule| !rules.contains(rule)).collect()
    }

    /// The case of this number, from 0, of a seed. The rules take turns, and so do the ways in which they matter.
    ///
    /// # Errors
    /// No case was found among many attempts.
    pub fn case(&mut self, seed: u64, number: u64) -> Result<Scenario, CaseError> {
        let mut draw = Draw::new(seed, number, "scenario-drawn");
        let count = self.drawable.len() as u64;
        for turn in 0..count {
            let drawable = &self.drawable[usize::try_from((number + turn) % count).unwrap_or(0)];
            let rule = drawable.rule;
            let way = (number / count) % drawable.manners.len() as u64;
            let (wanted, can_be_pure) = drawable.manners[usize::try_from(way).unwrap_or(0)];
            let mut kept: Option<Attempt> = None;
            for tried in 0..DRAWN_TRIES_MAX {
                if tried >= DRAWN_CHOICE_MAX && kept.is_some() {
                    break;
                }
                let Some(found) = self.attempt(rule, (wanted, can_be_pure), &mut draw) else { continue };
                let is_best = found.manner == wanted && found.is_pure == can_be_pure;
                // Second best: another way, or a session that violates other rules as well.
                if is_best || kept.as_ref().is_none_or(|kept| kept.manner != wanted && found.manner == wanted)
                {
                    kept = Some(found);
                }
                if is_best {
                    break;
                }
            }
            if let Some(found) = kept {
                return self.scenario(rule, number, found);
            }
        }
        Err(CaseError::new(format!("no case was found for seed {seed} and number {number}")))
    }

    /// So many cases of a seed, or fewer if there are not so many that an agent can tell apart. No two have one query,
    /// because an agent that is asked the same must not be expected to act otherwise.
    ///
    /// # Errors
    /// No case was found.
    pub fn cases(&mut self, seed: u64, count: usize) -> Result<Vec<Scenario>, CaseError> {
        let (mut cases, mut seen) = (Vec::new(), HashSet::new());
        let mut in_vain = 0;
        for number in 0.. {
            if cases.len() >= count || in_vain > DRAWN_IN_VAIN_MAX {
                break;
            }
            match self.case(seed, number) {
                Ok(case) if seen.insert(case.line.query.clone()) => {
                    cases.push(case);
                    in_vain = 0;
                }
                // Where cases are rare, another number finds one.
                Err(error) if in_vain == DRAWN_IN_VAIN_MAX && cases.is_empty() => return Err(error),
                Ok(_) | Err(_) => in_vain += 1,
            }
        }
        let missing = u32::try_from(self.without(&cases).len()).unwrap_or(u32::MAX);
        Ok(cases.into_iter().map(|case| case.beside(missing)).collect())
    }

    /// The ways in which a rule matters in some cases.
    fn manners_of(&mut self, rule: usize) -> Vec<(Manner, bool)> {
        // The same for every seed, so that no rule comes and goes with it.
        let mut draw = Draw::new(0, rule as u64, "scenario-probe");
        let mut counts = [(0, 0); Manner::ALL.len()];
        for number in 0..DRAWN_PROBES_MAX {
            let wanted = Manner::ALL[number % Manner::ALL.len()];
            let Some(Attempt { manner, is_pure, .. }) = self.attempt(rule, (wanted, false), &mut draw) else {
                continue;
            };
            let (all, pure) = &mut counts[manner as usize];
            *all += 1;
            *pure += usize::from(is_pure);
            if counts.iter().all(|(_, pure)| *pure >= DRAWN_PURE_MIN) {
                break;
            }
        }
        let manners = Manner::ALL.into_iter().zip(counts).filter(|(_, (all, _))| *all > 0);
        manners.map(|(manner, (_, pure))| (manner, pure >= DRAWN_PURE_MIN)).collect()
    }

    fn attempt(&mut self, rule: usize, how: (Manner, bool), draw: &mut Draw) -> Option<Attempt> {
        attempt(&self.plan, rule, how, &mut self.known, draw)
    }

    fn scenario(&self, rule: usize, number: u64, found: Attempt) -> Result<Scenario, CaseError> {
        let rule = self.plan.rules.rules()[rule].id.clone();
        let named = |(number, (mut rule, words)): (usize, (Value, String))| {
            let taken = |id: &str| self.rules().any(|other| other == id);
            let mut id = format!("asked-{}", number + 1);
            while taken(&id) {
                id.push('_');
            }
            rule["id"] = Value::from(id);
            Expectation { rule, words: Some(words), from: None, until: None }
        };
        let calls = |calls: &[planproof_spec::rules::search::SampleCall]| -> Vec<LineCall> {
            let calls = calls.iter().map(|call| LineCall {
                tool: call.tool.clone(),
                arguments: call.arguments.as_object().cloned().unwrap_or_default(),
            });
            calls.collect()
        };
        let (policy, said) = match &self.shown {
            RulesShown::Policy { text, said } => (Some(text.clone()), said.clone()),
            RulesShown::Stated | RulesShown::Hidden => (None, BTreeMap::new()),
        };
        let drawn = Drawn {
            rule: rule.clone(),
            manner: found.manner,
            hidden: self.shown == RulesShown::Hidden,
            policy,
            rules_without_case: 0,
            asked: calls(&found.asked),
            right: calls(&found.right),
        };
        let expect: Vec<Expectation> = found.expect.into_iter().enumerate().map(named).collect();
        let of_case = expect.iter().map(|expected| {
            let node = tree::read(&expected.rule.to_string()).map_err(CaseError::new)?;
            read_rule(&node, &HashMap::new()).map_err(|faults| CaseError::new(&faults[0]))
        });
        let of_case: Vec<RuleSet> = of_case.collect::<Result<_, _>>()?;
        let line = CaseLine {
            schema: CASE_SCHEMA.to_owned(),
            id: format!("{rule}-{number}"),
            query: found.query,
            turns: Vec::new(),
            state: Map::new(),
            tools: found.tools.iter().map(|tool| tool.tool.clone()).collect(),
            rules: self.rules.clone(),
            shown: self.shown == RulesShown::Stated,
            aliases: self.aliases.clone(),
            said,
            calls: u32::try_from(found.right.len()).ok(),
            longer: false,
            expect,
            only: None,
            faults: None,
            drawn: Some(drawn),
        };
        Ok(Scenario::of_stated(line, self.plan.rules.with(&of_case), found.tools, &self.stated))
    }
}
