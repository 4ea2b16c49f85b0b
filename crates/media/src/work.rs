//! One call: the implementation of each operation.

use std::sync::Arc;

use image::{DynamicImage, RgbImage};
use planproof_trace::{Attachments, PictureType};
use serde_json::{Map, Value, json};

use crate::arguments::Given;
use crate::failure::{ToolFailure, quoted};
use crate::folder::MediaFolder;
use crate::objects::{area_of, box_of, mask_of};
use crate::operation::Operation;
use crate::picture::preview;
use crate::pictures::{self, Half, Region};
use crate::services::{self, Detected, Fact, Question};
use crate::toolbox::Media;

/// What came of a call.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) value: Map<String, Value>,
    pub(crate) attachments: Attachments,
}

impl Done {
    /// A value under the one key that an operation answers with.
    fn with(key: &str, value: impl Into<Value>) -> Self {
        Self { value: Map::from_iter([(key.to_owned(), value.into())]), ..Self::default() }
    }
}

/// The picture named by a call, after checking that it is one.
struct Named<'c> {
    name: &'c str,
    bytes: Vec<u8>,
    kind: PictureType,
    size: (u32, u32),
}

/// A call that is being done.
#[derive(Clone, Copy)]
pub(crate) struct Work<'c> {
    pub(crate) media: &'c Media,
    pub(crate) folder: &'c Arc<MediaFolder>,
    pub(crate) given: Given<'c>,
}

