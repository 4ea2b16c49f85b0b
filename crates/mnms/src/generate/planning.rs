//! Plans by rule: turns a sequence of tools and an input into numbered calls with all their arguments (the paper,
//! section 3.2, step 4).

use planproof_plan::{ArgumentValue, Plan, Reference, Step, TextPiece};
use planproof_trace::{Catalogue, Draw, Signature};

use super::graph::{EdgeRule, ToolGraph};
use super::input::{Input, InputKind};
use super::own;

/// Kinds of values that only a file or an earlier step can provide.
const GIVEN_KINDS: [&str; 4] = ["image", "audio", "object", "list[dict]"];

/// The kind of input that a plan with this first tool starts from. `None` for a tool that takes objects: only
/// another tool finds those, so it cannot come first.
pub fn begins_with(tool: &Signature) -> Option<InputKind> {
    if tool.arguments.iter().any(|argument| matches!(argument.kind.as_str(), "object" | "list[dict]")) {
        return None;
    }
    match (tool.arguments.first()?.name.as_str(), tool.name.as_str()) {
        ("image", _) => Some(InputKind::Image),
        ("audio", _) => Some(InputKind::Audio),
        ("text", "text generation" | "image generation") => Some(InputKind::Idea),
        ("text", "wikipedia simple search") => Some(InputKind::Topic),
        ("text", _) => Some(InputKind::Text),
        ("date", _) => Some(InputKind::Date),
        ("year", _) => Some(InputKind::Year),
        ("number", _) => Some(InputKind::Number),
        ("first_name", _) => Some(InputKind::Names),
        ("city", _) => Some(InputKind::City),
        ("lon", _) => Some(InputKind::Place),
        ("movie_title", _) => Some(InputKind::Film),
        _ => None,
    }
}

/// The plan that calls these tools, given as indices into the catalogue, one after the other. The first tool gets
/// the input.
///
/// Steps are numbered from 0. An argument of a later step is an output of the previous step: the one with the same
/// name or, failing that, one of the same kind. Anything that the previous step does not provide is found as
/// follows:
/// - the picture that belongs to objects is the one in which they were found, as given to the step that found them
///   (the published verifier refuses a reference to the output of that step, see the specification, section 2);
/// - a question, a change, the name of an object, an emoji, a second name or a year comes from the input, or else
///   from a list of ours, chosen by `draw`.
///
/// `None` if nothing provides some argument, such as the objects for a first tool that takes objects.
pub fn plan_of(catalogue: &Catalogue, sequence: &[usize], input: &Input, draw: &mut Draw) -> Option<Plan> {
    let mut filler = Filler { input, draw, used: Vec::new() };
    let mut plan = Plan::default();
    for (nth, place) in sequence.iter().enumerate() {
        let tool = catalogue.signatures().get(*place)?;
        let arguments = match nth {
            0 => filler.first(tool)?,
            _ => filler.next(catalogue, &plan.steps, tool, &[])?,
        };
        plan.steps.push(Step { id: nth as u64, tool: tool.name.clone(), arguments });
    }
    Some(plan)
}

/// A text without references.
pub(super) fn words(text: &str) -> ArgumentValue {
    ArgumentValue::Text(vec![TextPiece::Words(text.to_owned())])
}

/// A reference and nothing else.
fn output(step: u64, key: &str) -> ArgumentValue {
    ArgumentValue::Text(vec![TextPiece::Reference(Reference { step, key: key.to_owned() })])
}

/// Finds values for arguments.
pub(super) struct Filler<'a> {
    pub(super) input: &'a Input,
    pub(super) draw: &'a mut Draw,
    /// Values used so far, by argument: a plan does not repeat a value while another is left.
    pub(super) used: Vec<(String, String)>,
}

