//! The user's settings for servers.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use crate::operation::Operation;

/// A server that tools ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Service {
    /// A model that reads text and pictures (`POST /chat/completions`).
    Chat,
    /// A model that makes and changes pictures (`POST /images/generations`, `POST /images/edits`).
    Images,
    /// A model that writes down what is said (`POST /audio/transcriptions`).
    Audio,
    /// A model that finds things in pictures (`POST /detect`, `POST /segment`).
    Vision,
    /// Facts about numbers.
    Numbers,
    /// How names are said to fit.
    Love,
    /// Places by their names.
    Geocoding,
    Weather,
    /// Films.
    Movies,
    Wikipedia,
    /// Translations, as LibreTranslate makes them (`POST /translate`).
    Translation,
    /// A search engine for the web, as SearXNG answers (`GET /search`).
    Search,
}

impl Service {
    pub const ALL: [Self; 12] = [
        Self::Chat,
        Self::Images,
        Self::Audio,
        Self::Vision,
        Self::Numbers,
        Self::Love,
        Self::Geocoding,
        Self::Weather,
        Self::Movies,
        Self::Wikipedia,
        Self::Translation,
        Self::Search,
    ];

    /// The component of its settings' names: `media.WORD.url`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Images => "images",
            Self::Audio => "audio",
            Self::Vision => "vision",
            Self::Numbers => "numbers",
            Self::Love => "love",
            Self::Geocoding => "geocoding",
            Self::Weather => "weather",
            Self::Movies => "movies",
            Self::Wikipedia => "wikipedia",
            Self::Translation => "translation",
            Self::Search => "search",
        }
    }

    /// The service of an operation; `None` for local ones.
    pub fn of(operation: Operation) -> Option<Self> {
        use Operation as Op;
        Some(match operation {
            Op::TextGeneration
            | Op::TextSummarization
            | Op::TextClassification
            | Op::QuestionAnswering
            | Op::ImageCaptioning
            | Op::OpticalCharacterRecognition
            | Op::ImageClassification
            | Op::VisualQuestionAnswering => Self::Chat,
            Op::ImageGeneration | Op::ImageEditing => Self::Images,
            Op::SpeechRecognition => Self::Audio,
            Op::ObjectDetection | Op::ImageSegmentation => Self::Vision,
            Op::DateFact | Op::YearFact | Op::MathFact | Op::TriviaFact => Self::Numbers,
            Op::LoveCalculator => Self::Love,
            Op::Location => Self::Geocoding,
            Op::MovieSearch => Self::Movies,
            Op::Weather => Self::Weather,
            Op::WikipediaSearch => Self::Wikipedia,
            Op::Crop
            | Op::CropLeft
            | Op::CropRight
            | Op::CropTop
            | Op::CropBottom
            | Op::BackgroundBlur
            | Op::ColorPop
            | Op::Count
            | Op::Tag
            | Op::SelectObject
            | Op::Emoji => return None,
        })
    }

    /// The last components of its settings' names, after `media.WORD.`.
    pub fn settings(self) -> impl Iterator<Item = &'static str> {
        // The client of wikis sends no key.
        let with_key: &[&str] = if self == Self::Wikipedia { &[] } else { &["key-env", "key-in"] };
        let with_model: &[&str] = if self.has_model() { &["model"] } else { &[] };
        let with_long_model: &[&str] = if self == Self::Images { &["long-model"] } else { &[] };
        [&["url"], with_key, with_model, with_long_model].into_iter().flatten().copied()
    }

    /// Whether a request names a model.
    fn has_model(self) -> bool {
        matches!(self, Self::Chat | Self::Images | Self::Audio | Self::Vision)
    }

    /// Whether a request must name a model.
    fn needs_model(self) -> bool {
        matches!(self, Self::Chat | Self::Images | Self::Audio)
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a server is shown its key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// As `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// In a header of this name.
    Header(String),
    /// As a parameter of this name in the URL.
    Query(String),
}

/// One server.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The URL before the path of a request, such as `https://api.openai.com/v1`.
    pub url: String,
    /// The key, where one is wanted.
    pub key: Option<SecretString>,
    /// How it is shown.
    pub key_place: KeyPlace,
    /// The model that is asked for.
    pub model: Option<String>,
    /// The model that makes pictures for long texts (of 75 characters and more), if it is a different one.
    pub long_model: Option<String>,
}

impl Endpoint {
    /// A server at this URL, without a key and a model.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), key: None, key_place: KeyPlace::Bearer, model: None, long_model: None }
    }

    /// The same with a model.
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }
}

/// How long and how often a request is tried.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long one attempt may take, up to the last byte of the answer.
    pub attempt: Duration,
    /// Attempts in all, the first included; at least 1.
    pub attempts_max: u32,
    /// The wait before the second attempt if the server names none; it doubles from attempt to attempt.
    pub first_wait: Duration,
    /// The longest wait, whatever the server asks for.
    pub wait_max: Duration,
}

impl Default for Patience {
    /// Two minutes an attempt, three attempts, half a second before the second, never more than ten.
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(120),
            attempts_max: 3,
            first_wait: Duration::from_millis(500),
            wait_max: Duration::from_secs(10),
        }
    }
}