impl Work<'_> {
    pub(crate) async fn perform(self, operation: Operation) -> Result<Done, ToolFailure> {
        use Operation as Op;
        let Self { given, media, .. } = self;
        let servers = &media.servers;
        match operation {
            Op::TextGeneration
            | Op::TextSummarization
            | Op::TextClassification
            | Op::QuestionAnswering
            | Op::ImageCaptioning
            | Op::OpticalCharacterRecognition
            | Op::ImageClassification
            | Op::VisualQuestionAnswering => self.ask_model(operation).await,
            Op::ImageGeneration => {
                let made = services::generate(servers, &given.filled_text("text")?).await?;
                self.save(made).await
            }
            Op::ImageEditing => {
                let prompt = given.filled_text("prompt")?;
                let picture = self.named_picture().await?;
                let made = services::edit(servers, (&picture.bytes, picture.kind), &prompt).await?;
                self.save(made).await
            }
            Op::ObjectDetection => self.find_objects("/detect", false).await,
            Op::ImageSegmentation => self.find_objects("/segment", true).await,
            Op::SpeechRecognition => {
                let (name, folder) = (given.file("audio")?, Arc::clone(self.folder));
                let of = name.to_owned();
                let bytes = self.apart(move || folder.sound(&of)).await?;
                Ok(Done::with("text", services::transcribe(servers, name, &bytes).await?))
            }
            Op::CropLeft => self.change(|_, picture| pictures::half(&picture, Half::Left)).await,
            Op::CropRight => self.change(|_, picture| pictures::half(&picture, Half::Right)).await,
            Op::CropTop => self.change(|_, picture| pictures::half(&picture, Half::Top)).await,
            Op::CropBottom => self.change(|_, picture| pictures::half(&picture, Half::Bottom)).await,
            Op::Crop | Op::BackgroundBlur | Op::ColorPop | Op::Emoji => self.work_on_object(operation).await,
            Op::Count => Ok(Done::with("number", given.objects("objects")?.len())),
            Op::Tag => {
                let objects = given.objects("objects")?.to_vec();
                self.change(move |_, mut picture| {
                    // Objects without a box are left out, so the picture may stay as it is.
                    pictures::tag(&mut picture, &objects);
                    Ok(picture)
                })
                .await
            }
            Op::SelectObject => {
                let object = pictures::select(given.objects("objects")?, &given.text("object_name")?);
                Ok(Done::with("object", object))
            }
            Op::DateFact => self.tell_fact(Fact::Date(given.filled_text("date")?)).await,
            Op::YearFact => self.tell_fact(Fact::Year(given.integer("year")?)).await,
            Op::MathFact => self.tell_fact(Fact::Math(given.integer("number")?)).await,
            Op::TriviaFact => self.tell_fact(Fact::Trivia(given.integer("number")?)).await,
            Op::LoveCalculator => {
                let names = (given.filled_text("first_name")?, given.filled_text("second_name")?);
                let (number, message) = services::love(servers, &names.0, &names.1).await?;
                let mut done = Done::with("number", number);
                // As published, beside the declared output.
                done.value.insert("message".to_owned(), message.into());
                Ok(done)
            }
            Op::Location => {
                // As published, all that the server says of the place, not only the declared outputs.
                let value = services::location(servers, &given.filled_text("city")?).await?;
                Ok(Done { value, ..Done::default() })
            }
            Op::MovieSearch => {
                let (title, year) = (given.filled_text("movie_title")?, given.text("movie_year")?);
                Ok(Done::with("text", services::movie(servers, &title, &year).await?))
            }
            Op::Weather => {
                let days = services::weather(servers, &given.text("lon")?, &given.text("lat")?).await?;
                Ok(Done::with("objects", days))
            }
            Op::WikipediaSearch => {
                Ok(Done::with("text", services::page(servers, &given.text("text")?).await?))
            }
        }
    }

    /// A model's answer about a text or a picture.
    async fn ask_model(self, operation: Operation) -> Result<Done, ToolFailure> {
        use Operation as Op;
        let given = self.given;
        // The text may be the empty result of an earlier call, with which a right plan continues, as in the published
        // code. A request without any words is one that servers refuse, so nothing is made of nothing.
        if operation == Op::TextGeneration && given.text("text")?.trim().is_empty() {
            return Ok(Done::with("text", String::new()));
        }
        // An instruction ends with an empty line, by which the stand-in finds the text after it.
        let text = match operation {
            Op::TextGeneration => given.text("text")?,
            Op::TextSummarization => format!(
                "Sum up the following text in a few sentences. Answer with the summary alone.\n\n{}",
                given.text("text")?
            ),
            Op::TextClassification => format!(
                "Is the sentiment of the following text positive, negative or neutral? Answer with that one word \
                 alone.\n\n{}",
                given.text("text")?
            ),
            Op::QuestionAnswering => format!(
                "Answer the question from the text, in as few words as it takes.\n\nText: {}\n\nQuestion: {}",
                given.text("text")?,
                given.filled_text("question")?
            ),
            Op::ImageCaptioning => "Say in one sentence what this picture shows.".to_owned(),
            Op::OpticalCharacterRecognition => {
                "Write down the text in this picture as it stands there, line by line, and nothing else."
                    .to_owned()
            }
            Op::ImageClassification => {
                "Name the main thing in this picture in one to three words, and nothing else.".to_owned()
            }
            _ => format!(
                "Answer the question about this picture in as few words as it takes: {}",
                given.filled_text("question")?
            ),
        };
        let is_about_text = matches!(
            operation,
            Op::TextGeneration | Op::TextSummarization | Op::TextClassification | Op::QuestionAnswering
        );
        let picture = if is_about_text { None } else { Some(self.named_picture().await?) };
        let picture = picture.as_ref().map(|picture| (picture.bytes.as_slice(), picture.kind));
        Ok(Done::with("text", services::chat(&self.media.servers, Question { text, picture }).await?))
    }

    /// A server's findings in a picture. Masks are written as pictures of the run, and named.
    async fn find_objects(self, path: &str, with_masks: bool) -> Result<Done, ToolFailure> {
        let Named { name, bytes, kind, size } = self.named_picture().await?;
        let found = services::look(&self.media.servers, path, (&bytes, kind), size, with_masks).await?;
        let folder = Arc::clone(self.folder);
        let objects = self.apart(move || {
            let objects = found.into_iter().enumerate();
            let described = objects.map(|(place, detected)| described(&folder, place, detected, with_masks));
            described.collect::<Result<Vec<Value>, ToolFailure>>()
        });
        let mut done = Done::with("image", name);
        done.value.insert("objects".to_owned(), objects.await?.into());
        Ok(done)
    }

    /// A picture with one object of it modified; the unchanged picture if the object has no box.
    async fn work_on_object(self, operation: Operation) -> Result<Done, ToolFailure> {
        let object = self.given.object("object")?.clone();
        let face = if operation == Operation::Emoji { self.given.text("emoji")? } else { String::new() };
        let mask = mask_of(&object).map(str::to_owned);
        // As in the published `image crop`, an object without a box leaves the picture as it is.
        let Some(numbers) = box_of(&object) else {
            let name = self.given.file("image")?;
            // A dangling name is still a mistake.
            self.named_picture().await?;
            return Ok(Done::with("image", name));
        };
        self.change(move |folder, mut picture| {
            let (width, height) = picture.dimensions();
            let area = area_of(numbers, width, height)?;
            // A closure, because only two of the operations need the mask.
            let region =
                || region(folder, mask.as_deref(), (width, height)).map(|it| it.unwrap_or(Region::Box(area)));
            Ok(match operation {
                Operation::BackgroundBlur => pictures::background_blur(&picture, &region()?),
                Operation::ColorPop => pictures::color_pop(&picture, &region()?),
                Operation::Emoji => {
                    pictures::emoji(&mut picture, area, &face);
                    picture
                }
                _ => pictures::crop(&picture, area),
            })
        })
        .await
    }

    async fn tell_fact(self, fact: Fact) -> Result<Done, ToolFailure> {
        let value = services::fact(&self.media.servers, fact).await?;
        Ok(Done { value, ..Done::default() })
    }

    /// The picture that the call names.
    async fn named_picture(&self) -> Result<Named<'_>, ToolFailure> {
        let (name, folder) = (self.given.file("image")?, Arc::clone(self.folder));
        let of = name.to_owned();
        let read = move || {
            // Decoded although only the bytes are sent: that a file is not a picture is the call's fault, which a
            // refusal by the server would not show.
            let (picture, bytes) = folder.picture(&of)?;
            Ok((bytes, picture.format, picture.pixels.dimensions()))
        };
        let (bytes, kind, size) = self.apart(read).await?;
        Ok(Named { name, bytes, kind, size })
    }

    /// A new picture made from the one that the call names.
    async fn change(
        self,
        change: impl FnOnce(&MediaFolder, RgbImage) -> Result<RgbImage, ToolFailure> + Send + 'static,
    ) -> Result<Done, ToolFailure> {
        let (name, folder) = (self.given.file("image")?.to_owned(), Arc::clone(self.folder));
        self.apart(move || {
            let (picture, _) = folder.picture(&name)?;
            let made = change(&folder, picture.pixels)?;
            saved(&folder, &made)
        })
        .await
    }

    async fn save(self, made: RgbImage) -> Result<Done, ToolFailure> {
        let folder = Arc::clone(self.folder);
        self.apart(move || saved(&folder, &made)).await
    }

    /// Runs slow work on a blocking thread, as soon as there is a slot for it.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
    ) -> Result<T, ToolFailure> {
        let room = Arc::clone(&self.media.room).acquire_owned().await;
        let room = room.map_err(|error| ToolFailure::world(error.to_string()))?;
        // The work continues if a run ends in the middle of it, so it holds its slot itself.
        let kept = move || {
            let _room = room;
            work()
        };
        let done = tokio::task::spawn_blocking(kept).await;
        // A bug of ours or of a decoder's; the run says nothing about its agent then.
        done.unwrap_or_else(|error| {
            Err(ToolFailure::world(format!("working on a picture broke off, which is a bug: {error}")))
        })
    }
}

