//! When an index is made anew, and what happens when it cannot be.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use planproof_flights::{FlightsError, IndexProgress, open, open_with};

use crate::place::{HEADER, Place};

/// Bytes of an index before its first row.
const HEADER_BYTES: usize = 112;

const ROWS: &str = "F1,10,06:05,07:05,1 hours 0 minutes,2022-03-01,A,B,1.0\n\
    F2,20,06:05,07:05,1 hours 0 minutes,2022-03-01,A,B,1.0\n\
    F3,30,06:05,07:05,1 hours 0 minutes,2022-03-01,A,B,1.0\n\
    F4,40,06:05,07:05,1 hours 0 minutes,2022-03-01,A,B,1.0\n\
    F5,50,06:05,07:05,1 hours 0 minutes,2022-03-01,A,B,1.0\n";

#[test]
fn an_index_is_made_once_and_again_when_the_table_changes() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    assert!(place.open(&table).1);
    assert!(!place.open(&table).1);
    assert_eq!(place.cached(), ["index", "lock"]);

    // Another time of change alone.
    let later = SystemTime::now() + Duration::from_secs(5);
    File::options().append(true).open(&table).unwrap().set_modified(later).unwrap();
    assert!(place.open(&table).1);
    assert!(!place.open(&table).1);

    // Another size alone.
    fs::write(&table, format!("{HEADER}{ROWS}F9,1,06:05,07:05,1 hours 0 minutes,2022-03-01,A,B,1.0\n"))
        .unwrap();
    File::options().append(true).open(&table).unwrap().set_modified(later).unwrap();
    let (flights, is_made) = place.open(&table);
    assert!(is_made);
    assert_eq!(
        flights.unwrap().cheapest("A", "B", "2022-03-01").map(|it| it.number()).as_deref(),
        Some("F9")
    );

    // Another table in the same folder has an index of its own.
    let other = place.table("other.csv", ROWS);
    assert!(place.open(&other).1 && !place.open(&table).1 && !place.open(&other).1);
    assert_eq!(place.cached(), ["index", "index", "lock", "lock"]);
}

/// A table in whose place or into which somebody writes other bytes of the same length, and sets the time back.
#[cfg(unix)]
#[test]
fn another_table_of_the_same_size_and_time_is_noticed() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    let cheapest = || {
        let opened = open(&table, &place.path("cache"), &mut |_| ControlFlow::Continue(())).unwrap();
        let cents = opened.flights.cheapest("A", "B", "2022-03-01").map(|it| it.cents);
        (cents, opened.digest)
    };
    let time = || fs::metadata(&table).unwrap().modified().unwrap();
    let set_back = |time| File::options().append(true).open(&table).unwrap().set_modified(time).unwrap();
    let (cents, digest) = cheapest();
    assert_eq!((cents, cheapest()), (Some(1_000), (cents, digest)), "an unchanged table keeps its digest");
    let before = time();
    // The clock of a file system may tick a hundred times in a second only.
    std::thread::sleep(Duration::from_millis(20));
    fs::write(&table, format!("{HEADER}{}", ROWS.replace(",30,", ",03,"))).unwrap();
    set_back(before);
    let (cents, written) = cheapest();
    assert_eq!((cents, written == digest), (Some(300), false));
    std::thread::sleep(Duration::from_millis(20));
    let other = place.table("other.csv", &ROWS.replace(",50,", ",05,"));
    fs::rename(other, &table).unwrap();
    set_back(before);
    let (cents, moved) = cheapest();
    assert_eq!((cents, moved == digest || moved == written), (Some(500), false));
    // The same bytes, written again, have the same digest.
    std::thread::sleep(Duration::from_millis(20));
    fs::write(&table, format!("{HEADER}{ROWS}")).unwrap();
    assert_eq!(cheapest(), (Some(1_000), digest));
}

/// A byte of an index that is read at the opening, or any that is missing, makes it another one.
#[test]
fn a_damaged_index_is_made_anew() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    place.open(&table).0.unwrap();
    let index = place.named("index");
    let whole = fs::read(&index).unwrap();
    let directory = HEADER_BYTES + 5 * 32;
    let places = (0..HEADER_BYTES).step_by(3).chain((directory..whole.len()).step_by(5));
    for place_of_damage in places {
        let mut damaged = whole.clone();
        damaged[place_of_damage] ^= 1;
        fs::write(&index, damaged).unwrap();
        let (flights, is_made) = place.open(&table);
        assert!(is_made, "byte {place_of_damage}");
        assert_eq!(flights.unwrap().len(), 5);
    }
    for length in [0, 7, HEADER_BYTES, whole.len() - 1] {
        fs::write(&index, &whole[..length]).unwrap();
        assert!(place.open(&table).1, "{length} bytes");
    }
    assert_eq!(fs::read(&index).unwrap(), whole);
}

