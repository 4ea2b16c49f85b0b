//! The layout of an index. All numbers are big-endian, so comparing the bytes of records orders the records.
//!
//! ```text
//! header     magic, layout, the fingerprint of the table and the SHA-256 of its bytes, the number of rows, how long
//!            the directory is, and a hash of all this
//! rows       24 bytes each, in the order of their legs, within a leg in that of the table
//! numbers    8 bytes each, a code and the place of its row, in the order of codes, within a code in that of the table
//! directory  the names of cities and days, the leg of each 64th row, each 256th code, and a hash of each 64 rows and
//!            of each 256 numbers, which is checked whenever they are read
//! ```

use planproof_travel::tables::{FlightNames, FlightRow, Leg, Names};

use crate::source::{Fingerprint, hash};

/// Bytes of a row.
pub(crate) const ROW_BYTES: usize = 24;
/// The size of a row during sorting, in bytes: its position in the table follows the leg.
pub(crate) const SORTED_ROW_BYTES: usize = 28;
/// Bytes of an entry of a number.
pub(crate) const NUMBER_BYTES: usize = 8;
/// The size of an entry during sorting, in bytes: the position of the row in the table follows the code.
pub(crate) const SORTED_NUMBER_BYTES: usize = 12;
/// The directory holds one leg per this many rows.
pub(crate) const ROWS_A_BLOCK: usize = 64;
/// The directory holds one code per this many.
pub(crate) const NUMBERS_A_BLOCK: usize = 256;
/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 112;

const MAGIC: [u8; 8] = *b"ppflight";
/// Must increase whenever the layout or the meaning of a value changes, including how the table is parsed.
const LAYOUT: u64 = 3;

const LEG_BYTES: usize = 6;
const CODE_BYTES: usize = 4;
const HASH_BYTES: usize = 8;
/// Bytes of the digest of a table.
pub(crate) const DIGEST_BYTES: usize = 32;

/// A row as sorted: by leg, then by its position in the table.
pub(crate) fn sorted_row(row: &FlightRow, place: u32) -> [u8; SORTED_ROW_BYTES] {
    let mut bytes = [0; SORTED_ROW_BYTES];
    let [origin, destination, date] = row.leg.map(u16::to_be_bytes);
    // In this order, bytes compare as the leg does, and then the position.
    let values: [&[u8]; 10] = [
        &origin,
        &destination,
        &date,
        &place.to_be_bytes(),
        &row.code.to_be_bytes(),
        &row.cents.to_be_bytes(),
        &row.departure.to_be_bytes(),
        &row.arrival.to_be_bytes(),
        &row.minutes.to_be_bytes(),
        &row.miles.to_bits().to_be_bytes(),
    ];
    for (to, from) in bytes.iter_mut().zip(values.into_iter().flatten()) {
        *to = *from;
    }
    bytes
}

/// A sorted row as stored, and its position in the table.
pub(crate) fn stored_row(sorted: &[u8; SORTED_ROW_BYTES]) -> ([u8; ROW_BYTES], u32) {
    let mut bytes = [0; ROW_BYTES];
    let place = LEG_BYTES..LEG_BYTES + 4;
    bytes[..LEG_BYTES].copy_from_slice(&sorted[..LEG_BYTES]);
    bytes[LEG_BYTES..].copy_from_slice(&sorted[place.end..]);
    (bytes, Fields(&sorted[place]).u32())
}

/// A stored row.
pub(crate) fn row(bytes: &[u8; ROW_BYTES]) -> FlightRow {
    let mut fields = Fields(bytes);
    FlightRow {
        leg: fields.leg(),
        code: fields.u32(),
        cents: fields.u32().cast_signed(),
        departure: fields.u16(),
        arrival: fields.u16(),
        minutes: fields.u16(),
        miles: f32::from_bits(fields.u32()),
    }
}

/// A flight number's entry as sorted: by code, then by the position of its row in the table.
pub(crate) fn sorted_number(code: u32, place: u32, row: u32) -> [u8; SORTED_NUMBER_BYTES] {
    let mut bytes = [0; SORTED_NUMBER_BYTES];
    bytes[..4].copy_from_slice(&code.to_be_bytes());
    bytes[4..8].copy_from_slice(&place.to_be_bytes());
    bytes[8..].copy_from_slice(&row.to_be_bytes());
    bytes
}

