//! What the questions say is right, found out anew.

use planproof_sandbox::{NoFunctions, Program, ProgramEnd, Returned, Sandbox, SandboxLimits};
use planproof_tools::sql::SqlValue;
use planproof_tptu::tool::ToolName;
use planproof_tptu::{AnswerPart, ToolQuestion, database, own};
use tokio::runtime::Runtime;

use crate::python::sandbox;

/// Executes references one after the other.
struct Executed {
    sandbox: Sandbox,
    runtime: Runtime,
}

impl Executed {
    fn python(&self, id: &str, code: &str) -> Vec<Vec<SqlValue>> {
        let program = Program::whole(code);
        let limits = SandboxLimits::default();
        let run = self.sandbox.run(&program, &NoFunctions, &limits);
        let outcome = self.runtime.block_on(run).unwrap();
        let ProgramEnd::Finished { value: Returned::Json(value) } = &outcome.end else {
            panic!("{id}: {code}: {}", outcome.end)
        };
        vec![vec![SqlValue::Real(value.as_f64().unwrap_or_else(|| panic!("{id}: {value} is no number")))]]
    }

    /// What each step of a plan gives.
    fn steps(&self, question: &ToolQuestion) -> Vec<Vec<Vec<SqlValue>>> {
        let mut given: Vec<Vec<Vec<SqlValue>>> = Vec::new();
        for step in &question.plan {
            let mut text = step.reference.clone();
            for (place, rows) in given.iter().enumerate() {
                let mark = format!("${}", place + 1);
                if text.contains(&mark) {
                    let [row] = &rows[..] else {
                        panic!("{}: step {} gives no single row", question.id, place + 1)
                    };
                    text = text.replace(&mark, &row[0].to_string());
                }
            }
            given.push(match step.tool {
                ToolName::Sql => {
                    let rows =
                        database().unwrap().run(&text).unwrap_or_else(|it| panic!("{}: {it}", question.id));
                    assert_eq!(rows.cut, None, "{}", question.id);
                    rows.rows
                }
                ToolName::Python => self.python(&question.id, &text),
                other => panic!("{}: {other:?}", question.id),
            });
        }
        given
    }
}

fn is_near(a: f64, b: f64, is_printed: bool) -> bool {
    if is_printed { (a - b).abs() <= 1e-2 } else { (a - b).abs() <= 1e-6 * a.abs().max(b.abs()) }
}

pub(crate) fn every_reference_gives_the_answer() {
    let runtime = Runtime::new().unwrap();
    let executed = Executed { sandbox: sandbox(), runtime };
    let questions = own().unwrap();
    let (mut statements, mut programs) = (0, 0);
    for question in &questions {
        let given = executed.steps(question);
        let count = |tool| question.plan.iter().filter(|step| step.tool == tool).count();
        (statements, programs) = (statements + count(ToolName::Sql), programs + count(ToolName::Python));
        for (place, part) in question.answer.iter().enumerate() {
            let step = question.parts.get(place).map_or(place, |step| step - 1);
            match part {
                AnswerPart::Number(wanted) => {
                    let number = given[step][0][0].as_number().unwrap();
                    assert!(is_near(*wanted, number, question.printed), "{}: {number}", question.id);
                }
                AnswerPart::Rows(_) => assert_eq!(part.rows(), given[step], "{}", question.id),
            }
        }
    }
    println!("{statements} statements and {programs} programs executed");
    assert!(statements >= 60 && programs >= 60);
}

/// Tables 14, 19 and 22 of the paper, with its own words for the statements; where its reference does not give what it
/// prints (cover figures by their ids), the statement is joined with the names.
pub(crate) fn the_examples_of_the_paper_are_true() {
    let database = database().unwrap();
    for (statement, printed) in [
        ("select avg(age) from Person", "35.16"),
        ("select count(*) from Person where sex = 'male'", "12"),
        ("select count(*) from School where info_985 = 'yes' and info_211 = 'yes';", "11"),
        (
            "select Award_Name from GoldenMelodyAwards where Host not in ( select Host from GoldenMelodyAwards group by Host \
             order by avg ( Awards_Count ) asc limit 2 )",
            "26th Golden Melody, 27th Golden Melody",
        ),
        (
            "select Name from Singers where Singer_ID not in ( select Singer_ID from AwardNominees )",
            "Jay Chou, Jian Cui",
        ),
        (
            "select Name, Gender from Singers where Singer_ID not in ( select Singer_ID from RecordCompanies );",
            "Penny Tai: female",
        ),
        (
            "select a.Awards_Count / b.Awards_Count from ( select Awards_Count from GoldenMelodyAwards where Award_Name == \
             '27th Golden Melody' ) a , ( select Awards_Count from GoldenMelodyAwards where Award_Name == '28th Golden Melody' ) b",
            "1",
        ),
        (
            "select Name, Language from Journal where Journal_ID not in ( select Journal_ID from CoverPersonality )",
            "The Economist: Chinese, Reader's Digest: English",
        ),
        (
            "select Language from Journal group by Language having avg ( Publication_Count ) > ( select avg ( \
             Publication_Count ) from Journal )",
            "English",
        ),
        (
            "select distinct name from CoverPersonality join Person on id = Person_ID where Count < ( select max ( Count ) \
             from CoverPersonality )",
            "Qing Hai, Xiaoming Huang, Cristiano Ronaldo, Kobe Bryant",
        ),
    ] {
        let rows = database.run(statement).unwrap().rows;
        let row = |row: &Vec<SqlValue>| row.iter().map(SqlValue::to_string).collect::<Vec<_>>().join(": ");
        assert_eq!(rows.iter().map(row).collect::<Vec<_>>().join(", "), printed, "{statement}");
    }
}

pub(crate) fn tables_have_rows() {
    let database = database().unwrap();
    for table in [
        "Person",
        "School",
        "GoldenMelodyAwards",
        "AwardNominees",
        "Singers",
        "RecordCompanies",
        "Journal",
        "CoverPersonality",
    ] {
        let rows = database.run(&format!("SELECT * FROM {table}")).unwrap().rows.len();
        assert!((15..=40).contains(&rows), "{table}: {rows}");
    }
    assert_eq!(database.schema().lines().count(), 8);
}
