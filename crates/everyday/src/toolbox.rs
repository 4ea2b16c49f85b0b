//! The ten tools of one run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_media::{Blame, Media, MediaFolder, MediaTools, Operation, ToolFailure};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Arguments, Attachments, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::arguments::text;
use crate::confine::{Confinement, ProgramLimits};
use crate::definitions::{self, Kind};
use crate::player::{FILM_BYTES_MAX, Player};
use crate::{office, programs};

/// The shared parts of the tools of all runs: servers, the sandbox for programs, and the player.
pub struct Everyday {
    media: Arc<Media>,
    player: Option<Player>,
    limits: ProgramLimits,
    /// Folders that are searched for the sandbox.
    path: String,
    /// Tried when it is first needed.
    confinement: OnceCell<Confinement>,
    tools: Arc<[Tool]>,
}

impl Everyday {
    /// Tools that use these servers, and play films with this player if there is one. `path` is the list of folders
    /// that are searched for bubblewrap, as in the environment variable `PATH`. Sends no request and starts nothing
    /// yet.
    pub fn new(
        media: Arc<Media>,
        player: Option<Player>,
        limits: ProgramLimits,
        path: impl Into<String>,
    ) -> Arc<Self> {
        let (confinement, tools) = (OnceCell::new(), definitions::tools());
        Arc::new(Self { media, player, limits, path: path.into(), confinement, tools })
    }

    /// The tools of a run, which reads and writes in these folders.
    pub fn for_run(self: &Arc<Self>, folder: MediaFolder) -> EverydayTools {
        // It offers no tools itself; only its methods are used.
        let files = MediaTools::new(Arc::from([]), Arc::clone(&self.media), folder);
        EverydayTools { shared: Arc::clone(self), files, outage: Mutex::default() }
    }

    async fn confinement(&self) -> Result<&Confinement, ToolFailure> {
        // Tried once for all runs if it works. What is missing may be there later, such as room for processes.
        let found = self.confinement.get_or_try_init(|| Confinement::find(&self.path)).await;
        found.map_err(|unavailable| ToolFailure::world(unavailable.to_string()))
    }
}

impl fmt::Debug for Everyday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Everyday")
            .field("player", &self.player)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The ten tools of one run, over the files of that run. Needs a Tokio runtime.
///
/// Calls are made one after the other if the agent has no preference, because files are numbered in the order in
/// which they are written.
pub struct EverydayTools {
    shared: Arc<Everyday>,
    /// What works with servers and files.
    files: MediaTools,
    /// The first call that failed because of something other than servers and files.
    outage: Mutex<Option<String>>,
}

impl EverydayTools {
    /// The files of the run.
    pub fn folder(&self) -> &MediaFolder {
        self.files.folder()
    }

    async fn perform(
        &self,
        kind: Kind,
        arguments: &Map<String, Value>,
    ) -> Result<(String, Attachments), ToolFailure> {
        let object = |object: Map<String, Value>| (Value::Object(object).to_string(), Attachments::default());
        let plain = |text: String| (text, Attachments::default());
        let with_picture = |(object, attachments)| (Value::Object(object).to_string(), attachments);
        match kind {
            Kind::Weather => self.weather(arguments).await.map(object),
            Kind::ImageGenerator => {
                self.files.perform(Operation::ImageGeneration, arguments).await.map(with_picture)
            }
            Kind::TextExtractor => {
                self.files.perform(Operation::OpticalCharacterRecognition, arguments).await.map(with_picture)
            }
            Kind::Wikipedia => {
                self.files.perform(Operation::WikipediaSearch, arguments).await.map(with_picture)
            }
            Kind::Translator => self.files.translate(arguments).await.map(object),
            Kind::WebSearch => self.files.search_web(arguments).await.map(object),
            Kind::Shell => {
                // Without a sandbox no call can succeed, so this comes before any mistake in the arguments.
                let confinement = self.shared.confinement().await?;
                programs::shell(confinement, &self.shared.limits, arguments).await.map(plain)
            }
            Kind::Java => {
                let confinement = self.shared.confinement().await?;
                programs::java(confinement, &self.shared.limits, arguments).await.map(plain)
            }
            Kind::Office => {
                let (ending, bytes) = office::file(arguments)?;
                let name = self.files.save(ending, &bytes)?;
                Ok(object(Map::from_iter([("file".to_owned(), name.into())])))
            }
            Kind::MoviePlayer => {
                let title = text(arguments, "title", FILM_BYTES_MAX)?;
                let Some(player) = &self.shared.player else {
                    return Err(ToolFailure::world(
                        "there is no player: set `player`, as in player = \"xdg-open\"",
                    ));
                };
                let film = self.files.locate(&title, "a film")?;
                player.play(&film)?;
                Ok(plain(format!("{title} is being played")))
            }
        }
    }

    /// The forecast for a place by its name: first its position, then the weather there.
    async fn weather(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, ToolFailure> {
        let place = text(arguments, "place", planproof_media::TEXT_BYTES_MAX)?;
        let city = Map::from_iter([("city".to_owned(), json!(place))]);
        let (found, _) = self.files.perform(Operation::Location, &city).await?;
        let degrees = |key: &str| (key.to_owned(), found.get(key).cloned().unwrap_or_default());
        let there = Map::from_iter([degrees("lon"), degrees("lat")]);
        let (forecast, _) = self.files.perform(Operation::Weather, &there).await?;
        let days = forecast.get("objects").cloned().unwrap_or_default();
        Ok(Map::from_iter([("place".to_owned(), json!(place)), ("days".to_owned(), days)]))
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let id = call.id.clone();
        let Some(kind) = definitions::kind(&call.name) else {
            let names = definitions::NAMES.join(", ");
            return ToolResult::error(id, format!("there is no such tool; the tools are: {names}"));
        };
        let Arguments::Object(arguments) = &call.arguments else {
            return ToolResult::error(id, format!("the arguments of `{}` are not a JSON object", call.name));
        };
        match self.perform(kind, arguments).await {
            Ok((text, attachments)) => ToolResult::ok(id, text).with_attachments(attachments),
            Err(ToolFailure { fault, message }) => {
                if fault == Blame::World {
                    let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
                    outage.get_or_insert_with(|| format!("the tool `{}`: {message}", call.name));
                }
                ToolResult::error(id, message)
            }
        }
    }
}

impl Toolbox for EverydayTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.shared.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// A missing or broken server, sandbox or player.
    fn outage(&self) -> Option<String> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn restoring(&self) -> Restoring {
        self.files.restoring()
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        Some(Arc::new(self.shared.for_run(self.folder().for_another_run())))
    }
}

impl fmt::Debug for EverydayTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EverydayTools").field("shared", &self.shared).finish_non_exhaustive()
    }
}