/// A sorted entry as it is stored.
pub(crate) fn stored_number(sorted: &[u8; SORTED_NUMBER_BYTES]) -> [u8; NUMBER_BYTES] {
    let mut bytes = [0; NUMBER_BYTES];
    bytes[..4].copy_from_slice(&sorted[..4]);
    bytes[4..].copy_from_slice(&sorted[8..]);
    bytes
}

/// The code and the row of a stored entry.
pub(crate) fn number(bytes: &[u8; NUMBER_BYTES]) -> (u32, u32) {
    let mut fields = Fields(bytes);
    (fields.u32(), fields.u32())
}

/// The header of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) fingerprint: Fingerprint,
    /// SHA-256 of all bytes of the table.
    pub(crate) digest: [u8; DIGEST_BYTES],
    pub(crate) rows: u64,
    pub(crate) directory_bytes: u64,
    pub(crate) directory_hash: u64,
}

impl Header {
    pub(crate) fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let Self { fingerprint, digest, rows, directory_bytes, directory_hash } = *self;
        let Fingerprint { bytes: length, modified, changed, number } = fingerprint;
        let before = [LAYOUT, length, modified, changed, number].map(u64::to_be_bytes);
        let after = [rows, directory_bytes, directory_hash].map(u64::to_be_bytes);
        let values = MAGIC.iter().chain(before.as_flattened()).chain(&digest).chain(after.as_flattened());
        for (to, from) in bytes.iter_mut().zip(values) {
            *to = *from;
        }
        let (values, last) = bytes.split_at_mut(HEADER_BYTES - HASH_BYTES);
        last.copy_from_slice(&hash(values).to_be_bytes());
        bytes
    }

    /// `None` if the bytes are not a header of this layout.
    pub(crate) fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (values, last) = bytes.split_at(HEADER_BYTES - HASH_BYTES);
        if Fields(last).u64() != hash(values) {
            return None;
        }
        let mut fields = Fields(values.strip_prefix(&MAGIC)?);
        (fields.u64() == LAYOUT).then(|| Self {
            fingerprint: Fingerprint {
                bytes: fields.u64(),
                modified: fields.u64(),
                changed: fields.u64(),
                number: fields.u64(),
            },
            digest: fields.array(),
            rows: fields.u64(),
            directory_bytes: fields.u64(),
            directory_hash: fields.u64(),
        })
    }

    /// Where the entries of numbers begin.
    pub(crate) fn numbers_at(&self) -> u64 {
        HEADER_BYTES as u64 + self.rows * ROW_BYTES as u64
    }

    /// Where the directory begins.
    pub(crate) fn directory_at(&self) -> u64 {
        self.numbers_at() + self.rows * NUMBER_BYTES as u64
    }
}

/// What is in memory of an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) names: FlightNames,
    /// The leg of the first row of each block.
    pub(crate) legs: Vec<Leg>,
    /// The first code of each block.
    pub(crate) codes: Vec<u32>,
    /// The hash of each block of rows.
    pub(crate) row_hashes: Vec<u64>,
    /// The hash of each block of numbers.
    pub(crate) number_hashes: Vec<u64>,
}

