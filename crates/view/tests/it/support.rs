//! A store with campaigns of orders, a server of it, and a client that speaks as plainly as HTTP can be spoken.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, process};

use planproof_engine::{Outcome, RunSummary, card_to_json};
use planproof_order::{OrderCase, OrderSuite};
use planproof_store::{
    CampaignRow, Finish, NewCampaign, NewCase, RunId, RunStart, Store, StoreLimits, Unit, Writer,
};
use planproof_suite::{Case as _, Verdict};
use planproof_synth::{SynthesisOptions, Synthesizer, TopicBank, Wordings};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, Header, ToolCall, ToolResult};
use planproof_view::{KnownCampaign, Library, ViewConfig, ViewServer};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

const OPTIONS: &str = r#"{"seed":"7","concurrency":1,"timeout_ms":1000,"iterations":5,"serve_model":null,"solver_calls":0,
    "solver_ns":0,"synthesis_ns":0}"#;

pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("view-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("temporary directory");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.file("runs.db"), StoreLimits::default()).expect("opens")
    }

    pub(crate) fn serve(&self) -> Site {
        Site::over(vec![self.file("runs.db")])
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Orders;

impl Library for Orders {
    fn known(&self, campaign: &CampaignRow) -> Result<KnownCampaign, String> {
        let options = serde_json::from_str(&campaign.options).map_err(|error| error.to_string())?;
        Ok(KnownCampaign { suite: Arc::new(OrderSuite::default()), options })
    }

    fn write_report(&self, _: &Store, campaign: &str, out: &mut dyn io::Write) -> Result<(), String> {
        write!(out, "the report of {campaign}").map_err(|error| error.to_string())
    }
}

pub(crate) fn cases(count: u64) -> Vec<Arc<OrderCase>> {
    let synthesizer =
        Synthesizer::new(SynthesisOptions::default(), Wordings::shipped(), TopicBank::shipped())
            .expect("in range");
    let case = |index| synthesizer.case(7, index, &mut Default::default(), &mut ()).expect("there is room");
    (0..count).map(|index| OrderSuite::default().wrap(case(index))).collect()
}

/// A campaign that a test runs by hand.
pub(crate) struct Campaign {
    pub(crate) id: String,
    pub(crate) cases: Vec<Arc<OrderCase>>,
    pub(crate) writer: Writer,
}

impl Campaign {
    pub(crate) fn create(store: &Store, id: &str, agent: &str, count: u64, repeats: u32) -> Self {
        let cases = cases(count);
        let new = NewCampaign {
            id,
            created_ms: 1_795_178_000_000,
            command_line: "planproof test <script>alert(1)</script>",
            agent,
            model: None,
            simulated: false,
            options: OPTIONS,
            repeats,
            budgets: r#"{"max_tokens":5000}"#,
        };
        let of_store = |case: &Arc<OrderCase>| NewCase {
            id: case.card().id.clone(),
            json: case.to_line(),
            summary: Some(card_to_json(case.card())),
        };
        store.create_campaign(&new, cases.iter().map(of_store)).expect("is created");
        Self { id: id.to_owned(), cases, writer: store.writer().expect("starts") }
    }

    pub(crate) fn start(&self, unit: Unit) -> RunId {
        let header = Header {
            agent: "a".into(),
            model: None,
            simulated: false,
            case: self.cases[unit.ordinal as usize].card().id.clone(),
            repeat: unit.repeat,
            seed: 7,
            clock: "logical".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let start =
            RunStart { campaign: &self.id, ordinal: unit.ordinal, repeat: unit.repeat, header: &header };
        self.writer.start_run(&start).wait().expect("starts")
    }

    pub(crate) fn append(&self, run: RunId, event: &Event) {
        self.writer.append(run, event).expect("is appended");
        self.writer.flush().wait().expect("is written");
    }

    pub(crate) fn finish(&self, run: RunId, unit: Unit, events: &[Event]) {
        let case = &self.cases[unit.ordinal as usize];
        let outcome = Outcome::of(&**case, unit, events, Duration::from_millis(1500));
        let summary = RunSummary::of(&outcome).to_json();
        let detail = outcome.verdict.as_ref().map_or("{}", |verdict: &Verdict| verdict.detail.as_str());
        let finish = Finish {
            passed: outcome.passed(),
            class: outcome.class().map(planproof_suite::Class::as_str),
            verdict: detail,
            wall_ms: 1500,
            summary: Some(&summary),
            lessons: &[],
        };
        self.writer.finish_run(run, &finish).wait().expect("is finished");
    }

    /// A whole run that calls these actions.
    pub(crate) fn run(&self, ordinal: u32, repeat: u32, actions: &[usize]) {
        let unit = Unit { ordinal, repeat };
        let events = calls(&self.cases[ordinal as usize], actions);
        let run = self.start(unit);
        events.iter().for_each(|event| self.writer.append(run, event).expect("is appended"));
        self.finish(run, unit, &events);
    }

    /// An order that is right, from the gold plan of the case.
    pub(crate) fn right(&self, ordinal: u32) -> Vec<usize> {
        let case = self.cases[ordinal as usize].case();
        let mut left: Vec<usize> = (0..case.actions.len()).collect();
        let mut order = Vec::new();
        while let Some(place) = left.iter().position(|action| {
            case.constraints.iter().all(|it| it.second != *action || order.contains(&it.first))
        }) {
            order.push(left.remove(place));
        }
        order
    }
}

/// The events of a run that calls these actions one after the other, and answers.
pub(crate) fn calls(case: &OrderCase, actions: &[usize]) -> Vec<Event> {
    let mut kinds = vec![EventKind::Query { text: case.case().query.clone() }];
    for (number, action) in actions.iter().enumerate() {
        let (id, name) = (CallId::new(format!("c{number}")), case.case().actions[*action].tool.clone());
        let arguments = Arguments::Object(serde_json::Map::new());
        kinds.push(EventKind::Call(ToolCall { id: id.clone(), name, arguments }));
        kinds.push(EventKind::Result(ToolResult::ok(id, "done")));
    }
    kinds.push(EventKind::End(EndReason::Answered { text: "<img src=x onerror=alert(1)>".to_owned() }));
    kinds.into_iter().enumerate().map(|(at, kind)| Event::new(at as u64, kind)).collect()
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A server of stores.
pub(crate) struct Site(pub(crate) ViewServer);

impl Site {
    pub(crate) fn over(stores: Vec<PathBuf>) -> Self {
        let config = ViewConfig { stores, library: Arc::new(Orders), token: TOKEN.to_owned(), port: 0 };
        Self(ViewServer::start(config).expect("starts"))
    }

    pub(crate) fn host(&self) -> String {
        self.0.url().split('/').nth(2).expect("has a host").to_owned()
    }

    /// Sends a request as it is written, and reads the answer to its end.
    pub(crate) fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.host()).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("is set");
        // What is refused early may be closed before all of it is written.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// The page at an address below the token.
    pub(crate) fn get(&self, rest: &str) -> Answer {
        let host = self.host();
        self.send(&format!("GET /{TOKEN}/{rest} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// The live states of the page at an address below the token.
    pub(crate) fn live(&self, rest: &str, last: Option<&str>) -> Events {
        let mut stream = TcpStream::connect(self.host()).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("is set");
        let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
        let request = format!("GET /{TOKEN}/{rest}?live HTTP/1.1\r\nHost: {}\r\n{last}\r\n", self.host());
        stream.write_all(request.as_bytes()).expect("is sent");
        Events(BufReader::new(stream))
    }
}

/// A stream of events.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// The next block of lines: its name, its kind and its data, or a comment alone; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<[String; 3]> {
        let [mut id, mut kind, mut data] = [const { String::new() }; 3];
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("id", text)) => id = text.to_owned(),
                Some(("event", text)) => kind = text.to_owned(),
                Some(("data", text)) => data = text.to_owned(),
                Some(("", text)) => kind = format!(":{text}"),
                // Headers, and the lengths of chunks.
                _ => {}
            }
            if line.is_empty() && !kind.is_empty() {
                return Some([id, kind, data]);
            }
        }
    }
}
