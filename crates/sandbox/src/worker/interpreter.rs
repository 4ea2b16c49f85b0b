//! A run of the interpreter.

use std::io;
use std::ops::ControlFlow;

use monty::{FunctionCall, MontyRun, NameLookup, OsCall, RunProgress};
use monty_types::{
    AssertMessageAnnotations, CompileOptions, ExcType, ExtFunctionResult, MontyException, MontyObject,
    NameLookupResult, PrintWriter, ResourceLimits, ResourceTracker,
};

use super::Host;
use super::classify;
use super::printed::Printed;
use super::values::{NotJson, Writer, from_json, repr};
use crate::limits::SandboxLimits;
use crate::outcome::{Lack, Limit, ProgramEnd, Returned};
use crate::program::Entry;
use crate::protocol::{FromWorker, Run, ToWorker};

/// The name of a program's file in its tracebacks.
const FILE: &str = "plan.py";

/// Runs a program to its end, and returns its output since its last call.
///
/// # Errors
/// The host is gone or violates the protocol.
pub(super) fn run(run: Run, host: &mut Host<'_>) -> io::Result<(ProgramEnd, String)> {
    let lines = u32::try_from(run.program.lines().count()).unwrap_or(u32::MAX);
    let mut session = Session {
        host,
        lines,
        functions: run.functions,
        printed: Printed::new(run.limits.output_bytes),
        calls: 0,
        hosts_exception: None,
        limits: run.limits,
    };
    let end = session.run(with_entry(run.program, &run.entry))?;
    // Whatever the reported end: a program could have caught the exception for this limit.
    let end = if session.printed.is_over { ProgramEnd::Limit(Limit::Output) } else { end };
    Ok((end, session.printed.take()))
}

/// The program with the call of its entry point. The empty line between them ends a continued statement.
fn with_entry(program: String, entry: &Entry) -> String {
    match entry {
        Entry::Whole => program,
        Entry::Function(name) => program + "\n\n" + name + "()",
    }
}

type Progress = Result<RunProgress, MontyException>;

/// What a step of a session leads to: another, or the end.
type Next = ControlFlow<ProgramEnd, Progress>;

struct Session<'a, 'h> {
    host: &'a mut Host<'h>,
    /// Lines of the program's own.
    lines: u32,
    functions: Vec<String>,
    limits: SandboxLimits,
    printed: Printed,
    calls: u64,
    /// The exception that the host raised last.
    hosts_exception: Option<(ExcType, String)>,
}

impl Session<'_, '_> {
    fn run(&mut self, text: String) -> io::Result<ProgramEnd> {
        let options = CompileOptions { assert_message_annotations: AssertMessageAnnotations::Off };
        let program = match MontyRun::new(text, FILE, Vec::new(), options) {
            Ok(program) => program,
            Err(exception) => return Ok(classify::uncompiled(&exception, self.lines)),
        };
        // Suspensions are counted as calls. The memory of single large values is estimated here, and the sum is
        // limited by the system's limit on this process.
        let limits = ResourceLimits::default()
            .max_duration(self.limits.time)
            .max_memory(usize::try_from(self.limits.memory_bytes).unwrap_or(usize::MAX))
            .max_recursion_depth(self.limits.recursion)
            .max_suspensions(usize::MAX);
        let tracker = ResourceTracker::new(limits);
        let mut progress = program.start(Vec::new(), tracker, PrintWriter::Callback(&mut self.printed));
        loop {
            let next = match progress {
                Err(exception) => Next::Break(self.uncaught(&exception)),
                // Checked at each step, because a program may catch the exception and go on.
                Ok(_) if self.printed.is_over => Next::Break(ProgramEnd::Limit(Limit::Output)),
                Ok(RunProgress::Complete(value)) => Next::Break(self.finished(&value)),
                Ok(RunProgress::FunctionCall(call)) => self.call(call)?,
                Ok(RunProgress::NameLookup(lookup)) => self.look_up(lookup),
                Ok(RunProgress::OsCall(call)) => self.system(call),
                Ok(RunProgress::ResolveFutures(_)) => {
                    let lack = Lack::Ability("awaiting what is not there yet".into());
                    Next::Break(ProgramEnd::Unsupported { lack, line: None })
                }
            };
            match next {
                Next::Continue(next) => progress = next,
                Next::Break(end) => return Ok(end),
            }
        }
    }

