//! Looks flights up in an index. Each look-up is a binary search in memory and one or two file reads.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use planproof_travel::tables::{FlightRow, FlightStore, FlightStoreError, Flights, Leg};

use crate::IndexedFlights;
use crate::layout::{
    self, Directory, HEADER_BYTES, Header, NUMBER_BYTES, NUMBERS_A_BLOCK, ROW_BYTES, ROWS_A_BLOCK,
};
use crate::place::read_exact_at;
use crate::source::{Fingerprint, hash};

/// The maximum size of a directory in bytes. Names and samples of [`crate::ROWS_MAX`] rows take far less.
const DIRECTORY_BYTES_MAX: u64 = 256 << 20;

/// Opens an index. Returns `None` if there is none, if it belongs to another file or layout, or if it is damaged. The
/// caller then rebuilds it, and only a failure of that is an error.
pub(crate) fn open(path: &Path, fingerprint: &Fingerprint) -> Option<IndexedFlights> {
    let file = planproof_files::open_own(path, File::options().read(true)).ok()?;
    let mut bytes = [0; HEADER_BYTES];
    read_exact_at(&file, &mut bytes, 0).ok()?;
    let header = Header::read(&bytes).filter(|header| header.fingerprint == *fingerprint)?;
    // Checked before anything is allocated, because a damaged header could ask for any amount of memory.
    let is_sound = header.rows <= crate::ROWS_MAX.min(fingerprint.bytes / crate::TABLE_ROW_BYTES_MIN)
        && header.directory_bytes <= DIRECTORY_BYTES_MAX
        && file.metadata().ok()?.len() == header.directory_at() + header.directory_bytes;
    if !is_sound {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(header.directory_bytes).ok()?];
    read_exact_at(&file, &mut bytes, header.directory_at()).ok()?;
    let Directory { names, legs, codes, row_hashes, number_hashes } = Directory::read(&bytes, &header)?;
    let digest = header.digest;
    let flights =
        Flights::new(names, Arc::new(Index { file, header, legs, codes, row_hashes, number_hashes }));
    Some(IndexedFlights { flights, digest })
}

#[derive(Debug)]
struct Index {
    file: File,
    header: Header,
    legs: Vec<Leg>,
    codes: Vec<u32>,
    row_hashes: Vec<u64>,
    number_hashes: Vec<u64>,
}

impl Index {
    /// Records `from..to`, stored consecutively from an offset in blocks with these hashes. `from` begins a block, and
    /// `to` ends one.
    fn records<const N: usize>(
        &self,
        at: u64,
        (from, to): (usize, usize),
        (hashes, a_block): (&[u64], usize),
    ) -> Result<Vec<[u8; N]>, FlightStoreError> {
        let fault = |what: &str| FlightStoreError(format!("the index: {what}"));
        let count = to.saturating_sub(from);
        // The caller wants less than this; the rest of a block comes with it.
        if count > crate::FOUND_MAX + 2 * a_block {
            return Err(fault(&format!("it has more than {} flights of one kind", crate::FOUND_MAX)));
        }
        let mut records = vec![[0; N]; count];
        let at = at + (from * N) as u64;
        let read = read_exact_at(&self.file, records.as_flattened_mut(), at);
        read.map_err(|error| fault(&error.to_string()))?;
        let blocks = records.chunks(a_block).map(|block| hash(block.as_flattened()));
        if !blocks.eq(hashes.iter().skip(from / a_block).copied().take(count.div_ceil(a_block))) {
            return Err(fault("it is damaged; delete flights-*.index in its folder, and it is made anew"));
        }
        Ok(records)
    }

    fn rows(&self, span: (usize, usize)) -> Result<Vec<[u8; ROW_BYTES]>, FlightStoreError> {
        self.records(HEADER_BYTES as u64, span, (&self.row_hashes, ROWS_A_BLOCK))
    }

    /// Which records may have a key, given the keys of the first record of each block.
    fn span<K: Ord>(&self, firsts: &[K], key: &K, a_block: usize) -> (usize, usize) {
        // The first records with a key may be at the end of the block before the first block that starts with it.
        let from = firsts.partition_point(|first| first < key).saturating_sub(1);
        let to = firsts.partition_point(|first| first <= key);
        (from * a_block, (to * a_block).min(self.len()))
    }
}

impl FlightStore for Index {
    fn len(&self) -> usize {
        self.header.rows as usize
    }

    fn of_leg(&self, leg: Leg) -> Result<Vec<FlightRow>, FlightStoreError> {
        let rows = self.rows(self.span(&self.legs, &leg, ROWS_A_BLOCK))?;
        Ok(rows.iter().map(layout::row).filter(|row| row.leg == leg).collect())
    }

    fn of_code(&self, code: u32) -> Result<Vec<FlightRow>, FlightStoreError> {
        let span = self.span(&self.codes, &code, NUMBERS_A_BLOCK);
        let numbers = (&*self.number_hashes, NUMBERS_A_BLOCK);
        let entries = self.records::<NUMBER_BYTES>(self.header.numbers_at(), span, numbers)?;
        let places = entries.iter().map(layout::number).filter(|(it, _)| *it == code);
        let mut rows = Vec::new();
        for (_, place) in places {
            // The whole block, because its hash is that of all its rows.
            let place = place as usize;
            let from = place - place % ROWS_A_BLOCK;
            let block = self.rows((from, (from + ROWS_A_BLOCK).min(self.len())))?;
            rows.extend(block.get(place - from).map(layout::row));
        }
        Ok(rows)
    }
}
