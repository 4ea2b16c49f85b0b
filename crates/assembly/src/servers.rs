//! The servers and folders of the tools of m&m's and of everyday work, from a file of their own or a section of the
//! configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_config::{MEDIA, is_unasked, may_write};
use planproof_media::{Endpoints, Media, MediaFolders};
use planproof_output::failure::Failure;
use planproof_output::{secrets, text_files};
use planproof_trace::secrets_in_urls;
use serde::Deserialize;

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
    /// Whether the right plan is carried out as well, once a run is over, and its results are compared.
    #[serde(default, rename = "compare-results")]
    compare_results: bool,
    /// The settings of each server.
    #[serde(flatten)]
    services: BTreeMap<String, BTreeMap<String, toml::Value>>,
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
pub struct NamedServers {
    pub media: Arc<Media>,
    pub folders: MediaFolders,
    /// The program that plays films, for the tools of everyday work.
    pub player: Option<String>,
    /// It is the configuration file, which is for the tools of m&m's and those of everyday work alike.
    pub is_shared: bool,
    /// Whether the results of the right plan are compared.
    pub compare_results: bool,
}

impl NamedServers {
    /// Those that this file names.
    ///
    /// # Errors
    /// It cannot be read, or its resources are unusable.
    pub fn read(path: &Path) -> Result<Self, Failure> {
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
        let beside =
            |named: PathBuf| path.parent().map_or_else(|| named.clone(), |folder| folder.join(&named));
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
        Ok(Self { media, folders, player: file.player, is_shared, compare_results: file.compare_results })
    }
}
