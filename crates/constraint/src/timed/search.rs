//! Whether variables with windows and precedences fit one after the other: branch and bound after Carlier ("The
//! one-machine sequencing problem", 1982), for feasibility instead of lateness.
//!
//! **Precedences become windows.** If `x` comes before `y`, `y` starts no earlier than the earliest end of `x`, and
//! `x` ends no later than the latest start of `y`. Durations are at least 1, so `x` then has both the earlier release
//! and the earlier deadline, and the rule below never takes `y` first.
//!
//! **One schedule is tried** (Schrage's): whenever the machine is free, it takes the variable with the earliest
//! deadline among those released. If all deadlines are met, it is the proof. Otherwise let `p` be the variable that
//! exceeds its deadline `D` by most, and consider everything that was executed without a pause up to `p`:
//!
//! - If all of it has deadlines up to `D`, none of it was released before the pause, so it needs more time than
//!   there is between the pause and `D`, in any order: nothing fits.
//! - Otherwise let `c` be the last of it with a later deadline, and `J` everything after `c` up to and including
//!   `p`. When `c` was taken, nothing of `J` was released, so with `c` in the middle of `J` the last of `J` would end
//!   even later than `p` did, and past `D`. So `c` comes before all of `J` or after all of it: two cases, each with a
//!   narrower window for `c`.
//!
//! Windows are whole minutes and only get narrower, so the search terminates. Before it branches, it checks whether
//! everything would fit if variables could be interrupted (Jackson's schedule: the released variable with the
//! earliest deadline always runs). That takes as long as one more schedule, and without it a few problems in a
//! thousand take thousands of times as long.

use super::Timetable;
use crate::variable::{VARIABLES_MAX, indexes_in};

/// The most schedules that one search tries. Synthesised problems need one, seldom more than a handful, so the limit
/// is for problems designed to be hard. At 64 variables a step takes a few microseconds.
pub const SEARCH_STEPS_MAX: u32 = 2000;

/// The search reached its limit, so it is unknown whether there is a correct schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not decided within {SEARCH_STEPS_MAX} steps of the search for a schedule")]
pub struct UndecidedSchedule;

/// Whether `waiting` can be executed from minute `from` on. Predecessors outside of `waiting` count as done.
pub(super) fn fits(table: &Timetable, waiting: u64, from: u16) -> Result<bool, UndecidedSchedule> {
    let Some(tasks) = Tasks::new(table, waiting) else { return Ok(false) };
    let mut windows = Windows::new(table, waiting, from);
    let mut open: Vec<Windows> = Vec::new();
    for _ in 0..SEARCH_STEPS_MAX {
        let found = if windows.propagate(&tasks) { windows.attempt(&tasks) } else { Attempt::Hopeless };
        match found {
            Attempt::Fits => return Ok(true),
            Attempt::Hopeless => match open.pop() {
                Some(next) => windows = next,
                None => return Ok(false),
            },
            Attempt::Split { task, release, deadline } => {
                let mut before = windows.clone();
                before.deadline[task] = deadline;
                // Depth first, so that few windows are kept at a time: at most one for each split above.
                open.push(before);
                windows.release[task] = release;
            }
        }
    }
    Err(UndecidedSchedule)
}

/// What stays the same during a search.
struct Tasks<'a> {
    table: &'a Timetable,
    waiting: u64,
    /// The indices of the waiting variables, each after its predecessors.
    sorted: [u8; VARIABLES_MAX],
    len: usize,
}

impl<'a> Tasks<'a> {
    /// `None` if the precedences have a cycle.
    fn new(table: &'a Timetable, waiting: u64) -> Option<Self> {
        let mut tasks = Self { table, waiting, sorted: [0; VARIABLES_MAX], len: 0 };
        let mut missing = [0_u8; VARIABLES_MAX];
        for index in indexes_in(waiting) {
            missing[index] = (table.predecessors[index] & waiting).count_ones() as u8;
            if missing[index] == 0 {
                tasks.push(index);
            }
        }
        let mut next = 0;
        while next < tasks.len {
            let index = usize::from(tasks.sorted[next]);
            next += 1;
            for successor in indexes_in(table.successors[index] & waiting) {
                missing[successor] -= 1;
                if missing[successor] == 0 {
                    tasks.push(successor);
                }
            }
        }
        // Variables on a cycle, and those after it, never become free.
        (tasks.len == waiting.count_ones() as usize).then_some(tasks)
    }

