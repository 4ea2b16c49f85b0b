//! The tools of one run.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_suite::{BoxFuture, Toolbox};
use planproof_trace::{Arguments, Attachments, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::arguments::Given;
use crate::failure::{Blame, ToolFailure, quoted};
use crate::folder::MediaFolder;
use crate::operation::Operation;
use crate::services::{self, Servers};
use crate::settings::{Endpoints, SettingError};
use crate::work::{Done, Work};

/// Most pictures that are decoded or worked on at the same time, over all runs: each may take as much memory as
/// [`DECODE_BYTES_MAX`](crate::DECODE_BYTES_MAX), and about three times its pixels for what comes of it.
pub const PICTURES_AT_ONCE_MAX: usize = 2;

/// The shared parts of the tools of all runs: their servers, and slots for pictures.
pub struct Media {
    pub(crate) servers: Servers,
    pub(crate) room: Arc<Semaphore>,
}

impl Media {
    /// Tools that use these servers. Sends no request yet.
    ///
    /// # Errors
    /// A URL, a key or a number is unusable.
    pub fn new(endpoints: Endpoints) -> Result<Arc<Self>, SettingError> {
        let room = Arc::new(Semaphore::new(PICTURES_AT_ONCE_MAX));
        Ok(Arc::new(Self { servers: Servers::new(endpoints)?, room }))
    }

    /// The servers that are asked.
    pub fn endpoints(&self) -> &Endpoints {
        self.servers.endpoints()
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Media").finish_non_exhaustive()
    }
}

/// The tools of one run, over the files of that run. Needs a Tokio runtime.
///
/// Calls are made one after the other if the agent has no preference, because files are numbered in the order in
/// which they are written.
pub struct MediaTools {
    tools: Arc<[Tool]>,
    media: Arc<Media>,
    folder: Arc<MediaFolder>,
    /// The first call that failed because of something outside.
    outage: Mutex<Option<String>>,
}

impl MediaTools {
    /// These tools, each named like an [`Operation`], with blanks or underscores. A tool with any other name is
    /// answered by an error.
    pub fn new(tools: Arc<[Tool]>, media: Arc<Media>, folder: MediaFolder) -> Self {
        Self { tools, media, folder: Arc::new(folder), outage: Mutex::default() }
    }

    /// The files of the run.
    pub fn folder(&self) -> &MediaFolder {
        &self.folder
    }

    /// Performs one operation. The result is an object, such as `{"image": "out-0.png"}`.
    ///
    /// # Errors
    /// It fails; [`ToolFailure::fault`] says whose fault that is. A fault of the world is also an
    /// [`outage`](Toolbox::outage) of the run.
    pub async fn perform(
        &self,
        operation: Operation,
        arguments: &Map<String, Value>,
    ) -> Result<(Map<String, Value>, Attachments), ToolFailure> {
        let work = Work { media: &self.media, folder: &self.folder, given: Given(arguments) };
        let done = self.noted(operation.as_str(), work.perform(operation).await);
        done.map(|Done { value, attachments }| (value, attachments))
    }

    /// Translates the argument `text` `from` one language, by default `auto`, `to` another; both are codes such as
    /// `en`. The result is `{"text": "..."}`.
    ///
    /// # Errors
    /// Those of [`perform`](Self::perform).
    pub async fn translate(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, ToolFailure> {
        let given = Given(arguments);
        let translated = async {
            let (text, to) = (given.filled_text("text")?, given.filled_text("to")?);
            let from =
                if arguments.contains_key("from") { given.filled_text("from")? } else { "auto".to_owned() };
            let text = services::translate(&self.media.servers, &text, from.trim(), to.trim()).await?;
            Ok(Map::from_iter([("text".to_owned(), text.into())]))
        };
        self.noted("translation", translated.await)
    }

    /// Searches the web for the argument `query`. The result is `{"results": [...]}`, with at most
    /// [`HITS_MAX`](crate::HITS_MAX) items, each with `title`, `url` and `content`.
    ///
    /// # Errors
    /// Those of [`perform`](Self::perform).
    pub async fn search_web(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, ToolFailure> {
        let searched = async {
            let query = Given(arguments).filled_text("query")?;
            let hits = services::search_web(&self.media.servers, &query).await?;
            Ok(Map::from_iter([("results".to_owned(), hits.into())]))
        };
        self.noted("web search", searched.await)
    }

    /// Writes a file with this extension (letters and digits) into the folder of the run, and returns its name, such
    /// as `out-0.docx`. Waits for the disk.
    ///
    /// # Errors
    /// Those of [`perform`](Self::perform).
    pub fn save(&self, ending: &str, bytes: &[u8]) -> Result<String, ToolFailure> {
        self.noted("save", self.folder.save(ending, bytes))
    }

    /// The path of a file of the user's or of the run by its name, with symbolic links resolved. `what` is the file
    /// in words, for errors.
    ///
    /// # Errors
    /// Those of [`perform`](Self::perform).
    pub fn locate(&self, name: &str, what: &str) -> Result<PathBuf, ToolFailure> {
        self.noted("locate", self.folder.locate(name, what))
    }

    /// Records a failure that is nobody's fault here.
    fn noted<T>(&self, what: &str, done: Result<T, ToolFailure>) -> Result<T, ToolFailure> {
        if let Err(ToolFailure { fault: Blame::World, message }) = &done {
            let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
            outage.get_or_insert_with(|| format!("the tool `{what}` could not do its work: {message}"));
        }
        done
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let id = call.id.clone();
        // An operation exists for every name of the list, but a run may offer only some of them.
        let offered = |operation: &Operation| {
            self.tools.iter().any(|tool| Operation::named(&tool.name) == Some(*operation))
        };
        let Some(operation) = Operation::named(&call.name).filter(offered) else {
            return ToolResult::error(id, format!("there is no tool named {}", quoted(&call.name)));
        };
        let Arguments::Object(arguments) = &call.arguments else {
            let text = quoted(&call.arguments.to_text());
            return ToolResult::error(
                id,
                format!("the arguments of `{operation}` are not a JSON object: {text}"),
            );
        };
        match self.perform(operation, arguments).await {
            Ok((value, attachments)) => {
                ToolResult::ok(id, Value::Object(value).to_string()).with_attachments(attachments)
            }
            Err(failure) => ToolResult::error(id, failure.message),
        }
    }
}

impl Toolbox for MediaTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn runs_side_by_side(&self) -> bool {
        false
    }

    fn outage(&self) -> Option<String> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let folder = self.folder.for_another_run();
        Some(Arc::new(Self::new(Arc::clone(&self.tools), Arc::clone(&self.media), folder)))
    }
}

impl fmt::Debug for MediaTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaTools").field("folder", &self.folder).finish_non_exhaustive()
    }
}