/// Why settings make no sense.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingError {
    /// There is no such setting.
    #[error(
        "there is no setting `{name}`; the settings are media.{{{services}}}.{{url,key-env,key-in,model}}, and \
         media.images.long-model",
        services = Service::ALL.map(Service::as_str).join(","))]
    Unknown { name: String },
    /// A service has settings, but no URL.
    #[error("`media.{service}.url` is missing, beside the other settings of media.{service}")]
    NoUrl { service: Service },
    /// A URL is none.
    #[error("`media.{service}.url` cannot be used: {reason}")]
    Url {
        service: Service,
        /// The fault, without the URL, which may contain a password.
        reason: String,
    },
    /// A key is not there.
    #[error(
        "`media.{service}.key-env` names the environment variable `{variable}`, which is not set or blank: set it"
    )]
    NoKey { service: Service, variable: String },
    /// A key cannot stand in a header.
    #[error(
        "the key in the environment variable of `media.{service}.key-env` holds characters that no header takes"
    )]
    Key { service: Service },
    /// A place for a key is none.
    #[error("`media.{service}.key-in` is `bearer`, `header:NAME` or `query:NAME`, not {found}")]
    KeyPlace { service: Service, found: String },
    /// A model is missing.
    #[error(
        "`media.{service}.model` is missing: name the model that the server at `media.{service}.url` is asked for"
    )]
    NoModel { service: Service },
    /// Nothing can be asked so.
    #[error("the number of attempts has to be at least 1")]
    NoAttempts,
}

/// The servers that a user has.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    endpoints: BTreeMap<Service, Endpoint>,
    /// How patiently they are asked.
    pub patience: Patience,
}

impl Endpoints {
    /// No servers: every tool that needs one fails with the name of the missing setting.
    pub fn none() -> Self {
        Self::default()
    }

    /// From settings by their names, such as `media.chat.url`. `variable` looks up an environment variable.
    ///
    /// # Errors
    /// A setting does not exist, or makes no sense, or the variable for a key is not set.
    pub fn from_settings(
        settings: &BTreeMap<String, String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingError> {
        let mut found: BTreeMap<Service, BTreeMap<&str, &str>> = BTreeMap::new();
        for (name, value) in settings {
            let unknown = || SettingError::Unknown { name: name.clone() };
            let rest = name.strip_prefix("media.").ok_or_else(unknown)?;
            let (service, key) = rest.split_once('.').ok_or_else(unknown)?;
            let mut services = Service::ALL.into_iter();
            let service = services.find(|it| it.as_str() == service).ok_or_else(unknown)?;
            if !service.settings().any(|setting| setting == key) {
                return Err(unknown());
            }
            found.entry(service).or_default().insert(key, value.trim());
        }
        let mut endpoints = Self::default();
        for (service, settings) in found {
            endpoints.endpoints.insert(service, endpoint(service, &settings, &variable)?);
        }
        Ok(endpoints)
    }

    /// The same with a server for this service.
    #[must_use]
    pub fn with(mut self, service: Service, endpoint: Endpoint) -> Self {
        self.endpoints.insert(service, endpoint);
        self
    }

    /// The server for a service.
    pub fn get(&self, service: Service) -> Option<&Endpoint> {
        self.endpoints.get(&service)
    }

    /// The settings that are missing for these operations, to be reported before a run needs them: `media.chat.url`.
    pub fn missing(&self, operations: impl IntoIterator<Item = Operation>) -> Vec<String> {
        let wanted = operations.into_iter().filter_map(Service::of);
        let missing: std::collections::BTreeSet<Service> =
            wanted.filter(|it| self.get(*it).is_none()).collect();
        missing.into_iter().map(|service| format!("media.{service}.url")).collect()
    }

    /// All keys, which must not be recorded.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.endpoints.values().filter_map(|endpoint| endpoint.key.as_ref()).map(ExposeSecret::expose_secret)
    }
}

fn endpoint(
    service: Service,
    settings: &BTreeMap<&str, &str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Endpoint, SettingError> {
    // An empty value is as good as none.
    let set = |key: &str| settings.get(key).copied().filter(|value| !value.is_empty());
    let url = set("url").ok_or(SettingError::NoUrl { service })?;
    let mut endpoint = Endpoint::new(url);
    if let Some(name) = set("key-env") {
        let key = variable(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| SettingError::NoKey { service, variable: name.to_owned() })?;
        endpoint.key = Some(SecretString::from(key));
    }
    if let Some(place) = set("key-in") {
        endpoint.key_place = match place.split_once(':') {
            None if place == "bearer" => KeyPlace::Bearer,
            Some(("header", name)) if !name.is_empty() => KeyPlace::Header(name.to_owned()),
            Some(("query", name)) if !name.is_empty() => KeyPlace::Query(name.to_owned()),
            _ => return Err(SettingError::KeyPlace { service, found: crate::failure::quoted(place) }),
        };
    }
    endpoint.model = set("model").map(str::to_owned);
    endpoint.long_model = set("long-model").map(str::to_owned);
    if service.needs_model() && endpoint.model.is_none() {
        return Err(SettingError::NoModel { service });
    }
    Ok(endpoint)
}
