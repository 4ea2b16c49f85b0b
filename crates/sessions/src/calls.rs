//! The calls of a session and their outcomes, as a record has them.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use planproof_spec::rules::{Phase, RecordedEvent};
use serde_json::Value;

use crate::SessionSink;

/// The calls of a session and their outcomes, in the order in which they are written.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) happened: Vec<RecordedEvent>,
    /// Where each event stands.
    stamps: Vec<Stamp>,
    /// The line of each call.
    pub(crate) lines: Vec<u64>,
    /// The line that is read.
    pub(crate) line: u64,
    /// Its time, in nanoseconds since 1970, if it has one.
    pub(crate) time: Option<u64>,
    /// The file that is read, where a session has several.
    pub(crate) file: usize,
    /// The id of the reply that is read: a call of another reply is another call, whatever its own id.
    pub(crate) reply: String,
    /// The number of the message or item that is read: calls of one are answered in their order.
    pub(crate) message: u64,
    /// What each call can be found by in the text, where that matters: its id or, without one, its tool.
    pub(crate) marks: Option<Vec<String>>,
    /// What is read continues what was read before, and may repeat the call that it ended with.
    pub(crate) is_continued: bool,
    /// Calls and results that were read, also those that were read before.
    pub(crate) taken: usize,
    /// Results that belong to no call.
    pub(crate) strays: usize,
    /// Kinds of items that are calls to all appearance, and are not read.
    pub(crate) unread: Vec<String>,
    /// In the order in which they were made.
    open: Vec<OpenCall>,
    /// Results since the last call of which it is not known yet to which of several calls they belong.
    unsettled: Vec<UnsettledResult>,
    /// What was read, where the record may have an item twice.
    once: Option<Once>,
}

/// Where an event stands.
#[derive(Clone, Copy)]
struct Stamp {
    file: usize,
    time: Option<u64>,
    /// The place of its call among what happened.
    call: usize,
}

struct OpenCall {
    /// Empty where the transcript has none.
    id: String,
    /// Its place among what happened.
    place: usize,
    /// The number of its message.
    message: u64,
}

struct UnsettledResult {
    id: String,
    /// The tool that the result names.
    tool: Option<String>,
    file: usize,
    /// Its place among what happened, where it is that of any of the calls.
    place: usize,
}

#[derive(Default)]
struct Once {
    /// The places of calls, by a digest of all that makes them one.
    calls: HashMap<u64, Vec<usize>>,
    /// The ids of results.
    outcomes: HashSet<String>,
}

/// A session of several files, in the order of the times.
pub(crate) struct Ordered {
    /// The file of each call; nothing where all are of the first.
    pub(crate) files: Vec<usize>,
    /// Calls that cannot be ordered before or after another.
    pub(crate) unordered: usize,
}

impl Calls {
    /// For a record that may repeat items of a session, as after it is resumed.
    pub(crate) fn with_repeats() -> Self {
        Self { once: Some(Once::default()), ..Self::default() }
    }

    /// For a record in which calls are found again in the text, if `has_marks`.
    pub(crate) fn marked(has_marks: bool) -> Self {
        Self { marks: has_marks.then(Vec::new), ..Self::default() }
    }

    /// Whether this very call was read before: not only its id, which some servers of models use again. Of what two
    /// files have, only a reply with an id is the same.
    fn is_repeated(&mut self, id: &str, tool: &str, arguments: &Value) -> bool {
        let Some(once) = self.once.as_mut().filter(|_| !id.is_empty()) else { return false };
        let mut hasher = DefaultHasher::new();
        let file = if self.reply.is_empty() { self.file } else { 0 };
        (id, tool, &self.reply, file, arguments.to_string()).hash(&mut hasher);
        let known = once.calls.entry(hasher.finish()).or_default();
        let is_same = |place: &usize| {
            let call = &self.happened[*place];
            call.tool == tool && *call.arguments == *arguments
        };
        let is_repeated = known.iter().any(is_same);
        if !is_repeated {
            known.push(self.happened.len());
        }
        is_repeated
    }

    /// Takes a call.
    pub(crate) fn call(&mut self, id: &str, server: Option<&str>, tool: &str, arguments: Value) {
        self.taken += 1;
        self.settle();
        if self.is_repeated(id, tool, &arguments) || self.is_continued && self.is_open(id, tool, &arguments) {
            return;
        }
        let (server, tool) = (server.map(str::to_owned), tool.to_owned());
        self.lines.push(self.line);
        if let Some(marks) = &mut self.marks {
            marks.push(if id.is_empty() { tool.clone() } else { id.to_owned() });
        }
        let place = self.happened.len();
        self.open.push(OpenCall { id: id.to_owned(), place, message: self.message });
        self.stamps.push(Stamp { file: self.file, time: self.time, call: place });
        let arguments = Arc::new(arguments);
        self.happened.push(RecordedEvent { phase: Phase::Call, server, tool, arguments, outcome: None });
    }

