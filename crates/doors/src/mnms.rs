//! `planproof mnms`: data for the benchmark of that name, step by step.

pub mod arguments;
mod asking;
mod files;
mod generate;
mod keep;
mod ratings;
mod sheets;

use std::io::Write as _;

use planproof_mnms::catalogue;
use planproof_mnms::generate::{EdgeRule, Template, ToolGraph};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::terminal;
use planproof_trace::Port;
use serde_json::{Map, Value, json};

use self::arguments::{
    By, MnmsArguments, MnmsCommand, Prompt, SheetCommand, ToolGraphArguments, ToolGraphFormat,
};
use crate::Globals;

/// Longest walks that are counted for the eye.
const COUNTED_TOOLS: usize = 6;

pub fn run(arguments: &MnmsArguments, global: &Globals) -> Result<ExitCode, Failure> {
    match &arguments.command {
        MnmsCommand::Tools => tools(global),
        MnmsCommand::Graph(arguments) => graph(arguments, global),
        MnmsCommand::Prompts { prompt } => prompts(*prompt, global),
        MnmsCommand::Generate(arguments) => generate::run(arguments, global),
        MnmsCommand::Sheet { command } => match command {
            SheetCommand::Drafts { file, sheet } => sheets::drafts(file, sheet, global),
            SheetCommand::Alternatives { path_tools, model, sheet, asking } => {
                sheets::alternatives(*path_tools, model.as_deref(), sheet, asking, global)
            }
            SheetCommand::Results { file, results, count, sheet } => {
                sheets::results(file, results, *count, sheet, global)
            }
        },
        MnmsCommand::Agree { sheets, halves } => ratings::agree(sheets, *halves, global),
        MnmsCommand::Filter(arguments) => keep::filter(arguments, global),
        MnmsCommand::Alternatives(arguments) => keep::alternatives(arguments, global),
        MnmsCommand::Convert { file, to, out } => keep::convert(file, *to, out, global),
        MnmsCommand::Rate { sheets, metrics } => ratings::rate(sheets, metrics.as_deref(), global),
    }
}

/// The graph by that rule.
fn graph_by(by: By) -> ToolGraph {
    let rule = match by {
        By::List => EdgeRule::Listed,
        By::Kinds => EdgeRule::Kinds,
    };
    ToolGraph::new(catalogue(), rule)
}

fn tools(global: &Globals) -> Result<ExitCode, Failure> {
    let ports = |ports: &[Port]| -> Value {
        ports
            .iter()
            .map(|port| (port.name.clone(), Value::from(port.kind.as_str())))
            .collect::<Map<_, _>>()
            .into()
    };
    if global.json {
        let tool = |tool: &planproof_trace::Signature| {
            let next: Vec<&str> =
                tool.successors.iter().map(|place| catalogue().signatures()[*place].name.as_str()).collect();
            json!({
                "name": tool.name,
                "description": tool.description,
                "arguments": ports(&tool.arguments),
                "outputs": ports(&tool.outputs),
                "successors": next,
            })
        };
        return print_json(&catalogue().signatures().iter().map(tool).collect::<Vec<_>>())
            .map(|()| ExitCode::Passed);
    }
    let mut out = terminal::text();
    let listed = |ports: &[Port]| {
        ports.iter().map(|port| format!("{} ({})", port.name, port.kind)).collect::<Vec<_>>().join(", ")
    };
    for tool in catalogue().signatures() {
        writeln!(out, "{}: {}", tool.name, tool.description)?;
        writeln!(out, "    {} -> {}", listed(&tool.arguments), listed(&tool.outputs))?;
    }
    Ok(ExitCode::Passed)
}

fn graph(arguments: &ToolGraphArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let graph = graph_by(arguments.by);
    let walks = || (1..=COUNTED_TOOLS).map(|tools| (tools, graph.walks(tools)));
    if global.json {
        let mut document = graph.to_json();
        document["walks"] = walks()
            // As text, because many readers of JSON lose precision above 2^53.
            .map(|(tools, walks)| json!({"tools": tools, "walks": walks.map(|walks| walks.to_string())}))
            .collect();
        return print_json(&document).map(|()| ExitCode::Passed);
    }
    match arguments.format {
        ToolGraphFormat::Dot => terminal::document().write_all(graph.to_dot().as_bytes())?,
        ToolGraphFormat::Mermaid => terminal::document().write_all(graph.to_mermaid().as_bytes())?,
        ToolGraphFormat::Text => {
            let mut out = terminal::text();
            for (place, name) in graph.names().iter().enumerate() {
                let next: Vec<&str> =
                    graph.successors(place).iter().map(|next| graph.names()[*next].as_str()).collect();
                writeln!(
                    out,
                    "{name} -> {}",
                    if next.is_empty() { "nothing".to_owned() } else { next.join(", ") }
                )?;
            }
            writeln!(out, "\n{} tools, {} edges", graph.names().len(), graph.edges().count())?;
            for (tools, walks) in walks() {
                let walks = walks.map_or_else(|| "countless".to_owned(), |walks| walks.to_string());
                writeln!(out, "walks of {tools}: {walks}")?;
            }
        }
    }
    Ok(ExitCode::Passed)
}

fn prompts(prompt: Option<Prompt>, global: &Globals) -> Result<ExitCode, Failure> {
    let wanted = prompt.map(|prompt| match prompt {
        Prompt::Queries => Template::Queries,
        Prompt::Rewriting => Template::Rewriting,
        Prompt::Alternatives => Template::Alternatives,
    });
    let shown =
        || Template::ALL.into_iter().filter(|template| wanted.is_none_or(|wanted| wanted == *template));
    if global.json {
        let texts: Map<String, Value> =
            shown().map(|template| (template.as_str().to_owned(), template.text().into())).collect();
        return print_json(&texts).map(|()| ExitCode::Passed);
    }
    let mut out = terminal::text();
    for (nth, template) in shown().enumerate() {
        if wanted.is_none() {
            writeln!(out, "{}# {}\n", if nth == 0 { "" } else { "\n" }, template.as_str())?;
        }
        write!(out, "{}", template.text())?;
    }
    Ok(ExitCode::Passed)
}
