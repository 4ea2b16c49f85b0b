//! `planproof view`, and `--view` at every campaign: campaigns in a browser while they run.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use planproof_assembly::errors::OrFail as _;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::random::random_bytes;
use planproof_output::runtime::runtime;
use planproof_output::{open_files, progress, signals, tell, terminal};
use planproof_report::html::{self, HtmlLimits};
use planproof_store::{CampaignRow, Store};
use planproof_view::limits::STORES_MAX;
use planproof_view::{KnownCampaign, Library, ViewConfig, ViewServer};
use serde_json::json;

use crate::arguments::{CampaignArguments, Global, ViewArguments};
use crate::stored::{self, Stored, StoredTraces, must_exist};

pub(crate) fn run(arguments: &ViewArguments, global: &Global) -> Result<ExitCode, Failure> {
    let stores = &arguments.store;
    if stores.len() > STORES_MAX {
        return Err(Failure::usage(format!(
            "--store is given {} times: at most {STORES_MAX} can be shown at once",
            stores.len()
        )));
    }
    // Here it can be said at once; later only on a page.
    for path in stores {
        must_exist(path)?;
        planproof_campaign::must_be_no_folder(path).or_fail()?;
        drop(Store::open_read_only(path)?);
    }
    open_files::allow_all();
    let server = start(stores.clone(), arguments.port)?;
    let url = server.url();
    runtime()?.block_on(async {
        let stop = signals::stop_requested();
        let mut out = terminal::results(global.json);
        if global.json {
            writeln!(out, "{}", json!({ "url": url }))?;
        } else {
            writeln!(out, "{url}")?;
        }
        out.flush()?;
        // It would keep stdout locked for as long as the server runs.
        drop(out);
        if arguments.open {
            open(&url);
        }
        let what = if stores.len() == 1 { "the run store" } else { "the run stores" };
        progress::say(
            global.quiet,
            &format!("showing {what}, until Ctrl-C; whoever has the address can read it"),
        );
        stop.await;
        Ok::<(), Failure>(())
    })?;
    server.end();
    Ok(ExitCode::Passed)
}

/// A server beside a campaign, if one is wanted. It ends when it is dropped, after its pages got their last state.
pub(crate) struct Beside(Option<ViewServer>);

impl Beside {
    /// Starts it, and prints the address: of that campaign, or of the list.
    pub(crate) fn start(arguments: &CampaignArguments, campaign: Option<&str>) -> Result<Self, Failure> {
        if !arguments.view {
            return Ok(Self(None));
        }
        let server = start(vec![arguments.store.store.clone()], 0)?;
        let url = campaign.map_or_else(|| server.url(), |campaign| server.url_of(campaign));
        // Also in quiet mode: nobody could guess it.
        tell!("view {url}");
        Ok(Self(Some(server)))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(server) = self.0.take() {
            server.end();
        }
    }
}

fn start(stores: Vec<PathBuf>, port: u16) -> Result<ViewServer, Failure> {
    let bytes: [u8; 16] = random_bytes();
    let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let config = ViewConfig { stores, library: Arc::new(KnownSuites), token, port };
    ViewServer::start(config).map_err(|error| {
        Failure::outside(format!("cannot listen on 127.0.0.1:{port}: {error}; choose another --port"))
    })
}

/// The suites of this program.
struct KnownSuites;

impl Library for KnownSuites {
    fn known(&self, campaign: &CampaignRow) -> Result<KnownCampaign, String> {
        let known = || {
            let options = stored::options(campaign)?;
            Ok(KnownCampaign { suite: options.suite()?, options: options.kept })
        };
        known().map_err(|failure: Failure| in_words(&failure))
    }

    fn write_report(&self, store: &Store, campaign: &str, out: &mut dyn io::Write) -> Result<(), String> {
        let mut write = || {
            let stored = Stored::load(store, campaign)?;
            let report = stored.report();
            let traces = StoredTraces { store, campaign: &stored.campaign.row.id };
            html::write(&stored.reported(&report, &traces), &HtmlLimits::default(), out)?;
            Ok(())
        };
        write().map_err(|failure: Failure| in_words(&failure))
    }
}

fn in_words(failure: &Failure) -> String {
    let text = failure.describe();
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// Opens an address in the browser of the system. That there is none is not a failure: the address was printed.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(Path::new(program));
    command.args(before).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        progress::warn(&format!("cannot start {program}: {error}; open the address above yourself"));
    }
}