/// Writes a picture, and looks after its small copy.
fn saved(folder: &MediaFolder, made: &RgbImage) -> Result<Done, ToolFailure> {
    let name = folder.write(made)?;
    let pictures = preview(&name, made).into_iter().collect();
    // A copy that is too large is left out. The picture itself has been written.
    let attachments = Attachments::new(pictures).unwrap_or_default();
    Ok(Done { attachments, ..Done::with("image", name) })
}

/// An object that was found, in the form that the tools pass on.
fn described(
    folder: &MediaFolder,
    place: usize,
    detected: Detected,
    is_segmented: bool,
) -> Result<Value, ToolFailure> {
    let Detected { label, numbers, score, mask } = detected;
    let mut object = json!({ "label": label, "bbox": numbers });
    if let Some(score) = score {
        object["score"] = score.into();
    }
    if let Some(mask) = mask {
        object["mask"] = folder.write(&DynamicImage::ImageLuma8(mask).into_rgb8())?.into();
    }
    if is_segmented {
        object["inst_id"] = place.into();
    }
    Ok(object)
}

/// The pixels that the mask of this name assigns to an object in a picture of this size.
fn region(folder: &MediaFolder, mask: Option<&str>, size: (u32, u32)) -> Result<Option<Region>, ToolFailure> {
    let Some(name) = mask else { return Ok(None) };
    let pixels = folder.picture(name)?.0.pixels;
    if pixels.dimensions() != size {
        let ((width, height), (across, down)) = (pixels.dimensions(), size);
        return Err(ToolFailure::call(format!(
            "the mask {} is {width} x {height}, the picture {across} x {down}: the object is one of another picture",
            quoted(name)
        )));
    }
    Ok(Some(Region::Mask(DynamicImage::ImageRgb8(pixels).into_luma8())))
}
