//! Several toolboxes as one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use planproof_trace::{Tool, ToolCall, ToolResult};
use thiserror::Error;

use crate::refusal::no_such_tool;
use crate::{BoxFuture, OpenSource, Restoring, Toolbox};

/// Longest name of a tool that every model provider accepts, in characters.
const NAME_CHARACTERS_MAX: usize = 64;

/// Why toolboxes cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CombinedToolsError {
    /// Two tools would have the same name, so a call would not say which one it means.
    #[error(
        "`{first}` and `{second}` both have a tool `{name}`: name one of them, as in `--tools other={second}`, and its \
         tools are called `other_...`"
    )]
    SameName {
        name: String,
        /// Where the one is from.
        first: String,
        /// Where the other is from.
        second: String,
    },
}

/// The tools of several sources, in the order of the sources.
///
/// A source with a name puts it and `_` before the names of its tools. Characters that some model provider refuses in
/// a name become `_`, names are cut at 64 characters, and if that makes two names of a source equal, the later one
/// gets a number; the source is called with its own names.
#[derive(Default)]
pub struct CombinedTools {
    tools: Arc<[Tool]>,
    /// For each tool the index of its source, and its name there.
    origins: Arc<HashMap<String, (usize, String)>>,
    sources: Vec<OpenSource>,
}

impl CombinedTools {
    /// Joins the tools. Without sources there are none.
    ///
    /// # Errors
    /// Two tools would have the same name.
    pub fn new(sources: Vec<OpenSource>) -> Result<Self, CombinedToolsError> {
        let mut tools = Vec::new();
        let mut origins: HashMap<String, (usize, String)> = HashMap::new();
        for (place, source) in sources.iter().enumerate() {
            for tool in source.toolbox().tools().iter() {
                let mut name = offered_name(source.name(), &tool.name);
                for number in 2.. {
                    // Names of one source differ, but their shortened forms may not.
                    let is_taken =
                        origins.get(&name).is_some_and(|(other, own)| *other == place && *own != tool.name);
                    if !is_taken {
                        break;
                    }
                    name = numbered(offered_name(source.name(), &tool.name), number);
                }
                if let Some((other, _)) = origins.get(&name) {
                    return Err(CombinedToolsError::SameName {
                        name,
                        first: sources[*other].label().to_owned(),
                        second: source.label().to_owned(),
                    });
                }
                origins.insert(name.clone(), (place, tool.name.clone()));
                tools.push(Tool { name, ..tool.clone() });
            }
        }
        Ok(Self { tools: tools.into(), origins: Arc::new(origins), sources })
    }

    pub fn sources(&self) -> &[OpenSource] {
        &self.sources
    }

    /// Ends the servers behind the sources. Later calls are answered by an error result.
    pub async fn close(&self) {
        futures::future::join_all(self.sources.iter().map(OpenSource::close)).await;
    }

    /// The source of a tool that was made in this run, and its name there. Whoever made it knows that name alone.
    fn made_as(&self, name: &str) -> Option<(usize, String)> {
        self.sources.iter().enumerate().find_map(|(place, source)| {
            let mut made = source.toolbox().made().into_iter();
            made.find(|tool| tool.name == name || offered_name(source.name(), &tool.name) == name)
                .map(|tool| (place, tool.name))
        })
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Some((place, own_name)) =
            self.origins.get(&call.name).cloned().or_else(|| self.made_as(&call.name))
        else {
            return no_such_tool(call, &self.tools);
        };
        let toolbox = self.sources[place].toolbox();
        // A call whose name is the same on both sides needs no copy.
        if own_name == call.name {
            return toolbox.execute(call).await;
        }
        toolbox.execute(&ToolCall { name: own_name, ..call.clone() }).await
    }
}

impl Toolbox for CombinedTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn made(&self) -> Vec<Tool> {
        let mut all: Vec<Tool> = Vec::new();
        for source in &self.sources {
            for tool in source.toolbox().made() {
                let name = offered_name(source.name(), &tool.name);
                // A call of a name that is taken means the earlier tool.
                if !self.origins.contains_key(&name) && all.iter().all(|other| other.name != name) {
                    all.push(Tool { name, ..tool });
                }
            }
        }
        all
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn runs_side_by_side(&self) -> bool {
        self.sources.iter().all(|source| source.toolbox().runs_side_by_side())
    }

    fn is_strictly_sequential(&self) -> bool {
        self.sources.iter().any(|source| source.toolbox().is_strictly_sequential())
    }

    fn outage(&self) -> Option<String> {
        self.sources.iter().find_map(|source| source.toolbox().outage())
    }

    fn restoring(&self) -> Restoring {
        let sources = self.sources.iter().map(|source| source.toolbox().restoring());
        // The most demanding source decides for all.
        sources.max().unwrap_or(Restoring::Nothing)
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let anew: Vec<Option<OpenSource>> = self.sources.iter().map(OpenSource::for_run).collect();
        if anew.iter().all(Option::is_none) {
            return None;
        }
        // Sources without a state of their own stay shared.
        let sources =
            anew.into_iter().zip(&self.sources).map(|(anew, old)| anew.unwrap_or_else(|| old.clone()));
        Some(Arc::new(Self {
            tools: Arc::clone(&self.tools),
            origins: Arc::clone(&self.origins),
            sources: sources.collect(),
        }))
    }
}

impl fmt::Debug for CombinedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CombinedTools").field("sources", &self.sources).finish_non_exhaustive()
    }
}

/// The name under which [`CombinedTools`] offers a tool of a source with this name, unless another tool of the same
/// source has it: with the source's name in front, and with characters that every provider of models accepts.
pub fn offered_name(source: Option<&str>, own: &str) -> String {
    let whole = match source {
        Some(source) => format!("{source}_{own}"),
        None => own.to_owned(),
    };
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    whole.chars().map(allowed).take(NAME_CHARACTERS_MAX).collect()
}

/// The name with a number appended, within the maximum length.
fn numbered(mut name: String, number: u32) -> String {
    let number = format!("_{number}");
    // Only ASCII is left in it.
    name.truncate(NAME_CHARACTERS_MAX - number.len());
    name + &number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_every_provider_takes() {
        assert_eq!(offered_name(None, "read_file-2"), "read_file-2");
        assert_eq!(offered_name(None, "fs.read/all é"), "fs_read_all__");
        assert_eq!(offered_name(Some("home"), "read"), "home_read");
        assert_eq!(offered_name(Some("home"), &"x".repeat(100)), format!("home_{}", "x".repeat(59)));
    }
}
