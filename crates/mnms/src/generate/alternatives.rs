//! Equally good alternative plans (the paper, appendix B.4): tools that can replace a tool, and all plans that such
//! replacements produce.

use std::collections::BTreeMap;

use planproof_plan::{ArgumentValue, Plan, Reference, Step, TextPiece};
use planproof_trace::{Catalogue, Draw};

use super::graph::ToolGraph;
use super::input::Input;
use super::planning::{Filler, faults};

/// Maximum number of tools that replace one tool.
pub const PATH_TOOLS_MAX: usize = 3;
/// Maximum number of plans derived from one plan.
pub const COMBINATIONS_MAX: u128 = 10_000;

/// The replacements of each tool, by name. Each replacement is a list of tools to call one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alternatives(BTreeMap<String, Vec<Vec<String>>>);

/// The plans derived from one plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CombinedPlans {
    /// The executable plans, ordered by position and alternative.
    pub plans: Vec<Plan>,
    /// The number of plans that are not executable: a step would lack an argument or would follow a tool that it
    /// may not follow.
    pub unfit: usize,
    /// The number of all combinations except the plan itself; only the first [`COMBINATIONS_MAX`] are tried. `None`
    /// if the number exceeds a `u128`.
    pub combinations: Option<u128>,
}

impl CombinedPlans {
    /// Whether some combinations were not tried.
    pub fn is_cut(&self) -> bool {
        self.combinations.is_none_or(|combinations| combinations > COMBINATIONS_MAX)
    }
}

/// The syntactic alternatives of each tool: every path from the kind of its first argument to the kind of one of
/// its outputs. The nodes of the graph are tools and kinds; its edges lead from a kind to the tools that take it
/// and from a tool to the kinds that it outputs. A path visits no tool and no kind twice, though it may return to
/// the kind it started from. It does not contain the tool itself and has at most `tools_max` tools, capped at
/// [`PATH_TOOLS_MAX`]. Paths are ordered by length, then by catalogue order.
///
/// In the paper, for example, image captioning and visual question answering replace image classification.
pub fn syntactic_alternatives(catalogue: &Catalogue, tools_max: usize) -> Alternatives {
    let mut all = Alternatives::default();
    for tool in catalogue.signatures() {
        let Some(from) = tool.arguments.first() else { continue };
        let goals: Vec<&str> = tool.outputs.iter().map(|output| output.kind.as_str()).collect();
        let mut search = Search { catalogue, avoided: &tool.name, goals, found: Vec::new() };
        // One length at a time, so that paths are found in the order of their lengths.
        for length in 1..=tools_max.min(PATH_TOOLS_MAX) {
            search.walk(&from.kind, length, &mut vec![from.kind.as_str()], &mut Vec::new());
        }
        for path in search.found {
            all.add(&tool.name, path);
        }
    }
    all
}

struct Search<'c> {
    catalogue: &'c Catalogue,
    avoided: &'c str,
    goals: Vec<&'c str>,
    found: Vec<Vec<String>>,
}

impl<'c> Search<'c> {
    /// Finds the paths with exactly `left` more tools.
    fn walk(&mut self, kind: &str, left: usize, kinds: &mut Vec<&'c str>, path: &mut Vec<&'c str>) {
        for tool in self.catalogue.signatures() {
            let is_open = tool.name != self.avoided && !path.contains(&tool.name.as_str());
            if !is_open || tool.arguments.iter().all(|argument| argument.kind != kind) {
                continue;
            }
            path.push(&tool.name);
            let mut given: Vec<&str> = tool.outputs.iter().map(|output| output.kind.as_str()).collect();
            // A tool with two outputs of one kind would otherwise produce each path twice.
            given.sort_unstable();
            given.dedup();
            if left == 1 {
                if given.iter().any(|kind| self.goals.contains(kind)) {
                    self.found.push(path.iter().map(|tool| (*tool).to_owned()).collect());
                }
            } else {
                for kind in given {
                    // A path ends at the first goal that it reaches.
                    if !kinds.contains(&kind) && !self.goals.contains(&kind) {
                        kinds.push(kind);
                        self.walk(kind, left - 1, kinds, path);
                        kinds.pop();
                    }
                }
            }
            path.pop();
        }
    }
}