impl Directory {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for names in [&self.names.cities, &self.names.dates] {
            bytes.extend((names.all().len() as u32).to_be_bytes());
            for name in names.all() {
                bytes.extend((name.len() as u32).to_be_bytes());
                bytes.extend(name.as_bytes());
            }
        }
        bytes.extend(self.legs.iter().flatten().flat_map(|it| it.to_be_bytes()));
        bytes.extend(self.codes.iter().flat_map(|it| it.to_be_bytes()));
        for hashes in [&self.row_hashes, &self.number_hashes] {
            bytes.extend(hashes.iter().flat_map(|it| it.to_be_bytes()));
        }
        bytes
    }

    /// `None` if the bytes are not the directory for this header.
    pub(crate) fn read(bytes: &[u8], header: &Header) -> Option<Self> {
        if hash(bytes) != header.directory_hash {
            return None;
        }
        let mut fields = Fields(bytes);
        let mut names = FlightNames::default();
        for names in [&mut names.cities, &mut names.dates] {
            read_names(&mut fields, names)?;
        }
        let rows = usize::try_from(header.rows).ok()?;
        let (row_blocks, number_blocks) = (rows.div_ceil(ROWS_A_BLOCK), rows.div_ceil(NUMBERS_A_BLOCK));
        let legs = fields.take(row_blocks.checked_mul(LEG_BYTES)?)?;
        let codes = fields.take(number_blocks.checked_mul(CODE_BYTES)?)?;
        let row_hashes = fields.take(row_blocks.checked_mul(HASH_BYTES)?)?;
        let number_hashes = fields.take(number_blocks.checked_mul(HASH_BYTES)?)?;
        let hashes = |bytes: &[u8]| bytes.chunks_exact(HASH_BYTES).map(|it| Fields(it).u64()).collect();
        fields.0.is_empty().then(|| Self {
            names,
            legs: legs.chunks_exact(LEG_BYTES).map(|it| Fields(it).leg()).collect(),
            codes: codes.chunks_exact(CODE_BYTES).map(|it| Fields(it).u32()).collect(),
            row_hashes: hashes(row_hashes),
            number_hashes: hashes(number_hashes),
        })
    }
}

fn read_names(fields: &mut Fields<'_>, names: &mut Names) -> Option<()> {
    for number in 0..fields.u32() {
        let length = fields.u32() as usize;
        let name = std::str::from_utf8(fields.take(length)?).ok()?;
        // A repeated name would get its first number, and rows would then refer to other names than their own.
        (names.add(name).map(u32::from) == Some(number)).then_some(())?;
    }
    Some(())
}

/// Reads consecutive values. Past the end they are zero.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).and_then(|it| it.try_into().ok()).unwrap_or([0; N])
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.array())
    }

    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.array())
    }

    fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.array())
    }

    fn leg(&mut self) -> Leg {
        [self.u16(), self.u16(), self.u16()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: FlightRow = FlightRow {
        leg: [1, 2, 0x0304],
        code: 1_000_000_007,
        cents: 2_000_000_000,
        departure: 1440,
        arrival: 5,
        minutes: 363,
        miles: 2218.5,
    };

    #[test]
    fn rows_and_entries_come_back() {
        let (stored, place) = stored_row(&sorted_row(&ROW, 77));
        assert_eq!((row(&stored), place), (ROW, 77));
        assert_eq!(number(&stored_number(&sorted_number(ROW.code, 77, 5))), (ROW.code, 5));
    }

    #[test]
    fn bytes_are_in_the_order_of_rows() {
        let later = FlightRow { leg: [1, 3, 0], ..ROW };
        assert!(sorted_row(&ROW, 9) < sorted_row(&later, 0));
        assert!(sorted_row(&ROW, 255) < sorted_row(&ROW, 256));
        assert!(sorted_number(5, 300, 0) < sorted_number(256, 0, 0));
        assert!(sorted_number(5, 2, 9) < sorted_number(5, 256, 0));
    }

    #[test]
    fn damage_is_noticed() {
        let mut names = FlightNames::default();
        names.cities.add("Reno");
        let (legs, codes) = (vec![[0, 0, 0], [0, 0, 1]], vec![17]);
        let directory =
            Directory { names, legs, codes, row_hashes: vec![1, u64::MAX], number_hashes: vec![7] };
        let bytes = directory.write();
        let fingerprint = Fingerprint { bytes: 5, modified: u64::MAX, changed: 3, number: 1 << 40 };
        let digest = std::array::from_fn(|place| place as u8);
        let header =
            Header { fingerprint, digest, rows: 65, directory_bytes: 0, directory_hash: hash(&bytes) };
        assert_eq!(Header::read(&header.write()), Some(header));
        assert_eq!(Directory::read(&bytes, &header), Some(directory));
        assert_eq!(Directory::read(&bytes[1..], &header), None);
        assert_eq!(Directory::read(&bytes, &Header { rows: 64, ..header }), None);
        for place in 0..HEADER_BYTES {
            let mut other = header.write();
            other[place] ^= 1;
            assert_eq!(Header::read(&other), None, "byte {place}");
        }
    }
}
