//! The writing thread.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::queue::{BATCH_BYTES, Batch, Operation, Shared, Sleep};
use super::statements::Statements;
use crate::campaign::CaseDigests;
use crate::receipt::Completion;
use crate::{Sealed, StoreError};

/// How long to collect events that nobody waits for before they are written.
const GATHER: Duration = Duration::from_millis(2);

/// The same when many runs are open. Each transaction rewrites every page it touches, so a longer interval is
/// cheaper.
const GATHER_MANY: Duration = Duration::from_millis(5);

/// Maximum duration of a transaction while there is more to write: only after it do readers see changes, receipts
/// complete and other programs get to write.
const TRANSACTION_MAX: Duration = Duration::from_millis(5);

/// Size from which on a row accepts no more events.
const ROW_BYTES: usize = 16 << 10;

/// A larger buffer is not reused for the next batch.
const LINES_BYTES_KEPT_MAX: usize = 4 * BATCH_BYTES;

/// Writes batches until the last handle is dropped or something fails.
pub(super) fn write(shared: &Shared, connection: &Connection, created: CaseDigests) {
    // Created before the work begins, so that its `drop` also runs if the work panics.
    let mut stop = Stop { shared, error: None };
    if let Err(error) = write_batches(shared, connection, created) {
        stop.error = Some(error);
    }
}

/// Converts an error that stops the thread into ours. From here on every call returns it: a caller that learns of
/// the failure from a receipt must not find the writer still accepting work.
fn fail(shared: &Shared, error: rusqlite::Error) -> StoreError {
    let error = shared.place.error(error);
    shared.lock().failure = Some(error.clone());
    error
}

/// Like [`fail`], for a link that cannot be written because another program has taken its number.
fn interfered(shared: &Shared, error: rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
        return fail(shared, error);
    }
    let error = StoreError::Interfered { path: shared.place.path.clone() };
    shared.lock().failure = Some(error.clone());
    error
}

/// Reports to all callers why the thread stopped, even after a panic.
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
        // Completing a receipt wakes its task, which may call the writer, so the lock is released first.
        drop(queue);
        self.shared.room.notify_all();
        for operation in batch.operations {
            operation.fail(&error);
        }
    }
}

/// A caller that waits for the commit.
enum Committed {
    Plain(Completion<()>),
    Ended(Completion<Vec<Sealed>>, Vec<Sealed>),
}

fn write_batches(shared: &Shared, connection: &Connection, created: CaseDigests) -> Result<(), StoreError> {
    let mut statements = Statements::prepare(connection, created).map_err(|error| fail(shared, error))?;
    let mut batch = Batch::default();
    while wait_for_batch(shared, &mut batch) {
        // These wait for the commit; if it fails, they receive the error.
        let mut committed = Vec::new();
        let result = write_transaction(shared, &mut statements, &mut batch, &mut committed);
        for it in committed {
            match it {
                Committed::Plain(completion) => completion.complete(result.clone()),
                Committed::Ended(completion, sealed) => completion.complete(result.clone().map(|()| sealed)),
            }
        }
        if let Err(error) = result {
            // The batch holds something only if the transaction could not begin; `write_batch` fails what it has taken.
            for operation in batch.operations {
                operation.fail(&error);
            }
            // Closing the connection would roll back too, so an error here does not matter.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(error);
        }
    }
    Ok(())
}