    /// Whether this very call still waits for its result. Without an id, only the last one is the same.
    fn is_open(&self, id: &str, tool: &str, arguments: &Value) -> bool {
        self.open.iter().any(|open| {
            let call = &self.happened[open.place];
            let is_last = open.place + 1 == self.happened.len();
            open.id == id && (is_last || !id.is_empty()) && call.tool == tool && *call.arguments == *arguments
        })
    }

    /// Takes an outcome. One of a call that was never made is not an event of the session. A result that names its tool
    /// is one of that tool, if there is such a call.
    pub(crate) fn outcome(&mut self, id: &str, tool: Option<&str>, is_error: bool, outcome: Value) {
        self.taken += 1;
        let candidates = self.candidates(id, tool, self.file);
        let once = self.once.as_mut().filter(|_| !id.is_empty());
        let is_repeated = once.is_some_and(|once| !once.outcomes.insert(id.to_owned()));
        let is_of_them = |result: &&UnsettledResult| result.id == id && result.file == self.file;
        let unsettled = self.unsettled.iter().filter(is_of_them).count();
        let first = candidates.first().map(|open| self.open[*open].place);
        let Some(call) = first.filter(|_| unsettled < self.candidates(id, None, self.file).len()) else {
            self.strays += usize::from(!is_repeated);
            return;
        };
        let place = self.happened.len();
        let phase = if is_error { Phase::Failed } else { Phase::Done };
        self.happened.push(RecordedEvent { phase, outcome: Some(outcome), ..self.happened[call].clone() });
        self.stamps.push(Stamp { file: self.file, time: self.time, call });
        match candidates.as_slice() {
            [open] if unsettled == 0 => {
                self.open.remove(*open);
            }
            _ => {
                let (id, tool) = (id.to_owned(), tool.map(str::to_owned));
                self.unsettled.push(UnsettledResult { id, tool, file: self.file, place });
            }
        }
    }

    /// The open calls that a result may belong to, by their places among those.
    fn candidates(&self, id: &str, tool: Option<&str>, file: usize) -> Vec<usize> {
        let fits = |open: &OpenCall| open.id == id && self.stamps[open.place].file == file;
        let fitting: Vec<usize> = (0..self.open.len()).filter(|open| fits(&self.open[*open])).collect();
        let is_of_tool = |open: &usize| tool == Some(self.happened[self.open[*open].place].tool.as_str());
        let of_tool: Vec<usize> = fitting.iter().copied().filter(is_of_tool).collect();
        if of_tool.is_empty() { fitting } else { of_tool }
    }

    /// Gives the results since the last call to their calls. Of several calls with one id, or without any, those of the
    /// last messages have them, as many as results have come, in their order: where an earlier call had no result by
    /// then, it has none, such as where it was interrupted and the next reply used its id again.
    pub(crate) fn settle(&mut self) {
        while let Some(first) = self.unsettled.first() {
            let mut candidates = self.candidates(&first.id, first.tool.as_deref(), first.file);
            let is_like =
                |it: &UnsettledResult| (&it.id, &it.tool, it.file) == (&first.id, &first.tool, first.file);
            let alike: Vec<usize> =
                (0..self.unsettled.len()).filter(|place| is_like(&self.unsettled[*place])).collect();
            let unanswered = candidates.len().saturating_sub(alike.len());
            if let Some(open) = candidates.get(unanswered) {
                // Of the first message that has some, the first calls have them.
                let message = self.open[*open].message;
                let begin = candidates.partition_point(|open| self.open[*open].message < message);
                let end = candidates.partition_point(|open| self.open[*open].message <= message);
                candidates.drain(end - (unanswered - begin)..end);
                candidates.drain(..begin);
            }
            let pairs: Vec<(usize, usize)> = alike.into_iter().zip(candidates).collect();
            // There are no more results than calls, so there always is a pair.
            if pairs.is_empty() {
                return self.unsettled.clear();
            }
            for (result, open) in pairs.iter().rev() {
                let (result, call) = (self.unsettled.remove(*result).place, self.open.remove(*open).place);
                let RecordedEvent { server, tool, arguments, .. } = self.happened[call].clone();
                let RecordedEvent { phase, outcome, .. } = &self.happened[result];
                self.happened[result] =
                    RecordedEvent { phase: *phase, server, tool, arguments, outcome: outcome.clone() };
                self.stamps[result].call = call;
            }
        }
    }

