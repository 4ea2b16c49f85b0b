//! The thread that writes.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Statement, ToSql, params};

use super::{
    BATCH_BYTES, Batch, FinishOperation, NotedSpending, OpenRun, Operation, ProgressOperation, RunId, Shared,
    Sleep, StartOperation,
};
use crate::receipt::Completion;
use crate::{NewLesson, StoreError};

/// How long events that nobody waits for may gather before they are written.
const GATHER: Duration = Duration::from_millis(2);

/// The same where many runs go on. A page is written once for each transaction that touches it, so longer is cheaper.
const GATHER_MANY: Duration = Duration::from_millis(5);

/// A transaction goes on while there is more to write, but not longer than this: readers see, receipts come true and
/// other programs may write only afterwards.
const TRANSACTION_MAX: Duration = Duration::from_millis(5);

/// A row of so many bytes takes no more events.
const ROW_BYTES: usize = 16 << 10;

/// A larger buffer is not kept for the next batch.
const LINES_BYTES_KEPT_MAX: usize = 4 * BATCH_BYTES;

/// Writes batches until the last handle is gone or something fails.
pub(super) fn write(shared: &Shared, connection: &Connection) {
    let mut stop = Stop { shared, error: None };
    if let Err(error) = write_batches(shared, connection) {
        stop.error = Some(error);
    }
}

/// Turns an error that stops the thread into ours. From here on every call gives it: whoever is told of the failure by
/// a receipt must not find the writer still willing.
fn fail(shared: &Shared, error: rusqlite::Error) -> StoreError {
    let error = shared.place.error(error);
    shared.lock().failure = Some(error.clone());
    error
}

/// Tells everyone why the thread stopped, even if it panicked.
struct Stop<'a> {
    shared: &'a Shared,
    error: Option<StoreError>,
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        let error = self.error.take().unwrap_or_else(|| self.shared.stopped());
        let mut queue = self.shared.lock();
        queue.failure = Some(error.clone());
        queue.open.clear();
        let batch = std::mem::take(&mut queue.batch);
        drop(queue);
        self.shared.room.notify_all();
        for operation in batch.operations {
            operation.fail(&error);
        }
    }
}

impl Operation {
    fn fail(self, error: &StoreError) {
        match self {
            Self::Append { .. } => {}
            Self::Start(start) => start.completion.complete(Err(error.clone())),
            Self::Finish(finish) => finish.completion.complete(Err(error.clone())),
            Self::Progress(progress) => progress.completion.complete(Err(error.clone())),
            Self::Flush(completion) => completion.complete(Err(error.clone())),
        }
    }
}

fn write_batches(shared: &Shared, connection: &Connection) -> Result<(), StoreError> {
    let mut statements = Statements::prepare(connection).map_err(|error| fail(shared, error))?;
    let mut batch = Batch::default();
    while wait_for_batch(shared, &mut batch) {
        // These wait for the commit; if it does not come to that, they get the error.
        let mut committed = Vec::new();
        let result = write_transaction(shared, &mut statements, &mut batch, &mut committed);
        for completion in committed {
            completion.complete(result.clone());
        }
        if let Err(error) = result {
            for operation in batch.operations {
                operation.fail(&error);
            }
            // Closing the connection would roll back as well, so an error here adds nothing.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(error);
        }
    }
    Ok(())
}

/// Swaps the queue's batch for the given one, which is empty; waits until there is something in it. `false` when there
/// is nothing more to come.
fn wait_for_batch(shared: &Shared, batch: &mut Batch) -> bool {
    let mut queue = shared.lock();
    while queue.batch.is_empty() {
        if queue.is_closing {
            return false;
        }
        queue.sleep = Sleep::Idle;
        queue = shared.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    let gather = if queue.has_many_runs() { GATHER_MANY } else { GATHER };
    let until = Instant::now() + gather;
    while !queue.is_urgent() && !queue.is_closing && queue.waiting == 0 && queue.batch.bytes < BATCH_BYTES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        queue.sleep = Sleep::Gathering;
        queue = shared.work.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
    }
    queue.sleep = Sleep::Awake;
    std::mem::swap(&mut queue.batch, batch);
    if queue.waiting > 0 {
        shared.room.notify_all();
    }
    true
}

/// Swaps as above, without waiting. `false` if there is nothing.
fn take_batch(shared: &Shared, batch: &mut Batch) -> bool {
    let mut queue = shared.lock();
    if queue.batch.is_empty() {
        return false;
    }
    std::mem::swap(&mut queue.batch, batch);
    if queue.waiting > 0 {
        shared.room.notify_all();
    }
    true
}

