//! The toolbox with `search` and `lookup`.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::reader::Observation;
use super::{Dialect, PageLookup, PageSource, Reader, Style};
use crate::refusal::{no_such_tool, not_an_object};
use crate::{BoxFuture, Restoring, Toolbox};

/// Longest title that is searched, and longest text that is looked up, in bytes.
pub const TITLE_BYTES_MAX: usize = 1000;

/// Most characters of an answer; a longer one is cut, and ends in `...`.
pub const OBSERVATION_CHARACTERS_MAX: usize = 10_000;

/// Makes ReAct's environment search once more.
const AMBIGUITY: &str = "may refer to:";

/// The tools `search` (with a `title`) and `lookup` (with a `text`) over a source of pages, for one run. Calls are
/// served one after the other in order of arrival, because each depends on the previous ones.
pub struct SearchTools {
    tools: Arc<[Tool]>,
    source: Arc<dyn PageSource>,
    style: Style,
    time_max: Duration,
    reader: Mutex<Reader>,
    /// Why the source was unavailable, at the first failure in this run.
    outage: OnceLock<String>,
}

impl SearchTools {
    /// The tools of a run without a page yet. `time_max` is the longest time of one search.
    pub fn new(source: Arc<dyn PageSource>, style: Style, time_max: Duration) -> Self {
        let search = tool(
            "search",
            format!(
                "Searches {} for the page with this title, and answers with its first sentences, or with similar titles \
                 if there is no such page.",
                source.description()
            ),
            "title",
            "The title of a page, for example the name of a person, a place or a thing.",
        );
        let lookup = tool(
            "lookup",
            "Answers with the next sentence that contains this text on the page that was found last. The same text \
             again gives the sentence after that."
                .to_owned(),
            "text",
            "The text to look for.",
        );
        Self {
            tools: [search, lookup].into(),
            source,
            style,
            time_max,
            reader: Mutex::new(Reader::new(style)),
            outage: OnceLock::new(),
        }
    }

    /// The text of the page that `lookup` searches; `None` before the first one was found.
    pub async fn page(&self) -> Option<String> {
        self.reader.lock().await.page().map(str::to_owned)
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Some(place) = self.tools.iter().position(|tool| tool.name == call.name) else {
            return no_such_tool(call, &self.tools);
        };
        let is_search = place == 0;
        let arguments = match &call.arguments {
            Arguments::Object(arguments) => arguments,
            Arguments::Malformed(text) => return not_an_object(call, text),
        };
        let key = if is_search { "title" } else { "text" };
        let (1, Some(Value::String(text))) = (arguments.len(), arguments.get(key)) else {
            let text = format!("the arguments of `{}` do not fit: write {{\"{key}\": \"...\"}}", call.name);
            return ToolResult::error(call.id.clone(), text);
        };
        if text.len() > TITLE_BYTES_MAX {
            let text = format!("the {key} is longer than {TITLE_BYTES_MAX} bytes: write a shorter one");
            return ToolResult::error(call.id.clone(), text);
        }
        let mut reader = self.reader.lock().await;
        let observation = if is_search { self.search(&mut reader, text).await } else { reader.look_up(text) };
        let make = if observation.is_error { ToolResult::error } else { ToolResult::ok };
        make(call.id.clone(), cut(observation.text))
    }

    async fn search(&self, reader: &mut Reader, title: &str) -> Observation {
        let title = match self.style.dialect {
            Dialect::Own => title.trim(),
            Dialect::React => title,
            Dialect::Ibm => title.trim_matches('"'),
        };
        let mistake = |text: String| Observation { text, is_error: true };
        if title.is_empty() && self.style.dialect == Dialect::Own {
            return mistake("`search` needs the title of a page".to_owned());
        }
        match timeout(self.time_max, self.find(title)).await {
            Err(_) => self.failed(format!("the search did not end within {:?}", self.time_max)),
            Ok(Err(failure)) => self.failed(failure.to_string()),
            Ok(Ok(PageLookup::Page { title, text })) => reader.open(&title, &text),
            Ok(Ok(PageLookup::Ambiguous { titles })) => reader.ambiguous(title, &titles),
            Ok(Ok(PageLookup::Missing { similar })) => reader.missing(title, &similar),
        }
    }

    /// A search that nobody could have improved.
    fn failed(&self, why: String) -> Observation {
        // Only the first failure is kept: later ones tend to follow from it.
        let _ = self.outage.set(why.clone());
        Observation { text: why, is_error: true }
    }

    async fn find(&self, title: &str) -> Result<PageLookup, super::SourceFailure> {
        let found = self.source.find(title).await?;
        let is_ambiguous = match &found {
            PageLookup::Page { text, .. } => text.contains(AMBIGUITY),
            PageLookup::Ambiguous { .. } => true,
            PageLookup::Missing { .. } => false,
        };
        if self.style.dialect == Dialect::React && is_ambiguous {
            return self.source.find(&format!("[{title}]")).await;
        }
        Ok(found)
    }
}

fn tool(name: &str, description: String, key: &str, hint: &str) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {key: {"type": "string", "description": hint}},
        "required": [key],
        "additionalProperties": false
    });
    Tool { name: name.to_owned(), description, input_schema: schema.into() }
}

/// At most [`OBSERVATION_CHARACTERS_MAX`] characters.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(OBSERVATION_CHARACTERS_MAX) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

impl Toolbox for SearchTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    /// The same source, without a page.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        Some(Arc::new(Self {
            tools: Arc::clone(&self.tools),
            source: Arc::clone(&self.source),
            style: self.style,
            time_max: self.time_max,
            reader: Mutex::new(Reader::new(self.style)),
            outage: OnceLock::new(),
        }))
    }

    /// A page that was found is found again, so that `lookup` can search it.
    fn restoring(&self) -> Restoring {
        Restoring::Again
    }

    /// A source that could not be asked.
    fn outage(&self) -> Option<String> {
        self.outage.get().cloned()
    }
}

impl fmt::Debug for SearchTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchTools").field("style", &self.style).finish_non_exhaustive()
    }
}