    /// Puts the events of several files in the order of their times, those of each file in the order in which they are
    /// written. Where all are of one file, its order is better than any clock.
    pub(crate) fn in_order(&mut self) -> Ordered {
        self.settle();
        let first = self.stamps.first().map_or(0, |stamp| stamp.file);
        if self.stamps.iter().all(|stamp| stamp.file == first) {
            return Ordered {
                files: vec![first; if first == 0 { 0 } else { self.lines.len() }],
                unordered: 0,
            };
        }
        let times = self.times();
        let mut order: Vec<usize> = (0..self.happened.len()).collect();
        order.sort_by_key(|event| times[*event]);
        let mut unordered: HashSet<usize> = HashSet::new();
        for equal in order.chunk_by(|one, other| times[*one] == times[*other]) {
            let is_mixed = equal.iter().any(|event| self.stamps[*event].file != self.stamps[equal[0]].file);
            let doubtful = equal.iter().filter(|event| is_mixed || self.stamps[**event].time.is_none());
            unordered.extend(doubtful.map(|event| self.stamps[*event].call));
        }
        let is_call = |event: &usize| self.happened[*event].phase == Phase::Call;
        let calls: Vec<usize> = order.iter().copied().filter(is_call).collect();
        let mut line_of: HashMap<usize, u64> = HashMap::new();
        line_of.extend((0..self.happened.len()).filter(is_call).zip(self.lines.iter().copied()));
        self.lines = calls.iter().map(|call| line_of.get(call).copied().unwrap_or(self.line)).collect();
        let files = calls.iter().map(|call| self.stamps[*call].file).collect();
        let mut events: Vec<Option<RecordedEvent>> =
            std::mem::take(&mut self.happened).into_iter().map(Some).collect();
        self.happened = order.iter().filter_map(|event| events[*event].take()).collect();
        Ordered { files, unordered: unordered.len() }
    }

    /// The time at which each event counts: its own, and never before what stands before it in its file. What has none
    /// happened with what stands before it, or behind it; a file without any comes last.
    fn times(&self) -> Vec<u64> {
        let mut latest: HashMap<usize, u64> = HashMap::new();
        for stamp in &self.stamps {
            if let Some(time) = stamp.time {
                latest.entry(stamp.file).or_insert(time);
            }
        }
        let mut of_event = |stamp: &Stamp| {
            let latest = latest.entry(stamp.file).or_insert(u64::MAX);
            *latest = stamp.time.unwrap_or(*latest).max(*latest);
            *latest
        };
        self.stamps.iter().map(&mut of_event).collect()
    }
}

/// Kinds of items in a notice of those that are not read.
const UNREAD_SHOWN_MAX: usize = 5;

/// What looks like calls, and is not read.
#[derive(Default)]
pub(crate) struct Unread {
    count: usize,
    /// The session with the first of them.
    first: String,
    kinds: BTreeSet<String>,
}

impl Unread {
    pub(crate) fn add(&mut self, session: &str, kinds: &[String]) {
        if self.count == 0 {
            session.clone_into(&mut self.first);
        }
        self.count += kinds.len();
        for kind in kinds {
            if self.kinds.len() < UNREAD_SHOWN_MAX {
                self.kinds.insert(kind.clone());
            }
        }
    }

    pub(crate) fn report(&self, sink: &mut dyn SessionSink) {
        if self.count == 0 {
            return;
        }
        let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let (first, kinds, count) = (&self.first, kinds.join(", "), self.count);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times, from here on") };
        sink.warn(&format!(
            "{first}: {kinds}: what looks like calls in a form that is not known is not read ({times}), so rules do not \
             see it"
        ));
    }
}

/// Results that belong to no call.
#[derive(Default)]
pub(crate) struct Strays {
    count: usize,
    /// The session with the first of them.
    first: String,
}

impl Strays {
    pub(crate) fn add(&mut self, session: &str, count: usize) {
        if self.count == 0 {
            session.clone_into(&mut self.first);
        }
        self.count += count;
    }

    pub(crate) fn report(&self, sink: &mut dyn SessionSink) {
        let first = &self.first;
        match self.count {
            0 => {}
            1 => sink.note(&format!("{first}: 1 result is left out: it belongs to no call")),
            count => sink.note(&format!(
                "{first}: {count} results, from here on, are left out: they belong to no call"
            )),
        }
    }
}
