//! What our agent loop costs beside the bare requests it makes, and what many runs at once take in memory.
//!
//! Each mode is one side of a comparison and runs in a process of its own; `benches/agent_loop.py` starts them in turn
//! and puts the figures together. The other side of the first comparison is `planproof test` itself.

mod recording;

use std::collections::HashSet;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::{Parser, Subcommand};
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_engine::{AgentUnderTest, Campaign, Work};
use planproof_model::openai::{OpenAiConfig, OpenAiModel};
use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, Model, ModelError};
use planproof_order::OrderSuite;
use planproof_sim::{SimKind, SimModel};
use planproof_store::{NewCampaign, Store, StoreLimits};
use planproof_synth::file::write_case;
use planproof_synth::{PlanningCase, SynthesisCounts, SynthesisOptions, Synthesizer, TopicBank, Wordings};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
struct Arguments {
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    mode: Option<Mode>,
}

#[derive(Subcommand)]
enum Mode {
    /// Pass connections on to a model server and keep the bodies of the requests until stdin ends.
    Record {
        /// Address and port of the server.
        #[arg(long)]
        upstream: String,
        /// File for the recording.
        #[arg(long)]
        out: PathBuf,
    },
    /// Send what was recorded: the same requests, run by run, without anything around them.
    Bare {
        /// Address and port of the server.
        #[arg(long)]
        server: String,
        /// What the server wants as its key.
        #[arg(long)]
        key: String,
        /// File of the recording.
        #[arg(long)]
        recording: PathBuf,
        /// Runs at once.
        #[arg(long)]
        concurrency: usize,
    },
    /// A campaign with the run store. Without a server the model is in this process.
    Campaign {
        /// Address and port of a model server.
        #[arg(long, requires = "key")]
        server: Option<String>,
        /// What the server wants as its key.
        #[arg(long)]
        key: Option<String>,
        /// Number of runs.
        #[arg(long)]
        runs: u64,
        /// Actions of each case.
        #[arg(long)]
        actions: u32,
        /// Runs at once.
        #[arg(long)]
        concurrency: NonZeroUsize,
        /// Time that a model in this process thinks, in milliseconds.
        #[arg(long, default_value_t = 0)]
        think_ms: u64,
        /// File of the run store; must not exist.
        #[arg(long)]
        store: PathBuf,
    },
}

fn main() -> Result<(), Failure> {
    // As the command does it.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match Arguments::parse().mode {
        None => {
            println!("these figures come from several processes: run benches/agent_loop.py");
            Ok(())
        }
        Some(Mode::Record { upstream, out }) => runtime.block_on(recording::record(&upstream, &out)),
        Some(Mode::Bare { server, key, recording, concurrency }) => {
            runtime.block_on(bare(&server, &key, &recording, concurrency))
        }
        Some(Mode::Campaign { server, key, runs, actions, concurrency, think_ms, store }) => {
            let model: Arc<dyn Model> = match server {
                Some(server) => {
                    let mut config = OpenAiConfig::new("sim/perfect");
                    config.connection.base_url = format!("http://{server}/v1");
                    config.connection.key = key.map(Into::into);
                    Arc::new(OpenAiModel::new(config)?)
                }
                None => Arc::new(Thinking {
                    model: SimModel::new(SimKind::Perfect),
                    time: Duration::from_millis(think_ms),
                }),
            };
            runtime.block_on(campaign(model, runs, actions, concurrency, &store))
        }
    }
}

/// CPU time of this process, all threads.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Most memory this process has had in RAM, in KiB.
fn peak_kib() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

type HttpClient = Client<HttpConnector, Full<Bytes>>;

/// Sends the recorded requests. What comes back is read whole and not looked into.
async fn bare(server: &str, key: &str, recording: &Path, concurrency: usize) -> Result<(), Failure> {
    let runs = recording::read(recording)?;
    // The same settings as the client of planproof-model.
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: HttpClient = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(8192)
        .http1_max_buf_size(64 << 10)
        .build(connector);
    let uri: Uri = format!("http://{server}/v1/chat/completions").parse()?;
    let authorization = format!("Bearer {key}");
    let steps: usize = runs.iter().map(Vec::len).sum();
    let run_count = runs.len();
    let (start, cpu_start) = (Instant::now(), cpu());
    let mut waiting = runs.into_iter();
    let mut running = JoinSet::new();
    loop {
        while running.len() < concurrency {
            let Some(bodies) = waiting.next() else { break };
            running.spawn(send_run(client.clone(), uri.clone(), authorization.clone(), bodies));
        }
        match running.join_next().await {
            None => break,
            Some(sent) => sent??,
        }
    }
    report(run_count, steps, cpu().saturating_sub(cpu_start), start.elapsed())
}