impl Filler<'_> {
    /// The arguments of a first tool.
    fn first(&mut self, tool: &Signature) -> Option<Vec<(String, ArgumentValue)>> {
        let is_picture = tool.has_argument("image");
        let argument = |port: &planproof_trace::Port| {
            let value = match self.input.values.get(&port.name) {
                Some(value) => value.clone(),
                None if GIVEN_KINDS.contains(&port.kind.as_str()) => return None,
                None => self.fill(&port.name, is_picture, true)?,
            };
            Some((port.name.clone(), words(&value)))
        };
        tool.arguments.iter().map(argument).collect()
    }

    /// The arguments of a tool after these steps. `known` are the arguments that are already set; if there are
    /// none, the last step has to provide one.
    pub(super) fn next(
        &mut self,
        catalogue: &Catalogue,
        steps: &[Step],
        tool: &Signature,
        known: &[(String, ArgumentValue)],
    ) -> Option<Vec<(String, ArgumentValue)>> {
        let mut values: Vec<Option<ArgumentValue>> = tool
            .arguments
            .iter()
            .map(|port| known.iter().find(|(name, _)| *name == port.name).map(|(_, value)| value.clone()))
            .collect();
        if known.is_empty() {
            let last = steps.last()?;
            let given = &catalogue.find(&last.tool)?.outputs;
            for (port, value) in tool.arguments.iter().zip(&mut values) {
                // Outputs of the same name come first, and all of them: the
                // weather takes both longitude and latitude of a place.
                if given.iter().any(|output| output.name == port.name && output.kind == port.kind) {
                    *value = Some(output(last.id, &port.name));
                }
            }
            if values.iter().all(Option::is_none) {
                // Only the first argument that fits is set. A tool with two
                // texts would otherwise get the same text twice.
                let kinds = tool.arguments.iter().enumerate();
                let (nth, key) = kinds
                    .filter_map(|(nth, port)| {
                        Some((nth, given.iter().find(|given| given.kind == port.kind)?))
                    })
                    .next()?;
                values[nth] = Some(output(last.id, &key.name));
            }
        }
        for (port, value) in tool.arguments.iter().zip(&mut values).filter(|(_, value)| value.is_none()) {
            *value = Some(match port.kind.as_str() {
                "image" => picture(catalogue, steps)?,
                kind @ ("object" | "list[dict]") => latest(catalogue, steps, kind)?,
                // No tool outputs a recording, so it has to be one that an earlier step was given.
                "audio" => argument_of(steps.iter().rev(), "audio")?,
                _ => {
                    let is_picture = tool.has_argument("image");
                    let is_of_input = self.is_of_input(steps, &port.name, is_picture);
                    words(&self.fill(&port.name, is_picture, is_of_input)?)
                }
            });
        }
        tool.arguments.iter().zip(values).map(|(port, value)| Some((port.name.clone(), value?))).collect()
    }

    /// Whether the description that comes with the input still holds after these steps.
    fn is_of_input(&self, steps: &[Step], argument: &str, is_picture: bool) -> bool {
        let begins_with_picture = self.input.values.contains_key("image");
        match argument {
            "object_name" => begins_with_picture,
            "question" => begins_with_picture == is_picture && !steps.iter().any(gives_a_new_text),
            // A change that comes with the picture describes it as it was before the first step.
            "prompt" => begins_with_picture && steps.is_empty(),
            _ => false,
        }
    }

    /// A value for an argument that no step provides.
    pub(super) fn fill(&mut self, argument: &str, is_picture: bool, is_of_input: bool) -> Option<String> {
        let said: &[String] = match argument {
            _ if !is_of_input => &[],
            "question" => &self.input.questions,
            "prompt" => &self.input.prompts,
            "object_name" => &self.input.labels,
            _ => &[],
        };
        let is_new = |value: &str| !self.used.iter().any(|(name, used)| name == argument && used == value);
        // The input comes first, then our list without what was used. A repeated value is better than no plan.
        let mut open: Vec<&str> = said.iter().map(String::as_str).filter(|value| is_new(value)).collect();
        let ours = own::fillings(argument, is_picture);
        if open.is_empty() {
            open = ours.iter().copied().filter(|value| is_new(value)).collect();
        }
        if open.is_empty() {
            open = ours;
        }
        if open.is_empty() {
            return None;
        }
        let value = open[self.draw.place(open.len())].to_owned();
        self.used.push((argument.to_owned(), value.clone()));
        Some(value)
    }
}

/// Whether the output of this step is a new text, to which the description of the input no longer applies.
fn gives_a_new_text(step: &Step) -> bool {
    matches!(step.tool.as_str(), "text generation" | "wikipedia simple search" | "question answering")
}

/// The value of the argument with that name in the first of these steps that has one.
fn argument_of<'s>(mut steps: impl Iterator<Item = &'s Step>, name: &str) -> Option<ArgumentValue> {
    steps.find_map(|step| step.arguments.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()))
}

/// The current picture after these steps: the output of the last step that involves a picture or, if that step
/// outputs objects or no picture at all, its input.
fn picture(catalogue: &Catalogue, steps: &[Step]) -> Option<ArgumentValue> {
    steps.iter().rev().find_map(|step| {
        let tool = catalogue.find(&step.tool)?;
        if tool.has_output("image") && !gives_objects(tool) {
            return Some(output(step.id, "image"));
        }
        argument_of(std::iter::once(step), "image")
    })
}

