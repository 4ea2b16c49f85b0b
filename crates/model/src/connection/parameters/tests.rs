use super::*;

fn failed(status: u16, text: &str) -> Failed {
    let (url, message) = ("u".to_owned(), text.to_owned());
    ModelError::Status { url, status, message, retry_after: None }.into()
}

fn settings() -> Settings {
    Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(4096),
        seed: Some(7),
        stop: vec!["END".to_owned()],
        ..Settings::default()
    }
}

/// The settings of the repeated request; `None` if it is not repeated.
fn repeated(settings: &Settings, status: u16, text: &str) -> Option<(Settings, Refused)> {
    let sent = Sent { settings, messages: &[], is_streamed: true, needs_limit: false };
    let refused = Refused::default().further(&failed(status, text), &sent)?;
    Some((refused.removed_from(settings).into_owned(), refused))
}

#[test]
fn a_refusal_that_names_a_field_leaves_it_out() {
    let all = settings();
    let without_temperature = Settings { temperature: None, ..all.clone() };
    let without_stop = Settings { stop: Vec::new(), ..all.clone() };
    let without_seed = Settings { seed: None, ..all.clone() };
    let without_limit = Settings { output_tokens_max: None, ..all.clone() };
    let at_most = |limit| Settings { output_tokens_max: Some(limit), ..all.clone() };
    let cases = [
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
            &without_temperature,
        ),
        ("invalid temperature: only 1 is allowed for this model", &without_temperature),
        ("`temperature` (=0.0) has to be a strictly positive float", &without_temperature),
        ("invalid request: Temperature must be between 0.01 and 1.0 inclusive.", &without_temperature),
        ("temperature 与 thinking 不能同时使用", &without_temperature),
        ("Unsupported parameter: 'stop' is not supported with this model.", &without_stop),
        ("stop_sequences: Extra inputs are not permitted", &without_stop),
        ("Invalid 'stop': array too long. Expected an array with maximum length 0.", &without_stop),
        (
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#,
            &without_seed,
        ),
        (r#"Invalid JSON payload received. Unknown name "seed": Cannot find field."#, &without_seed),
        ("seed: Input should be less than or equal to 2147483647", &without_seed),
        ("max_tokens is not allowed", &without_limit),
        ("max_tokens is not supported by claude-3-opus-20240229 or gpt-4-32k-0613 (v1.5)", &without_limit),
        ("Unknown name \"maxTokens\"", &without_limit),
        (
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
            &at_most(2048),
        ),
        ("max_tokens: 4096 > 1,024, which is the maximum allowed for claude-3-opus-20240229", &at_most(1024)),
        ("Range of max_tokens should be [1, 2000]", &at_most(2000)),
        ("Expected a value >= 5000 for 'max_output_tokens', but got 4096 instead.", &at_most(5000)),
        // What is named first counts, because some servers repeat the request.
        (r#"seed is unknown. Body: {"temperature":0.0,"seed":7,"stop":["END"]}"#, &without_seed),
    ];
    for (text, expected) in cases {
        for status in [400, 406, 415, 422] {
            assert_eq!(
                repeated(&all, status, text).map(|(settings, _)| settings).as_ref(),
                Some(expected),
                "{text}"
            );
        }
        for status in [200, 401, 403, 404, 413, 429, 500, 503] {
            assert!(repeated(&all, status, text).is_none(), "{status} {text}");
        }
    }
    for text in ["", "tools are not supported", "the unstoppable seeding is not supported", "no temperatures"]
    {
        assert!(repeated(&all, 400, text).is_none(), "{text}");
    }
    for (text, parameter) in [
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            Parameter::OldLimit,
        ),
        ("Unrecognized request argument supplied: stream_options", Parameter::StreamOptions),
    ] {
        let (same, refused) = repeated(&all, 400, text).unwrap();
        assert!(same == all && refused.has(parameter), "{text}");
    }
    let none = Settings::default();
    assert!(
        repeated(&none, 400, "temperature, max_tokens, seed and stop are unknown").is_none(),
        "none is sent"
    );
}

/// The limits that are sent to a server one after the other until it takes one.
fn limits_until(refuses: impl Fn(u32) -> Option<String>) -> Vec<Option<u32>> {
    let settings = Settings { output_tokens_max: Some(4096), ..Settings::default() };
    let sent = Sent { settings: &settings, messages: &[], is_streamed: false, needs_limit: false };
    let mut refused = Refused::default();
    let mut limits = Vec::new();
    loop {
        let limit = refused.removed_from(&settings).output_tokens_max;
        limits.push(limit);
        let Some(text) = limit.and_then(&refuses) else { return limits };
        match refused.further(&failed(400, &text), &sent) {
            Some(more) => refused = more,
            None => return limits,
        }
    }
}

