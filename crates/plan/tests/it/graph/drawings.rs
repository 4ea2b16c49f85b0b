//! Drawings of graphs, as people and other programs see them.

use planproof_plan::graph::{GraphDrawing, Schedule, SubTask, SubTaskGraph, SubTaskState};

use super::{graph, journey, sub_task};

fn half_done() -> GraphDrawing {
    let mut schedule = Schedule::new(journey()).unwrap();
    schedule.start("flight").unwrap();
    schedule.fail("flight").unwrap();
    schedule.start("weather").unwrap();
    GraphDrawing::of_schedule(&schedule)
}

#[test]
fn a_graph_is_drawn_for_people() {
    insta::assert_snapshot!(half_done().to_lines(), @r"
    ✗ flight (flights, failed)
      Find flights to New York on 3 May.
    ◐ weather (writer, running)
      Write down the weather in May.
      – hotel ← flight (hotels, blocked)
        Find hotels near the airport of arrival.
    ");
}

#[test]
fn a_status_is_one_line() {
    assert_eq!(half_done().to_status_line(), "0 of 3 finished, 1 failed, 1 blocked, running: weather");
}

#[test]
fn a_graph_is_drawn_for_other_programs() {
    insta::assert_snapshot!(half_done().to_dot(), @r##"
    digraph sub_tasks {
      rankdir=TB;
      node [shape=box, style="rounded,filled"];
      n0 [label="flight\nFind flights to New York on 3 May.\nflights\nfailed", fillcolor="#f9d6d5"];
      n1 [label="hotel\nFind hotels near the airport of arrival.\nhotels\nblocked", fillcolor="#e6e0ee"];
      n2 [label="weather\nWrite down the weather in May.\nwriter\nrunning", fillcolor="#fff3c4"];
      n0 -> n1;
    }
    "##);
    insta::assert_snapshot!(half_done().to_mermaid(), @r##"
    flowchart TD
      n0["flight<br>Find flights to New York on 3 May.<br>flights<br>failed"]:::failed
      n1["hotel<br>Find hotels near the airport of arrival.<br>hotels<br>blocked"]:::blocked
      n2["weather<br>Write down the weather in May.<br>writer<br>running"]:::running
      n0 --> n1
      classDef running fill:#fff3c4,stroke:#555,color:#111
      classDef failed fill:#f9d6d5,stroke:#555,color:#111
      classDef blocked fill:#e6e0ee,stroke:#555,color:#111
    "##);
}

/// What a model writes into a sub-task is text in every form, whatever it looks like.
#[test]
fn texts_cannot_become_markup() {
    let evil = "\"]; click n0 \"javascript:x\" <script>&\\ \n end";
    let graph = SubTaskGraph {
        sub_tasks: vec![SubTask { task: evil.to_owned(), executor: evil.to_owned(), ..sub_task(evil, &[]) }],
        constraints: Vec::new(),
    };
    let drawing = GraphDrawing::new(graph, vec![SubTaskState::Ready]);
    let svg = drawing.to_svg();
    assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&amp;"), "{svg}");
    assert_eq!(drawing.to_dot().lines().count(), 5, "{}", drawing.to_dot());
    assert!(drawing.to_dot().contains(r#"label="\"]; click"#), "{}", drawing.to_dot());
    let mermaid = drawing.to_mermaid();
    assert_eq!(mermaid.matches('"').count(), 2, "{mermaid}");
    assert!(!mermaid.contains("<script") && mermaid.lines().count() == 3, "{mermaid}");
}

/// No two boxes lie on each other, and every arrow leads downwards.
#[test]
fn a_picture_shows_every_sub_task_apart() {
    let drawing = GraphDrawing::new(graph("a; b; c: a b; d: a; e: c d; f: e a; g"), Vec::new());
    let svg = drawing.to_svg();
    let number = |tag: &str, name: &str| -> i64 {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let boxes: Vec<(i64, i64, i64, i64)> = svg
        .split("<rect x=")
        .skip(1)
        .map(|rest| format!(" x={rest}"))
        .map(|tag| (number(&tag, "x"), number(&tag, "y"), number(&tag, "width"), number(&tag, "height")))
        .collect();
    assert_eq!(boxes.len(), 7);
    for (place, (x, y, width, height)) in boxes.iter().enumerate() {
        for (other_x, other_y, ..) in &boxes[..place] {
            assert!((x - other_x).abs() >= *width || (y - other_y).abs() >= *height);
        }
    }
    for path in svg.split("<path d=\"M").skip(2) {
        let points: Vec<i64> = path
            .split('"')
            .next()
            .unwrap()
            .split(|it: char| !it.is_ascii_digit())
            .map(|it| it.parse().unwrap())
            .collect();
        assert!(points[1] < points[7], "{path}");
    }
}
