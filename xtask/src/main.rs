//! Development tasks. `cargo run -p xtask -- tidy` checks what the compiler cannot.

mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

const USAGE: &str = "usage: cargo run -p xtask -- tidy";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["tidy"] {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    }
    let (files, findings) = tidy::check(repository_root()?)?;
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {files} files, {} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn repository_root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no directory")
}
