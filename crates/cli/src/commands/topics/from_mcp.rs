//! `planproof topics from-mcp`: a topic from the tools of the user's agent.

use std::collections::BTreeMap;
use std::path::Path;

use planproof_order::synth::{TopicBank, job_fault};
use planproof_order::topics::{Dropped, NamedTools, OwnTools, name_tools, prove_topics};
use planproof_tools::{ClientLimits, CombinedTools, Toolbox as _};
use planproof_trace::Tool;
use serde_json::json;

use super::{NOTES_MAX, Out, note_in_order};
use crate::arguments::{FromMcpArguments, Global};
use crate::commands::helper_model::HelperModel;
use crate::commands::tool_sources::Source;
use crate::commands::{runtime, tool_sources};
use crate::failure::{ExitCode, Failure};
use crate::terminal::inline;
use crate::{progress, select, signals};

pub(super) fn run(arguments: &FromMcpArguments, global: &Global) -> Result<ExitCode, Failure> {
    if let Some(fault) = job_fault(&arguments.job) {
        return Err(Failure::usage(format!("--job \"{}\" {fault}", arguments.job)));
    }
    let sources = tool_sources::parse(&arguments.sources)?;
    let given = arguments.names.as_deref().map(read_names).transpose()?.unwrap_or_default();
    let helper =
        arguments.model.as_deref().map(|model| HelperModel::find(model, &arguments.asking)).transpose()?;
    let out = Out::open(&arguments.out)?;
    // Whatever can fail without a server or a request has been checked by now.
    let runtime = runtime()?;
    let (tools, own_names) = runtime.block_on(list(&sources, global))?;
    let mut own = OwnTools { job: arguments.job.clone(), given, by_model: BTreeMap::new(), own_names };
    if let Some(helper) = &helper {
        own.by_model = runtime.block_on(name(helper, &tools, global))?;
        helper.tell_spent(global);
    }
    let of_names = |what: String| match &arguments.names {
        Some(path) => Failure::usage(format!("--names {}: {what}", path.display())),
        None => Failure::usage(what),
    };
    let named = own.topic(&tools).map_err(|what| of_names(inline(&what)))?;
    tell(&named, global);
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
    });
    out.write(&bank, &summary, global)?;
    Ok(ExitCode::Passed)
}

/// A file of names: texts by tools, with null for omitted ones.
fn read_names(path: &Path) -> Result<BTreeMap<String, Option<String>>, Failure> {
    serde_json::from_str(&select::read_text(path)?).map_err(|error| {
        Failure::usage(format!(
            "--names {}: {error}; write an object from names of tools to texts, as in {{\"get_invoice\": \"invoice retrieval\"}}",
            path.display()
        ))
    })
}

/// The tools of the sources, with their original names if they have another name here. The servers are ended then; no
/// tool is called.
async fn list(sources: &[Source], global: &Global) -> Result<(Vec<Tool>, BTreeMap<String, String>), Failure> {
    let stop = signals::stop_requested();
    let opened = tokio::select! {
        biased;
        () = stop => return Err(Failure::outside("interrupted before the tools were listed")),
        opened = tool_sources::open(sources, ClientLimits::default(), global) => opened?,
    };
    let combined = CombinedTools::new(opened);
    // The message is worded for `planproof run`. Here a source is no option.
    let combined = combined.map_err(|error| Failure::usage(error.to_string().replace("--tools ", "")))?;
    tool_sources::introduce(&combined, global);
    let mut renamed = BTreeMap::new();
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
        progress::say(global, &inline(&note));
    }
    let tools = combined.tools().to_vec();
    combined.close().await;
    Ok((tools, renamed))
}

/// Texts of a model.
async fn name(
    helper: &HelperModel,
    tools: &[Tool],
    global: &Global,
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
        progress::say(global, &inline(&format!("note: not taken for `{of}`: \"{text}\": it {why}")));
    }
    let missing: Vec<&str> =
        tools.iter().map(|tool| tool.name.as_str()).filter(|name| !texts.contains_key(*name)).collect();
    if !missing.is_empty() {
        progress::say(
            global,
            &format!(
                "note: the model has no text that can be used, so the rule names: {}",
                missing.join(", ")
            ),
        );
    }
    Ok(texts)
}

/// Reports what is left out, and what to check.
fn tell(named: &NamedTools, global: &Global) {
    for it in &named.left_out {
        progress::say(global, &inline(&format!("note: left out `{}`: {}", it.tool, it.why)));
    }
    for tool in &named.cut {
        progress::say(global, &format!("note: the description of `{tool}` is too long; its end is cut off"));
    }
    if !named.not_simulated.is_empty() {
        progress::say(
            global,
            &format!(
                "note: simulated models cannot make arguments that fit the schemas of {}; real ones may",
                named.not_simulated.join(", ")
            ),
        );
    }
    let pairs: Vec<_> = named.in_order.iter().map(|(one, other)| (None, one, other)).collect();
    note_in_order(&pairs, global);
}
