//! `planproof topics from-mcp`: a topic from the tools of the user's agent.

use std::collections::BTreeMap;
use std::path::Path;

use planproof_assembly::sources::{self, NamedSource};
use planproof_order::synth::{TopicBank, TopicFlow, job_fault};
use planproof_order::topics::{Dropped, NamedTools, OwnTools, name_tools, prove_topics, suggested_flows};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_output::{progress, signals, text_files};
use planproof_tools::{ClientLimits, CombinedTools, Toolbox as _};
use planproof_trace::Tool;
use serde_json::json;

use super::arguments::FromMcpArguments;
use super::{NOTES_MAX, Out, note_in_order};
use crate::Globals;
use crate::helper_model::HelperModel;

/// Most names in a note.
const NAMES_MAX: usize = 40;

pub(super) fn run(arguments: &FromMcpArguments, global: &Globals) -> Result<ExitCode, Failure> {
    if let Some(fault) = job_fault(&arguments.job) {
        return Err(Failure::usage(format!("--job \"{}\" {fault}", arguments.job)));
    }
    let flows = arguments.flows.iter().map(|text| parse_flow(text)).collect::<Result<Vec<_>, _>>()?;
    let sources = sources::parse(&arguments.sources)?;
    let given = arguments.names.as_deref().map(read_names).transpose()?.unwrap_or_default();
    let helper =
        arguments.model.as_deref().map(|model| HelperModel::find(model, &arguments.asking)).transpose()?;
    let out = Out::open(&arguments.out)?;
    // Whatever can fail without a server or a request has been checked by now.
    let runtime = runtime()?;
    let Listed { tools, own_names, outputs } = runtime.block_on(list(&sources, global))?;
    let mut own = OwnTools {
        job: arguments.job.clone(),
        given,
        by_model: BTreeMap::new(),
        own_names,
        descriptions_as_is: arguments.as_is,
    };
    if let Some(helper) = &helper {
        own.by_model = runtime.block_on(name(helper, &tools, global))?;
        helper.tell_spent(global.quiet);
    }
    let of_names = |what: String| match &arguments.names {
        Some(path) => Failure::usage(format!("--names {}: {what}", path.display())),
        None => Failure::usage(what),
    };
    let mut named = own.topic(&tools).map_err(|what| of_names(inline(&what)))?;
    tell(&named, global);
    for (flow, text) in flows.into_iter().zip(&arguments.flows) {
        named.topic.flows.push(flow);
        named
            .topic
            .check_rules()
            .map_err(|what| Failure::usage(inline(&format!("--flow {text}: {what}"))))?;
    }
    let suggested: Vec<String> = suggested_flows(&named.topic, &outputs).iter().map(flow_text).collect();
    for flow in suggested.iter().take(NOTES_MAX) {
        progress::say(global.quiet, &inline(&format!("suggested flow: --flow {flow}")));
    }
    if let Some(more) = suggested.len().checked_sub(NOTES_MAX).filter(|more| *more > 0) {
        progress::say(
            global.quiet,
            &format!("note: {more} more flows could be suggested; --json lists them all"),
        );
    }
    let usable = named.topic.activities.len();
    // A single activity has no order.
    if usable < 2 {
        return Err(Failure::usage(format!(
            "a topic needs at least 2 tools; of {} there {} {usable} that can be used",
            arguments.sources.join(" and "),
            if usable == 1 { "is" } else { "are" }
        )));
    }
    let bank = TopicBank::new(vec![named.topic.clone()])
        .map_err(|error| Failure::usage(inline(&error.to_string())))?;
    // Cases are drawn from the topic and read back, so that a text with two readings is found here and not in a
    // campaign.
    prove_topics(&bank).map_err(|why| Failure::outside(inline(&why)))?;
    let summary = json!({
        "topics": 1,
        "activities": usable,
        "left_out": named.left_out.iter().map(|it| json!({"tool": it.tool, "why": it.why})).collect::<Vec<_>>(),
        "in_order": named.in_order.iter().map(|(one, other)| json!({"first": one, "second": other})).collect::<Vec<_>>(),
        "not_simulated": named.not_simulated,
        "not_understood": named.not_understood.iter().map(|(tool, text)| json!({"tool": tool, "text": text})).collect::<Vec<_>>(),
        "suggested_flows": suggested,
    });
    out.write(&bank, &summary, global)?;
    Ok(ExitCode::Passed)
}

/// A flow as `FROM:TO.ARGUMENT`; its parts are checked once the tools are known.
fn parse_flow(text: &str) -> Result<TopicFlow, Failure> {
    let parts = text.split_once(':').and_then(|(from, rest)| Some((from, rest.rsplit_once('.')?)));
    match parts {
        Some((from, (to, argument))) if ![from, to, argument].contains(&"") => {
            Ok(TopicFlow { from: from.to_owned(), to: to.to_owned(), argument: argument.to_owned() })
        }
        _ => Err(Failure::usage(inline(&format!(
            "--flow {text}: write FROM:TO.ARGUMENT, as in search_customer:create_ticket.customer_id"
        )))),
    }
}

