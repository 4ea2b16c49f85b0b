//! Judgements of whole dialogues.

use planproof_apibank::evaluate::judge_text;
use planproof_apibank::evaluate::score::{CallScores, DialoguePredictions, judge_calls};
use planproof_apibank::evaluate::{CallOutcome, Dialogue, DialogueCall};
use planproof_apibank::world::ApiCompat;
use serde_json::{Value as Json, json};

use crate::world;

fn gold(name: &str, input: &Json, output: &Json) -> String {
    let record = json!({
        "role": "API", "api_name": name, "param_dict": input,
        "result": {"api_name": name, "input": input, "output": output, "exception": null},
    });
    record.to_string()
}

/// A user registers, gets the token of the gold record, and has an appointment of a number of the gold record.
fn dialogue() -> Dialogue {
    let user = json!({"username": "Eve", "password": "p", "email": "e@example.org"});
    let login = json!({"username": "Eve", "password": "p"});
    let alarm = json!({"token": "gold-token", "time": "2023-05-09 07:00:00"});
    let visit = json!({"patient_name": "Eve", "date": "2023-05-09", "doctor_name": "Dr. No"});
    let lines = [
        r#"{"role": "User", "text": "Hello"}"#.to_owned(),
        gold("RegisterUser", &user, &json!({"token": "gold-token"})),
        gold("GetUserToken", &login, &json!({"token": "gold-token"})),
        gold("AddAlarm", &alarm, &json!("success")),
        gold("AppointmentRegistration", &visit, &json!("99999999")),
        gold("CancelRegistration", &json!({"appointment_id": "99999999"}), &json!("success")),
        gold("TimedSwitch", &json!({"device_id": "1", "on": true}), &json!("success")),
        r#"{"role": "AI", "text": "Done."}"#.to_owned(),
    ];
    Dialogue::read(&lines.join("\n")).unwrap()
}

fn scores(compat: ApiCompat) -> CallScores {
    let dialogue = dialogue();
    let mut predictions = DialoguePredictions::default();
    for (number, sample) in dialogue.samples().iter().enumerate() {
        if let Some(gold) = dialogue.call(sample.gold) {
            predictions.put("f", number, gold.to_text());
        }
    }
    let mut scores = CallScores::default();
    scores.add("f", &dialogue, &predictions, &world(compat));
    scores
}

#[test]
fn the_right_mode_keeps_the_state_of_the_dialogue() {
    let original = scores(ApiCompat::Original);
    // Six calls, five of them right behind another, which are predicted twice.
    assert_eq!((original.samples, original.unfit.len()), (11, 0));
    assert_eq!(original.classes.get("INVALID_INPUT_PARAMETER"), Some(&2));
    assert_eq!(original.correct, 1 + 2);
    let right = scores(ApiCompat::Right);
    assert_eq!((right.correct, right.samples, right.unfit.len()), (9, 9, 2));
}

#[test]
fn missing_predictions_stay_in_the_denominator() {
    let mut scores = CallScores::default();
    scores.add("f", &dialogue(), &DialoguePredictions::default(), &world(ApiCompat::Right));
    assert_eq!((scores.samples, scores.missing, scores.accuracy()), (9, 9, Some(0.0)));
    assert_eq!(CallScores::default().accuracy(), None);
}

/// A check of the original takes the topic out of the gold record, so that the second judgement fails.
#[test]
fn the_original_changes_its_gold_records() {
    let input = json!({"token": "t2", "meeting_topic": "Plan B", "start_time": "2023-05-09 10:00:00",
        "end_time": "2023-05-09 11:00:00", "location": "", "attendees": "['Ann']"});
    let call = gold("AddMeeting", &input, &json!("success"));
    let dialogue =
        Dialogue::read(&[call.clone(), call, r#"{"role": "AI", "text": ""}"#.to_owned()].join("\n")).unwrap();
    let text = "[AddMeeting(token='t2', meeting_topic='Plan B', start_time='2023-05-09 10:00:00', \
        end_time='2023-05-09 11:00:00', location='', attendees=['Ann'])]";
    let outcomes = |compat| {
        let mut outcomes = Vec::new();
        judge_calls(&dialogue, &world(compat), |_, _, judge| outcomes.push(judge(text).outcome.class()));
        outcomes
    };
    // The original loses the blank location.
    assert_eq!(outcomes(ApiCompat::Original), ["MISS_INPUT_ARGUMENT"; 3]);
    let text = text.replace("location=''", "location=' '").replace("['Ann']", "\"['Ann']\"");
    let golds: Vec<DialogueCall> = (0..2).map(|place| dialogue.call(place).unwrap().clone()).collect();
    let mut second = golds[1].clone();
    let mut judge = |text: &str| judge_text(text, &mut second, &mut world(ApiCompat::Original)).outcome;
    assert_eq!(judge(&text), CallOutcome::InputMismatch);
    assert!(matches!(judge(&text), CallOutcome::CheckFailed(error) if error.kind == "KeyError"));
}

#[test]
fn outcomes_are_classed_as_published() {
    let mut call: DialogueCall = serde_json::from_str(&gold(
        "QueryStock",
        &json!({"stock_code": "ABC", "date": "2023-05-01"}),
        &json!(7.5),
    ))
    .unwrap();
    for (text, class) in [
        ("[QueryStock(stock_code='abc', date='2023-5-1')]", "CORRECT"),
        ("I do not know.", "NO_API_CALL"),
        ("[QueryStocks()]", "API_NAME_MISMATCH"),
        ("[QueryStock(stock_code='ABC', day='2023-05-01')]", "INVALID_INPUT_PARAMETER"),
        ("[QueryStock(stock_code='ABC')]", "MISS_INPUT_ARGUMENT"),
        ("[QueryStock(stock_code='X', date='2023-05-01')]", "HAS_EXCEPTION"),
    ] {
        for compat in [ApiCompat::Original, ApiCompat::Right] {
            let judged = judge_text(text, &mut call, &mut world(compat));
            assert_eq!(judged.outcome.class(), class, "{text}");
        }
    }
}
