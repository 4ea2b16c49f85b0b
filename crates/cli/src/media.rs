//! The servers and folders of the tools of m&m's and of the everyday tools, from a file of their own or a section of
//! the configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_everyday::Player;
use planproof_media::{Endpoints, Media, MediaFolders, MediaTools, Operation};
use planproof_mnms::MakeCaseTools;
use planproof_suite::{Case, CaseError, Toolbox};
use serde::Deserialize;

use crate::config::MEDIA;
use crate::failure::Failure;
use crate::terminal::inline;
use crate::{secrets, select};

/// The default folder for files that tools make.
pub(crate) const OUTPUT: &str = "planproof-media";

/// The file.
#[derive(Deserialize)]
struct File {
    /// The folder of what requests name. Relative paths are seen from the file.
    input: Option<PathBuf>,
    /// The folder of what tools make.
    output: Option<PathBuf>,
    /// The program that plays films, for the tools of everyday work.
    player: Option<String>,
    /// The settings of each server.
    #[serde(flatten)]
    services: BTreeMap<String, BTreeMap<String, toml::Value>>,
}

/// The tools with the resources in a file.
///
/// # Errors
/// The file cannot be read, or its resources are unusable.
pub(crate) fn tools(path: &Path) -> Result<MakeCaseTools, Failure> {
    let Read { media, folders, player, is_shared } = read(path)?;
    // The configuration file serves the everyday tools as well, so its player is no mistake here.
    if player.is_some() && !is_shared {
        let what =
            "`player` is for the tools of everyday work (`--tools everyday:FILE`), not for those of m&m's";
        return Err(Failure::usage(format!("{}: {what}", path.display())));
    }
    Ok(Arc::new(move |case, tools| -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(MediaTools::new(tools, Arc::clone(&media), folders.for_run(case))))
    }))
}

/// Makes sure that a file names the servers of all tools in right plans, before a model is asked for any.
///
/// # Errors
/// It does not, or those of [`tools`].
pub(crate) fn must_have(path: &Path, cases: &[Arc<dyn Case>]) -> Result<(), Failure> {
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
    // A text that is no TOML is refused by the caller, who parses it again for the message.
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
}

fn read(path: &Path) -> Result<Read, Failure> {
    let fail = |what: &dyn std::fmt::Display| Failure::usage(format!("{}: {what}", path.display()));
    let text = select::read_text(path)?;
    // The file is one of its own or the configuration file; the section tells them apart.
    let section = of_configuration(&text);
    let is_shared = section.is_some();
    let file: File = match section {
        Some(section) => section.try_into().map_err(|error| fail(&error))?,
        None => toml::from_str(&text).map_err(|error| fail(&error))?,
    };
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
    let folders =
        MediaFolders::new(file.input.map(beside).as_deref(), &output).map_err(|error| fail(&error))?;
    // Before any server is asked: its answers may repeat the key that it was sent.
    secrets::hold(endpoints.keys().map(str::to_owned));
    let media = Media::new(endpoints).map_err(|error| fail(&error))?;
    Ok(Read { media, folders, player: file.player, is_shared })
}
