//! The prompts of a planning agent. The wording is ours; the parts of the prompt and their order are the paper's
//! (appendix C, Figures 13 to 15).

use std::fmt::Write as _;

use planproof_plan::{Plan, headings, read_json, step_to_json, to_json_text, to_line, to_python};
use planproof_spec::Compat;
use planproof_trace::template::fill;
use planproof_trace::{Catalogue, Demonstration, Port, Signature};

use super::{PlanFormat, PlanOptions, Strategy};
use crate::template::{Placeholder, PromptTemplate};

/// What the template of the first message can have.
pub(super) const PLACEHOLDERS: [Placeholder; 3] = [
    Placeholder::needed("tools", "the list of tools"),
    Placeholder::needed("request", "the request"),
    Placeholder::optional("examples", "the examples"),
];

/// The first message to the model, as a template: the tools, the task, examples, and the request.
pub(super) fn template(options: PlanOptions) -> String {
    let form = match options.format {
        PlanFormat::Json => include_str!("../../prompts/planning/json_steps.txt"),
        PlanFormat::Code => include_str!("../../prompts/planning/code_steps.txt"),
    };
    let requirements = include_str!("../../prompts/planning/requirements.txt");
    format!(
        "{}\n{{{{tools}}}}\n{}\n{}\n{}\n{}{{{{examples}}}}\n{}\n{{{{request}}}}\n\n{}\n{}\n",
        headings::TOOLS,
        headings::GOAL,
        include_str!("../../prompts/planning/goal.txt"),
        headings::REQUIREMENTS,
        fill(requirements, &[("form", form.trim_end())]),
        headings::REQUEST,
        ending(options),
        headings::RESULT
    )
}

/// The first message to the model.
pub(super) fn first(
    template: &PromptTemplate,
    options: PlanOptions,
    catalogue: &Catalogue,
    request: &str,
) -> String {
    let mut tools = String::new();
    for tool in catalogue.signatures() {
        tools.push_str(&match (options.format, options.compat) {
            (PlanFormat::Json, Compat::Ours) => listed(tool),
            (PlanFormat::Json, Compat::Original) => listed_as_published(tool),
            (PlanFormat::Code, _) => signature(tool, options.compat),
        });
        tools.push('\n');
    }
    let mut examples = String::new();
    for (number, demonstration) in catalogue.demonstrations().iter().enumerate() {
        if let Some(example) = example(options, demonstration) {
            let request = &demonstration.request;
            let _ = write!(
                examples,
                "\n{} {}\n{}\n{request}\n{}\n{example}\n",
                headings::EXAMPLE,
                number + 1,
                headings::REQUEST,
                headings::RESULT
            );
        }
    }
    template.filled(&[("tools", &tools), ("examples", &examples), ("request", request)])
}

/// What the reply has to look like.
pub(super) fn ending(options: PlanOptions) -> &'static str {
    match (options.strategy, options.format) {
        (Strategy::MultiStep, PlanFormat::Json) => headings::WHOLE_JSON,
        (Strategy::MultiStep, PlanFormat::Code) => headings::WHOLE_CODE,
        (Strategy::StepByStep, PlanFormat::Json) => headings::STEP_JSON,
        (Strategy::StepByStep, PlanFormat::Code) => headings::STEP_CODE,
    }
}

/// `image crop: Cuts ... Takes image (image), object (object). Gives image (image).`
fn listed(tool: &Signature) -> String {
    let ports = |ports: &[Port]| -> String {
        let shown: Vec<String> = ports.iter().map(|port| format!("{} ({})", port.name, port.kind)).collect();
        if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
    };
    format!(
        "{}: {} Takes {}. Gives {}.",
        tool.name,
        tool.description,
        ports(&tool.arguments),
        ports(&tool.outputs)
    )
}

/// `image crop: Cuts ... Inputs: image, object. Outputs: image.`
fn listed_as_published(tool: &Signature) -> String {
    let Signature { name, description, arguments, outputs, .. } = tool;
    format!("{name}: {description} Inputs: {}. Outputs: {}.", names(arguments), names(outputs))
}

/// `image_crop(image, object) -> {image}: Cuts ...`; as published without the braces.
fn signature(tool: &Signature, compat: Compat) -> String {
    let outputs = match compat {
        Compat::Ours => format!("{{{}}}", names(&tool.outputs)),
        Compat::Original => names(&tool.outputs),
    };
    format!("{}({}) -> {outputs}: {}", tool.identifier(), names(&tool.arguments), tool.description)
}

fn names(ports: &[Port]) -> String {
    ports.iter().map(|port| &*port.name).collect::<Vec<_>>().join(", ")
}

/// The text of a demonstration's plan; `None` if it is not a plan, which is a mistake of the suite.
fn example(options: PlanOptions, demonstration: &Demonstration) -> Option<String> {
    let plan = read_json(&demonstration.nodes.to_string()).ok();
    debug_assert!(plan.is_some(), "the plan of a demonstration can be read");
    let plan = plan?;
    Some(match options.strategy {
        Strategy::MultiStep => whole(options.format, &plan),
        Strategy::StepByStep => {
            let mut text = String::new();
            for (place, output) in (0..plan.steps.len()).zip(&demonstration.outputs) {
                let _ = writeln!(text, "{}", step(options.format, &plan, place));
                if place + 1 < plan.steps.len() {
                    let _ = writeln!(text, "{} {place}: {output}", headings::OBSERVATION);
                }
            }
            text.truncate(text.trim_end().len());
            text
        }
    })
}

/// A whole plan, as a reply writes it.
fn whole(format: PlanFormat, plan: &Plan) -> String {
    match format {
        PlanFormat::Json => format!("{{\"nodes\": {}}}", to_json_text(plan)),
        PlanFormat::Code => format!("```python\n{}\n```", to_python(plan)),
    }
}

/// One step of a plan, as a reply writes it.
fn step(format: PlanFormat, plan: &Plan, place: usize) -> String {
    let action = match format {
        PlanFormat::Json => step_to_json(&plan.steps[place]).to_string(),
        PlanFormat::Code => format!("```python\n{}\n```", to_line(&plan.steps[place])),
    };
    let tool = &plan.steps[place].tool;
    format!(
        "{} {place}: The next thing to do is {tool}.\n{} {place}: {action}",
        headings::THOUGHT,
        headings::ACTION
    )
}
