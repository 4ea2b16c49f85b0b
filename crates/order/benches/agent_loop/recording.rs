//! The requests of a campaign, kept by passing its connections on.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::Failure;

/// The bodies of a run's requests, in order.
struct RecordedRun {
    seed: u64,
    bodies: Vec<Vec<u8>>,
}

/// Passes connections on to `upstream` and writes what was asked to `out` when stdin ends. Says on stdout where it
/// listens.
pub(crate) async fn record(upstream: &str, out: &Path) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let runs: Arc<Mutex<Vec<RecordedRun>>> = Arc::default();
    let accept = async {
        loop {
            let (client, _) = listener.accept().await?;
            let server = TcpStream::connect(upstream).await?;
            tokio::spawn(pass_on(client, server, Arc::clone(&runs)));
        }
    };
    tokio::select! {
        failed = accept => failed,
        _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())) => {
            write(&runs.lock().expect("no panic under the lock"), out)
        }
    }
}

async fn pass_on(
    client: TcpStream,
    server: TcpStream,
    runs: Arc<Mutex<Vec<RecordedRun>>>,
) -> Result<(), Failure> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut unread = Vec::new();
    loop {
        let head_end = loop {
            if let Some(place) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
                break place + 4;
            }
            if from_client.read_buf(&mut unread).await? == 0 {
                return Ok(());
            }
        };
        let head = std::str::from_utf8(&unread[..head_end])?.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.ok_or("a request without content-length")?.trim().parse()?;
        while unread.len() < head_end + length {
            if from_client.read_buf(&mut unread).await? == 0 {
                return Ok(());
            }
        }
        let rest = unread.split_off(head_end + length);
        keep(&mut runs.lock().expect("no panic under the lock"), &unread[head_end..])?;
        to_server.write_all(&unread).await?;
        unread = rest;
    }
}

/// Adds a request to its run, which its seed tells.
fn keep(runs: &mut Vec<RecordedRun>, body: &[u8]) -> Result<(), Failure> {
    let parsed: serde_json::Value = serde_json::from_slice(body)?;
    let seed = parsed.get("seed").and_then(serde_json::Value::as_u64).ok_or("a request without a seed")?;
    match runs.iter_mut().rev().find(|run| run.seed == seed) {
        Some(run) => run.bodies.push(body.to_vec()),
        None => runs.push(RecordedRun { seed, bodies: vec![body.to_vec()] }),
    }
    Ok(())
}

/// For each run the number of its bodies, and each with its length before it; numbers are four bytes, little-endian.
fn write(runs: &[RecordedRun], out: &Path) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    for run in runs {
        bytes.extend_from_slice(&u32::try_from(run.bodies.len())?.to_le_bytes());
        for body in &run.bodies {
            bytes.extend_from_slice(&u32::try_from(body.len())?.to_le_bytes());
            bytes.extend_from_slice(body);
        }
    }
    Ok(fs::write(out, bytes)?)
}

/// The bodies of the requests of each run, without a copy for each.
pub(crate) fn read(path: &Path) -> Result<Vec<Vec<Bytes>>, Failure> {
    let mut bytes = Bytes::from(fs::read(path)?);
    let mut runs = Vec::new();
    let number = |bytes: &mut Bytes| -> Result<usize, Failure> {
        let digits = bytes.get(..4).ok_or("the recording is cut off")?.try_into()?;
        drop(bytes.split_to(4));
        Ok(usize::try_from(u32::from_le_bytes(digits))?)
    };
    while !bytes.is_empty() {
        let mut run = Vec::new();
        for _ in 0..number(&mut bytes)? {
            let length = number(&mut bytes)?;
            if length > bytes.len() {
                return Err("the recording is cut off".into());
            }
            run.push(bytes.split_to(length));
        }
        runs.push(run);
    }
    Ok(runs)
}
