//! The tool `movie_player`: the system's player, given a file.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use planproof_media::ToolFailure;
use tokio::process::Command;

/// Longest name of a film, in bytes.
pub const FILM_BYTES_MAX: usize = 200;

/// The program that opens a file with the user's default application.
pub const USUAL_PLAYER: &str = "xdg-open";

/// Variables of the environment without which nothing can be displayed.
const DISPLAYS: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// A program that plays films on this machine.
#[derive(Debug, Clone)]
pub struct Player {
    program: OsString,
    has_display: bool,
}

impl Player {
    /// A program, by its name or path. `variable` looks up an environment variable: without a display nothing is
    /// started.
    pub fn new(program: impl Into<OsString>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let has_display = DISPLAYS.iter().any(|name| variable(name).is_some_and(|value| !value.is_empty()));
        Self { program: program.into(), has_display }
    }

    /// Starts playing a file, whose path is absolute, without waiting for the end: films are long, and the user
    /// closes the player.
    pub(crate) fn play(&self, film: &Path) -> Result<(), ToolFailure> {
        let shown = self.program.to_string_lossy().into_owned();
        if !self.has_display {
            return Err(ToolFailure::world(
                "there is no player: this machine has no display to show a film on",
            ));
        }
        let mut command = Command::new(&self.program);
        command.arg(film).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = command.spawn();
        // The player continues without its handle.
        started.map(drop).map_err(|error| {
            ToolFailure::world(format!("there is no player: `{shown}` cannot be started: {error}"))
        })
    }
}
