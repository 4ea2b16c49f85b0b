//! The published `search` and `lookup` environments, built around our tools in the matching dialects.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use planproof_tools::pages::{Dialect, PageLookup, PageSource, SearchTools, SourceFailure, Style};
use planproof_tools::{BoxFuture, Toolbox as _};
use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::{document, text};

type Pairs = Vec<(Value, Value)>;

/// The time limit of a search. All its pages are in memory.
const SEARCH_TIME: Duration = Duration::from_secs(60);

/// The page the kit serves for every title without a page of its own.
const NO_PAGE: &str = "Nowhere";

/// What ReAct's environment answers to a thought, and to any action once the episode is over.
const AFTER_THOUGHT: &str = "Nice thought.";
const AFTER_END: &str = "Episode finished, reward = 0\n";

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_time().build()?)
}

fn call(tools: &SearchTools, runtime: &Runtime, tool: &str, text: &str) -> String {
    let key = if tool == "search" { "title" } else { "text" };
    let arguments = Arguments::from_text(&json!({ key: text }).to_string());
    let call = ToolCall { id: CallId::new("c1"), name: tool.to_owned(), arguments };
    runtime.block_on(tools.execute(&call)).text
}

/// HTML pages, read either as paragraphs and lists or as a list of hits.
struct Html(Value);

impl PageSource for Html {
    fn description(&self) -> String {
        "the kit".to_owned()
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>> {
        let html = self.0.get(title).unwrap_or(&self.0[NO_PAGE]).as_str().unwrap_or_default();
        // A list of hits means that no page has the title; Wikipedia then shows the results of a search.
        let hits = elements(html, "div class=\"mw-search-result-heading\"", "div");
        let found = if hits.is_empty() {
            // All paragraphs come before all lists, not in the order of the page.
            let items = [elements(html, "p", "p"), elements(html, "ul", "ul")].concat();
            PageLookup::Page { title: title.to_owned(), text: items.join("\n") }
        } else {
            PageLookup::Missing { similar: hits }
        };
        Box::pin(std::future::ready(Ok(found)))
    }
}

/// The texts, without tags, of the elements that start with this tag. None of them contains another of its kind.
fn elements(html: &str, begin: &str, end: &str) -> Vec<String> {
    let (begin, end) = (format!("<{begin}>"), format!("</{end}>"));
    let inner = html.split(&begin).skip(1).map(|part| part.split(&end).next().unwrap_or_default());
    let bare = |inner: &str| -> String {
        // Each piece but the first begins inside a tag; what follows its `>` is text.
        inner.split('<').map(|piece| piece.rsplit('>').next().unwrap_or_default()).collect()
    };
    inner.map(|inner| bare(inner).trim().to_owned()).collect()
}

/// ReAct's environment: four actions around the two tools.
struct Environment {
    tools: SearchTools,
    runtime: Runtime,
    steps: u32,
    answer: Option<String>,
}

impl Environment {
    fn step(&mut self, action: &str) -> String {
        // The original counts no steps and runs no action after the end.
        if self.answer.is_some() {
            return AFTER_END.to_owned();
        }
        self.steps += 1;
        let action = action.trim();
        let whole = action.split_once('[').and_then(|(name, rest)| Some((name, rest.strip_suffix(']')?)));
        match whole {
            Some((tool @ ("search" | "lookup"), text)) => call(&self.tools, &self.runtime, tool, text),
            Some(("finish", answer)) => {
                self.answer = Some(answer.to_owned());
                AFTER_END.to_owned()
            }
            Some(("think", _)) => AFTER_THOUGHT.to_owned(),
            _ => format!("Invalid action: {action}"),
        }
    }
}

pub(super) fn react_steps(directory: &Path) -> Result<Pairs> {
    let kit = document(directory, "react_wikienv.json")?;
    let mut pairs = Vec::new();
    for sequence in kit["sequences"].as_array().context("there are no sequences")? {
        let html = Arc::new(Html(kit["pages_html"].clone()));
        let tools = SearchTools::new(html, Style::new(Dialect::React), SEARCH_TIME);
        // A new environment for each sequence: the open page and the position of `lookup` last from step to step.
        let mut world = Environment { tools, runtime: runtime()?, steps: 0, answer: None };
        for step in sequence["steps"].as_array().context("a sequence has no steps")? {
            let action = text(step, "action")?;
            let observation = world.step(action);
            let page = world.runtime.block_on(world.tools.page());
            let found = json!({
                "action": action,
                "obs": observation,
                "done": world.answer.is_some(),
                "steps": world.steps,
                "answer": world.answer,
                "page": page,
            });
            pairs.push((step.clone(), found));
        }
    }
    Ok(pairs)
}

/// The summaries of the kit. The kit does not list separately which titles resemble one without a summary, so they
/// are taken from the recorded answer.
struct Summaries {
    texts: Value,
    similar: Vec<(String, Vec<String>)>,
}

impl PageSource for Summaries {
    fn description(&self) -> String {
        "the kit".to_owned()
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>> {
        let similar =
            || self.similar.iter().find(|(other, _)| other == title).map(|(_, titles)| titles.clone());
        let found = match self.texts[title].as_str() {
            Some(text) => PageLookup::Page { title: title.to_owned(), text: text.to_owned() },
            None => PageLookup::Missing { similar: similar().unwrap_or_default() },
        };
        Box::pin(std::future::ready(Ok(found)))
    }
}

pub(super) fn ibm_steps(directory: &Path) -> Result<Pairs> {
    let kit = document(directory, "ibm_wiki_tools.json")?;
    let steps = kit["steps"].as_array().context("there are no steps")?;
    let similar = steps.iter().filter_map(|step| {
        // The recorded output is a Python list in words.
        let (_, list) = step["output"].as_str()?.split_once("Similar: ['")?;
        let titles = list.trim_end_matches("']").split("', '").map(str::to_owned).collect();
        Some((step["input"].as_str()?.to_owned(), titles))
    });
    let source = Summaries { texts: kit["summaries"].clone(), similar: similar.collect() };
    let tools = SearchTools::new(Arc::new(source), Style::new(Dialect::Ibm), SEARCH_TIME);
    let runtime = runtime()?;
    let pairs = steps.iter().map(|step| {
        let (tool, input) = (text(step, "tool")?, text(step, "input")?);
        let output = call(&tools, &runtime, &tool.to_lowercase(), input);
        Ok((step.clone(), json!({"tool": tool, "input": input, "output": output})))
    });
    pairs.collect()
}