/// The last output of a kind.
fn latest(catalogue: &Catalogue, steps: &[Step], kind: &str) -> Option<ArgumentValue> {
    steps.iter().rev().find_map(|step| {
        let given = catalogue.find(&step.tool)?.outputs.iter().find(|output| output.kind == kind)?;
        Some(output(step.id, &given.name))
    })
}

fn gives_objects(tool: &Signature) -> bool {
    tool.outputs.iter().any(|output| output.kind == "list[dict]")
}

/// What is wrong with a plan by the rules for generated plans: tools and arguments are in the catalogue; references
/// point back to existing outputs, and follow edges of the graph or, for a picture, refer to the input of an
/// earlier step (of one that found objects in it under the rule of the list, of any step under the rule of kinds).
/// Empty if nothing is wrong.
pub fn faults(catalogue: &Catalogue, graph: &ToolGraph, plan: &Plan) -> Vec<String> {
    let mut faults = Vec::new();
    for (nth, step) in plan.steps.iter().enumerate() {
        let Some(tool) = catalogue.find(&step.tool) else {
            faults.push(format!("step {}: there is no tool \"{}\"", step.id, step.tool));
            continue;
        };
        let mut given: Vec<&str> = step.arguments.iter().map(|(name, _)| name.as_str()).collect();
        let mut taken: Vec<&str> = tool.arguments.iter().map(|port| port.name.as_str()).collect();
        // Compared as sorted lists, so an argument that is given twice is a fault, too.
        given.sort_unstable();
        taken.sort_unstable();
        if given != taken {
            faults.push(format!("step {}: \"{}\" takes {}", step.id, tool.name, taken.join(", ")));
        }
        for (name, value) in &step.arguments {
            for reference in value.references() {
                let source = plan.steps[..nth].iter().find(|earlier| earlier.id == reference.step);
                let Some((source, of)) =
                    source.and_then(|source| Some((source, catalogue.find(&source.tool)?)))
                else {
                    faults.push(format!("step {}: no earlier step {}", step.id, reference.step));
                    continue;
                };
                if !of.has_output(&reference.key) {
                    faults.push(format!("step {}: \"{}\" gives no {}", step.id, of.name, reference.key));
                }
                let is_joined = catalogue
                    .place(&of.name)
                    .zip(catalogue.place(&tool.name))
                    .is_some_and(|(first, second)| graph.joins(first, second));
                let earlier = &plan.steps[..nth];
                let shares_picture = name == "image" && is_at_hand(catalogue, graph.rule(), earlier, value);
                if !is_joined && !shares_picture {
                    let (second, first) = (&tool.name, &source.tool);
                    faults.push(format!("step {}: \"{second}\" does not follow \"{first}\"", step.id));
                }
            }
        }
    }
    faults
}

