//! What the rules of a file mean together: which of them say nothing, follow from others, or leave a tool unusable.

use std::fmt;

use super::samples::ANY_OTHER_TOOL;
use super::search::{self, Found};
use super::{CallRule, EventPattern, Phase, RuleDemand, RuleSet, TextFlag};
use crate::diagnostic::all_of;
use crate::limits::{EXAMPLE_CALLS_MAX, RULES_REVIEWED_MAX};

/// What a rule means, by examples.
#[derive(Debug, Clone)]
pub struct RuleMeaning {
    /// The shortest session that the rule rejects.
    pub violation: Found,
    /// The shortest session that it rejects and all others accept.
    pub alone: Found,
}

/// What is odd about rules. None of it makes a file unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oddity {
    /// The file has no rules.
    NoRules,
    /// No session violates this rule.
    NeverViolated(String),
    /// No session satisfies this rule, not even an empty one or, with `per`, one with any value.
    NeverHeld(String),
    /// No session satisfies these rules, of which none can be left out.
    Contradiction(Vec<String>),
    /// Whatever violates this rule violates one of those, too.
    Implied {
        /// The rule.
        rule: String,
        /// Those that imply it, together.
        by: Vec<String>,
        /// The rule gives a reason of its own, for which it may be there.
        has_why: bool,
    },
    /// This rule says of this tool, or of all, that it is never called.
    Forbidden {
        /// The tool; `None` for any.
        tool: Option<String>,
        /// The rule.
        rule: String,
    },
    /// No session that calls one of these tools satisfies these rules, of which none can be left out.
    Unusable {
        /// The tools; none for any.
        tools: Vec<String>,
        /// The rules.
        rules: Vec<String>,
    },
    /// There are too many rules, or sessions, to find out how they relate.
    NotDecided(String),
    /// A text that looks like true or false. Only the text of a file shows it, so that no review of rules finds it.
    Written(TextFlag),
}

impl Oddity {
    /// Whether it is probably meant, so that it is worth a note and no warning.
    pub fn is_note(&self) -> bool {
        matches!(self, Self::Forbidden { .. } | Self::Implied { has_why: true, .. })
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |rules: &[String]| {
            let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            all_of(rules.iter().map(String::as_str))
        };
        match self {
            Self::NoRules => write!(f, "the file has no rules, so it allows everything"),
            Self::NeverViolated(rule) => write!(f, "no session violates `{rule}`: it says nothing"),
            Self::NeverHeld(rule) => write!(f, "no session satisfies `{rule}`: it contradicts itself"),
            Self::Contradiction(rules) => {
                write!(f, "no session satisfies {}: they contradict one another", quoted(rules))
            }
            Self::Implied { rule, by, has_why: false } => {
                write!(f, "`{rule}` follows from {}: leave it out", quoted(by))
            }
            Self::Implied { rule, by, has_why: true } => {
                write!(f, "`{rule}` follows from {}: all that it adds is its `why`", quoted(by))
            }
            Self::Forbidden { tool: Some(tool), rule } => {
                write!(f, "`{tool}` can never be called: `{rule}` says so")
            }
            Self::Forbidden { tool: None, rule } => write!(f, "no tool can ever be called: `{rule}` says so"),
            Self::Unusable { tools, rules } => {
                match tools.is_empty() {
                    true => f.write_str("no tool can ever be called: ")?,
                    false => write!(f, "{} can never be called: ", quoted(tools))?,
                }
                match (rules.len(), tools.len()) {
                    (1, 0) => write!(f, "{} rejects every session with a call", quoted(rules)),
                    (1, 1) => write!(f, "{} rejects every session with it", quoted(rules)),
                    (1, _) => write!(f, "{} rejects every session with one of them", quoted(rules)),
                    _ => write!(f, "{} contradict one another", quoted(rules)),
                }
            }
            Self::NotDecided(what) => write!(f, "{what}"),
            Self::Written(flag) => f.write_str(&flag.in_words()),
        }
    }
}

/// What a file of rules means.
#[derive(Debug, Clone)]
pub struct RulesReview {
    /// For each rule.
    pub meanings: Vec<RuleMeaning>,
    /// What is odd, in the order of the rules, then of the tools.
    pub oddities: Vec<Oddity>,
}

impl RuleSet {
    /// Finds out what these rules mean. Takes a search, bounded by [`RULE_SEARCH_MAX`](crate::limits::RULE_SEARCH_MAX)
    /// sessions, for each rule and each tool.
    pub fn review(&self) -> RulesReview {
        self.review_with(&[])
    }