impl Alternatives {
    /// Adds these tools, called one after the other, as a replacement of a tool. Returns whether the replacement is
    /// new.
    pub fn add(&mut self, tool: &str, path: Vec<String>) -> bool {
        let paths = self.0.entry(tool.to_owned()).or_default();
        let is_new = !path.is_empty() && !paths.contains(&path);
        if is_new {
            paths.push(path);
        }
        is_new
    }

    /// The replacements of a tool.
    pub fn of(&self, tool: &str) -> &[Vec<String>] {
        self.0.get(tool).map_or(&[], Vec::as_slice)
    }

    /// All tools that have replacements, with those replacements, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Vec<String>])> {
        self.0.iter().map(|(tool, paths)| (tool.as_str(), paths.as_slice()))
    }

    /// All plans that result from keeping or replacing each step, except the plan itself.
    ///
    /// A replacement receives the arguments of the replaced step: the first argument of the same kind, and all
    /// arguments with the same names. Any other arguments, such as questions, are drawn from our lists by `draw`.
    /// Later steps refer to the last tool of the replacement, by the same key or by one of the same kind. A
    /// combination is unfit if an argument is missing or if it has [`faults`]. Combinations that produce the same
    /// plan count once.
    pub fn combine(
        &self,
        catalogue: &Catalogue,
        graph: &ToolGraph,
        plan: &Plan,
        draw: &mut Draw,
    ) -> CombinedPlans {
        let choices: Vec<&[Vec<String>]> = plan.steps.iter().map(|step| self.of(&step.tool)).collect();
        let all =
            choices.iter().try_fold(1u128, |product, paths| product.checked_mul(paths.len() as u128 + 1));
        let mut combined = CombinedPlans { combinations: all.map(|all| all - 1), ..CombinedPlans::default() };
        let seed = draw.number();
        // Counts up, last step first; all zeros is the plan itself.
        let mut chosen = vec![0usize; choices.len()];
        for _ in 0..combined.combinations.unwrap_or(u128::MAX).min(COMBINATIONS_MAX) {
            for (place, paths) in chosen.iter_mut().zip(&choices).rev() {
                *place = if *place == paths.len() { 0 } else { *place + 1 };
                if *place != 0 {
                    break;
                }
            }
            let paths: Vec<Option<&[String]>> = chosen
                .iter()
                .zip(&choices)
                .map(|(place, paths)| place.checked_sub(1).map(|place| paths[place].as_slice()))
                .collect();
            // Each combination gets the same random stream, so that all of them ask the same question.
            let composed = compose(catalogue, plan, &paths, &mut Draw::new(seed, 0, "mnms/compose/1"));
            match composed.filter(|other| faults(catalogue, graph, other).is_empty()) {
                Some(other) if other == *plan || combined.plans.contains(&other) => {}
                Some(other) => combined.plans.push(other),
                None => combined.unfit += 1,
            }
        }
        combined
    }
}