/// What is read later has a hash as well: a flipped bit of a row is never an answer.
#[test]
fn a_damaged_row_is_an_error_when_it_is_read() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    place.open(&table).0.unwrap();
    let index = place.named("index");
    let whole = fs::read(&index).unwrap();
    for damage in HEADER_BYTES..HEADER_BYTES + 5 * 32 {
        let mut damaged = whole.clone();
        damaged[damage] ^= 1;
        fs::write(&index, damaged).unwrap();
        let (flights, is_made) = place.open(&table);
        let flights = flights.unwrap();
        assert!(!is_made, "byte {damage}");
        let is_row = damage < HEADER_BYTES + 5 * 24;
        let found =
            if is_row { flights.on("A", "B", "2022-03-01").count() } else { flights.numbered("F1").count() };
        assert_eq!(found, 0, "byte {damage}");
        let outage = flights.outage().map(ToString::to_string).unwrap_or_default();
        assert!(outage.contains("it is damaged; delete"), "byte {damage}: {outage}");
    }
}

/// The hash at the end of a header, which whoever forges one can compute.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// An index of a few blocks that claims a hundred million rows, with sound hashes.
#[test]
fn a_forged_number_of_rows_is_not_believed() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    place.open(&table).0.unwrap();
    let index = place.named("index");
    let mut forged = fs::read(&index).unwrap();
    let rows: u64 = 100_000_000;
    forged[80..88].copy_from_slice(&rows.to_be_bytes());
    let sum = fnv(&forged[..HEADER_BYTES - 8]);
    forged[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_be_bytes());
    fs::write(&index, &forged).unwrap();
    let directory = u64::from_be_bytes(forged[88..96].try_into().unwrap());
    File::options()
        .write(true)
        .open(&index)
        .unwrap()
        .set_len(HEADER_BYTES as u64 + rows * 32 + directory)
        .unwrap();
    let (flights, is_made) = place.open(&table);
    assert!(is_made);
    assert_eq!(flights.unwrap().len(), 5);
}

/// Whoever can write into the folder of indexes must not have another file of the user's changed, nor us wait.
#[cfg(unix)]
#[test]
fn links_pipes_and_folders_are_neither_followed_nor_waited_for() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    let victim = place.path("victim");
    fs::write(&victim, "precious").unwrap();
    for kind in ["index", "part", "runs", "lock"] {
        place.open(&table).0.unwrap();
        let index = place.named("index");
        let planted = index.with_extension(kind);
        let plant = |how: &dyn Fn(&std::path::Path)| {
            let _ = fs::remove_file(&index);
            let _ = fs::remove_file(&planted);
            how(&planted);
        };
        let open = || open_with(&table, &place.path("cache"), 2, &mut |_| ControlFlow::Continue(()));
        let is_lock = kind == "lock";
        for how in [
            &(|path: &std::path::Path| std::os::unix::fs::symlink(&victim, path).unwrap()) as &dyn Fn(&_),
            // The canary: opening it would wait forever.
            &(|path: &std::path::Path| {
                assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
            }),
        ] {
            plant(how);
            match open() {
                Ok(flights) => assert!(!is_lock && flights.flights.len() == 5, "{kind}"),
                Err(error) => assert!(is_lock && error.to_string().contains(".lock: it is"), "{error}"),
            }
            assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{kind}");
        }
        plant(&|path| fs::create_dir(path).unwrap());
        let error = open().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&format!(".{kind}: ")), "{error}");
        fs::remove_dir(&planted).unwrap();
    }
}

/// Whenever the making is broken off, nothing of it stays that could be taken for an index.
#[test]
fn an_index_that_was_given_up_is_not_there() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    let mut steps = 0;
    loop {
        let mut left = steps;
        let flights = open_with(&table, &place.path("cache"), 2, &mut |_| {
            left -= 1;
            if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match flights {
            Err(FlightsError::GivenUp) => assert_eq!(place.cached(), ["lock"]),
            flights => {
                assert_eq!(flights.unwrap().flights.len(), 5);
                break;
            }
        }
        steps += 1;
    }
    assert!(steps >= 3, "{steps}");
}

/// What a process that was killed leaves behind is written over.
#[test]
fn leftovers_do_no_harm() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    place.open(&table).0.unwrap();
    let index = place.named("index");
    let whole = fs::read(&index).unwrap();
    fs::remove_file(&index).unwrap();
    for kind in ["part", "runs"] {
        fs::write(index.with_extension(kind), vec![7; 10_000]).unwrap();
    }
    let (flights, is_made) = place.open(&table);
    assert!(is_made && flights.unwrap().len() == 5);
    assert_eq!(fs::read(&index).unwrap(), whole);
    assert_eq!(place.cached(), ["index", "lock"]);
}

