//! Reads the lines of a file as JSON, and does nothing with them: what `planproof check --rules` is compared with in
//! `benches/guard.py`. Prints how many there are.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a file")?;
    let mut reader = BufReader::new(File::open(path)?);
    let (mut line, mut count) = (String::new(), 0_u64);
    while reader.read_line(&mut line)? > 0 {
        let value: serde_json::Value = serde_json::from_str(&line)?;
        count += u64::from(value.is_object());
        line.clear();
    }
    writeln!(std::io::stdout(), "{count}")?;
    Ok(())
}
