//! The 33 operations, and how they are named.

use std::fmt;

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// What one tool does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operation {
            $($(#[$doc])* $name,)*
        }

        impl Operation {
            /// All of them, in the order of the published list.
            pub const ALL: [Self; 33] = [$(Self::$name,)*];

            /// Its name with blanks, as in `image crop left`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

operations! {
    /// A model goes on from a text.
    TextGeneration => "text generation",
    /// A model sums a text up.
    TextSummarization => "text summarization",
    /// A model names the sentiment of a text.
    TextClassification => "text classification",
    /// A model answers a question from a text.
    QuestionAnswering => "question answering",
    /// A model makes a picture after a text.
    ImageGeneration => "image generation",
    /// A model says what a picture shows.
    ImageCaptioning => "image captioning",
    /// A model reads the text in a picture.
    OpticalCharacterRecognition => "optical character recognition",
    /// A model names the main thing in a picture.
    ImageClassification => "image classification",
    /// A model changes a picture.
    ImageEditing => "image editing",
    /// A model finds things in a picture, with boxes.
    ObjectDetection => "object detection",
    /// A model finds things in a picture, with masks.
    ImageSegmentation => "image segmentation",
    /// A model writes down what is said.
    SpeechRecognition => "automatic speech recognition",
    /// A model answers a question about a picture.
    VisualQuestionAnswering => "visual question answering",
    /// The part of a picture that an object takes up.
    Crop => "image crop",
    /// The left half of a picture.
    CropLeft => "image crop left",
    /// The right half of a picture.
    CropRight => "image crop right",
    /// The upper half of a picture.
    CropTop => "image crop top",
    /// The lower half of a picture.
    CropBottom => "image crop bottom",
    /// A picture that is sharp in an object alone.
    BackgroundBlur => "background blur",
    /// A picture that has colours in an object alone.
    ColorPop => "color pop",
    /// The length of a list.
    Count => "count",
    /// A picture with boxes and labels around objects.
    Tag => "tag",
    /// One object of several, by its name.
    SelectObject => "select object",
    /// A picture with a face drawn over an object.
    Emoji => "emoji",
    /// A fact about a day of the year.
    DateFact => "get date fact",
    /// A fact about a year.
    YearFact => "get year fact",
    /// A mathematical fact about a number.
    MathFact => "get math fact",
    /// A curious fact about a number.
    TriviaFact => "get trivia fact",
    /// How two names are said to fit.
    LoveCalculator => "love calculator",
    /// Where a city is.
    Location => "get location",
    /// What is known of a film.
    MovieSearch => "search movie",
    /// The forecast for a place.
    Weather => "get weather",
    /// The beginning of a page of a wiki.
    WikipediaSearch => "wikipedia simple search",
}

impl Operation {
    /// The operation of this name, with blanks or with underscores.
    pub fn named(name: &str) -> Option<Self> {
        let is_same = |own: &str| {
            let alike = |(given, own): (u8, u8)| given == own || (own == b' ' && given == b'_');
            name.len() == own.len() && name.bytes().zip(own.bytes()).all(alike)
        };
        Self::ALL.into_iter().find(|operation| is_same(operation.as_str()))
    }

    /// Its name with underscores, as models and MCP want it: `image_crop_left`.
    pub fn tool_name(self) -> String {
        self.as_str().replace(' ', "_")
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_both_of_its_names() {
        for operation in Operation::ALL {
            assert_eq!(Operation::named(operation.as_str()), Some(operation));
            assert_eq!(Operation::named(&operation.tool_name()), Some(operation));
        }
        for name in
            ["", "image", "image  crop", "Image crop", "image-crop", "image crop ", "text translation"]
        {
            assert_eq!(Operation::named(name), None, "{name}");
        }
    }
}