#[test]
fn several_at_once_make_it_once() {
    let place = Place::new();
    let table = place.table("t.csv", &ROWS.repeat(200));
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let (flights, is_made) = place.open(&table);
                    assert_eq!(flights.unwrap().len(), 1_000);
                    usize::from(is_made)
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(made, 1);
}

#[test]
fn who_waits_can_give_up() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    place.open(&table).0.unwrap();
    fs::write(&table, HEADER).unwrap();
    let lock = place.named("lock");
    let held = File::open(lock).unwrap();
    held.lock().unwrap();
    let mut seen = Vec::new();
    let flights = open(&table, &place.path("cache"), &mut |progress| {
        seen.push(progress);
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(flights, Err(FlightsError::GivenUp)));
    assert_eq!(seen, [IndexProgress::Waiting; 2]);
}

#[test]
fn what_is_no_table_is_an_error_with_its_place() {
    let place = Place::new();
    for (rows, what) in [
        (ROWS.replace("40,06:05", "40,6:5").into_bytes(), ":5: `DepTime` is \"6:5\"; write a time as 06:05"),
        (
            ROWS.replace(",A,B,1.0\nF4", "\nF4").into_bytes(),
            ":4: it has 6 cells, the header has 9; is the file cut off?",
        ),
        ([ROWS.as_bytes(), b"F\xff,1\n"].concat(), ":7: it is not UTF-8; write the file in UTF-8"),
        (vec![b'x'; 70_000], ":2: it is longer than 64 KiB; is this the right file?"),
    ] {
        let table = place.path("t.csv");
        fs::write(&table, [HEADER.as_bytes(), &rows].concat()).unwrap();
        let error = place.open(&table).0.unwrap_err();
        assert_eq!(error.to_string(), format!("flights/clean_Flights_2022.csv{what}"));
        assert!(error.is_usage());
        assert_eq!(place.cached(), ["lock"]);
    }
    let empty = place.path("empty.csv");
    fs::write(&empty, "").unwrap();
    let error = place.open(&empty).0.unwrap_err();
    assert_eq!(error.to_string(), "flights/clean_Flights_2022.csv:1: the file is empty");
    let error = place.open(&place.path("none.csv")).0.unwrap_err().to_string();
    assert!(error.contains("none.csv cannot be read: "), "{error}");
    assert!(matches!(place.open(&place.path(".")).0, Err(FlightsError::Source { .. })));
}

#[test]
fn a_table_that_changes_meanwhile_is_refused() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    let flights = open(&table, &place.path("cache"), &mut |progress| {
        if matches!(progress, IndexProgress::Reading { bytes: 0, .. }) {
            fs::write(&table, format!("{HEADER}{ROWS}{ROWS}")).unwrap();
        }
        ControlFlow::Continue(())
    });
    assert!(matches!(flights, Err(FlightsError::Changed { .. })));
    assert_eq!(place.cached(), ["lock"]);
    assert_eq!(place.open(&table).0.unwrap().len(), 10);
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    let flights = open(&table, &table, &mut |_| ControlFlow::Continue(()));
    let error = flights.unwrap_err().to_string();
    assert!(
        error.starts_with("the index of the flights cannot be kept at ") && error.contains("name a folder"),
        "{error}"
    );
}

/// An index that shrinks while it is open gives no answers, and says so.
#[test]
fn an_index_that_breaks_is_an_outage() {
    let place = Place::new();
    let table = place.table("t.csv", ROWS);
    let flights = place.open(&table).0.unwrap();
    assert_eq!((flights.numbered("F3").count(), flights.outage()), (1, None));
    let index = place.named("index");
    File::options().write(true).open(index).unwrap().set_len(70).unwrap();
    assert_eq!(flights.on("A", "B", "2022-03-01").count(), 0);
    let outage = flights.outage().unwrap().to_string();
    assert!(outage.starts_with("the flights cannot be read: the index: "), "{outage}");
}
