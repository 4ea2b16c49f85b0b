//! Tools for pictures, sound and public data: the 33 of the benchmark m&m's, which do real work.
//!
//! - [`MediaTools`] are the tools of one run, behind [`Toolbox`](planproof_suite::Toolbox); an [`Operation`] is the
//!   work of one of them. They work on the files of a [`MediaFolder`], and nowhere else.
//! - [`Endpoints`] are a user's servers for everything that cannot be done here: models, and public data. A missing
//!   server is an error with the name of the setting.
//! - [`stand_in`] is a simulation of all these servers, for tests and demonstrations.
//!
//! Each answer is the text of a JSON object, such as `{"image": "out-0.png"}`, with a small copy of a new picture
//! attached. A [`ToolFailure`] says whose [`Blame`] it is: the call's, for which the agent is responsible, or the
//! world's, which leaves the run unscored ([`Toolbox::outage`](planproof_suite::Toolbox::outage)).
//!
//! In addition to the 33 there are translations and web searches ([`MediaTools::translate`],
//! [`MediaTools::search_web`]), and any file can be written for a run ([`MediaTools::save`]).
//!
//! The crate knows neither which tools may follow each other nor what a plan is.
//!
//! # Module layout
//!
//! The names (`operation.rs`), the tools of a run (`toolbox.rs`), their implementations (`work.rs`, `arguments.rs`,
//! `objects.rs`), files (`folder.rs`) and pictures (`picture.rs`, shapes in them: `shapes.rs`, how
//! similar they are: `similarity.rs`) with their limits, the
//! local tools (`pictures/`), settings (`settings.rs`), requests (`client.rs`, `multipart.rs`), a module for each kind
//! of server (`services/`), the responsibility for failures (`failure.rs`), and the simulation (`stand_in.rs`).

mod arguments;
mod client;
mod failure;
mod folder;
mod multipart;
mod objects;
mod operation;
mod picture;
mod pictures;
mod services;
mod settings;
mod shapes;
mod similarity;
mod toolbox;
mod work;

pub mod stand_in;

pub use arguments::{OBJECTS_MAX, TEXT_BYTES_MAX};
pub use client::{PICTURE_ANSWER_BYTES_MAX, TEXT_ANSWER_BYTES_MAX};
pub use failure::{Blame, ToolFailure};
pub use folder::{
    FOLDERS_MAX, FolderError, MediaFolder, MediaFolders, NAME_BYTES_MAX, OUTPUT_BYTES_MAX, OUTPUTS_MAX,
    SOUND_BYTES_MAX,
};
pub use operation::Operation;
pub use picture::{DECODE_BYTES_MAX, PICTURE_BYTES_MAX, PIXELS_MAX, PREVIEW_SIDE_MAX, SIDE_MAX};
pub use pictures::FACE_NAMES;
pub use services::{
    DETECTED_MAX, HIT_CHARACTERS_MAX, HITS_MAX, LABEL_CHARACTERS_MAX, LANGUAGE_BYTES_MAX,
    LONG_PROMPT_CHARACTERS, PAGE_CHARACTERS_MAX, QUERY_CHARACTERS_MAX,
};
pub use settings::{Endpoint, Endpoints, KeyPlace, Patience, Service, SettingError};
pub use similarity::similarity;
pub use toolbox::{Media, MediaTools, PICTURES_AT_ONCE_MAX};
