//! Tests of campaigns, simulated models and reports, through the public interface.

mod campaign;
mod dissect;
mod frameworks;
mod guard;
mod infeasible;
mod learning;
mod limit;
mod monitored;
mod repeats;
mod report;
mod shrink;
mod sim;
mod supervision;
mod text;
mod topics;

use std::collections::HashSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_bench::{AgentUnderTest, Campaign, Outcome, Unit};
use planproof_model::Model;
use planproof_store::Writer;
use planproof_synth::{Case, JudgeOptions, Options, Synthesizer, TopicBank, Wordings};
use tokio_util::sync::CancellationToken;

fn cases(options: Options, count: u64) -> Arc<[Case]> {
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped())
        .expect("the options are in range");
    (0..count)
        .map(|index| synthesizer.case(7, index, &mut Default::default(), &mut ()).expect("there is room"))
        .collect()
}

fn campaign(model: Arc<dyn Model>, cases: Arc<[Case]>) -> Campaign {
    let name = format!("tools@{}", model.name());
    Campaign {
        id: "test".into(),
        agent: AgentUnderTest {
            guarded: false,
            model: Some(model.name().to_owned()),
            simulated: model.is_simulated(),
            agent: Arc::new(FunctionCallingAgent::new(model).expect("the model calls tools")),
            name,
        },
        cases,
        repeats: NonZeroU32::MIN,
        seed: 1,
        limits: RunLimits::default(),
        judge: JudgeOptions::default(),
        concurrency: NonZeroUsize::MIN.saturating_add(7),
        token: || [7; 10],
        served: None,
    }
}

async fn run(campaign: &Campaign, store: Option<Writer>, finished: &HashSet<Unit>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    campaign
        .run(store, finished, &CancellationToken::new(), |outcome| outcomes.push(outcome))
        .await
        .expect("nothing outside fails");
    outcomes.sort_by_key(Outcome::unit);
    outcomes
}