    fn push(&mut self, index: usize) {
        self.sorted[self.len] = index as u8;
        self.len += 1;
    }

    fn in_order(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.sorted[..self.len].iter().map(|index| usize::from(*index))
    }

    fn duration(&self, index: usize) -> i32 {
        i32::from(self.table.duration[index])
    }
}

/// What came of one schedule.
enum Attempt {
    /// It is correct.
    Fits,
    /// No schedule is.
    Hopeless,
    /// `task` can start from `release` on, or else it has to end by `deadline`.
    Split { task: usize, release: i32, deadline: i32 },
}

/// Earliest starts and latest ends, in minutes. Signed, because a latest end can fall below midnight.
#[derive(Clone)]
struct Windows {
    release: [i32; VARIABLES_MAX],
    deadline: [i32; VARIABLES_MAX],
}

impl Windows {
    fn new(table: &Timetable, waiting: u64, from: u16) -> Self {
        let mut windows = Self { release: [0; VARIABLES_MAX], deadline: [0; VARIABLES_MAX] };
        for index in indexes_in(waiting) {
            windows.release[index] = i32::from(table.release[index].max(from));
            windows.deadline[index] = i32::from(table.deadline[index]);
        }
        windows
    }

    /// Narrows the windows by the precedences; `false` if one has become too narrow for its variable.
    fn propagate(&mut self, tasks: &Tasks<'_>) -> bool {
        // Each variable comes after its predecessors, so one pass narrows all releases,
        // and one in reverse all deadlines.
        for index in tasks.in_order() {
            for before in indexes_in(tasks.table.predecessors[index] & tasks.waiting) {
                self.release[index] = self.release[index].max(self.release[before] + tasks.duration(before));
            }
            if self.release[index] + tasks.duration(index) > self.deadline[index] {
                return false;
            }
        }
        for index in tasks.in_order().rev() {
            for after in indexes_in(tasks.table.successors[index] & tasks.waiting) {
                self.deadline[index] = self.deadline[index].min(self.deadline[after] - tasks.duration(after));
            }
            if self.release[index] + tasks.duration(index) > self.deadline[index] {
                return false;
            }
        }
        true
    }

    /// Tries the schedule of earliest deadlines.
    fn attempt(&self, tasks: &Tasks<'_>) -> Attempt {
        let sorted = Sorted::new(self, tasks);
        // The executed variables with their times, in the order of execution.
        let mut sequence = [0_u8; VARIABLES_MAX];
        let mut starts = [0_i32; VARIABLES_MAX];
        let mut queue = Queue::new(self, &sorted);
        let mut worst: Option<(i32, usize)> = None;
        for executed in 0..tasks.len {
            let Some(index) = queue.first() else { break };
            sequence[executed] = index as u8;
            starts[executed] = queue.time;
            queue.time += tasks.duration(index);
            queue.remove_first();
            let lateness = queue.time - self.deadline[index];
            if lateness > 0 && worst.is_none_or(|(most, _)| lateness > most) {
                worst = Some((lateness, executed));
            }
        }
        match worst {
            None => Attempt::Fits,
            // Only now, because most problems fit at the first attempt and need no second schedule.
            Some(_) if !self.fits_interrupted(tasks, &sorted) => Attempt::Hopeless,
            Some((_, late)) => self.split(tasks, &sequence[..=late], &starts[..=late]),
        }
    }

