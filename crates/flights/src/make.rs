//! Makes an index of a table.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;

use planproof_travel::tables::{FLIGHTS_FILE, FlightReader};
use ring::digest::{Context, SHA256};

use crate::layout::{self, DIGEST_BYTES, Directory, HEADER_BYTES, Header, NUMBERS_A_BLOCK, ROWS_A_BLOCK};
use crate::sorter::Sorter;
use crate::source::{Fingerprint, HASH_OF_NOTHING, Names, hash, hash_on};
use crate::{FlightsError, IndexProgress, LINE_BYTES_MAX, ROWS_MAX};

/// The number of rows between two calls of `progress`.
const ROWS_BETWEEN: u64 = 16_384;

/// The number of bytes read or written at once.
const BUFFER_BYTES: usize = 1 << 18;

type Watch<'w> = &'w mut dyn FnMut(IndexProgress) -> ControlFlow<()>;

/// Reads the table and writes its index, which gets its name at the end.
pub(crate) fn make(
    (path, file, fingerprint): (&Path, &File, &Fingerprint),
    names: &Names,
    rows_in_memory: usize,
    progress: Watch<'_>,
) -> Result<(), FlightsError> {
    let mut rows = Sorter::new(&names.runs, rows_in_memory);
    let read = read((path, file, fingerprint), &mut rows, progress, &names.runs)?;
    // If the table changed while it was read, the index would be a mixture of two tables.
    if Fingerprint::of(file).map_err(FlightsError::source(path))? != *fingerprint {
        return Err(FlightsError::Changed { path: path.to_owned() });
    }
    // Bound before the file exists, so that the file is removed whatever fails below.
    let part = Part(&names.part);
    let out = create_own(part.0).map_err(FlightsError::cache(part.0))?;
    let mut writer = Writer { out: BufWriter::with_capacity(BUFFER_BYTES, &out), read, progress };
    let header = writer.write(rows, Sorter::new(&names.runs, rows_in_memory), fingerprint);
    let header = header.map_err(|stop| match stop {
        Stop::GivenUp => FlightsError::GivenUp,
        Stop::Broken(source) => FlightsError::cache(part.0)(source),
    })?;
    // The header is written last, and the file renamed only when its data is on the disk. So an index with its name is
    // complete, even after a crash.
    let finish = || {
        (&out).seek(SeekFrom::Start(0))?;
        (&out).write_all(&header.write())?;
        out.sync_data()
    };
    finish().map_err(FlightsError::cache(part.0))?;
    fs::rename(part.0, &names.index).map_err(FlightsError::cache(&names.index))
}

/// Creates a file in place of whatever has its name, which a killed process may have left behind. A link is replaced,
/// not followed: it could lead to any file of the user.
pub(crate) fn create_own(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::options().read(true).write(true).create_new(true).open(path),
    }
}

/// Removes the written file unless it has been renamed.
struct Part<'p>(&'p Path);

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // After the rename there is no file of this name.
        let _ = fs::remove_file(self.0);
    }
}

/// What is known once the table has been read.
struct Rows {
    names: planproof_travel::tables::FlightNames,
    count: u64,
    /// SHA-256 of all bytes of the table.
    digest: [u8; DIGEST_BYTES],
}