    fn uncaught(&self, exception: &MontyException) -> ProgramEnd {
        // The interpreter does not say where an exception came from, so the host's latest is recognised by type and
        // message.
        let is_hosts = self.hosts_exception.as_ref().is_some_and(|(kind, message)| {
            *kind == exception.exc_type() && Some(message.as_str()) == exception.message()
        });
        classify::uncaught(exception, self.lines, is_hosts)
    }

    fn finished(&self, value: &MontyObject) -> ProgramEnd {
        match Writer::new(self.limits.value_bytes).value(value) {
            Ok(value) => ProgramEnd::Finished { value: Returned::Json(value) },
            Err(NotJson::Kind(_)) => ProgramEnd::Finished { value: Returned::Other(repr(value)) },
            Err(NotJson::TooLarge) => ProgramEnd::Limit(Limit::ValueBytes),
        }
    }

    /// Names that are neither the program's nor builtins arrive here.
    fn look_up(&mut self, lookup: NameLookup) -> Next {
        let is_function = lookup.object_id().is_none() && self.functions.contains(&lookup.name);
        let found = if is_function {
            NameLookupResult::Value(MontyObject::Function { name: lookup.name.clone(), docstring: None })
        } else {
            NameLookupResult::Undefined
        };
        Next::Continue(lookup.resume(found, PrintWriter::Callback(&mut self.printed)))
    }

    /// The program requests something from the system. It gets nothing, and cannot continue as if it had not asked.
    fn system(&mut self, call: OsCall) -> Next {
        let name: &'static str = (&call.function_call).into();
        let exception = MontyException::new(ExcType::PermissionError, Some(format!("no {name} here")));
        let aborted = call.abort(exception, PrintWriter::Callback(&mut self.printed));
        let line = aborted.err().and_then(|exception| classify::line(&exception, self.lines));
        Next::Break(ProgramEnd::Unsupported { lack: Lack::System(name.into()), line })
    }

    fn call(&mut self, call: FunctionCall) -> io::Result<Next> {
        // A call is not preceded by a look-up of its name.
        if call.object_id.is_some() || !self.functions.contains(&call.function_name) {
            let unknown = ExtFunctionResult::NotFound(call.function_name.clone());
            return Ok(Next::Continue(call.resume(unknown, PrintWriter::Callback(&mut self.printed))));
        }
        self.calls += 1;
        if usize::try_from(self.calls).unwrap_or(usize::MAX) > self.limits.calls {
            return Ok(Next::Break(ProgramEnd::Limit(Limit::Calls)));
        }
        let mut writer = Writer::new(self.limits.value_bytes);
        let args = call.args.iter().map(|value| writer.value(value)).collect::<Result<Vec<_>, _>>();
        let written = args.and_then(|args| Ok((args, writer.members(&call.kwargs)?)));
        let (args, kwargs) = match written {
            Ok(written) => written,
            Err(NotJson::TooLarge) => return Ok(Next::Break(ProgramEnd::Limit(Limit::ValueBytes))),
            Err(NotJson::Kind(what)) => {
                let message = format!("{}() takes values that JSON has, not {what}", call.function_name);
                return Ok(Next::Continue(self.raise(call, ExcType::TypeError, message)));
            }
        };
        let function = call.function_name.clone();
        // Sent with the call, so that it is not lost if the worker is killed later.
        let printed = self.printed.take();
        match self.host.call(&FromWorker::Call { id: self.calls, function, args, kwargs, printed })? {
            ToWorker::Result(value) => {
                let printer = PrintWriter::Callback(&mut self.printed);
                Ok(Next::Continue(call.resume(from_json(value), printer)))
            }
            ToWorker::Raise { kind, message } => {
                let kind = kind.parse().unwrap_or(ExcType::RuntimeError);
                self.hosts_exception = Some((kind, message.clone()));
                Ok(Next::Continue(self.raise(call, kind, message)))
            }
            ToWorker::Run(_) => Err(io::Error::other("the host sends a program instead of a result")),
        }
    }

    fn raise(&mut self, call: FunctionCall, kind: ExcType, message: String) -> Progress {
        call.resume(MontyException::new(kind, Some(message)), PrintWriter::Callback(&mut self.printed))
    }
}
