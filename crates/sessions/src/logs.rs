//! Files of ours: traces, and logs of guards.

use std::collections::BTreeMap;

use planproof_guard::{LoggedLine, digits_lost, taken_back, whole_name};
use planproof_spec::rules::{RecordedEvent, session_of};
use planproof_trace::EventKind;
use planproof_trace::wire::v1::read_traces_from;
use serde::Deserialize;

use crate::source::{Lines, RecordedLine};
use crate::{RecordedDoubts, RecordedSession, SessionError, SessionSink, unheld};

/// Traces, each from its header to the next.
pub(crate) fn traces(
    name: &str,
    first: RecordedLine,
    mut lines: Lines,
    sink: &mut dyn SessionSink,
) -> Result<(), SessionError> {
    let mut begin = first.number;
    let (mut next, mut expected) = (Some(first), begin);
    let mut text = String::new();
    loop {
        if !text.is_empty() && next.as_ref().is_none_or(is_header) {
            trace(name, &text, begin, sink)?;
            text.clear();
        }
        let Some(line) = next else { return Ok(()) };
        if text.is_empty() {
            (begin, expected) = (line.number, line.number);
        }
        // Blank lines, which count for the places of errors.
        text.extend(std::iter::repeat_n('\n', usize::try_from(line.number - expected).unwrap_or(0)));
        expected = line.number + 1;
        must_keep_digits(name, &line)?;
        text.push_str(&line.text());
        next = lines.next()?;
    }
}

/// Refuses a line with a number that would become another one.
fn must_keep_digits(name: &str, line: &RecordedLine) -> Result<(), SessionError> {
    digits_lost(&line.bytes).map_or(Ok(()), |why| Err(unheld(name, line.number, &why)))
}

/// What every header has, and no event.
#[derive(Deserialize)]
struct Header {
    #[expect(dead_code, reason = "only whether it is there")]
    schema: serde::de::IgnoredAny,
}

fn is_header(line: &RecordedLine) -> bool {
    let key = b"\"schema\"";
    line.bytes.windows(key.len()).any(|bytes| bytes == key)
        && serde_json::from_slice::<Header>(&line.bytes).is_ok()
}

fn trace(name: &str, text: &str, line: u64, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
    for trace in read_traces_from(text, usize::try_from(line - 1).unwrap_or(usize::MAX)) {
        let trace = trace.map_err(|error| SessionError::new(format!("{name} cannot be read: {error}")))?;
        let query = trace.events.iter().find_map(|event| match &event.kind {
            EventKind::Query { text } => Some(text.clone()),
            _ => None,
        });
        sink.session(RecordedSession {
            name: format!("{} #{}", trace.header.case, trace.header.repeat),
            line,
            query,
            tools: None,
            happened: session_of(&trace.events),
            call_lines: Vec::new(),
            call_files: Vec::new(),
            doubts: RecordedDoubts::default(),
        })?;
    }
    Ok(())
}

/// Logs of guards. A session is complete at its last line, or at the end of the file.
pub(crate) fn decisions(
    name: &str,
    first: RecordedLine,
    mut lines: Lines,
    sink: &mut dyn SessionSink,
) -> Result<(), SessionError> {
    let mut open = OpenLogs { name, sessions: Vec::new(), places: BTreeMap::new() };
    let mut next = Some(first);
    while let Some(line) = next {
        let number = line.number;
        must_keep_digits(name, &line)?;
        let text = line.text();
        match LoggedLine::read(text.trim_end()) {
            Ok(logged) => open.take(number, logged, sink)?,
            Err(fault) if fault.is_cut => {
                sink.warn(&format!("{name}:{number}: left out: {fault}"));
                if let Some(behind) = fault.behind {
                    open.take(number, *behind, sink)?;
                }
            }
            Err(fault) => return Err(SessionError::new(format!("{name}:{number}: {fault}"))),
        }
        next = lines.next()?;
    }
    for session in open.sessions.into_iter().flatten() {
        sink.session(session.recorded(name))?;
    }
    Ok(())
}

/// Sessions whose last lines have not come, in the order in which they began.
struct OpenLogs<'n> {
    name: &'n str,
    sessions: Vec<Option<OpenLog>>,
    places: BTreeMap<String, usize>,
}

struct OpenLog {
    id: String,
    /// With their numbers.
    lines: Vec<(u64, LoggedLine)>,
}

impl OpenLogs<'_> {
    fn take(
        &mut self,
        number: u64,
        line: LoggedLine,
        sink: &mut dyn SessionSink,
    ) -> Result<(), SessionError> {
        let id = line.session().to_owned();
        let is_end = matches!(line, LoggedLine::End { .. });
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.sessions.push(Some(OpenLog { id, lines: Vec::new() }));
            self.sessions.len() - 1
        });
        if let Some(session) = self.sessions.get_mut(place).and_then(Option::as_mut) {
            session.lines.push((number, line));
        }
        if is_end && let Some(session) = self.sessions.get_mut(place).and_then(Option::take) {
            self.places.remove(&session.id);
            sink.session(session.recorded(self.name))?;
        }
        Ok(())
    }
}

