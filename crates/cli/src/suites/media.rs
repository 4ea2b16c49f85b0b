//! The servers and folders of the tools of m&m's and of the everyday tools, from a file of their own or a section of
//! the configuration file.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use planproof_config::{MEDIA, is_unasked, may_write};
use planproof_everyday::Player;
use planproof_media::{Endpoints, Media, MediaFolders, MediaTools, Operation};
use planproof_mnms::{CarriedOut, CaseTools, OpenMedia};
use planproof_output::failure::Failure;
use planproof_output::terminal::inline;
use planproof_output::{secrets, text_files};
use planproof_plan::{Plan, Reference, VerificationFault, substitute};
use planproof_suite::{BoxFuture, Case, CaseError, Toolbox};
use planproof_trace::{Arguments, Attachment, CallId, Tool, ToolCall, ToolResult, secrets_in_urls};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The default folder for files that tools make.
pub(crate) const OUTPUT: &str = "planproof-media";

/// Most steps of a right plan that is carried out so that its results can be compared.
const RIGHT_STEPS_MAX: usize = 100;

/// The file.
#[derive(Deserialize)]
struct File {
    /// The folder of what requests name. Relative paths are seen from the file.
    input: Option<PathBuf>,
    /// The folder of what tools make.
    output: Option<PathBuf>,
    /// The program that plays films, for the tools of everyday work.
    player: Option<String>,
    /// Whether the right plan is carried out as well, once a run is over, and its results are compared.
    #[serde(default, rename = "compare-results")]
    compare_results: bool,
    /// The settings of each server.
    #[serde(flatten)]
    services: BTreeMap<String, BTreeMap<String, toml::Value>>,
}

/// The tools for a file that a user names.
pub(super) fn opener() -> OpenMedia {
    Arc::new(|file| Arc::new(MediaOfFile::later(file.into())))
}

/// The tools with the resources in a file, which are opened when a run first needs them: reports need none.
struct MediaOfFile {
    file: PathBuf,
    opened: OnceLock<Result<Opened, CaseError>>,
}

struct Opened {
    media: Arc<Media>,
    folders: MediaFolders,
    compare_results: bool,
}

impl MediaOfFile {
    /// The tools with the resources in this file.
    fn later(file: PathBuf) -> Self {
        Self { file, opened: OnceLock::new() }
    }

    fn opened(&self) -> Result<&Opened, CaseError> {
        let opened = self.opened.get_or_init(|| open(&self.file).map_err(Failure::into_case_error));
        opened.as_ref().map_err(CaseError::clone)
    }
}

impl CaseTools for MediaOfFile {
    fn prepare(&self, cases: &[Arc<dyn Case>]) -> Result<(), CaseError> {
        self.opened()?;
        must_have(&self.file, cases).map_err(Failure::into_case_error)
    }

    fn for_run(&self, case: &str, tools: Arc<[Tool]>) -> Result<Arc<dyn Toolbox>, CaseError> {
        let Opened { media, folders, .. } = self.opened()?;
        Ok(Arc::new(MediaTools::new(tools, Arc::clone(media), folders.for_run(case))))
    }

    fn carry_out<'a>(
        &'a self,
        case: &'a str,
        tools: Arc<[Tool]>,
        plan: Plan,
    ) -> BoxFuture<'a, Option<CarriedOut>> {
        Box::pin(async move {
            // The run itself has opened the file, and has said what is wrong with it.
            let Opened { media, folders, compare_results } = self.opened().ok()?;
            if !compare_results || plan.steps.len() > RIGHT_STEPS_MAX {
                return None;
            }
            let tools = MediaTools::new(tools, Arc::clone(media), folders.for_run(&format!("{case}-right")));
            Some(carry_out(&tools, &plan).await)
        })
    }

    fn similarity(&self, one: &Attachment, other: &Attachment) -> Option<f64> {
        planproof_media::similarity(one, other)
    }
}

/// Makes the calls of a right plan, up to the first that fails.
async fn carry_out(tools: &dyn Toolbox, plan: &Plan) -> CarriedOut {
    let mut made = CarriedOut::new();
    let mut outputs: HashMap<u64, Map<String, Value>> = HashMap::new();
    for step in &plan.steps {
        let given = |reference: &Reference| outputs.get(&reference.step)?.get(&reference.key);
        let values =
            step.arguments.iter().map(|(name, value)| Ok((name.clone(), substitute(value, &given)?)));
        let values: Result<Map<String, Value>, VerificationFault> = values.collect();
        let id = CallId::new(step.id.to_string());
        let named =
            |values| ToolCall { id: id.clone(), name: step.tool.replace(' ', "_"), arguments: values };
        let (call, result) = match values {
            Ok(values) => {
                let call = named(Arguments::Object(values));
                let result = tools.execute(&call).await;
                (call, result)
            }
            Err(fault) => {
                let call = named(Arguments::Object(Map::new()));
                let result = ToolResult::error(call.id.clone(), fault.to_string());
                (call, result)
            }
        };
        let has_failed = result.is_error;
        if let Ok(Value::Object(output)) = serde_json::from_str(&result.text) {
            outputs.insert(step.id, output);
        }
        made.push((call, result));
        if has_failed {
            break;
        }
    }
    made
}

