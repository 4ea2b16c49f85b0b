//! The smallest possible suite, and the smallest environment in which a campaign can live.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_agents::{AgentSpec, FunctionCallingAgent};
use planproof_campaign::{
    CampaignError, Cases, FindModel, Key, KeyNeeded, MadeFrom, ModelForm, ProgramOptions, StoredOptions,
    Token, World,
};
use planproof_engine::AgentUnderTest;
use planproof_model::recording::Origin;
use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, Model, ModelError, TurnState};
use planproof_store::OwnKey;
use planproof_suite::{
    Card, Case, CaseError, Class, ClassInfo, Explanation, Scored, SizeUnit, Suite, Toolbox, Unscored, Verdict,
};
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{Event, FinishReason, Secrets, Tool, Usage};
use serde_json::{Value, json};

/// A kind of case in which cases with an even number pass.
pub(crate) struct Toys;

#[derive(Debug)]
struct Toy {
    card: Card,
    number: u64,
    prompt: String,
}

static CLASSES: [ClassInfo; 1] = [ClassInfo { name: "odd", meaning: "It is odd.", rank: 0 }];

/// The case with this number.
pub(crate) fn toy(number: u64) -> Arc<dyn Case> {
    let card = Card::new(format!("toy-{number}"), 1);
    Arc::new(Toy { card, number, prompt: format!("Play with toy {number}.") })
}

impl Case for Toy {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        json!({ "toy": self.number }).to_string()
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        let tool = MockTool { tool: Tool::without_arguments("ball", "Bounces."), answer: "Boing.".into() };
        Ok(Arc::new(MockTools::new(vec![tool], &SchemaCache::default()).map_err(CaseError::new)?))
    }

    fn judge(&self, _: &[Event]) -> Result<Verdict, Unscored> {
        let class = if self.number.is_multiple_of(2) { None } else { Class::find(&CLASSES, "odd") };
        let scored = Scored { class, flags: Vec::new(), scores: Vec::new() };
        Ok(Verdict { scored, detail: "{}".to_owned() })
    }

    fn explain(&self, _: &Verdict) -> Explanation {
        Explanation::default()
    }

    fn target(&self) -> String {
        String::new()
    }
}

impl Suite for Toys {
    fn name(&self) -> &'static str {
        "toys"
    }

    fn about(&self) -> &'static str {
        "toys"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        let line: Value = serde_json::from_str(line).map_err(CaseError::new)?;
        line["toy"].as_u64().map(toy).ok_or_else(|| CaseError::new("no toy"))
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "part", many: "parts" }
    }
}

/// A model that finishes at once.
struct Done;

impl Model for Done {
    fn name(&self) -> &str {
        "toy/done"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let usage = Usage::new(5, 1);
        let (text, finish) = ("Done.".to_owned(), FinishReason::Stop);
        Box::pin(std::future::ready(Ok(ChatReply {
            text,
            calls: Vec::new(),
            finish,
            usage,
            id: None,
            state: TurnState::default(),
        })))
    }
}

/// A world with one model, which records its requests.
pub(crate) struct Playground {
    pub(crate) reported: RefCell<Vec<String>>,
    /// How many agents were made.
    pub(crate) agents: Cell<u32>,
    /// The suite of its cases.
    suite: Arc<dyn Suite>,
    model: Arc<dyn Model>,
    /// The secret of its user.
    own_key: Option<OwnKey>,
}

impl Playground {
    /// A world with this suite and this model.
    pub(crate) fn of(suite: Arc<dyn Suite>, model: Arc<dyn Model>) -> Self {
        Self { reported: RefCell::default(), agents: Cell::default(), suite, model, own_key: None }
    }

    /// The same for the user with this secret.
    pub(crate) fn of_user(self, key: OwnKey) -> Self {
        Self { own_key: Some(key), ..self }
    }
}

impl Default for Playground {
    fn default() -> Self {
        Self::of(Arc::new(Toys), Arc::new(Done))
    }
}