#[test]
fn a_reply_is_as_long_as_the_context_leaves_room_for() {
    let vllm = |limit, context, prompt| {
        format!(
            "{{\"error\":{{\"message\":\"'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's \
             maximum context length is {context} tokens and your request has {prompt} input tokens ({limit} > {context} - \
             {prompt}).\",\"type\":\"BadRequestError\",\"code\":400}}}}"
        )
    };
    let openai = |limit, context, prompt| {
        format!(
            "This model's maximum context length is {context} tokens. However, you requested {} tokens ({prompt} in the \
             messages, {limit} in the completion). Please reduce the length of the messages or completion.",
            limit + prompt
        )
    };
    let sglang = |limit, context, prompt| {
        format!(
            "Requested token count exceeds the model's maximum context length of {context} tokens. You requested a \
             total of {} tokens: {prompt} tokens from the input messages and {limit} tokens for the completion.",
            limit + prompt
        )
    };
    let anthropic = |limit, context, prompt| {
        format!(
            "input length and `max_tokens` exceed context limit: {prompt} + {limit} > {context}, decrease them"
        )
    };
    let tgi = |limit, context, prompt| {
        format!(
            "`inputs` tokens + `max_new_tokens` must be <= {context}. Given: {prompt} `inputs` tokens and {limit} \
                 `max_new_tokens`"
        )
    };
    type Words = fn(u32, u32, u32) -> String;
    for words in [vllm as Words, openai, sglang, anthropic, tgi] {
        for context in [1024, 2048, 3000, 4096, 4200, 4408] {
            let refuses = |limit| (limit + 313 > context).then(|| words(limit, context, 313));
            let text = words(4096, context, 313);
            assert_eq!(limits_until(refuses), [Some(4096), Some(context - 313)], "{text}");
        }
    }
    // Without the prompt's size there is nothing to do but try.
    let vague = |limit| (limit > 700).then(|| "max_tokens must fit into the context of 2048".to_owned());
    assert_eq!(limits_until(vague), [Some(4096), Some(2048), Some(1024), Some(512)]);
    let known = Found::default();
    let room = ThisLimit { room: Some(7), ..ThisLimit::default() };
    known.add(&Refused { context: Some(4096), this: room, ..Refused::default() });
    assert_eq!(known.now().this, ThisLimit::default(), "another prompt leaves other room");
}

#[test]
fn a_limit_that_was_refused_is_not_sent_again() {
    for (text, expected) in [
        (
            "[{'type':'less_than_equal','loc':('body','max_tokens'),'msg':'Input should be less than or equal to 1024','input':4096}]",
            &[Some(4096), Some(1024), Some(1023), None][..],
        ),
        ("max_tokens 4096 > 2048", &[Some(4096), Some(2048), None]),
        ("max_tokens must be from 8192 to 9000", &[Some(4096), Some(8192), Some(9000), None]),
        ("max_tokens must be a multiple of 1000", &[Some(4096), Some(1000), None]),
        (
            "max_tokens is too large: 4096. The maximum context length is 4096 tokens, and there are 313 input tokens",
            &[Some(4096), Some(3783), Some(1891), Some(945), Some(472), Some(256), None],
        ),
    ] {
        assert_eq!(limits_until(|_| Some(text.to_owned())), expected, "{text}");
    }
}

#[test]
fn a_limit_that_the_protocol_needs_is_never_left_out() {
    let settings = settings();
    let sent = Sent { settings: &settings, messages: &[], is_streamed: false, needs_limit: true };
    let further = |text| Refused::default().further(&failed(400, text), &sent);
    assert!(further("max_tokens is not allowed").is_none());
    assert_eq!(further("max_tokens: 4096 > 2048").unwrap().limit_max, Some(2048));
    assert!(further("use max_completion_tokens instead of max_tokens").is_none());
}

#[test]
fn each_field_is_given_up_once() {
    let settings = settings();
    let sent = Sent { settings: &settings, messages: &[], is_streamed: true, needs_limit: false };
    let mut refused = Refused::default();
    let mut repetitions = 0;
    let text = r#"no: {"temperature":0,"max_tokens":9,"max_completion_tokens":9,"seed":7,"stop":[],"stream_options":{}}"#;
    while let Some(more) = refused.further(&failed(400, text), &sent) {
        refused = more;
        repetitions += 1;
    }
    // The limit thrice: under its new name, as long as the server says, and then not at all.
    assert_eq!(repetitions, 7, "{refused:?}");
}

#[test]
fn what_is_found_is_kept() {
    let known = Refused::these(&[Parameter::Temperature, Parameter::Stop]);
    let settings = settings();
    let expected = Settings { temperature: None, stop: Vec::new(), ..settings.clone() };
    assert_eq!(*known.removed_from(&settings), expected);
    assert!(matches!(known.removed_from(&expected), Cow::Borrowed(_)));
    let found = Found::new(known);
    found.add(&Refused { limit_max: Some(9), ..Refused::these(&[Parameter::Seed]) });
    found.add(&Refused { limit_max: Some(12), ..Refused::default() });
    let now = found.now();
    assert!(now.has(Parameter::Temperature) && now.has(Parameter::Seed) && now.limit_max == Some(9));
    assert_eq!(
        now.notes("openai/m"),
        [
            "openai/m refuses a seed and was asked without one",
            "openai/m refuses a limit of more than 9 tokens a reply and was asked for at most so many",
        ]
    );
}