fn read(
    (path, file, fingerprint): (&Path, &File, &Fingerprint),
    rows: &mut Sorter<{ layout::SORTED_ROW_BYTES }>,
    progress: Watch<'_>,
    runs: &Path,
) -> Result<Rows, FlightsError> {
    let mut reader = FlightReader::new(FLIGHTS_FILE);
    let mut lines = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut line, mut count, mut bytes, mut number) = (Vec::new(), 0, 0, 0u64);
    // Of the same bytes that the rows come from, in the same pass.
    let mut digest = Context::new(&SHA256);
    loop {
        if number.is_multiple_of(ROWS_BETWEEN)
            && progress(IndexProgress::Reading { bytes, of: fingerprint.bytes }).is_break()
        {
            return Err(FlightsError::GivenUp);
        }
        line.clear();
        // Bounded, so that a file without line breaks does not fill the memory.
        let read = (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let read = read.map_err(FlightsError::source(path))? as u64;
        if read == 0 {
            break;
        }
        number += 1;
        bytes += read;
        digest.update(&line);
        if read == LINE_BYTES_MAX {
            return Err(next_fault(&mut reader, "it is longer than 64 KiB; is this the right file?").into());
        }
        if let Some(row) = reader.line_bytes(&line)? {
            if count >= ROWS_MAX {
                return Err(reader.fault(format!("there are more than {ROWS_MAX} flights")).into());
            }
            // The cast keeps the number, which is below `ROWS_MAX`.
            rows.push(layout::sorted_row(&row, count as u32)).map_err(FlightsError::cache(runs))?;
            count += 1;
        }
    }
    if number == 0 {
        return Err(next_fault(&mut reader, "the file is empty").into());
    }
    let mut whole = [0; DIGEST_BYTES];
    whole.copy_from_slice(digest.finish().as_ref());
    Ok(Rows { names: reader.names().clone(), count, digest: whole })
}

/// An error in a line that is never passed to the parser.
fn next_fault(reader: &mut FlightReader, what: &str) -> planproof_travel::tables::TableError {
    // A blank line counts as a line and is never an error.
    let _ = reader.line("");
    reader.fault(what)
}

/// Adds a record to the hash of its block.
fn add_to_block(hashes: &mut Vec<u64>, record: &[u8], place: usize, a_block: usize) {
    if place.is_multiple_of(a_block) {
        hashes.push(HASH_OF_NOTHING);
    }
    if let Some(last) = hashes.last_mut() {
        *last = hash_on(*last, record);
    }
}

/// Why writing ended early.
enum Stop {
    GivenUp,
    Broken(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

struct Writer<'w, W: Write> {
    out: W,
    read: Rows,
    progress: Watch<'w>,
}

impl<W: Write> Writer<'_, W> {
    /// Writes everything except the header, for which it leaves room.
    fn write(
        &mut self,
        rows: Sorter<{ layout::SORTED_ROW_BYTES }>,
        mut numbers: Sorter<{ layout::SORTED_NUMBER_BYTES }>,
        fingerprint: &Fingerprint,
    ) -> Result<Header, Stop> {
        let count = self.read.count;
        let mut directory = Directory { names: self.read.names.clone(), ..Directory::default() };
        self.out.write_all(&[0; HEADER_BYTES])?;
        for (place, sorted) in (0u32..).zip(rows.finish()?) {
            self.look(u64::from(place))?;
            let (stored, place_in_table) = layout::stored_row(&sorted?);
            let row = layout::row(&stored);
            // The place of a row is known only now, so the flight numbers are sorted in a second step.
            numbers.push(layout::sorted_number(row.code, place_in_table, place))?;
            if (place as usize).is_multiple_of(ROWS_A_BLOCK) {
                directory.legs.push(row.leg);
            }
            add_to_block(&mut directory.row_hashes, &stored, place as usize, ROWS_A_BLOCK);
            self.out.write_all(&stored)?;
        }
        for (place, sorted) in numbers.finish()?.enumerate() {
            let stored = layout::stored_number(&sorted?);
            if place.is_multiple_of(NUMBERS_A_BLOCK) {
                directory.codes.push(layout::number(&stored).0);
            }
            add_to_block(&mut directory.number_hashes, &stored, place, NUMBERS_A_BLOCK);
            self.out.write_all(&stored)?;
        }
        self.look(count)?;
        let bytes = directory.write();
        self.out.write_all(&bytes)?;
        self.out.flush()?;
        Ok(Header {
            fingerprint: *fingerprint,
            digest: self.read.digest,
            rows: count,
            directory_bytes: bytes.len() as u64,
            directory_hash: hash(&bytes),
        })
    }

    fn look(&mut self, rows: u64) -> Result<(), Stop> {
        let of = self.read.count;
        let is_due = rows.is_multiple_of(ROWS_BETWEEN) || rows == of;
        if is_due && (self.progress)(IndexProgress::Writing { rows, of }).is_break() {
            return Err(Stop::GivenUp);
        }
        Ok(())
    }
}