impl World for Playground {
    type Error = CampaignError;

    fn suite(&self, _: &StoredOptions) -> Result<Arc<dyn Suite>, CampaignError> {
        Ok(Arc::clone(&self.suite))
    }

    fn made_again(&self, _: &StoredOptions, how: &Value) -> Result<Cases, CampaignError> {
        Err(CampaignError::usage(format!("toys are not made: {how}")))
    }

    fn model(&self, name: &str, _: ModelForm, _: KeyNeeded) -> Result<Arc<dyn Model>, CampaignError> {
        match name == self.model.name() {
            true => Ok(Arc::clone(&self.model)),
            false => Err(CampaignError::usage(format!("there is no model {name}"))),
        }
    }

    fn is_handed_answers(&self, _: &str) -> bool {
        false
    }

    fn model_with_answers(
        &self,
        _: &str,
        _: ModelForm,
        _: &[Key],
        _: u64,
    ) -> Option<Result<Arc<dyn Model>, CampaignError>> {
        None
    }

    fn agent(
        &self,
        name: &AgentSpec,
        _: &ProgramOptions,
        find_model: &FindModel<'_, CampaignError>,
    ) -> Result<AgentUnderTest, CampaignError> {
        self.agents.set(self.agents.get() + 1);
        let model = find_model(name.model().unwrap_or_default(), ModelForm::Chat)?;
        let (name, model_name, simulated) = (name.to_string(), model.name().to_owned(), model.is_simulated());
        let agent = FunctionCallingAgent::new(model).ok_or_else(|| CampaignError::usage("no tools"))?;
        let agent = Arc::new(agent);
        Ok(AgentUnderTest {
            agent,
            name,
            model: Some(model_name),
            simulated,
            asks_real_models: !simulated,
            guarded: false,
            held_to: None,
            of_suite: None,
        })
    }

    fn prompts(&self) -> String {
        "toys".to_owned()
    }

    fn made_from(&self, _: &AgentSpec) -> Result<MadeFrom, CampaignError> {
        Ok(MadeFrom::default())
    }

    fn warn_of_tools(&self, _: &AgentSpec, _: &[Arc<dyn Case>]) -> Result<(), CampaignError> {
        Ok(())
    }

    fn text(&self, path: &Path) -> Result<String, CampaignError> {
        std::fs::read_to_string(path).map_err(|error| CampaignError::usage(error.to_string()))
    }

    fn secrets(&self) -> Secrets {
        Secrets::default()
    }

    fn secrets_apart_from(&self, _: &[Arc<dyn Case>]) -> Result<Secrets, CampaignError> {
        Ok(Secrets::default())
    }

    fn allow_runs(&self, _: usize) -> Result<(), CampaignError> {
        Ok(())
    }

    fn about(&self, what: &str, error: CampaignError) -> CampaignError {
        CampaignError::usage(format!("{what}: {error}"))
    }

    fn origin(&self) -> Origin {
        Origin { version: "test".to_owned(), command: "test".to_owned() }
    }

    fn own_key(&self) -> Option<&OwnKey> {
        self.own_key.as_ref()
    }

    fn token(&self) -> Token {
        || [7; planproof_tools::mcp::TOKEN_BYTES]
    }

    fn warn(&self, what: &str) {
        self.reported.borrow_mut().push(what.to_owned());
    }

    fn note(&self, what: &str) {
        self.reported.borrow_mut().push(what.to_owned());
    }
}

/// A folder of the test's own, which is deleted after the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        Self::below(&std::env::temp_dir(), name)
    }

    /// A folder in memory, if the system has a place for it.
    pub(crate) fn in_memory(name: &str) -> Self {
        let place = Path::new("/dev/shm");
        if place.is_dir() { Self::below(place, name) } else { Self::new(name) }
    }

    fn below(place: &Path, name: &str) -> Self {
        let path = place.join(format!("planproof-runner-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a new folder");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
