use planproof_scenario::*;
use planproof_suite::Case as _;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let rules = std::fs::read_to_string(&a[1]).unwrap();
    let tools =
        listed_tools(&serde_json::from_str(&std::fs::read_to_string(&a[2]).unwrap()).unwrap()).unwrap();
    let n: u64 = a[3].parse().unwrap();
    let t = std::time::Instant::now();
    let mut d = Drawing::new(&rules, &tools, RulesShown::Stated).unwrap();
    eprintln!("new {:?} not drawn {:?}", t.elapsed(), d.not_drawn());
    let t = std::time::Instant::now();
    let mut bytes = 0;
    let mut by = std::collections::BTreeMap::<String, (u128, u32)>::new();
    for i in 0..n {
        let t1 = std::time::Instant::now();
        let c = match d.case(7, i) {
            Ok(c) => c,
            Err(e) => {
                println!("{i} {e}");
                continue;
            }
        };
        let id = c.card().id.clone();
        let key = format!(
            "{} {}",
            id.rsplit_once('-').unwrap().0,
            c.to_line().split("\"manner\":").nth(1).unwrap().chars().take(13).collect::<String>()
        );
        let e = by.entry(key).or_default();
        e.0 += t1.elapsed().as_micros();
        e.1 += 1;
        if n <= 100 {
            let v: serde_json::Value = serde_json::from_str(&c.to_line()).unwrap();
            println!(
                "{} [{}]\n  {}",
                v["id"].as_str().unwrap(),
                v["drawn"]["manner"],
                v["query"].as_str().unwrap()
            );
            let calls = |k: &str| {
                v["drawn"][k]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|c| format!("{} {}", c["tool"].as_str().unwrap(), c["arguments"]))
                    .collect::<Vec<_>>()
                    .join("; ")
            };
            println!("  right: {}", calls("right"));
            for t in v["tools"].as_array().unwrap() {
                if let Some(w) = t.get("answers") {
                    println!("  {}: {}", t["name"].as_str().unwrap(), w);
                }
            }
            println!(
                "  expect: {}",
                v["expect"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|e| e["rule"].to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            );
        } else {
            bytes += c.to_line().len();
        }
    }
    for (k, (t, c)) in by {
        eprintln!("{k} {c} {}us", t / u128::from(c));
    }
    eprintln!("{n} cases {:?} {bytes}", t.elapsed());
}
