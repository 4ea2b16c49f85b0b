//! Independent sub-tasks overlap: on a clock that moves only while everybody waits, a run takes as long as the
//! longest path of its graph, whatever the machine does meanwhile.

use planproof_trace::Draw;
use tokio::time::{Duration, Instant, sleep};

use super::*;

/// A model whose executors take some time for each sub-task, and whose other roles take none.
#[derive(Debug)]
struct Timed {
    graph: String,
    milliseconds: HashMap<String, u64>,
}

impl Model for Timed {
    fn name(&self) -> &str {
        "timed"
    }

    fn capabilities(&self) -> Capabilities {
        Scripted::new(&[]).capabilities()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let Some(Message::User { text }) = request.messages.first() else { panic!("no prompt") };
            let role = Role::ALL.into_iter().find(|role| text.starts_with(role.mark())).unwrap();
            let sub_task = text.split("# Sub-task\n").nth(1).and_then(|rest| rest.lines().next());
            let text = match role {
                Role::Manager => self.graph.clone(),
                Role::Supervisor => sub_task.unwrap().to_owned(),
                Role::Executor => {
                    let id = sub_task.unwrap().trim_start_matches("Do ").trim_end_matches('.');
                    sleep(Duration::from_millis(self.milliseconds[id])).await;
                    format!("Done with {id}.")
                }
                Role::Deliverer => "done".to_owned(),
            };
            let (finish, usage) = (FinishReason::Stop, Usage::default());
            Ok(ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() })
        })
    }
}

/// Runs a random graph, and gives how long that took, the longest path, and the sum of all, in milliseconds.
async fn run_random(seed: u64, parallel: u32) -> [u64; 3] {
    let mut draw = Draw::new(seed, 0, "overlap");
    let count = 2 + draw.number() % 11;
    let mut milliseconds = HashMap::new();
    let sub_tasks: Vec<_> = (0..count)
        .map(|place| {
            milliseconds.insert(format!("t{place}"), 1 + draw.number() % 400);
            let after: Vec<String> =
                (0..place).filter(|_| draw.number().is_multiple_of(4)).map(|other| format!("t{other}")).collect();
            json!({"id": format!("t{place}"), "task": format!("Do t{place}."), "executor": "worker", "after": after})
        })
        .collect();
    let graph = json!({"sub_tasks": sub_tasks}).to_string();
    let read = read_graph(&graph, &["worker"]).unwrap();
    let longest = read.longest_path(|sub_task| milliseconds[&sub_task.id]).weight;
    let sum = milliseconds.values().sum();
    let model: Arc<dyn Model> = Arc::new(Timed { graph, milliseconds });
    let worker = crate::FunctionCallingAgent::new(Arc::clone(&model)).unwrap();
    let options = TeamOptions { parallel: parallel.try_into().unwrap(), ..TeamOptions::default() };
    let team = TeamAgent::of_one(&model, Arc::new(worker), options);
    let begun = Instant::now();
    let (end, events) = run_team(&team).await;
    assert_eq!(end, EndReason::Answered { text: "done".into() });
    assert_eq!(noted(&events, sections::RESULT).len() as u64, count);
    [u64::try_from(begun.elapsed().as_millis()).unwrap(), longest, sum]
}

#[tokio::test(start_paused = true)]
async fn a_run_takes_as_long_as_its_longest_path() {
    let mut have_overlapped = 0;
    for seed in 0..200 {
        let [taken, longest, sum] = run_random(seed, 100).await;
        assert_eq!(taken, longest, "seed {seed}");
        have_overlapped += u32::from(taken < sum);
        // One after the other it takes as long as all of them, and with two at once it is in between.
        let [taken, ..] = run_random(seed, 1).await;
        assert_eq!(taken, sum, "seed {seed}");
        let [taken, ..] = run_random(seed, 2).await;
        assert!((longest..=longest + sum / 2).contains(&taken), "seed {seed}");
    }
    assert!(have_overlapped > 150, "{have_overlapped}");
}
