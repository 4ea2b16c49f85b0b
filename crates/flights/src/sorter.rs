//! Sorts more records than fit into memory: pieces that fit are sorted and written one after another (runs), then
//! merged, in `O(n log n)` time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::make::create_own;
use crate::place::read_exact_at;

/// The number of records of a run that are read at once during the merge.
const RECORDS_AT_ONCE: usize = 4096;

/// Records of `N` bytes, ordered by their bytes.
pub(crate) struct Sorter<const N: usize> {
    records: Vec<[u8; N]>,
    in_memory: usize,
    path: PathBuf,
    /// Where runs are stored, and where each of them ends, in records.
    file: Option<File>,
    ends: Vec<u64>,
}

impl<const N: usize> Sorter<N> {
    /// Keeps at most this many records in memory. Further ones go to a file at this path, which is unlinked before
    /// anything is written to it.
    pub(crate) fn new(path: &Path, in_memory: usize) -> Self {
        Self { records: Vec::new(), in_memory, path: path.to_owned(), file: None, ends: Vec::new() }
    }

    pub(crate) fn push(&mut self, record: [u8; N]) -> io::Result<()> {
        if self.records.len() >= self.in_memory {
            self.write_run()?;
        }
        self.records.push(record);
        Ok(())
    }

    fn write_run(&mut self) -> io::Result<()> {
        self.records.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = create_own(&self.path)?;
                // Unlinked while it is open, so it disappears with the process, however that ends.
                fs::remove_file(&self.path)?;
                none.insert(file)
            }
        };
        file.write_all(self.records.as_flattened())?;
        let begin = self.ends.last().copied().unwrap_or_default();
        self.ends.push(begin + self.records.len() as u64);
        self.records.clear();
        Ok(())
    }

    /// All records in order.
    pub(crate) fn finish(mut self) -> io::Result<Sorted<N>> {
        let Some(file) = self.file.take() else {
            self.records.sort_unstable();
            return Ok(Sorted::InMemory(self.records.into_iter()));
        };
        self.file = Some(file);
        self.write_run()?;
        // Frees the buffer, because the merge has its own.
        self.records = Vec::new();
        let Some(file) = self.file else { return Ok(Sorted::InMemory(Vec::new().into_iter())) };
        let mut runs = Vec::with_capacity(self.ends.len());
        let mut heap = BinaryHeap::with_capacity(self.ends.len());
        let mut begin = 0;
        for (number, end) in self.ends.into_iter().enumerate() {
            let mut run = Run { next: begin, end, records: Vec::new().into_iter() };
            if let Some(record) = run.take(&file)? {
                heap.push(Reverse((record, number)));
            }
            runs.push(run);
            begin = end;
        }
        Ok(Sorted::Merged { file, runs, heap })
    }
}

/// Records in order.
pub(crate) enum Sorted<const N: usize> {
    InMemory(std::vec::IntoIter<[u8; N]>),
    Merged {
        file: File,
        runs: Vec<Run<N>>,
        /// The first record of each remaining run, with the number of the run.
        heap: BinaryHeap<Reverse<([u8; N], usize)>>,
    },
}

impl<const N: usize> Iterator for Sorted<N> {
    type Item = io::Result<[u8; N]>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::InMemory(records) => records.next().map(Ok),
            Self::Merged { file, runs, heap } => {
                // The top is replaced in place, which reorders the heap once; a pop and a push would do so twice.
                let mut first = heap.peek_mut()?;
                let Reverse((record, number)) = *first;
                match runs.get_mut(number).map_or(Ok(None), |run| run.take(file)) {
                    Ok(Some(next)) => *first = Reverse((next, number)),
                    Ok(None) => {
                        std::collections::binary_heap::PeekMut::pop(first);
                    }
                    Err(error) => return Some(Err(error)),
                }
                Some(Ok(record))
            }
        }
    }
}

/// A sorted piece.
pub(crate) struct Run<const N: usize> {
    /// The next record that is not in memory, and the end.
    next: u64,
    end: u64,
    records: std::vec::IntoIter<[u8; N]>,
}

impl<const N: usize> Run<N> {
    fn take(&mut self, file: &File) -> io::Result<Option<[u8; N]>> {
        if let Some(record) = self.records.next() {
            return Ok(Some(record));
        }
        let count = RECORDS_AT_ONCE.min((self.end - self.next) as usize);
        let mut records = vec![[0; N]; count];
        read_exact_at(file, records.as_flattened_mut(), self.next * N as u64)?;
        self.next += count as u64;
        self.records = records.into_iter();
        Ok(self.records.next())
    }
}