    /// The same, in which one of these tools, if one fits, stands for any tool that the rules do not name.
    pub fn review_with(&self, tools: &[String]) -> RulesReview {
        // A rule by itself is about the tools of the other rules as much as about any.
        let others: Vec<String> = search::tools(self).into_iter().chain(tools.iter().cloned()).collect();
        let mut calls_shown = 0;
        let ids = |numbers: &[usize]| -> Vec<String> {
            numbers.iter().map(|number| self.rules[*number].id.clone()).collect()
        };
        let is_small = self.rules.len() <= RULES_REVIEWED_MAX;
        let mut oddities: Vec<Oddity> =
            self.rules.is_empty().then_some(Oddity::NoRules).into_iter().collect();
        let mut meanings = Vec::new();
        // By the rules that imply each, where among the oddities it stands.
        let mut implied: Vec<(Vec<usize>, usize)> = Vec::new();
        for (number, rule) in self.rules.iter().enumerate() {
            let violation = match calls_shown < EXAMPLE_CALLS_MAX {
                true => search::violation_with(self, number, &others),
                false => Found::TooMany,
            };
            calls_shown += violation.session().map_or(0, <[_]>::len);
            let alone = match &violation {
                Found::Session(_) if is_small => search::only_violation_with(self, number, tools),
                Found::Session(_) => Found::TooMany,
                other => other.clone(),
            };
            match (&violation, &alone) {
                (Found::None, _) => oddities.push(Oddity::NeverViolated(rule.id.clone())),
                _ if search::can_never_be_held(self, number) => {
                    oddities.push(Oddity::NeverHeld(rule.id.clone()));
                }
                (Found::Session(_), Found::None) => {
                    let others: Vec<usize> = search::connected(self, number)
                        .into_iter()
                        .filter(|other| *other != number)
                        .collect();
                    let implies = |some: &[usize]| search::is_implied(self, number, some);
                    let by = search::few(&others, implies).unwrap_or_else(|| smallest(&others, implies));
                    let has_why = rule.why.is_some();
                    implied.push((by.clone(), oddities.len()));
                    oddities.push(Oddity::Implied { rule: rule.id.clone(), by: ids(&by), has_why });
                }
                _ => {}
            }
            meanings.push(RuleMeaning { violation, alone });
        }
        if !is_small {
            let what = format!(
                "there are {} rules; how they relate is only looked for among up to {RULES_REVIEWED_MAX}",
                self.rules.len()
            );
            oddities.push(Oddity::NotDecided(what));
            return RulesReview { meanings, oddities };
        }
        // Where nothing can be called, every rule on such calls follows from the rest, which helps nobody.
        let is_bad = |by: &[usize]| search::held_by(self, by) == Found::None;
        let all: Vec<usize> = (0..self.rules.len()).collect();
        let bad = match search::held_by(self, &all) {
            Found::None => Some(smallest(&all, is_bad)),
            Found::TooMany => search::few(&all, is_bad),
            Found::Session(_) => None,
        };
        if let Some(bad) = bad {
            for (_, place) in implied.iter().rev().filter(|(by, _)| is_bad(by)) {
                oddities.remove(*place);
            }
            // One rule that contradicts itself is named already.
            if let contradicting @ [_, _, ..] = &*bad {
                oddities.push(Oddity::Contradiction(ids(contradicting)));
            }
            return RulesReview { meanings, oddities };
        }
        let mut unusable: Vec<Oddity> = Vec::new();
        // Rules that contradict one another, and the tools of each contradiction.
        let mut contradictions: Vec<Vec<usize>> = Vec::new();
        let mut hindered: Vec<Vec<String>> = Vec::new();
        if let Some(rule) =
            self.rules.iter().find(|rule| rule.forbidden().is_some_and(|it| it.tools.is_none()))
        {
            unusable.push(Oddity::Forbidden { tool: None, rule: rule.id.clone() });
        }
        for tool in search::tools(self) {
            // A rule that forbids a tool outright means it.
            if let Some(rule) =
                self.rules.iter().find(|rule| rule.forbidden().is_some_and(|it| it.is_of(&tool)))
            {
                if rule.forbidden().is_some_and(|event| event.tools.is_some()) {
                    unusable.push(Oddity::Forbidden { tool: Some(tool), rule: rule.id.clone() });
                }
                continue;
            }
            let all: Vec<usize> = search::naming(self, &tool);
            let is_unusable = |some: &[usize]| search::use_of(self, some, &tool) == Found::None;
            let rules = match search::use_of(self, &all, &tool) {
                Found::None => Some(smallest(&all, is_unusable)),
                Found::TooMany => search::few(&all, is_unusable),
                Found::Session(_) => None,
            };
            if let Some(rules) = rules {
                match contradictions.iter().position(|known| *known == rules) {
                    Some(known) => hindered[known].push(tool),
                    None => {
                        contradictions.push(rules);
                        hindered.push(vec![tool]);
                    }
                }
            }
        }
        for (rules, tools) in contradictions.iter().zip(hindered) {
            // Rules that no tool at all gets past are one contradiction, however many tools they name.
            let is_of_any = search::use_of(self, rules, ANY_OTHER_TOOL) == Found::None;
            let tools = if is_of_any { Vec::new() } else { tools };
            unusable.push(Oddity::Unusable { tools, rules: ids(rules) });
        }
        for (by, place) in implied.iter().rev() {
            if contradictions.iter().any(|rules| rules.iter().all(|rule| by.contains(rule))) {
                oddities.remove(*place);
            }
        }
        oddities.extend(unusable);
        RulesReview { meanings, oddities }
    }
}

impl CallRule {
    /// The calls that this rule forbids whatever their arguments, if it does nothing else.
    fn forbidden(&self) -> Option<&EventPattern> {
        match &self.demand {
            RuleDemand::Never(event) | RuleDemand::AtMost(0, event) => {
                (event.moment == Phase::Call && event.arguments.is_empty()).then_some(event)
            }
            _ => None,
        }
    }
}

/// A set of which none can be left out, of those for which something still holds. It holds for all of them.
fn smallest(all: &[usize], holds: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    // One rule is the usual case, and the easiest to read.
    if let Some(one) = all.iter().find(|one| holds(&[**one])) {
        return vec![*one];
    }
    let mut kept = all.to_vec();
    for rule in all {
        let fewer: Vec<usize> = kept.iter().copied().filter(|other| other != rule).collect();
        if fewer.len() > 1 && holds(&fewer) {
            kept = fewer;
        }
    }
    kept
}
