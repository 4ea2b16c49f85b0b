//! Pictures, recordings and music.

use super::parts::{all_equal, argument, fail, field, stripped, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 3] = [
    tool!("ImageCaption", caption, all_equal),
    tool!("PlayMusic", play, is_same_music),
    tool!("SpeechRecognition", transcribe, all_equal),
];

fn caption(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let url = stripped(arguments, "url")?;
    if ![".jpg", ".jpeg", ".png"].iter().any(|ending| url.ends_with(ending)) {
        return fail("The url should end with .jpg, .jpeg or .png.");
    }
    for picture in world.list("ImageCaptioning")? {
        if field(picture, "url")?.as_text() == Some(url) {
            return Ok(field(picture, "caption")?.clone());
        }
    }
    fail("The image of this url failed to be processed.")
}

fn transcribe(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let url = stripped(arguments, "url")?;
    if !url.ends_with(".wav") {
        return fail("The url should end with .wav.");
    }
    let recording = world.table("SpeechRecognition")?.get(url).cloned();
    recording.map_or_else(|| fail("The audio of this url failed to be processed."), Ok)
}

fn play(arguments: &mut Dict, _: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let name = with_method(argument(arguments, "music_name")?, "lower")?.to_lowercase();
    match strip(&name) {
        "" => fail("The music name cannot be empty."),
        name => Ok(format!("music://{name}").into()),
    }
}

fn is_same_music(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(predicted.output == gold.output)
}