fn write_transaction(
    shared: &Shared,
    statements: &mut Statements<'_>,
    batch: &mut Batch,
    committed: &mut Vec<Completion<()>>,
) -> Result<(), StoreError> {
    let started = Instant::now();
    statements.begin.execute([]).map_err(|error| fail(shared, error))?;
    loop {
        write_batch(shared, statements, batch, committed)?;
        if started.elapsed() >= TRANSACTION_MAX || !take_batch(shared, batch) {
            break;
        }
    }
    statements.commit.execute([]).map_err(|error| fail(shared, error))?;
    Ok(())
}

/// Writes all operations of a batch and leaves it empty. At an error the rest of them is failed with it.
fn write_batch(
    shared: &Shared,
    statements: &mut Statements<'_>,
    batch: &mut Batch,
    committed: &mut Vec<Completion<()>>,
) -> Result<(), StoreError> {
    // What belongs to one run comes together and becomes one row. The order between runs does not matter, nor does that
    // between events and the end of their run: all of it is in one transaction.
    batch.operations.sort_by_key(|operation| match operation {
        Operation::Start(_) => (0, 0),
        Operation::Append { run, .. } => (1, run.0),
        Operation::Finish(_) => (2, 0),
        Operation::Progress(_) => (3, 0),
        Operation::Flush(_) => (4, 0),
    });
    let mut row = Vec::new();
    let mut operations = batch.operations.drain(..).peekable();
    while let Some(operation) = operations.next() {
        let result = match operation {
            Operation::Append { run, seq, start, end } => {
                row.clear();
                row.extend_from_slice(batch.lines.get(start..end).unwrap_or_default());
                while row.len() < ROW_BYTES
                    && let Some(Operation::Append { start, end, .. }) = operations.next_if(
                        |operation| matches!(operation, Operation::Append { run: other, .. } if *other == run),
                    )
                {
                    row.push(b'\n');
                    row.extend_from_slice(batch.lines.get(start..end).unwrap_or_default());
                }
                statements.append(run, seq, &row).map_err(|error| fail(shared, error))
            }
            Operation::Start(start) => {
                let outcome = statements.start(shared, &start).map_err(|error| fail(shared, error));
                complete(start.completion, outcome)
            }
            Operation::Finish(finish) => {
                match statements.finish(&finish).map_err(|error| fail(shared, error)) {
                    Ok(Ok(())) => {
                        committed.push(finish.completion);
                        Ok(())
                    }
                    outcome => complete(finish.completion, outcome),
                }
            }
            Operation::Progress(progress) => {
                match statements.set_progress(&progress).map_err(|error| fail(shared, error)) {
                    Ok(Ok(())) => {
                        committed.push(progress.completion);
                        Ok(())
                    }
                    outcome => complete(progress.completion, outcome),
                }
            }
            Operation::Flush(completion) => {
                committed.push(completion);
                Ok(())
            }
        };
        if let Err(error) = result {
            operations.for_each(|operation| operation.fail(&error));
            return Err(error);
        }
    }
    drop(operations);
    for noted in batch.noted.drain(..) {
        statements.note_spending(&noted).map_err(|error| fail(shared, error))?;
    }
    batch.lines.clear();
    batch.lines.shrink_to(LINES_BYTES_KEPT_MAX);
    batch.bytes = 0;
    batch.is_awaited = false;
    Ok(())
}

/// The largest number that a column takes, for what is larger.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Completes with an outcome whose outer error is the writer's own: it stops the thread as well.
fn complete<T>(
    completion: Completion<T>,
    outcome: Result<Result<T, StoreError>, StoreError>,
) -> Result<(), StoreError> {
    match outcome {
        Ok(outcome) => {
            completion.complete(outcome);
            Ok(())
        }
        Err(error) => {
            completion.complete(Err(error.clone()));
            Err(error)
        }
    }
}

/// Text that is known to be UTF-8, so that SQLite can have it without another look.
struct Text<'a>(&'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

struct Statements<'c> {
    connection: &'c Connection,
    begin: Statement<'c>,
    commit: Statement<'c>,
    append: Statement<'c>,
    find_campaign: Statement<'c>,
    find_run: Statement<'c>,
    delete_run: Statement<'c>,
    insert_run: Statement<'c>,
    finish_run: Statement<'c>,
    insert_lesson: Statement<'c>,
    set_progress: Statement<'c>,
    note_spending: Statement<'c>,
}