/// The plan with some steps replaced. `None` if an argument is missing.
fn compose(catalogue: &Catalogue, plan: &Plan, paths: &[Option<&[String]>], draw: &mut Draw) -> Option<Plan> {
    let input = Input::default();
    let mut filler = Filler { input: &input, draw, used: Vec::new() };
    let mut steps: Vec<Step> = Vec::new();
    // The number of each step in the new plan.
    let mut numbers: BTreeMap<u64, u64> = BTreeMap::new();
    for (step, path) in plan.steps.iter().zip(paths) {
        let mut arguments = Vec::new();
        for (name, value) in &step.arguments {
            arguments.push((name.clone(), moved(catalogue, plan, &steps, &numbers, value)?));
        }
        match path {
            None => steps.push(Step { id: steps.len() as u64, tool: step.tool.clone(), arguments }),
            Some(path) => {
                let original = catalogue.find(&step.tool)?;
                for (nth, name) in path.iter().enumerate() {
                    let tool = catalogue.find(name)?;
                    let mut known: Vec<(String, ArgumentValue)> = Vec::new();
                    // The first tool of a path takes over what the replaced step was given; each further one takes the
                    // previous output.
                    if nth == 0 {
                        let main = original.arguments.first()?;
                        let value = &arguments.iter().find(|(name, _)| *name == main.name)?.1;
                        let taker = tool.arguments.iter().find(|argument| argument.kind == main.kind)?;
                        known.push((taker.name.clone(), value.clone()));
                        let others = arguments.iter().filter(|(name, _)| {
                            *name != main.name && *name != taker.name && tool.has_argument(name)
                        });
                        known.extend(others.cloned());
                    }
                    let arguments = filler.next(catalogue, &steps, tool, &known)?;
                    steps.push(Step { id: steps.len() as u64, tool: tool.name.clone(), arguments });
                }
            }
        }
        numbers.insert(step.id, steps.len().checked_sub(1)? as u64);
    }
    Some(Plan { steps })
}

