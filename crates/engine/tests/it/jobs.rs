//! Jobs that are executed elsewhere give the same results as jobs that the campaign executes itself.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_agents::Ran;
use planproof_engine::{Campaign, EngineError, Executed, Job, JobExecutor, Outcome, RunProgress, Work};
use planproof_suite::{BoxFuture, Suite as _};
use planproof_trace::{Event, EventKind, Header, Recorder, Trace, wire};
use tokio_util::sync::CancellationToken;

use crate::campaign::campaign;
use crate::toy::{Fate, Toys};

/// Simulates another machine: it receives and returns only text.
struct Elsewhere {
    campaign: Campaign,
    /// Whether it loses the calls of its runs.
    forgets: bool,
}

impl Elsewhere {
    async fn run(&self, line: &str) -> (String, Outcome) {
        let case = Toys.read(line).expect("the line of a toy");
        let alone = Campaign { cases: [case].into(), repeats: NonZeroU32::MIN, ..self.campaign.clone() };
        let (units, stop) = (alone.units_but(&HashSet::new()), CancellationToken::new());
        let (mut events, mut ended): (Vec<Event>, _) = (Vec::new(), None);
        let work = Work::new(None, &units, &stop).followed(true);
        let observe = |progress| match progress {
            RunProgress::Event(_, event) => events.push(*event),
            RunProgress::Ended(outcome) => ended = Some(*outcome),
            RunProgress::Planned(_) | RunProgress::Started(_) => {}
        };
        alone.run(work, observe).await.expect("it goes on");
        let header = Header {
            agent: "elsewhere".into(),
            model: None,
            simulated: false,
            case: "toy".into(),
            repeat: 0,
            seed: 0,
            clock: "ms".into(),
            version: "1".into(),
        };
        let mut text = Vec::new();
        wire::v1::write_trace(&Trace { header, events }, &mut text);
        (String::from_utf8(text).expect("text"), ended.expect("it ended"))
    }
}

impl JobExecutor for Elsewhere {
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        recorder: &'a Recorder,
    ) -> BoxFuture<'a, Result<Executed, EngineError>> {
        Box::pin(async move {
            let (text, outcome) = self.run(&job.case.to_line()).await;
            let trace = wire::v1::read_trace(&text).expect("a trace");
            let mut end = None;
            for event in trace.events {
                match event.kind {
                    EventKind::End(reason) => end = Some(reason),
                    EventKind::Turn { .. } if self.forgets => {}
                    kind => assert!(recorder.record(kind), "the run goes on"),
                }
            }
            Ok(Executed { ran: Ran::in_process(end.expect("an end")), wall: outcome.wall })
        })
    }
}

async fn outcomes(
    campaign: &Campaign,
    executor: Option<Arc<dyn JobExecutor>>,
) -> (Vec<Outcome>, Vec<EventKind>) {
    let (units, stop) = (campaign.units_but(&HashSet::new()), CancellationToken::new());
    let (mut outcomes, mut kinds) = (Vec::new(), Vec::new());
    let work = Work { executor, ..Work::new(None, &units, &stop).followed(true) };
    let observe = |progress| match progress {
        RunProgress::Event(unit, event) => kinds.push((unit, event.kind)),
        RunProgress::Ended(outcome) => outcomes.push(*outcome),
        RunProgress::Planned(_) | RunProgress::Started(_) => {}
    };
    campaign.run(work, observe).await.expect("the campaign goes on");
    outcomes.sort_by_key(Outcome::unit);
    // Runs are concurrent, but each one is in order.
    kinds.sort_by_key(|(unit, _)| *unit);
    (outcomes, kinds.into_iter().map(|(_, kind)| kind).collect())
}

#[tokio::test]
async fn a_job_comes_to_the_same_wherever_it_is_executed() {
    let here = campaign(&[Fate::Passes, Fate::Fails, Fate::LacksTool, Fate::Passes]);
    let (expected, events) = outcomes(&here, None).await;
    let elsewhere = |forgets| -> Option<Arc<dyn JobExecutor>> {
        Some(Arc::new(Elsewhere { campaign: here.clone(), forgets }))
    };
    let (found, same) = outcomes(&here, elsewhere(false)).await;
    let verdicts = |outcomes: &[Outcome]| -> Vec<_> {
        outcomes.iter().map(|outcome| (outcome.unit(), outcome.verdict.clone(), outcome.usage)).collect()
    };
    assert_eq!(expected.len(), 8);
    assert_eq!(verdicts(&found), verdicts(&expected));
    assert_eq!(same, events);
    // If a part of the trace is lost, this is noticed.
    let (_, fewer) = outcomes(&here, elsewhere(true)).await;
    assert!(fewer.len() < events.len());
}