impl OpenLog {
    /// What happened. What a hook logged has the reading of a name that the rules of then meant; others may mean
    /// another one, so such a name is put together again.
    fn happened(&self) -> Vec<RecordedEvent> {
        let mut happened = planproof_guard::happened(self.lines.iter().map(|(_, line)| line));
        let mut decisions = self.lines.iter().map(|(_, line)| line).filter(|line| line.is_made_call());
        let is_of_hooks = decisions.all(LoggedLine::is_of_hook);
        for event in happened.iter_mut().filter(|_| is_of_hooks) {
            if let Some(server) = event.server.take() {
                event.tool = whole_name(&server, &event.tool);
            }
        }
        happened
    }

    fn recorded(self, name: &str) -> RecordedSession {
        let taken_back = taken_back(self.lines.iter().map(|(_, line)| line));
        let is_called = |line: &LoggedLine| match line {
            LoggedLine::Decision { call: Some(call), .. } => {
                line.is_made_call() && !taken_back.contains(&call.number)
            }
            _ => false,
        };
        let called = self.lines.iter().filter(|(_, line)| is_called(line));
        RecordedSession {
            name: format!("{name} session {}", self.id),
            line: self.lines.first().map_or(1, |(number, _)| *number),
            query: None,
            tools: None,
            call_lines: called.map(|(number, _)| *number).collect(),
            happened: self.happened(),
            call_files: Vec::new(),
            doubts: RecordedDoubts::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Kept {
        lines: Vec<u64>,
        warnings: Vec<String>,
    }

    impl SessionSink for Kept {
        fn session(&mut self, session: RecordedSession) -> Result<(), SessionError> {
            self.lines.extend(session.call_lines);
            Ok(())
        }

        fn warn(&mut self, text: &str) {
            self.warnings.push(text.to_owned());
        }

        fn note(&mut self, _: &str) {}
    }

    /// Texts whose first line was cut off, and the lines of the calls that are read of each.
    #[test]
    fn a_log_whose_first_line_is_cut_is_read() {
        let whole = "{\"kind\":\"decision\",\"schema\":\"planproof/decision/v1\",\"session\":\"s\",\"seam\":\"mcp\",\
                     \"call\":{\"number\":1,\"tool\":\"a\",\"arguments\":{}},\"rules\":[],\"action\":\"passed\",\
                     \"mode\":\"enforce\",\"digest\":\"d\",\"microseconds\":1}\n";
        let read = |text: String| {
            let mut kept = Kept::default();
            let read = crate::read("log", Box::new(std::io::Cursor::new(text.into_bytes())), &mut kept);
            read.map(|()| kept)
        };
        for cut in 1..whole.len() - 1 {
            let begin = &whole[..cut];
            for (between, line) in [("\n", 2), ("\n \n\n", 4)] {
                let kept =
                    read(format!("{begin}{between}{whole}")).unwrap_or_else(|why| panic!("{cut}: {why}"));
                assert_eq!((kept.lines, kept.warnings.len()), (vec![line], 1), "{cut}");
            }
        }
        let kept = read(format!("{}{whole}{whole}", &whole[..30])).expect("a log");
        assert_eq!((kept.lines, kept.warnings.len()), (vec![1, 2], 1));
        // A number that would become another one, and a whole line that nests too deeply, whatever stands in it.
        let with = |arguments: &str| {
            format!("{whole}{}", whole.replace("\"arguments\":{}", &format!("\"arguments\":{arguments}")))
        };
        let deep = format!("{{\"a\":{}{{\"kind\":\"x\"}}{}}}", "[".repeat(124), "]".repeat(124));
        for (arguments, why) in [
            ("{\"a\":1e30}", None),
            ("{\"a\":123456789012345678901}", Some("more digits")),
            ("{\"a\":1,\"a\":2}", Some("stands twice")),
            (&*deep, Some("recursion limit")),
        ] {
            let fault = read(with(arguments)).err().map(|error| error.to_string());
            assert_eq!(fault.is_some(), why.is_some(), "{arguments}: {fault:?}");
            assert!(fault.unwrap_or_default().contains(why.unwrap_or_default()), "{arguments}");
        }
        // A document over several lines begins in the same way.
        let document = "{\n\n \"messages\": [{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"1\",\n\
                        \"name\": \"a\", \"input\": {}}]}]}\n";
        assert_eq!(read(document.to_owned()).expect("a transcript").lines.len(), 1);
        assert!(read("{\"kind\":\"deci".to_owned()).is_err());
    }
}
