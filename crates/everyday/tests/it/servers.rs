//! The tools that ask servers, against the simulation of all of them, and without any.

use libtest_mimic::Trial;
use planproof_everyday::NAMES;
use planproof_media::stand_in::StandIn;
use planproof_media::{Endpoint, Endpoints, Patience, Service};
use planproof_suite::Toolbox as _;
use serde_json::{Value, json};

use crate::support::{Folder, done, outage, refused, tools, trial, wait, written};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("servers::every_tool_has_a_schema", every_tool_has_a_schema),
        trial("servers::servers_are_asked", servers_are_asked),
        trial("servers::mistakes_are_the_agents", mistakes_are_the_agents),
        trial("servers::what_is_not_configured_says_so", what_is_not_configured_says_so),
        trial("servers::a_server_that_is_gone_is_an_outage", a_server_that_is_gone_is_an_outage),
    ]
}

fn every_tool_has_a_schema() {
    let folder = Folder::new("schema");
    let tools = tools(&folder, Endpoints::none(), None);
    let names: Vec<&str> = tools.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, NAMES);
    let schemas = planproof_tools::SchemaCache::default();
    for tool in tools.tools().iter() {
        assert!(
            tool.description.ends_with('.') && schemas.check_schema(&tool.input_schema).is_ok(),
            "{}",
            tool.name
        );
        assert_eq!(tool.input_schema["additionalProperties"], false);
    }
}

fn servers_are_asked() {
    let folder = Folder::new("asked");
    let stand_in = wait(StandIn::bind(0)).unwrap();
    let tools = tools(&folder, stand_in.endpoints(), None);
    let object = |tool: &str, arguments: Value| -> Value {
        serde_json::from_str(&done(&tools, tool, &arguments)).unwrap()
    };
    let weather = object("weather", json!({ "place": "Rome" }));
    assert_eq!((weather["place"].as_str(), weather["days"].as_array().unwrap().len()), (Some("Rome"), 7));
    let picture = object("image_generator", json!({ "text": "a red dog" }));
    assert_eq!(picture, json!({ "image": "out-0.png" }));
    assert!(written(&tools, "out-0.png").starts_with(b"\x89PNG"));
    assert!(object("text_extractor", json!({ "image": "out-0.png" }))["text"].is_string());
    assert_eq!(
        object("translator", json!({ "text": "the red & blue dog?", "to": "de" })),
        json!({ "text": "[auto to de] dog? blue & red the" })
    );
    assert_eq!(
        object("translator", json!({ "text": "x y", "to": "de", "from": "en" })),
        json!({ "text": "[en to de] y x" })
    );
    let hits = object("web_search", json!({ "query": "cats & dogs" }));
    assert_eq!(hits["results"].as_array().unwrap().len(), 10);
    assert_eq!(hits["results"][0]["title"], "Hit 1 for cats & dogs");
    assert_eq!(hits["results"][0].as_object().unwrap().len(), 3);
    assert!(object("wikipedia", json!({ "text": "Rome" }))["text"].as_str().unwrap().starts_with("Rome is"));
    // Another run has files of its own.
    let other = tools.for_run().unwrap();
    assert!(done(&*other, "image_generator", &json!({ "text": "a dog" })).contains("out-0.png"));
    assert_eq!(tools.outage(), None);
}

fn mistakes_are_the_agents() {
    let folder = Folder::new("mistakes");
    let stand_in = wait(StandIn::bind(0)).unwrap();
    let tools = tools(&folder, stand_in.endpoints(), None);
    for (tool, arguments, part) in [
        ("weather", json!({}), "`place` is missing"),
        ("weather", json!({ "place": "123" }), "no place is called"),
        ("translator", json!({ "text": "x" }), "to"),
        ("translator", json!({ "text": "x", "to": "German!" }), "has to be the code of a language"),
        ("translator", json!({ "text": "x", "to": "xx" }), "xx is not supported"),
        ("translator", json!({ "text": " ", "to": "de" }), "`text` is empty"),
        ("web_search", json!({ "query": "" }), "`query` is empty"),
        ("text_extractor", json!({ "image": "none.png" }), "there is no file"),
        ("no_such_tool", json!({}), "the tools are: weather"),
    ] {
        let text = refused(&tools, tool, &arguments);
        assert!(text.contains(part), "{tool} {arguments}: {text}");
    }
}

fn what_is_not_configured_says_so() {
    for (tool, arguments, setting) in [
        ("weather", json!({ "place": "Rome" }), "media.geocoding.url"),
        ("image_generator", json!({ "text": "a dog" }), "media.images.url"),
        ("translator", json!({ "text": "x", "to": "de" }), "media.translation.url"),
        ("web_search", json!({ "query": "x" }), "media.search.url"),
        ("wikipedia", json!({ "text": "x" }), "media.wikipedia.url"),
    ] {
        let folder = Folder::new("none");
        let text = outage(&tools(&folder, Endpoints::none(), None), tool, &arguments);
        assert!(text.contains(&format!("set `{setting}`")), "{tool}: {text}");
    }
}

fn a_server_that_is_gone_is_an_outage() {
    let folder = Folder::new("gone");
    let mut endpoints = Endpoints::none().with(Service::Search, Endpoint::new("http://127.0.0.1:9"));
    endpoints.patience = Patience { attempts_max: 1, ..Patience::default() };
    let text = outage(&tools(&folder, endpoints, None), "web_search", &json!({ "query": "x" }));
    assert!(text.contains("the server of `media.search.url` cannot be reached"), "{text}");
}