impl<'c> Statements<'c> {
    fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            append: connection.prepare("INSERT INTO event (run, seq, lines) VALUES (?1, ?2, ?3)")?,
            find_campaign: connection.prepare("SELECT key, cases, repeats FROM campaign WHERE id = ?1")?,
            find_run: connection.prepare(
                "SELECT id, state = 'finished' AND passed IS NOT NULL FROM run
                 WHERE campaign = ?1 AND ordinal = ?2 AND repeat = ?3",
            )?,
            delete_run: connection.prepare("DELETE FROM run WHERE id = ?1")?,
            insert_run: connection.prepare(
                "INSERT INTO run (campaign, ordinal, repeat, state, header) VALUES (?1, ?2, ?3, 'started', ?4)",
            )?,
            finish_run: connection.prepare(
                "UPDATE run SET state = 'finished', passed = ?2, class = ?3, verdict = ?4, wall_ms = ?5,
                        summary = ?6 WHERE id = ?1 AND state = 'started'",
            )?,
            insert_lesson: connection.prepare(
                "INSERT INTO lesson (run, number, kept_as, tool, about, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            set_progress: connection.prepare(
                "UPDATE campaign SET spent_input_tokens = ?2, spent_output_tokens = ?3, spent_picodollars = ?4,
                 spent_is_estimate = ?5, served_input_tokens = ?6, served_output_tokens = ?7, ended_by = ?8,
                 budgets = ?9 WHERE id = ?1",
            )?,
            note_spending: connection.prepare(
                "UPDATE campaign SET spent_input_tokens = ?2, spent_output_tokens = ?3, spent_picodollars = ?4,
                 spent_is_estimate = ?5, served_input_tokens = ?6, served_output_tokens = ?7 WHERE id = ?1",
            )?,
        })
    }

    fn append(&mut self, run: RunId, seq: i64, lines: &[u8]) -> rusqlite::Result<()> {
        match self.append.execute(params![run.0, seq, Text(lines)]) {
            // Another program deleted the run to start its unit again; finishing the run will tell.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Ok(()),
            result => result.map(drop),
        }
    }

    fn start(
        &mut self,
        shared: &Shared,
        start: &StartOperation,
    ) -> rusqlite::Result<Result<RunId, StoreError>> {
        let StartOperation { ordinal, repeat, .. } = *start;
        let campaign = start.campaign.clone();
        let found = self
            .find_campaign
            .query_row([&campaign], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, u32>(2)?))
            })
            .optional()?;
        let Some((key, cases, repeats)) = found else {
            return Ok(Err(StoreError::UnknownCampaign { name: campaign }));
        };
        if ordinal >= cases || repeat >= repeats {
            return Ok(Err(StoreError::UnknownUnit { campaign, ordinal, repeat }));
        }
        let unit = params![key, ordinal, repeat];
        let former = self
            .find_run
            .query_row(unit, |row| Ok((RunId(row.get(0)?), row.get::<_, bool>(1)?)))
            .optional()?;
        match former {
            Some((_, true)) => return Ok(Err(StoreError::AlreadyFinished { campaign, ordinal, repeat })),
            Some((run, false)) if shared.lock().open.contains_key(&run) => {
                return Ok(Err(StoreError::AlreadyRunning { campaign, ordinal, repeat }));
            }
            Some((run, false)) => drop(self.delete_run.execute([run.0])?),
            None => {}
        }
        self.insert_run.execute(params![key, ordinal, repeat, Text(&start.header)])?;
        let run = RunId(self.connection.last_insert_rowid());
        shared.lock().open.insert(run, OpenRun::default());
        Ok(Ok(run))
    }

    fn finish(&mut self, finish: &FinishOperation) -> rusqlite::Result<Result<(), StoreError>> {
        let FinishOperation { run, passed, class, verdict, summary, lessons, .. } = finish;
        let wall_ms = i64::try_from(finish.wall_ms).unwrap_or(i64::MAX);
        let run = *run;
        let changed = self.finish_run.execute(params![run.0, passed, class, verdict, wall_ms, summary])?;
        if changed != 1 {
            return Ok(Err(StoreError::RunReplaced { run }));
        }
        for (number, NewLesson { kept_as, tool, about, text }) in (0u32..).zip(lessons) {
            self.insert_lesson.execute(params![run.0, number, kept_as, tool, about, text])?;
        }
        Ok(Ok(()))
    }

    fn set_progress(&mut self, operation: &ProgressOperation) -> rusqlite::Result<Result<(), StoreError>> {
        let ProgressOperation { campaign, progress, .. } = operation;
        let changed = self.set_progress.execute(params![
            campaign,
            integer(progress.spent.input_tokens),
            integer(progress.spent.output_tokens),
            progress.spent.picodollars.map(integer),
            progress.spent.is_estimate,
            integer(progress.served_input_tokens),
            integer(progress.served_output_tokens),
            progress.ended_by,
            progress.budgets,
        ])?;
        Ok(if changed == 1 { Ok(()) } else { Err(StoreError::UnknownCampaign { name: campaign.clone() }) })
    }

    fn note_spending(&mut self, noted: &NotedSpending) -> rusqlite::Result<()> {
        let NotedSpending { campaign, spent, served } = noted;
        self.note_spending.execute(params![
            campaign,
            integer(spent.input_tokens),
            integer(spent.output_tokens),
            spent.picodollars.map(integer),
            spent.is_estimate,
            integer(served.input_tokens),
            integer(served.output_tokens),
        ])?;
        Ok(())
    }
}