/// Swaps the queue's batch for the given empty one, after waiting until it contains something. `false` if nothing
/// more can come.
fn wait_for_batch(shared: &Shared, batch: &mut Batch) -> bool {
    let mut queue = shared.lock();
    while !queue.is_ready() {
        if queue.is_closing {
            return false;
        }
        queue.sleep = Sleep::Idle;
        queue = shared.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    let gather = if queue.has_many_runs() { GATHER_MANY } else { GATHER };
    // The end is fixed before the loop, so that wake-ups for further operations do not postpone it.
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
    // Both batches keep their allocations, so that two buffers take turns and none is allocated for each batch.
    std::mem::swap(&mut queue.batch, batch);
    if queue.waiting > 0 {
        shared.room.notify_all();
    }
    true
}

/// Like [`wait_for_batch`], without waiting. `false` if there is nothing.
fn take_batch(shared: &Shared, batch: &mut Batch) -> bool {
    let mut queue = shared.lock();
    if !queue.is_ready() {
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
    committed: &mut Vec<Committed>,
) -> Result<(), StoreError> {
    shared.place.patience.begin();
    let started = Instant::now();
    statements.begin.execute([]).map_err(|error| fail(shared, error))?;
    loop {
        // What has arrived meanwhile joins the transaction, but not for longer than readers and receipts may wait.
        write_batch(shared, statements, batch, committed)?;
        if started.elapsed() >= TRANSACTION_MAX || !take_batch(shared, batch) {
            break;
        }
    }
    // After all batches of the transaction, so that one signature for each campaign covers all of its runs.
    if let Some(key) = shared.seal.get() {
        statements.write_links(key).map_err(|error| interfered(shared, error))?;
    }
    statements.commit.execute([]).map_err(|error| fail(shared, error))?;
    Ok(())
}

/// Writes all operations of a batch and leaves it empty. On an error, its remaining operations fail with that
/// error.
fn write_batch(
    shared: &Shared,
    statements: &mut Statements<'_>,
    batch: &mut Batch,
    committed: &mut Vec<Committed>,
) -> Result<(), StoreError> {
    // The sort is stable, so the events of a run keep their order while they are grouped into rows. The order between
    // runs does not matter, because all of it is in one transaction. Events come before the end of their run, whose
    // digest covers them, and seals after all ends, which they count.
    batch.operations.sort_by_key(|operation| match operation {
        Operation::Start(_) | Operation::ResumeSeals(_) => (0, 0),
        Operation::Append { run, .. } => (1, run.0),
        Operation::Finish(_) | Operation::Abandon(_) => (2, 0),
        Operation::Progress(_) => (3, 0),
        Operation::EndSeals(_) => (4, 0),
        Operation::Flush(_) => (5, 0),
    });
    let mut row = Vec::new();
    let mut operations = batch.operations.drain(..).peekable();
    while let Some(operation) = operations.next() {
        let result = match operation {
            Operation::Append { run, seq, start, end } => {
                row.clear();
                row.extend_from_slice(batch.lines.get(start..end).unwrap_or_default());
                // Fewer rows take less time to write, so events that follow each other share one.
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
                // The agent need not wait for the commit: if that fails, every later operation on the run reports the
                // error.
                let outcome = statements.start(shared, &start).map_err(|error| fail(shared, error));
                complete(start.completion, outcome)
            }
            Operation::Finish(finish) => {
                // A run counts as finished only after the commit, so its receipt waits for it; a refusal is reported at
                // once.
                match statements.finish(&finish).map_err(|error| fail(shared, error)) {
                    Ok(Ok(())) => {
                        committed.push(Committed::Plain(finish.completion));
                        Ok(())
                    }
                    outcome => complete(finish.completion, outcome),
                }
            }
            Operation::Progress(progress) => {
                let set = statements.set_progress(shared.seal.get(), &progress);
                match set.map_err(|error| fail(shared, error)) {
                    Ok(Ok(())) => {
                        committed.push(Committed::Plain(progress.completion));
                        Ok(())
                    }
                    outcome => complete(progress.completion, outcome),
                }
            }
            Operation::Abandon(run) => {
                statements.open.remove(&run);
                Ok(())
            }
            Operation::ResumeSeals(campaign) => {
                let resumed = shared.seal.get().map_or(Ok(()), |key| statements.resume_seals(key, &campaign));
                resumed.map_err(|error| fail(shared, error))
            }
            Operation::EndSeals(completion) => {
                let ended = shared.seal.get().map_or(Ok(Vec::new()), |key| {
                    // Abandoned here as well, so that nothing more is queued for them.
                    shared.lock().open.retain(|run, _| !statements.open.contains_key(run));
                    statements.end_seals(key)
                });
                match ended.map_err(|error| interfered(shared, error)) {
                    Ok(sealed) => {
                        committed.push(Committed::Ended(completion, sealed));
                        Ok(())
                    }
                    Err(error) => complete(completion, Err(error)),
                }
            }
            Operation::Flush(completion) => {
                committed.push(Committed::Plain(completion));
                Ok(())
            }
        };
        if let Err(error) = result {
            operations.for_each(|operation| operation.fail(&error));
            return Err(error);
        }
    }
    drop(operations);
    // A note that is still here is newer than any progress of its campaign in the batch: `set_progress` removes older
    // ones.
    for noted in batch.noted.drain(..) {
        statements.note_spending(&noted).map_err(|error| fail(shared, error))?;
    }
    batch.lines.clear();
    batch.lines.shrink_to(LINES_BYTES_KEPT_MAX);
    batch.bytes = 0;
    batch.is_awaited = false;
    Ok(())
}

/// Completes a receipt with an outcome. An outer error is the writer's own and also stops the thread.
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