/// Opens the resources in a file.
fn open(path: &Path) -> Result<Opened, Failure> {
    let Read { media, folders, player, is_shared, compare_results } = read(path)?;
    // The configuration file serves the everyday tools as well, so its player is not a mistake here.
    if player.is_some() && !is_shared {
        let what =
            "`player` is for the tools of everyday work (`--tools everyday:FILE`), not for those of m&m's";
        return Err(Failure::usage(format!("{}: {what}", path.display())));
    }
    Ok(Opened { media, folders, compare_results })
}

/// Makes sure that a file names the servers of all tools in right plans, before a model is asked for any.
///
/// # Errors
/// It does not, or the file cannot be used.
fn must_have(path: &Path, cases: &[Arc<dyn Case>]) -> Result<(), Failure> {
    let Read { media, .. } = read(path)?;
    let mut missing: BTreeMap<String, &str> = BTreeMap::new();
    for case in cases {
        let calls = case.gold().map(|gold| gold.calls).unwrap_or_default();
        let operations = calls.iter().filter_map(|call| Operation::named(&call.tool));
        for setting in media.endpoints().missing(operations) {
            missing.entry(setting).or_insert(&case.card().id);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let named: Vec<String> =
        missing.iter().map(|(setting, case)| format!("{setting} (case {})", inline(case))).collect();
    let what = format!(
        "right plans need tools whose servers it does not name: {}; name them, as `url` below `[SERVICE]`, or \
         choose other \
         cases",
        named.join(", ")
    );
    Err(Failure::usage(format!("{}: {what}", path.display())))
}

/// What the tools of everyday work need of the same file, which may also name a player for films.
///
/// # Errors
/// The file cannot be read, or its resources are unusable.
pub(crate) fn everyday(path: &Path) -> Result<(Arc<Media>, MediaFolders, Option<Player>), Failure> {
    let Read { media, folders, player, .. } = read(path)?;
    let variable = |name: &str| std::env::var(name).ok();
    Ok((media, folders, player.map(|program| Player::new(program, variable))))
}

/// The section of servers, where the text is that of a configuration file: no server has its name.
fn of_configuration(text: &str) -> Option<toml::Table> {
    // A text that is not TOML is refused by the caller, who parses it again for the message.
    match text.parse::<toml::Table>().ok()?.remove(MEDIA) {
        Some(toml::Value::Table(section)) => Some(section),
        _ => None,
    }
}

/// What a file names.
struct Read {
    media: Arc<Media>,
    folders: MediaFolders,
    player: Option<String>,
    /// It is the configuration file, which is for the tools of m&m's and those of everyday work alike.
    is_shared: bool,
    compare_results: bool,
}

fn read(path: &Path) -> Result<Read, Failure> {
    let fail = |what: &dyn std::fmt::Display| Failure::usage(format!("{}: {what}", path.display()));
    let text = text_files::read_text(path)?;
    secrets::hold(secrets_in_urls(&text));
    // The file is one of its own or the configuration file; the section tells them apart.
    let section = of_configuration(&text);
    let is_shared = section.is_some();
    let file: File = match section {
        Some(section) => section.try_into().map_err(|error| fail(&error))?,
        None => toml::from_str(&text).map_err(|error| fail(&error))?,
    };
    if let Some((service, _)) = file.services.iter().find(|(_, named)| named.contains_key("key-env"))
        && is_unasked(path)
    {
        return Err(fail(&format!(
            "`{service}.key-env` would have a variable sent because of a file that nobody named: name it on the command \
             line, with --media or --tools everyday:FILE, or the configuration file that names it with --config"
        )));
    }
    let mut settings = BTreeMap::new();
    for (service, named) in file.services {
        for (key, value) in named {
            let value = match value {
                toml::Value::String(text) => text,
                other => other.to_string(),
            };
            settings.insert(format!("media.{service}.{key}"), value);
        }
    }
    let variable = |name: &str| std::env::var(name).ok();
    let endpoints = Endpoints::from_settings(&settings, variable).map_err(|error| fail(&error))?;
    let beside = |named: PathBuf| path.parent().map_or_else(|| named.clone(), |folder| folder.join(&named));
    let output = beside(file.output.unwrap_or_else(|| OUTPUT.into()));
    if is_unasked(path) && !may_write(path.parent().unwrap_or(Path::new("")), &output) {
        return Err(fail(
            &"`output` would have files written because of a file that nobody named, which may only have them written in \
              its folder or below, and to no name that begins with a dot: name it on the command line, with --media or \
              --tools everyday:FILE, or the configuration file that names it with --config",
        ));
    }
    let folders =
        MediaFolders::new(file.input.map(beside).as_deref(), &output).map_err(|error| fail(&error))?;
    // Before any server is asked: its answers may repeat the key that it was sent.
    secrets::hold(endpoints.keys().map(str::to_owned));
    let media = Media::new(endpoints).map_err(|error| fail(&error))?;
    Ok(Read { media, folders, player: file.player, is_shared, compare_results: file.compare_results })
}