    /// Whether everything fits if it can be interrupted; if not, nothing fits.
    fn fits_interrupted(&self, tasks: &Tasks<'_>, sorted: &Sorted) -> bool {
        let mut left = tasks.table.duration.map(i32::from);
        let mut queue = Queue::new(self, sorted);
        while let Some(index) = queue.first() {
            // Until it is done, or until something is released that may have an earlier deadline.
            let run = left[index].min(queue.next_release().saturating_sub(queue.time));
            queue.time += run;
            left[index] -= run;
            if left[index] == 0 {
                if queue.time > self.deadline[index] {
                    return false;
                }
                queue.remove_first();
            }
        }
        true
    }

    /// The two cases that are left if the last of a sequence exceeds its deadline by most.
    fn split(&self, tasks: &Tasks<'_>, sequence: &[u8], starts: &[i32]) -> Attempt {
        let last = sequence.len() - 1;
        let deadline = self.deadline[usize::from(sequence[last])];
        // The last one has exactly this deadline, so both are set before any case can be split off.
        let (mut duration, mut release) = (0, i32::MAX);
        for place in (0..=last).rev() {
            let index = usize::from(sequence[place]);
            if self.deadline[index] > deadline {
                return Attempt::Split {
                    task: index,
                    release: release + duration,
                    deadline: deadline - duration,
                };
            }
            duration += tasks.duration(index);
            release = release.min(self.release[index]);
            let is_after_a_pause = place == 0
                || starts[place - 1] + tasks.duration(usize::from(sequence[place - 1])) < starts[place];
            if is_after_a_pause {
                break;
            }
        }
        // Everything since the pause is due by the deadline, and it needs more time than there is.
        Attempt::Hopeless
    }
}

/// The waiting variables in the two orders that schedules need.
struct Sorted {
    by_deadline: [u8; VARIABLES_MAX],
    by_release: [u8; VARIABLES_MAX],
    /// The position of each variable in `by_deadline`.
    place: [u8; VARIABLES_MAX],
    len: usize,
}

impl Sorted {
    fn new(windows: &Windows, tasks: &Tasks<'_>) -> Self {
        let mut sorted = Self {
            by_deadline: tasks.sorted,
            by_release: tasks.sorted,
            place: [0; VARIABLES_MAX],
            len: tasks.len,
        };
        // Ties go by index, so that the same problem takes the same steps everywhere.
        let deadline = |index: &u8| (windows.deadline[usize::from(*index)], *index);
        sorted.by_deadline[..tasks.len].sort_unstable_by_key(deadline);
        sorted.by_release[..tasks.len].sort_unstable_by_key(|index| windows.release[usize::from(*index)]);
        for (place, index) in sorted.by_deadline[..tasks.len].iter().enumerate() {
            sorted.place[usize::from(*index)] = place as u8;
        }
        sorted
    }
}

/// The released and unexecuted variables, as time advances.
struct Queue<'a> {
    windows: &'a Windows,
    sorted: &'a Sorted,
    time: i32,
    /// How many have been released.
    released: usize,
    /// Places in `by_deadline`.
    ready: u64,
}

impl<'a> Queue<'a> {
    fn new(windows: &'a Windows, sorted: &'a Sorted) -> Self {
        // Before any release, so that the first query waits for the earliest one.
        Self { windows, sorted, time: i32::MIN, released: 0, ready: 0 }
    }

    /// The earliest deadline among the released ones; waits for the next release if there is none. `None` at the end.
    fn first(&mut self) -> Option<usize> {
        if self.ready == 0 {
            if self.released == self.sorted.len {
                return None;
            }
            self.time = self.time.max(self.next_release());
        }
        while self.next_release() <= self.time {
            self.ready |= 1 << self.sorted.place[usize::from(self.sorted.by_release[self.released])];
            self.released += 1;
        }
        // Ready variables are bits by deadline, so the lowest bit is due first.
        Some(usize::from(self.sorted.by_deadline[self.ready.trailing_zeros() as usize]))
    }

    fn remove_first(&mut self) {
        self.ready &= self.ready - 1;
    }

    /// When something is released next; never, when all is.
    fn next_release(&self) -> i32 {
        match self.sorted.by_release[..self.sorted.len].get(self.released) {
            Some(index) => self.windows.release[usize::from(*index)],
            None => i32::MAX,
        }
    }
}
