//! What is wrong with a plan, and what its arguments are once earlier steps have given theirs.

use planproof_mnms::catalogue;
use planproof_plan::{
    ArgumentValue, Plan, Reference, Step, VerificationFault, read_json, substitute, to_python, verify,
    verify_next, verify_program, verify_step,
};
use serde_json::{Value as Json, json};

fn plan(nodes: &Json) -> Plan {
    read_json(&nodes.to_string()).unwrap()
}

fn reported(faults: &[VerificationFault]) -> Vec<String> {
    faults.iter().map(|fault| format!("{:?} {fault}", fault.kind())).collect()
}

fn node(id: u64, name: &str, args: &Json) -> Json {
    json!({"id": id, "name": name, "args": args})
}

/// The corpus: plans with all that is wrong with them. In Python the same is wrong, where Python can say it.
#[test]
fn faults_of_plans_are_reported() {
    let corpus = include_str!("../../testdata/plans.jsonl");
    for line in corpus.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let plan = plan(&case["plan"]);
        let faults = reported(&verify(&plan, catalogue()));
        assert_eq!(json!(faults), case["faults"], "{}", case["name"]);
        let by_step: usize = plan.steps.iter().map(|step| verify_step(step, catalogue()).len()).sum();
        assert!(by_step <= faults.len(), "{}", case["name"]);
        let of_program = verify_program(&to_python(&plan), catalogue()).unwrap();
        let kinds = |faults: &[String]| -> Vec<String> {
            faults.iter().map(|fault| fault.split(": ").next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(kinds(&reported(&of_program)), kinds(&faults), "{}", case["name"]);
        assert!(!reported(&of_program).concat().contains("is not written `<node-"), "{}", case["name"]);
    }
    assert!(corpus.lines().count() >= 19);
}

#[test]
fn what_was_selected_is_cropped_out_of_the_picture_that_it_was_found_in() {
    let mut nodes = vec![
        node(0, "image generation", &json!({"text": "a dog"})),
        node(1, "object detection", &json!({"image": "<node-0>.image"})),
        node(2, "select object", &json!({"objects": "<node-1>.objects", "object_name": "dog"})),
    ];
    for image in ["<node-0>.image", "<node-1>.image"] {
        nodes.truncate(3);
        nodes.push(node(3, "image crop", &json!({"image": image, "object": "<node-2>.object"})));
        assert_eq!(reported(&verify(&plan(&json!(nodes)), catalogue())), [""; 0]);
    }
    // A picture that it was not found in.
    nodes.insert(3, node(7, "image generation", &json!({"text": "a cat"})));
    nodes[4]["args"]["image"] = "<node-7>.image".into();
    assert_eq!(
        reported(&verify(&plan(&json!(nodes)), catalogue())),
        [
            "Connection step 3: `image crop` may not take its `image` from `image generation`; outputs of that may go to \
          `image captioning`, `optical character recognition`, `image classification`, `image editing`, \
          `object detection`, `image segmentation`, `image crop left`, `image crop right`, `image crop top` and \
          `image crop bottom`"
        ]
    );
}

#[test]
fn steps_with_several_digits_and_references_in_the_middle_are_looked_at() {
    let nodes = json!([
        node(10, "image captioning", &json!({"image": "1.jpg"})),
        node(
            11,
            "text generation",
            &json!({"text": "A poem on <node-10>.text, <node-10>.text and <node-12>.text"})
        ),
        node(12, "text summarization", &json!({"text": "<node-11>.image"})),
    ]);
    assert_eq!(
        reported(&verify(&plan(&nodes), catalogue())),
        [
            "Reference step 11: `text` refers to step 12, which comes later",
            "Reference step 12: `text` refers to `image` of `text generation`, which gives `text`",
        ]
    );
}

#[test]
fn the_next_step_is_held_to_those_before_it() {
    let earlier = plan(&json!([node(0, "image captioning", &json!({"image": "1.jpg"}))]));
    let next = |tool: &str, text: &str| Step {
        id: 1,
        tool: tool.to_owned(),
        arguments: vec![("text".to_owned(), ArgumentValue::text(text))],
    };
    assert_eq!(
        reported(&verify_next(&earlier, &next("text generation", "<node-0>.text"), catalogue())),
        [""; 0]
    );
    let faults = verify_next(&earlier, &next("wikipedia simple search", "<node-0>.text"), catalogue());
    assert_eq!(faults.len(), 1);
    assert!(verify_step(&next("wikipedia simple search", "<node-0>.text"), catalogue()).is_empty());
    assert_eq!(
        reported(&verify_step(&next("text generator", "<node-0>"), catalogue())),
        ["Tool step 1: there is no tool `text generator`, did you mean `text generation`?"]
    );
}

#[test]
fn values_take_the_place_of_references() {
    let outputs = json!({"text": "a dog", "number": 3, "objects": [{"label": "dog"}], "none": null});
    let give = |reference: &Reference| {
        if reference.step == 0 { outputs.get(&reference.key) } else { None }
    };
    let substituted =
        |text: &str| substitute(&ArgumentValue::text(text), &give).map_err(|fault| fault.to_string());
    assert_eq!(substituted("<node-0>.objects"), Ok(json!([{"label": "dog"}])));
    assert_eq!(substituted("<node-0>.number"), Ok(json!(3)));
    assert_eq!(substituted("<node-0>.number of <node-0>.text<>s"), Ok(json!("3 of a dogs")));
    assert_eq!(substituted(""), Ok(json!("")));
    assert_eq!(substituted("<node-0>"), Ok(json!("<node-0>")));
    assert_eq!(substituted("<node-1>.text"), Err("step 1 gave no `text`".to_owned()));
    let list = "`objects` of step 0 is a list and cannot stand among words";
    assert_eq!(substituted("the <node-0>.objects"), Err(list.to_owned()));
    assert!(substituted("the <node-0>.none").is_err());
    assert_eq!(substitute(&ArgumentValue::Json(json!([1])), &give), Ok(json!([1])));
}

#[test]
fn programs_are_verified_as_the_plans_that_they_are_or_as_far_as_they_tell() {
    let reported = |text: &str| match verify_program(text, catalogue()) {
        Ok(faults) => reported(&faults),
        Err(fault) => vec![fault.to_string()],
    };
    for right in [
        "a = image_captioning(image='1.jpg')\nb = image_generation(text=f\"like {a['text']}\")",
        "for name in ['1.jpg', '2.jpg']:\n    a = image_captioning(image=name)\n    print(str(a['text']).upper())",
        "def look(name):\n    return image_captioning(name)\nlook('1.jpg')",
        "from tools import image_captioning\nif True:\n    image_captioning(**{'image': '1.jpg'})",
        "if 1:\n    a = object_detection(image='1.jpg')\n    b = select_object(a['objects'], 'dog')\n    \
         c = image_crop(image=a['image'], object=b['object'])",
        // Named and called in another way.
        "f = image_captioning\nf(image='1.jpg')",
        "list(map(image_captioning, ['1.jpg']))",
        "import tools\ntools.image_captioning(image='1.jpg')",
        "call = globals()['image_captioning']\ncall(image='1.jpg')",
        "try:\n    a = image_caption('1.jpg')\nexcept NameError:\n    a = image_captioning('1.jpg')",
        // What never runs.
        "def solve():\n    return image_captioning(image='1.jpg')\n    image_caption()",
        "def solve():\n    if False:\n        image_caption()\n    return image_captioning(image='1.jpg')",
        "def solve():\n    if True:\n        return image_captioning(image='1.jpg')\n    else:\n        image_caption()",
        "def other():\n    image_caption()\ndef solve():\n    while False:\n        image_caption()\n    \
         return [image_captioning(image=it) for it in ['1.jpg']]",
    ] {
        assert_eq!(reported(right), [""; 0], "{right}");
    }
    for (wrong, fault) in [
        ("x = 1", "Tool the plan has no steps"),
        ("for i in range(3):\n    pass", "Tool the plan has no steps"),
        ("count = len\nfor i in range(3):\n    count([i])", "Tool the plan has no steps"),
        ("def solve():\n    return 1\n    image_captioning(image='1.jpg')", "Tool the plan has no steps"),
        (
            "try:\n    a = image_captioning('1.jpg')\nexcept ValueError:\n    a = image_caption('1.jpg')",
            "Tool line 4, column 9: there is no tool `image caption`, did you mean `image captioning`?",
        ),
        (
            "def other():\n    image_caption()\ndef solve():\n    other()",
            "Tool line 2, column 5: there is no tool `image caption`, did you mean `image captioning`?",
        ),
        (
            "a = image_caption(image='1.jpg')",
            "Tool step 0: there is no tool `image caption`, did you mean `image captioning`?",
        ),
        (
            "if 1:\n    image_caption('1.jpg')",
            "Tool line 2, column 5: there is no tool `image caption`, did you mean `image captioning`?",
        ),
        (
            "if 1:\n    image_captioning(img='1.jpg', image='1.jpg')",
            "Arguments line 2, column 5: `image captioning` takes no `img`, did you mean `image`?",
        ),
        (
            "if 1:\n    image_captioning('1.jpg', 2)",
            "Arguments line 2, column 5: `image captioning` is given 2 arguments and takes 1",
        ),
        (
            "if 1:\n    image_captioning()",
            "Arguments line 2, column 5: `image captioning` also needs `image`",
        ),
        (
            "a = image_captioning(image='1.jpg')\ntext_generation(text=a)",
            "Reference line 2, column 22: `text` is all of `a`; take one of its outputs, `text`",
        ),
        (
            "a = image_captioning(image='1.jpg')\ntext_generation(text=f'{a}!')",
            "Reference line 2, column 22: `text` is all of `a`; take one of its outputs, `text`",
        ),
        (
            "a = image_captioning('1.jpg')\ntext_generation(a['caption'])",
            "Reference line 2, column 17: `text` refers to `caption` of `image captioning`, which gives `text`",
        ),
        (
            "a = image_captioning('1.jpg')\ncount(a['text'])",
            "Reference line 2, column 7: `objects` takes list[dict], but `text` of `image captioning` is text",
        ),
        (
            "a = object_detection('1.jpg')\ntext_generation(f\"x {a['image']}\")",
            "Reference line 2, column 17: `image` of `object detection` is image and cannot stand among the words of `text`",
        ),
        (
            "text_generation('<node-0>.text')",
            "Reference line 1, column 17: `text` has a `<node-ID>`; Python refers to outputs as in `output0['text']`",
        ),
        (
            "a = image_captioning('1.jpg')\nwikipedia_simple_search(a['text'])",
            "Connection line 2, column 1: `wikipedia simple search` may not take its `text` from `image captioning`; outputs of that may go to `text generation`, `text summarization`, `text classification`, `question answering` and `image generation`",
        ),
        ("x = (", "line 1, column 6: this is no Python: unexpected EOF while parsing"),
    ] {
        assert_eq!(reported(wrong), [fault], "{wrong}");
    }
}
