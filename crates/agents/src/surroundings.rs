//! The surroundings of agents that are not our code: a server for their tools, and one for their model.

use std::sync::Arc;
use std::time::Duration;

use planproof_model::Model;
use planproof_model::server::{ModelServer, ReplyWatch, ServedRun, ServerConfig};
use planproof_tools::mcp::{AccessToken, McpRun, McpServer, RunTools, TOKEN_BYTES, WrittenCalls};
use planproof_trace::{EndReason, LimitKind};
use secrecy::SecretString;
use tokio::sync::OnceCell;

use crate::{Contact, ExternalRun, ModelAccess, Ran, RunContext, RunError};

/// A model that is served to the agent under test.
#[derive(Clone)]
pub struct ServedModel {
    pub model: Arc<dyn Model>,
    /// Its name, as the agent is told it.
    pub name: String,
    /// The key that the agent is given, and has to use.
    pub key: SecretString,
}

/// Observes what a served model writes in one run.
pub trait ServedWatch: ReplyWatch {
    /// The calls that it has written, so that they are executed in the order of writing.
    fn written(&self) -> &Arc<WrittenCalls>;

    /// Why the run says nothing about its agent, if the requests or replies show that.
    fn unscored(&self) -> Option<String>;
}

/// Makes the watch of a run.
type MakeWatch = Arc<dyn Fn(&RunContext<'_>) -> Arc<dyn ServedWatch> + Send + Sync>;

/// What concurrent runs share. A server is started by the first run that needs it, and ends when this is dropped.
pub struct Surroundings {
    token: fn() -> [u8; TOKEN_BYTES],
    hold: Duration,
    served: Option<(ServedModel, MakeWatch)>,
    tools: OnceCell<McpServer>,
    models: OnceCell<ModelServer>,
}

impl Surroundings {
    /// Without a model. `token` draws the secret part of a run's URLs.
    pub fn new(token: fn() -> [u8; TOKEN_BYTES]) -> Self {
        let (tools, models) = Default::default();
        Self { token, hold: Duration::ZERO, served: None, tools, models }
    }

    /// The same, with the answers of tools delayed by this time, as in [`RunTools::hold`].
    #[must_use]
    pub fn holding(mut self, hold: Duration) -> Self {
        self.hold = hold;
        self
    }

    /// The same, with this model served to each run, with a watch of its own.
    #[must_use]
    pub fn serving(
        mut self,
        model: ServedModel,
        watch: impl Fn(&RunContext<'_>) -> Arc<dyn ServedWatch> + Send + Sync + 'static,
    ) -> Self {
        self.served = Some((model, Arc::new(watch)));
        self
    }

    /// Opens the surroundings to one run, until the returned value is dropped, for an agent that reaches this machine
    /// by one of these names, or by its loopback address if there are none.
    pub(crate) async fn open(&self, run: &RunContext<'_>, hosts: &[String]) -> Result<OpenRun<'_>, RunError> {
        let server = self.tools.get_or_try_init(|| McpServer::bind(0)).await?;
        // Made before the tools, which let a call wait for those that were written before it.
        let watched = self.served.as_ref().map(|(served, watch)| (served, watch(run)));
        let tools = RunTools {
            toolbox: Arc::clone(run.toolbox),
            recorder: run.recorder.clone(),
            calls_max: run.limits.iterations,
            written: watched.as_ref().map(|(_, watch)| Arc::clone(watch.written())),
            hold: self.hold,
        };
        // The URL identifies the run, because frameworks open several sessions or none.
        let tools = server.open_to(tools, AccessToken::from_random((self.token)()), hosts)?;
        let model = match watched {
            None => None,
            Some((served, watch)) => {
                let models = self.models.get_or_try_init(|| bind(served)).await?;
                let name = AccessToken::from_random((self.token)()).as_str().to_owned();
                // One signal for both servers: whichever reaches its limit first ends the run.
                let limit_reached = tools.limit_reached().clone();
                let replies = Arc::clone(&watch) as Arc<dyn ReplyWatch>;
                let run = models.open(name, hosts, run.limits.iterations, limit_reached, replies);
                Some(OpenModel { served, run, watch })
            }
        };
        Ok(OpenRun { tools, has_tools: !run.toolbox.tools().is_empty(), model })
    }
}

async fn bind(served: &ServedModel) -> Result<ModelServer, RunError> {
    let config = ServerConfig { key: Some(served.key.clone()), ..ServerConfig::default() };
    let bound = ModelServer::bind(Arc::clone(&served.model), config).await;
    bound.map_err(|source| RunError::Serve { name: served.name.clone(), source })
}

/// The surroundings of one run.
pub(crate) struct OpenRun<'s> {
    tools: McpRun,
    has_tools: bool,
    model: Option<OpenModel<'s>>,
}

/// The model that is served to a run.
struct OpenModel<'s> {
    served: &'s ServedModel,
    run: ServedRun,
    watch: Arc<dyn ServedWatch>,
}

impl OpenRun<'_> {
    /// What an external agent learns about its surroundings.
    pub(crate) fn external<'a>(&'a self, run: &RunContext<'a>) -> ExternalRun<'a> {
        let model = self.model.as_ref().map(|model| ModelAccess {
            base_url: model.run.base_url(),
            api_key: &model.served.key,
            name: &model.served.name,
        });
        ExternalRun {
            query: run.query,
            later: run.later,
            mcp_url: self.tools.url(),
            model,
            limits: run.limits,
            limit_reached: self.tools.limit_reached(),
            recorder: run.recorder,
        }
    }

    /// The outcome of a run that the agent took to this end; `tools_at` is what gave it the URL of its tools.
    pub(crate) fn ran(&self, end: EndReason, tools_at: &'static str) -> Ran {
        let served = self.model.as_ref().map(|model| &model.run);
        let contact = Contact {
            tools_at,
            connected: self.tools.was_asked() || !self.has_tools,
            model_answers: served.map(ServedRun::answered),
            not_recorded: served.is_some_and(ServedRun::missed_recording),
        };
        let was_refused = served.is_some_and(ServedRun::was_refused);
        let end = match &self.model {
            Some(model) => model.end(end),
            None => end,
        };
        Ran { end, contact: Some(contact), was_refused, was_stopped: false }
    }
}

impl OpenModel<'_> {
    /// The end of the run: it says nothing about the agent if the model was unavailable.
    fn end(&self, end: EndReason) -> EndReason {
        let name = "the model that is served to the agent";
        if let Some(reason) = self.watch.unscored() {
            return EndReason::Unscored { reason };
        }
        if let Some(failure) = self.run.failure() {
            let reason = match self.run.missed_recording() {
                true => failure,
                false => format!("{name} could not be had: {failure}"),
            };
            return EndReason::Unscored { reason };
        }
        match end {
            // The agent was not slow: it was waiting for the model.
            EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value }
                if self.run.is_waiting() =>
            {
                let reason = format!("{name} had not answered when the run's time of {value} ms was over");
                EndReason::Unscored { reason }
            }
            end => end,
        }
    }
}