/// A flow as [`parse_flow`] reads it.
fn flow_text(flow: &TopicFlow) -> String {
    format!("{}:{}.{}", flow.from, flow.to, flow.argument)
}

/// A file of names: texts by tools, with null for omitted ones.
fn read_names(path: &Path) -> Result<BTreeMap<String, Option<String>>, Failure> {
    serde_json::from_str(&text_files::read_text(path)?).map_err(|error| {
        Failure::usage(format!(
            "--names {}: {error}; write an object from names of tools to texts, as in {{\"get_invoice\": \"invoice retrieval\"}}",
            path.display()
        ))
    })
}

/// The tools of the sources.
struct Listed {
    tools: Vec<Tool>,
    /// Their original names, by their names here, if the two differ.
    own_names: BTreeMap<String, String>,
    /// The members of their outputs, by their names here, as far as the servers say.
    outputs: BTreeMap<String, Vec<String>>,
}

/// Lists the tools. The servers are ended then; no tool is called.
async fn list(asked: &[NamedSource], global: &Globals) -> Result<Listed, Failure> {
    let stop = signals::stop_requested();
    let opened = tokio::select! {
        biased;
        () = stop => return Err(Failure::outside("interrupted before the tools were listed")),
        opened = sources::open(asked, ClientLimits::default(), global.quiet) => opened?,
    };
    let combined = CombinedTools::new(opened);
    // The message is worded for `planproof run`. Here a source is not an option.
    let combined = combined.map_err(|error| Failure::usage(error.to_string().replace("--tools ", "")))?;
    sources::introduce(&combined, global.quiet);
    let mut renamed = BTreeMap::new();
    let of_sources = combined.sources().iter().flat_map(|source| {
        let members = |name: &str| source.server().map(|server| server.output_members(name).to_vec());
        source.toolbox().tools().iter().map(move |tool| members(&tool.name).unwrap_or_default())
    });
    let names = combined.tools().iter().map(|tool| tool.name.clone());
    let outputs = names.zip(of_sources).collect();
    let own_names = combined.sources().iter().flat_map(|source| source.toolbox().tools().iter());
    for (offered, own) in
        combined.tools().iter().zip(own_names).filter(|(offered, own)| offered.name != own.name)
    {
        renamed.insert(offered.name.clone(), own.name.clone());
        if offered.name.ends_with(&format!("_{}", own.name)) {
            // Its source has a name, which the user gave it.
            continue;
        }
        let note =
            format!("note: `{}` is called `{}` here, as `planproof run` offers it", own.name, offered.name);
        progress::say(global.quiet, &inline(&note));
    }
    let tools = combined.tools().to_vec();
    combined.close().await;
    Ok(Listed { tools, own_names: renamed, outputs })
}

/// Texts of a model.
async fn name(
    helper: &HelperModel,
    tools: &[Tool],
    global: &Globals,
) -> Result<BTreeMap<String, String>, Failure> {
    let stop = helper.stop();
    let named = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(Failure::outside(format!("{}{}", helper.stopped_by(), helper.advice()))),
        named = name_tools(&helper.model, tools, global.seed) => named,
    };
    let (texts, dropped) = named
        .map_err(|error| Failure::outside(format!("{}{}", inline(&error.to_string()), helper.advice())))?;
    for Dropped { job, text, why } in dropped.iter().take(NOTES_MAX) {
        let of = job.as_deref().unwrap_or_default();
        progress::say(global.quiet, &inline(&format!("note: not taken for `{of}`: \"{text}\": it {why}")));
    }
    let missing: Vec<&str> =
        tools.iter().map(|tool| tool.name.as_str()).filter(|name| !texts.contains_key(*name)).collect();
    if !missing.is_empty() {
        progress::say(
            global.quiet,
            &format!(
                "note: the model has no text that can be used, so the rule names: {}",
                missing.join(", ")
            ),
        );
    }
    Ok(texts)
}

/// Reports what is left out, and what to check.
fn tell(named: &NamedTools, global: &Globals) {
    for it in &named.left_out {
        progress::say(global.quiet, &inline(&format!("note: left out `{}`: {}", it.tool, it.why)));
    }
    for tool in &named.cut {
        progress::say(
            global.quiet,
            &format!("note: the description of `{tool}` is too long; its end is cut off"),
        );
    }
    if !named.not_understood.is_empty() {
        let shown = named.not_understood.iter().take(NAMES_MAX);
        let shown: Vec<String> = shown.map(|(tool, text)| format!("`{tool}` (\"{text}\")")).collect();
        let more = match named.not_understood.len().saturating_sub(NAMES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        progress::say(
            global.quiet,
            &inline(&format!(
                "note: no rule fits the names of {}{more}: check that these texts are noun phrases, such as \"order \
                 cancellation\", and edit those that are not in the file of topics, or give them with --names",
                shown.join(", ")
            )),
        );
    }
    if !named.not_simulated.is_empty() {
        progress::say(
            global.quiet,
            &format!(
                "note: simulated models cannot make arguments that fit the schemas of {}; real ones may",
                named.not_simulated.join(", ")
            ),
        );
    }
    let pairs: Vec<_> = named.in_order.iter().map(|(one, other)| (None, one, other)).collect();
    note_in_order(&pairs, global);
}
