//! The servers of the tools, one module for each kind.

mod chat;
mod images;
mod numbers;
mod places;
mod public_data;
mod speech;
mod vision;
mod wiki;
mod words;

use std::sync::Arc;

use crate::client::{Client, not_configured};
use crate::failure::ToolFailure;
use crate::settings::{Endpoints, Service, SettingError};

pub(crate) use chat::{Question, chat};
pub use images::LONG_PROMPT_CHARACTERS;
pub(crate) use images::{edit, generate};
pub(crate) use numbers::{Fact, fact};
pub(crate) use places::{location, weather};
pub(crate) use public_data::{love, movie};
pub(crate) use speech::transcribe;
pub use vision::{DETECTED_MAX, LABEL_CHARACTERS_MAX};
pub(crate) use vision::{Detected, look};
pub(crate) use wiki::page;
pub use wiki::{PAGE_CHARACTERS_MAX, QUERY_CHARACTERS_MAX};
pub use words::{HIT_CHARACTERS_MAX, HITS_MAX, LANGUAGE_BYTES_MAX};
pub(crate) use words::{search_web, translate};

/// All servers of a user, connected once for all runs.
#[derive(Clone)]
pub(crate) struct Servers {
    endpoints: Arc<Endpoints>,
    clients: Arc<Vec<(Service, Client)>>,
    wiki: Option<planproof_tools::pages::Wiki>,
}

impl Servers {
    pub(crate) fn new(endpoints: Endpoints) -> Result<Self, SettingError> {
        let mut clients = Vec::new();
        let mut wiki = None;
        for service in Service::ALL {
            let Some(endpoint) = endpoints.get(service) else { continue };
            // A wiki is searched by the client of the crate `tools`, which sends no key.
            if service == Service::Wikipedia {
                let found = planproof_tools::pages::Wiki::new(&endpoint.url);
                let found =
                    found.map_err(|error| SettingError::Url { service, reason: error.to_string() })?;
                wiki = Some(found);
            } else {
                clients.push((service, Client::new(service, endpoint, endpoints.patience)?));
            }
        }
        Ok(Self { endpoints: Arc::new(endpoints), clients: Arc::new(clients), wiki })
    }

    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    fn client(&self, service: Service) -> Result<&Client, ToolFailure> {
        let found = self.clients.iter().find(|(it, _)| *it == service);
        found.map(|(_, client)| client).ok_or_else(|| not_configured(service))
    }

    /// The model for requests to this service; empty if the user gave none.
    fn model(&self, service: Service) -> &str {
        self.endpoints.get(service).and_then(|endpoint| endpoint.model.as_deref()).unwrap_or_default()
    }
}