async fn send_run(
    client: HttpClient,
    uri: Uri,
    authorization: String,
    bodies: Vec<Bytes>,
) -> Result<(), Failure> {
    for body in bodies {
        let request = Request::builder()
            .method(Method::POST)
            .uri(uri.clone())
            .header(HOST, uri.authority().map_or("", |authority| authority.as_str()))
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, "planproof/bench")
            .header(AUTHORIZATION, &authorization)
            .header(ACCEPT, "application/json")
            .body(Full::new(body))?;
        let response = client.request(request).await?;
        if !response.status().is_success() {
            return Err(format!("the server answered {}", response.status()).into());
        }
        drop(response.into_body().collect().await?.to_bytes());
    }
    Ok(())
}

fn report(runs: usize, steps: usize, cpu: Duration, wall: Duration) -> Result<(), Failure> {
    let result = json!({
        "runs": runs,
        "steps": steps,
        "cpu_seconds": cpu.as_secs_f64(),
        "wall_seconds": wall.as_secs_f64(),
        "peak_kib": peak_kib()?,
    });
    println!("{result}");
    Ok(())
}

/// A model that lets one wait.
struct Thinking {
    model: SimModel,
    time: Duration,
}

impl Model for Thinking {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(self.time).await;
            self.model.chat(request).await
        })
    }
}

/// Draws cases and runs them. What is reported begins when the cases are drawn and in the store.
async fn campaign(
    model: Arc<dyn Model>,
    runs: u64,
    actions: u32,
    concurrency: NonZeroUsize,
    store: &Path,
) -> Result<(), Failure> {
    let model_name = model.name().to_owned();
    let agent_name = format!("{}@{model_name}", FunctionCallingAgent::KIND);
    let options =
        SynthesisOptions { actions_min: actions, actions_max: actions, ..SynthesisOptions::default() };
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())?;
    let mut counts = SynthesisCounts::default();
    let cases: Vec<PlanningCase> =
        (0..runs).map(|index| synthesizer.case(7, index, &mut counts, &mut ())).collect::<Result<_, _>>()?;
    let store = Store::open(store, StoreLimits::default())?;
    let campaign = NewCampaign {
        id: "bench",
        created_ms: 0,
        command_line: "",
        agent: &agent_name,
        model: Some(&model_name),
        simulated: true,
        options: "{}",
        repeats: 1,
        budgets: "{}",
    };
    store.create_campaign(&campaign, cases.iter().map(|case| (case.id.as_str(), write_case(case))))?;
    let suite = OrderSuite::default();
    let agent = FunctionCallingAgent::new(model).ok_or("the model calls tools")?;
    let campaign = Campaign {
        places: None,
        id: "bench".to_owned(),
        agent: AgentUnderTest {
            guarded: false,
            held_to: None,
            of_suite: None,
            agent: Arc::new(agent),
            name: agent_name.clone(),
            model: Some(model_name.clone()),
            simulated: true,
            asks_real_models: false,
        },
        cases: cases.into_iter().map(|case| suite.wrap(case) as _).collect(),
        repeats: NonZeroU32::MIN,
        seed: 7,
        limits: RunLimits::default(),
        concurrency,
        served: None,
        memory: None,
        token: || [0; _],
    };
    let (start, cpu_start) = (Instant::now(), cpu());
    let (units, stop) = (campaign.units_but(&HashSet::new()), CancellationToken::new());
    let work = Work::new(Some(store.writer()?), &units, &stop);
    let mut outcomes = Vec::new();
    campaign.run(work, |progress| outcomes.extend(progress.ended())).await?;
    if let Some(outcome) = outcomes.iter().find(|outcome| outcome.passed() != Some(true)) {
        return Err(format!("not passed: {outcome:?}").into());
    }
    let steps = outcomes.len() * (usize::try_from(actions)? + 1);
    report(outcomes.len(), steps, cpu().saturating_sub(cpu_start), start.elapsed())
}
