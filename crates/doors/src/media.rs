//! The tools of m&m's, with the servers and folders that a file names.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use planproof_assembly::NamedServers;
use planproof_media::{Media, MediaFolders, MediaTools, Operation};
use planproof_mnms::{CarriedOut, CaseTools, OpenMedia};
use planproof_output::failure::Failure;
use planproof_output::terminal::inline;
use planproof_plan::{Plan, Reference, VerificationFault, substitute};
use planproof_suite::{BoxFuture, Case, CaseError, Toolbox};
use planproof_trace::{Arguments, Attachment, CallId, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value};

/// Most steps of a right plan that is carried out so that its results can be compared.
const RIGHT_STEPS_MAX: usize = 100;

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
    let NamedServers { media, folders, player, is_shared, compare_results } = NamedServers::read(path)?;
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
    let NamedServers { media, .. } = NamedServers::read(path)?;
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
