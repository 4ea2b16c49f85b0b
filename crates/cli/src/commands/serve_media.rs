//! `planproof serve-media`: a SIMULATION of the servers that the tools of m&m's ask, to try them without any.

use std::io::Write as _;
use std::path::Path;

use planproof_media::Service;
use planproof_media::stand_in::StandIn;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::runtime::runtime;
use planproof_output::{open_files, progress, signals, terminal};
use serde_json::{Map, Value, json};

use crate::arguments::{Global, ServeMediaArguments};

/// What stands above the settings.
const HEAD: &str = "# SIMULATION: one program stands in for all these servers, and nothing in it is a model. What it answers says \
                    nothing of any\n# model or tool. It is there until `planproof serve-media` ends.\n";

pub(crate) fn run(arguments: &ServeMediaArguments, global: &Global) -> Result<ExitCode, Failure> {
    let ServeMediaArguments { port, input, output } = arguments;
    open_files::allow_all();
    runtime()?.block_on(async {
        let stop = signals::stop_requested();
        let stand_in = StandIn::bind(*port).await.map_err(|error| {
            Failure::outside(format!("cannot listen on 127.0.0.1:{port}: {error}; choose another --port"))
        })?;
        let settings = settings(&stand_in, [("input", input.as_deref()), ("output", output.as_deref())])?;
        let mut out = terminal::results(global.json);
        if global.json {
            writeln!(out, "{}", json!({"simulated": true, "settings": settings}))?;
        } else {
            let text = toml::to_string(&settings).map_err(|error| Failure::outside(error.to_string()))?;
            write!(out, "{HEAD}\n{text}")?;
        }
        out.flush()?;
        // It would keep stdout locked for as long as the server runs.
        drop(out);
        progress::say(global.quiet, "serving a SIMULATION of the servers of tools, until Ctrl-C");
        stop.await;
        Ok(ExitCode::Passed)
    })
}

/// The settings that direct tools to it, in the format of the file of `--media`.
fn settings(stand_in: &StandIn, folders: [(&str, Option<&Path>); 2]) -> Result<Map<String, Value>, Failure> {
    let mut settings = Map::new();
    for (key, folder) in folders {
        let Some(folder) = folder else { continue };
        let name = folder.to_str().ok_or_else(|| {
            Failure::usage(format!(
                "--{key} {}: the name is not Unicode, which a settings file requires",
                folder.display()
            ))
        })?;
        settings.insert(key.to_owned(), name.into());
    }
    let endpoints = stand_in.endpoints();
    for service in Service::ALL {
        let Some(endpoint) = endpoints.get(service) else { continue };
        let mut of_service = Map::from_iter([("url".to_owned(), Value::from(endpoint.url.as_str()))]);
        // The file of `--media` must not name a model for a service that has none.
        if let Some(model) = endpoint.model.as_deref().filter(|_| service.settings().any(|it| it == "model"))
        {
            of_service.insert("model".to_owned(), model.into());
        }
        settings.insert(service.as_str().to_owned(), of_service.into());
    }
    Ok(settings)
}