/// Whether one of the steps takes exactly that picture: a step that finds objects in it under the rule of the list,
/// any step under the rule of kinds.
fn is_at_hand(catalogue: &Catalogue, rule: EdgeRule, steps: &[Step], picture: &ArgumentValue) -> bool {
    steps.iter().any(|step| {
        (rule == EdgeRule::Kinds || catalogue.find(&step.tool).is_some_and(gives_objects))
            && step.arguments.iter().any(|(name, value)| name == "image" && value == picture)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::generate::{EdgeRule, Inputs, draw_sequences, written_json};

    fn plan(tools: &[&str]) -> Option<String> {
        let catalogue = catalogue();
        let sequence: Vec<usize> = tools.iter().map(|tool| catalogue.place(tool).unwrap()).collect();
        let inputs = Inputs::own();
        let kind = begins_with(catalogue.find(tools[0]).unwrap())?;
        let input = &inputs.of_kind(kind)[0];
        plan_of(catalogue, &sequence, input, &mut Draw::new(1, 0, "test"))
            .map(|plan| written_json(&plan).to_string())
    }

    #[test]
    fn later_arguments_refer_to_the_step_before() {
        for (tools, arguments) in [
            (&["text summarization", "image generation"][..], r#"{"text":"<node-0>.text"}"#),
            (&["object detection", "tag"], r#"{"image":"<node-0>.image","objects":"<node-0>.objects"}"#),
            (&["get location", "get weather"], r#"{"lat":"<node-0>.lat","lon":"<node-0>.lon"}"#),
            (&["love calculator", "get math fact"], r#"{"number":"<node-0>.number"}"#),
            (&["image crop left", "image captioning", "text generation"], r#"{"text":"<node-1>.text"}"#),
        ] {
            let plan = plan(tools).unwrap();
            assert!(plan.contains(arguments), "{tools:?}: {plan}");
        }
    }

    #[test]
    fn what_no_step_gives_comes_from_the_input_or_a_list() {
        let editing = plan(&["image editing"]).unwrap();
        assert!(editing.contains(r#""prompt":"make the sea look stormy""#), "{editing}");
        let film = plan(&["search movie"]).unwrap();
        assert!(film.contains(r#""movie_title":"Metropolis","movie_year":"1927""#), "{film}");
        let passage = plan(&["question answering"]).unwrap();
        assert!(passage.contains("Why was the bridge closed?"), "{passage}");
        let later = plan(&["image generation", "image editing"]).unwrap();
        assert!(own::fillings("prompt", true).iter().any(|prompt| later.contains(prompt)), "{later}");
    }

    #[test]
    fn the_picture_of_selected_objects_is_the_one_they_were_found_in() {
        for tool in ["image crop", "background blur", "color pop", "emoji"] {
            let plan = plan(&["object detection", "select object", tool]).unwrap();
            assert!(
                plan.contains(r#""image":"harbour.jpg","object":"<node-1>.object""#) || tool == "emoji",
                "{plan}"
            );
            assert_eq!(plan.matches("harbour.jpg").count(), 2, "{plan}");
            assert!(
                plan.contains(r#""object_name":"boat""#) || plan.contains(r#""object_name":"person""#),
                "{plan}"
            );
        }
        let drawn = plan(&["image generation", "object detection", "select object", "image crop"]).unwrap();
        assert!(drawn.contains(r#""image":"<node-0>.image","object":"<node-2>.object""#), "{drawn}");
    }

    #[test]
    fn tools_that_take_objects_begin_no_plan() {
        let none: Vec<&str> = catalogue()
            .signatures()
            .iter()
            .filter(|tool| begins_with(tool).is_none())
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(
            none,
            ["image crop", "background blur", "color pop", "count", "tag", "select object", "emoji"]
        );
        let select = catalogue().place("select object").unwrap();
        assert_eq!(plan_of(catalogue(), &[select], &Input::default(), &mut Draw::new(1, 0, "test")), None);
    }

    #[test]
    fn every_walk_that_can_begin_makes_a_plan_without_faults() {
        let (catalogue, inputs) = (catalogue(), Inputs::own());
        for (rule, lengths, at_least) in [(EdgeRule::Listed, 1..=4, 2000), (EdgeRule::Kinds, 1..=3, 2900)] {
            let graph = ToolGraph::new(catalogue, rule);
            let walks = draw_sequences(&graph, lengths, usize::MAX, 1, |walk| {
                begins_with(&catalogue.signatures()[walk[0]]).is_some()
            });
            let mut plans = 0;
            for walk in walks.unwrap().drawn {
                let kind = begins_with(&catalogue.signatures()[walk[0]]).unwrap();
                let draw = &mut Draw::new(1, plans, "test");
                let Some(plan) = plan_of(catalogue, &walk, &inputs.of_kind(kind)[0], draw) else {
                    assert_eq!(rule, EdgeRule::Kinds, "{walk:?}");
                    continue;
                };
                plans += 1;
                assert_eq!(faults(catalogue, &graph, &plan), Vec::<String>::new(), "{plan:?}");
            }
            assert!(plans > at_least, "{plans}");
        }
    }

    #[test]
    fn faults_are_found() {
        let (catalogue, graph) = (catalogue(), ToolGraph::new(catalogue(), EdgeRule::Listed));
        let step = |id, tool: &str, argument: &str, value| Step {
            id,
            tool: tool.to_owned(),
            arguments: vec![(argument.to_owned(), value)],
        };
        for (second, fault) in [
            (step(1, "text translation", "text", words("x")), "there is no tool"),
            (step(1, "text generation", "words", words("x")), "\"text generation\" takes text"),
            (step(1, "text generation", "text", output(1, "text")), "no earlier step 1"),
            (step(1, "text generation", "text", output(0, "image")), "gives no image"),
            (step(1, "image captioning", "image", output(0, "text")), "does not follow"),
        ] {
            let plan = Plan { steps: vec![step(0, "text summarization", "text", words("x")), second] };
            let found = faults(catalogue, &graph, &plan);
            assert!(found.len() == 1 && found[0].contains(fault), "{found:?}");
        }
    }
}
