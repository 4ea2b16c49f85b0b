//! What a user says of servers.

use std::collections::BTreeMap;

use planproof_media::{Endpoint, Endpoints, KeyPlace, Media, Operation, Service};

fn read(settings: &[(&str, &str)]) -> Result<Endpoints, String> {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let variable = |name: &str| match name {
        "CHAT_KEY" => Some(" sk-secret-1 \n".to_owned()),
        "BLANK" => Some(" ".to_owned()),
        "ODD" => Some("a\nb".to_owned()),
        _ => None,
    };
    let endpoints = Endpoints::from_settings(&settings, variable).map_err(|error| error.to_string())?;
    Media::new(endpoints.clone()).map_err(|error| error.to_string())?;
    Ok(endpoints)
}

#[test]
fn settings_name_servers_keys_and_models() {
    let endpoints = read(&[
        ("media.chat.url", "http://127.0.0.1:8000/v1/"),
        ("media.chat.key-env", "CHAT_KEY"),
        ("media.chat.model", "small"),
        ("media.images.url", "http://127.0.0.1:8000/v1"),
        ("media.images.model", "painter"),
        ("media.images.long-model", "novelist"),
        ("media.movies.url", "http://127.0.0.1:1"),
        ("media.movies.key-env", "CHAT_KEY"),
        ("media.movies.key-in", "query:apikey"),
        ("media.love.url", "http://127.0.0.1:1"),
        ("media.love.key-in", "header:X-RapidAPI-Key"),
        ("media.vision.url", "http://127.0.0.1:2"),
        ("media.wikipedia.url", "http://127.0.0.1:3/api.php"),
    ])
    .expect("settings");
    assert_eq!(endpoints.keys().collect::<Vec<_>>(), ["sk-secret-1", "sk-secret-1"]);
    let places = [Service::Chat, Service::Movies, Service::Love]
        .map(|it| endpoints.get(it).expect("there").key_place.clone());
    let named = |name: &str| name.to_owned();
    assert_eq!(
        places,
        [KeyPlace::Bearer, KeyPlace::Query(named("apikey")), KeyPlace::Header(named("X-RapidAPI-Key"))]
    );
    let images = endpoints.get(Service::Images).expect("there");
    assert_eq!((images.model.as_deref(), images.long_model.as_deref()), (Some("painter"), Some("novelist")));
    // What a plan needs can be said before it runs.
    let wanted = [
        Operation::ImageCaptioning,
        Operation::Crop,
        Operation::Weather,
        Operation::DateFact,
        Operation::YearFact,
    ];
    assert_eq!(endpoints.missing(wanted), ["media.numbers.url", "media.weather.url"]);
    // Translations and searches of the web belong to no operation of a plan.
    let of_plans =
        Service::ALL.into_iter().filter(|it| !matches!(it, Service::Translation | Service::Search));
    assert_eq!(Endpoints::none().missing(Operation::ALL).len(), of_plans.count());
    assert!(!format!("{endpoints:?}").contains("sk-secret"));
}

#[test]
fn what_is_wrong_with_a_setting_is_said() {
    let (chat, url) = ("media.chat.url", "http://127.0.0.1:1");
    for (settings, message) in [
        (
            &[("media.chat.urll", url)][..],
            "there is no setting `media.chat.urll`; the settings are media.{chat,images,audio,",
        ),
        (&[("media.speech.url", url)], "there is no setting `media.speech.url`"),
        (&[("chat.url", url)], "there is no setting `chat.url`"),
        (&[("media.weather.model", "x")], "there is no setting `media.weather.model`"),
        (&[("media.wikipedia.key-env", "CHAT_KEY")], "there is no setting `media.wikipedia.key-env`"),
        (
            &[("media.chat.model", "x")],
            "`media.chat.url` is missing, beside the other settings of media.chat",
        ),
        (&[(chat, " "), ("media.chat.model", "x")], "`media.chat.url` is missing"),
        (&[(chat, url)], "`media.chat.model` is missing: name the model"),
        (
            &[(chat, url), ("media.chat.model", "x"), ("media.chat.key-env", "UNSET")],
            "`media.chat.key-env` names the environment variable `UNSET`, which is not set or blank: set it",
        ),
        (
            &[(chat, url), ("media.chat.model", "x"), ("media.chat.key-env", "BLANK")],
            "`media.chat.key-env` names the environment variable `BLANK`, which is not set or blank: set it",
        ),
        (
            &[(chat, url), ("media.chat.model", "x"), ("media.chat.key-env", "ODD")],
            "the key in the environment variable of `media.chat.key-env` holds characters that no header takes",
        ),
        (
            &[("media.love.url", url), ("media.love.key-in", "cookie")],
            "`media.love.key-in` is `bearer`, `header:NAME` or `query:NAME`, not `cookie`",
        ),
        (
            &[
                ("media.love.url", url),
                ("media.love.key-env", "CHAT_KEY"),
                ("media.love.key-in", "header:a b"),
            ],
            "`media.love.key-in` is `bearer`, `header:NAME` or `query:NAME`, not `a b`",
        ),
        (
            &[("media.love.url", "ftp://x")],
            "`media.love.url` cannot be used: it begins with neither http:// nor https://",
        ),
        (&[("media.love.url", "/x")], "`media.love.url` cannot be used: it names no host"),
        (
            &[("media.love.url", "http://me:secret@x/")],
            "`media.love.url` cannot be used: it holds a user name or a password; a key belongs into `media.love.key-env`",
        ),
        (
            &[("media.love.url", "http://x/?y=1")],
            "`media.love.url` cannot be used: it goes on after the path",
        ),
        (
            &[("media.wikipedia.url", "x")],
            "`media.wikipedia.url` cannot be used: not the URL of a wiki's API",
        ),
    ] {
        let error = read(settings).expect_err(message);
        assert!(error.starts_with(message), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let mut endpoints = Endpoints::none().with(Service::Love, Endpoint::new(url));
    endpoints.patience.attempts_max = 0;
    let error = Media::new(endpoints).expect_err("no attempts");
    assert_eq!(error.to_string(), "the number of attempts has to be at least 1");
}
