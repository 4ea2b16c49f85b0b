//! Selects the drafts to keep (the paper, section 3.2, step 5, and appendix B.3): those that all raters rated as
//! good, except those whose execution went wrong and those that use a frequent tool in a plan with many queries.

use std::collections::{BTreeMap, BTreeSet};

use super::published::Draft;

/// The criteria for keeping drafts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterRules {
    /// The ids that all raters rated 1; `None` keeps drafts regardless of ratings.
    pub verified: Option<BTreeSet<i64>>,
    /// The ids whose tools returned empty or wrong results.
    pub poor: BTreeSet<i64>,
    /// Tools that would occur too often.
    pub frequent: Vec<String>,
    /// The maximum number of different queries for a sequence of tools that contains a frequent one; if there are
    /// more, all of them are dropped. The paper uses image generation and 4.
    pub queries_max: usize,
}

/// The result of the filter. The counts follow the order of the rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filtered {
    /// The indices of the kept drafts.
    pub kept: Vec<usize>,
    /// The number of drafts that not all raters rated 1.
    pub unverified: usize,
    /// The number of the remaining drafts dropped for poor results.
    pub poor: usize,
    /// The number of the remaining drafts dropped because a frequent tool has many queries.
    pub frequent: usize,
    /// The number of calls of each tool in the kept drafts, by name.
    pub tools: BTreeMap<String, usize>,
}

impl FilterRules {
    /// The rules of the paper for these ids.
    pub fn of_paper(verified: Option<BTreeSet<i64>>, poor: BTreeSet<i64>) -> Self {
        Self { verified, poor, frequent: vec!["image generation".to_owned()], queries_max: 4 }
    }

    /// Applies the rules. Queries are counted among the drafts that pass the first two rules.
    pub fn apply(&self, drafts: &[Draft]) -> Filtered {
        let mut filtered = Filtered::default();
        let verified = |draft: &Draft| self.verified.as_ref().is_none_or(|ids| ids.contains(&draft.id));
        let mut rest = Vec::new();
        for (place, draft) in drafts.iter().enumerate() {
            if !verified(draft) {
                filtered.unverified += 1;
            } else if self.poor.contains(&draft.id) {
                filtered.poor += 1;
            } else {
                rest.push(place);
            }
        }
        let mut queries: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
        for place in &rest {
            queries.entry(tools(&drafts[*place])).or_default().insert(&drafts[*place].query);
        }
        for place in rest {
            let tools = tools(&drafts[place]);
            let is_frequent = tools.iter().any(|tool| self.frequent.iter().any(|frequent| frequent == tool));
            if is_frequent && queries.get(&tools).is_some_and(|queries| queries.len() > self.queries_max) {
                filtered.frequent += 1;
                continue;
            }
            for tool in tools {
                *filtered.tools.entry(tool.to_owned()).or_default() += 1;
            }
            filtered.kept.push(place);
        }
        filtered
    }
}

/// The names of the tools of a plan, in order.
fn tools(draft: &Draft) -> Vec<&str> {
    draft.plan.steps.iter().map(|step| step.tool.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use planproof_plan::{Plan, Step};

    use super::*;

    fn draft(id: i64, query: &str, tools: &[&str]) -> Draft {
        let step = |(id, tool): (usize, &&str)| Step {
            id: id as u64,
            tool: (*tool).to_owned(),
            arguments: Vec::new(),
        };
        let plan = Plan { steps: tools.iter().enumerate().map(step).collect() };
        Draft { id, query: query.to_owned(), plan, alternatives: Vec::new() }
    }

    #[test]
    fn rules_are_applied_one_after_the_other() {
        let drawn = ["text generation", "image generation"];
        let mut drafts: Vec<Draft> = (0..6).map(|id| draft(id, &format!("query {id}"), &drawn)).collect();
        drafts.extend((6..12).map(|id| draft(id, &format!("query {id}"), &["text classification"])));
        let rules = |verified, poor: &[i64]| FilterRules::of_paper(verified, poor.iter().copied().collect());
        let all = rules(None, &[]).apply(&drafts);
        assert_eq!((all.kept, all.frequent), ((6..12).collect(), 6));
        // Two are dropped before queries are counted, so the remaining 4 may stay.
        let some = rules(Some((1..=7).collect()), &[3, 7, 9]).apply(&drafts);
        assert_eq!((some.unverified, some.poor, some.frequent), (5, 2, 0));
        assert_eq!(some.kept, [1, 2, 4, 5, 6]);
        let counts: Vec<_> = some.tools.iter().map(|(tool, count)| (tool.as_str(), *count)).collect();
        assert_eq!(counts, [("image generation", 4), ("text classification", 1), ("text generation", 4)]);
    }

    #[test]
    fn the_same_query_counts_once() {
        let drafts: Vec<Draft> =
            (0..9).map(|id| draft(id, ["a", "b"][id as usize % 2], &["image generation"])).collect();
        assert_eq!(FilterRules::of_paper(None, BTreeSet::new()).apply(&drafts).kept.len(), 9);
        assert_eq!(FilterRules::default().apply(&[]), Filtered::default());
    }
}