/// A value with its references renumbered for the new plan.
fn moved(
    catalogue: &Catalogue,
    plan: &Plan,
    steps: &[Step],
    numbers: &BTreeMap<u64, u64>,
    value: &ArgumentValue,
) -> Option<ArgumentValue> {
    let ArgumentValue::Text(parts) = value else { return Some(value.clone()) };
    let part = |part: &TextPiece| {
        let TextPiece::Reference(Reference { step, key }) = part else { return Some(part.clone()) };
        let number = *numbers.get(step)?;
        let now = catalogue.find(&steps.get(usize::try_from(number).ok()?)?.tool)?;
        // A replacement may call its output differently. Then its output of the same kind is meant.
        let key = if now.has_output(key) {
            key.clone()
        } else {
            let before = plan.steps.iter().find(|before| before.id == *step)?;
            let given = catalogue.find(&before.tool)?.outputs.iter().find(|output| output.name == *key)?;
            now.outputs.iter().find(|output| output.kind == given.kind)?.name.clone()
        };
        Some(TextPiece::Reference(Reference { step: number, key }))
    };
    parts.iter().map(part).collect::<Option<_>>().map(ArgumentValue::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::generate::{EdgeRule, Inputs, begins_with, plan_of, written_json};

    fn plan(tools: &[&str]) -> Plan {
        let sequence: Vec<usize> = tools.iter().map(|tool| catalogue().place(tool).unwrap()).collect();
        let inputs = Inputs::own();
        let kind = begins_with(catalogue().find(tools[0]).unwrap()).unwrap();
        plan_of(catalogue(), &sequence, &inputs.of_kind(kind)[0], &mut Draw::new(1, 0, "test")).unwrap()
    }

    fn graph() -> ToolGraph {
        ToolGraph::new(catalogue(), EdgeRule::Listed)
    }

    fn tools(plan: &Plan) -> Vec<&str> {
        plan.steps.iter().map(|step| step.tool.as_str()).collect()
    }

    fn named(tool: &str, paths: &[&[&str]]) -> Alternatives {
        let mut all = Alternatives::default();
        for path in paths {
            assert!(all.add(tool, path.iter().map(|tool| (*tool).to_owned()).collect()));
        }
        all
    }

    #[test]
    fn the_papers_example_has_its_syntactic_alternatives() {
        let single = syntactic_alternatives(catalogue(), 1);
        let of_classification: Vec<&str> =
            single.of("image classification").iter().map(|path| path[0].as_str()).collect();
        assert_eq!(
            of_classification,
            ["image captioning", "optical character recognition", "visual question answering"]
        );
        assert_eq!(single.of("object detection").len(), 11);
        assert!(single.of("automatic speech recognition").is_empty());
        assert_eq!(single.of("select object"), [] as [Vec<String>; 0]);
    }

    #[test]
    fn paths_are_simple_and_bounded() {
        let [two, three, more] = [2, 3, 9].map(|tools| syntactic_alternatives(catalogue(), tools));
        let path = ["object detection", "count"].map(str::to_owned).to_vec();
        // From a picture through objects to a number, which is not an output of classification.
        assert!(!two.of("image classification").contains(&path));
        let over_a_picture = ["image generation", "image captioning"].map(str::to_owned).to_vec();
        assert!(two.of("text summarization").contains(&over_a_picture));
        assert!(three.iter().all(|(tool, paths)| {
            paths.iter().all(|path| path.len() <= 3 && !path.contains(&tool.to_owned()))
        }));
        assert_eq!(three, more);
    }

    #[test]
    fn all_combinations_are_made_and_those_that_fit_are_kept() {
        let mut all = named(
            "image classification",
            &[&["image captioning"], &["visual question answering"], &["object detection"]],
        );
        all.add("text generation", vec!["text summarization".to_owned()]);
        let original = plan(&["image classification", "text generation"]);
        let combined = all.combine(catalogue(), &graph(), &original, &mut Draw::new(1, 0, "test"));
        let made: Vec<_> = combined.plans.iter().map(tools).collect();
        assert_eq!(
            made,
            [
                ["image captioning", "text generation"],
                ["image captioning", "text summarization"],
                ["visual question answering", "text generation"],
            ]
        );
        // Detection outputs no text, and neither summarization nor question answering about pictures may follow
        // classification.
        assert_eq!((combined.combinations, combined.unfit, combined.is_cut()), (Some(7), 4, false));
        let first = written_json(&combined.plans[0]).to_string();
        assert!(first.contains("harbour.jpg") && first.contains("<node-0>.text"), "{first}");
    }

    #[test]
    fn a_path_takes_the_place_of_a_step_and_references_move() {
        let all = named("image captioning", &[&["object detection", "tag", "optical character recognition"]]);
        let original = plan(&["image captioning", "text generation", "image generation"]);
        let combined = all.combine(catalogue(), &graph(), &original, &mut Draw::new(1, 0, "test"));
        let plan = written_json(&combined.plans[0]).to_string();
        assert!(
            plan.contains(r#"{"objects":"<node-0>.objects"#)
                || plan.contains(r#""objects":"<node-0>.objects""#),
            "{plan}"
        );
        assert!(
            plan.contains(r#"{"args":{"text":"<node-2>.text"},"id":3,"name":"text generation"}"#),
            "{plan}"
        );
        assert!(
            plan.contains(r#"{"args":{"text":"<node-3>.text"},"id":4,"name":"image generation"}"#),
            "{plan}"
        );
    }

    #[test]
    fn rewritten_arguments_and_questions_stay() {
        let all = named("question answering", &[&["text summarization"]]);
        let original = plan(&["question answering", "text classification"]);
        let combined = all.combine(catalogue(), &graph(), &original, &mut Draw::new(1, 0, "test"));
        assert_eq!(tools(&combined.plans[0]), ["text summarization", "text classification"]);
        let all = named("image editing", &[&["visual question answering"]]);
        let original = plan(&["image editing"]);
        let combined = all.combine(catalogue(), &graph(), &original, &mut Draw::new(1, 0, "test"));
        let plan = written_json(&combined.plans[0]).to_string();
        assert!(plan.contains("\"question\":\""), "{plan}");
    }

    #[test]
    fn what_is_too_much_is_cut_and_said() {
        let mut all = Alternatives::default();
        for nth in 0..200 {
            all.add("text generation", vec![format!("unknown {nth}")]);
            all.add("text summarization", vec![format!("unknown {nth}")]);
        }
        let original = plan(&["text generation", "text summarization"]);
        let combined = all.combine(catalogue(), &graph(), &original, &mut Draw::new(1, 0, "test"));
        assert_eq!((combined.combinations, combined.is_cut()), (Some(201 * 201 - 1), true));
        assert_eq!(combined.unfit as u128, COMBINATIONS_MAX);
        assert!(
            !all.add("text generation", Vec::new())
                && !all.add("text generation", vec!["unknown 0".to_owned()])
        );
    }
}
