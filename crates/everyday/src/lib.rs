//! Everyday tools: programs in a sandbox, documents, translations, searches, films, and tools that an agent makes for
//! itself.
//!
//! - [`EverydayTools`] are ten tools of one run: `weather`, `image_generator`, `text_extractor`, `translator`,
//!   `web_search`, `wikipedia`, `shell`, `java`, `office` and `movie_player`. They are the tools, in addition to SQL
//!   and Python, of the paper on task planning and tool usage (TPTU, section 3.1.2).
//! - [`PythonTool`] runs a model's Python code.
//! - [`MadeTools`] are tools that agents made: functions in Python, tested before they are accepted, and stored in
//!   a file.
//! - [`Confinement`] runs real programs where they can access nothing.
//!
//! A tool whose server is not configured says so. A missing or broken server, sandbox or player is an outage of the
//! run ([`Toolbox::outage`](planproof_suite::Toolbox::outage)), which is then unscored; an agent's mistake is an
//! error that it reads.
//!
//! # Module layout
//!
//! The ten tools as a model sees them (`definitions.rs`), their implementations (`toolbox.rs`, `programs.rs`,
//! `player.rs`), the files of office programs (`office.rs`, `office/`), arguments (`arguments.rs`), the sandbox for
//! programs (`confine.rs`; `confine/linux.rs` bubblewrap, `confine/watch.rs` its total, `confine/elsewhere.rs` for
//! systems without one), Python (`python.rs`), and tools that agents make (`made.rs`): one of them
//! (`made/function.rs`) and their file (`made/library.rs`). Servers, and the files of a run, are those of the crate
//! `media`.

mod arguments;
mod confine;
mod definitions;
mod made;
mod office;
mod player;
mod programs;
mod python;
mod toolbox;

pub use confine::{Confinement, Finished, ProcessEnd, ProgramLimits, Unavailable};
pub use definitions::NAMES;
pub use made::{
    CODE_BYTES_MAX, EXAMPLES_MAX, LIBRARY_BYTES_MAX, LibraryError, MAKE_TOOL, MadeTools, TOOLS_MAX,
    ToolLibrary,
};
pub use office::{
    CELL_CHARACTERS_MAX, CELLS_MAX, COLUMNS_MAX, PARAGRAPHS_MAX, POINTS_MAX, SHEET_ROWS_MAX, SLIDES_MAX,
    TEXT_BYTES_MAX, TITLE_BYTES_MAX,
};
pub use player::{FILM_BYTES_MAX, Player, USUAL_PLAYER};
pub use programs::{JAVA_ADDRESS_BYTES, JAVA_HEAP, JAVA_MEMORY_BYTES, PROGRAM_BYTES_MAX};
pub use python::{CODE, PYTHON, PythonTool, SandboxSource};
pub use toolbox::{Everyday, EverydayTools};
