//! `planproof serve-model`: a model as an endpoint in the protocols of OpenAI, Anthropic and Gemini.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use planproof_agents::SERVED_VARIABLES;
use planproof_campaign::{KeyNeeded, ModelForm};
use planproof_model::Model;
use planproof_model::metering::{Budget, Meter, MeteredModel, Spent};
use planproof_model::server::{ServerConfig, serve};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::random::random_bytes;
use planproof_output::runtime::runtime;
use planproof_output::{open_files, progress, signals, terminal};
use planproof_suite::grouped;
use secrecy::SecretString;
use serde_json::json;

use crate::arguments::{Global, ServeModelArguments};

/// Names the key that clients must send; without it a random one is made and printed.
const KEY_VARIABLE: &str = "PLANPROOF_SERVE_KEY";

pub(crate) fn run(arguments: &ServeModelArguments, global: &Global) -> Result<ExitCode, Failure> {
    let model =
        planproof_assembly::model(&arguments.model, ModelForm::Chat, &arguments.asking, KeyNeeded::AtOnce)?;
    let given = std::env::var(KEY_VARIABLE).ok().filter(|key| !key.is_empty());
    let key = given.clone().unwrap_or_else(random_key);
    let config = ServerConfig {
        key: Some(SecretString::from(key.clone())),
        hosts: arguments.allow_host.clone(),
        think_time: Duration::from_millis(arguments.think),
        ..ServerConfig::default()
    };
    // Counts what is asked; nothing is refused.
    let (meter, requests) =
        (Arc::new(Meter::new(Budget::default(), Spent::default())), Arc::<AtomicU64>::default());
    let counted = Arc::clone(&requests);
    meter.watch(Some(Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    })));
    let is_simulated = model.is_simulated();
    let model: Arc<dyn Model> = Arc::new(MeteredModel::new(model, None, Arc::clone(&meter)));
    open_files::allow_all();
    runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", arguments.port)).await.map_err(|error| {
            Failure::outside(format!("cannot listen on 127.0.0.1:{}: {error}; choose another --port", arguments.port))
        })?;
        // With `--port 0`, only the listener knows the port.
        let address = listener.local_addr().map_err(|error| Failure::outside(error.to_string()))?;
        let base_url = format!("http://{address}/v1");
        // A key from the environment is known to the user and is not repeated.
        let shown = given.is_none().then_some(key.as_str());
        let stop = signals::stop_requested();
        let mut out = terminal::results(global.json);
        if global.json {
            writeln!(out, "{}", json!({"model": arguments.model, "base_url": base_url, "key": shown, "simulated": is_simulated}))?;
        } else {
            // Only OpenAI's clients expect the version in the base URL.
            let root = format!("http://{address}");
            for ([url_name, key_name, model_name], url) in SERVED_VARIABLES.iter().zip([&base_url, &root, &root]) {
                writeln!(out, "{url_name}={url}")?;
                match shown {
                    Some(key) => writeln!(out, "{key_name}={key}")?,
                    None => writeln!(out, "# {key_name} is what {KEY_VARIABLE} holds")?,
                }
                writeln!(out, "{model_name}={}", arguments.model)?;
            }
        }
        out.flush()?;
        // It would keep stdout locked for as long as the server runs.
        drop(out);
        let note = if is_simulated { ", a simulated model" } else { "" };
        progress::say(global.quiet, &format!("serving {}{note}, until Ctrl-C", arguments.model));
        serve(listener, model, config, stop).await.map_err(|error| Failure::outside(error.to_string()))
    })?;
    let (requests, usage) = (requests.load(Ordering::Relaxed), meter.spent().usage);
    let (read, written) = (usage.input_tokens, usage.output_tokens);
    if global.json {
        writeln!(
            terminal::results(true),
            "{}",
            json!({"requests": requests, "tokens": {"input": read, "output": written}})
        )?;
    } else {
        let [requests, read, written] = [requests, read, written].map(grouped);
        progress::say(global.quiet, &format!("{requests} requests: {read} tokens read, {written} written"));
    }
    Ok(ExitCode::Passed)
}

/// A key that nobody can guess.
pub(crate) fn random_key() -> String {
    let bytes: [u8; 16] = random_bytes();
    format!("planproof-{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}
