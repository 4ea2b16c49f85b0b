//! The tool `sql`: what it answers, and what it does not let happen.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use planproof_tools::sql::{Cut, DatabaseError, SqlDatabase, SqlError, SqlLimits, SqlTools, SqlValue};
use planproof_tools::{Restoring, Toolbox, toolbox_for_run};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};
use serde_json::{Value, json};

const TABLES: [&str; 2] = [
    "CREATE TABLE Person (id TEXT, name TEXT, age INTEGER); CREATE TABLE \"odd name\" (\"a b\" REAL);",
    "INSERT INTO Person VALUES ('1', 'Ann Lee', 31), ('2', 'Bo | Sund', NULL), ('3', 'Cy\nRoe', 40);
     INSERT INTO \"odd name\" VALUES (0.5), (35.0);",
];

/// Longest time that one hostile statement may take, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

const HOSTILE: &str = include_str!("../data/hostile_sql.jsonl");

fn database() -> SqlDatabase {
    SqlDatabase::built(TABLES, SqlLimits::default()).unwrap()
}

fn tools() -> SqlTools {
    SqlTools::new(Arc::new(database()))
}

fn call(arguments: Arguments) -> ToolCall {
    ToolCall { id: CallId::new("c1"), name: "sql".to_owned(), arguments }
}

async fn asked(tools: &dyn Toolbox, query: &str) -> ToolResult {
    let Value::Object(arguments) = json!({"query": query}) else { unreachable!("an object was written") };
    tools.execute(&call(Arguments::Object(arguments))).await
}

fn error(query: &str) -> String {
    database().run(query).unwrap_err().to_string()
}

/// A folder that is removed at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("planproof-sql-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A database with the tables, in a file with a name that a URI could misread.
    fn database(&self) -> PathBuf {
        let file = self.0.join("a?b#c %41.db");
        let connection = rusqlite::Connection::open(&file).unwrap();
        TABLES.iter().for_each(|text| connection.execute_batch(text).unwrap());
        connection.close().unwrap();
        file
    }

    /// All files with their bytes.
    fn content(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.0).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_statement_is_answered_with_its_rows() {
    let tools = tools();
    let result = asked(&tools, "select id, name, age from Person order by id;").await;
    assert!(!result.is_error);
    assert_eq!(
        result.text,
        "id | name | age\n1 | Ann Lee | 31\n2 | Bo \\| Sund | NULL\n3 | Cy\\nRoe | 40\n3 rows"
    );
    assert_eq!(
        asked(&tools, "SELECT avg(\"a b\") AS mean FROM \"odd name\"").await.text,
        "mean\n17.75\n1 row"
    );
    assert_eq!(asked(&tools, "VALUES (1, x'00ff')").await.text, "column1 | column2\n1 | x'00ff'\n1 row");
    assert_eq!(asked(&tools, "SELECT * FROM Person WHERE age > 99").await.text, "id | name | age\nno rows");
    let info = asked(&tools, "PRAGMA table_info(Person)").await;
    assert!(!info.is_error && info.text.contains("age"), "{}", info.text);
}

#[tokio::test]
async fn the_tool_shows_the_tables_and_leaves_nothing_behind() {
    let tools = tools();
    let description = &tools.tools()[0].description;
    assert!(
        description.ends_with("Person(id TEXT, name TEXT, age INTEGER)\n\"odd name\"(\"a b\" REAL)"),
        "{description}"
    );
    assert_eq!((tools.restoring(), tools.outage()), (Restoring::Nothing, None));
    let tools: Arc<dyn Toolbox> = Arc::new(tools);
    let of_run = toolbox_for_run(&tools);
    assert_eq!(asked(&*of_run, "SELECT 1").await.text, "1\n1\n1 row");
}

#[tokio::test]
async fn calls_that_do_not_fit_are_answered_with_what_to_write() {
    let tools = tools();
    let answer = |arguments: Arguments| {
        let tools = &tools;
        async move {
            let result = tools.execute(&call(arguments)).await;
            assert!(result.is_error);
            result.text
        }
    };
    let Value::Object(wrong) = json!({"sql": "SELECT 1"}) else { unreachable!("an object was written") };
    assert!(answer(Arguments::Object(wrong)).await.contains(r#"write {"query": "SELECT"#));
    assert!(answer(Arguments::Malformed("[]".into())).await.contains("not a JSON object"));
    let other = ToolCall { name: "sgl".into(), ..call(Arguments::Malformed(String::new())) };
    assert!(tools.execute(&other).await.text.contains("the tools are: sql"));
    let result = asked(&tools, "DROP TABLE Person").await;
    assert!(result.is_error && result.text.contains("write a SELECT"), "{}", result.text);
}

#[test]
fn mistakes_say_what_to_do() {
    let unknown = error("SELECT nme FROM Person");
    assert!(
        unknown.starts_with("SQLite says: no such column: nme. The tables are: Person(id TEXT"),
        "{unknown}"
    );
    assert!(error("SELECT * FROM Persons").contains("no such table: Persons. The tables are:"));
    assert!(error("SELEC 1").contains("syntax error"));
    assert!(error("SELECT json('{')").contains("malformed JSON"));
    assert!(error("SELECT abs(-9223372036854775807 - 1)").contains("integer overflow"));
    assert!(error("SELECT 'a' LIKE 'b' ESCAPE 'cd'").contains("single character"));
}

#[test]
fn a_result_is_cut_and_says_so() {
    let numbers =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000) SELECT x FROM n";
    let rows = database().run(numbers).unwrap();
    assert_eq!((rows.rows.len(), rows.cut), (SqlLimits::default().rows, Some(Cut::Rows)));
    let wide = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100) \
                SELECT printf('%.1000c', 'x') FROM n";
    let rows = database().run(wide).unwrap();
    assert_eq!(rows.cut, Some(Cut::Bytes));
    assert!(rows.to_string().len() <= SqlLimits::default().result_bytes + 100);
    let exact = SqlLimits { rows: 3, ..SqlLimits::default() };
    let database = SqlDatabase::built(TABLES, exact).unwrap();
    assert_eq!(database.run("SELECT * FROM Person").unwrap().cut, None);
}

#[test]
fn statements_have_steps_and_time() {
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let few = SqlLimits { steps: 10_000, ..SqlLimits::default() };
    let run = |limits| SqlDatabase::built(TABLES, limits).unwrap().run(endless).unwrap_err();
    assert_eq!(run(few), SqlError::Steps { steps: 10_000 });
    let time = Duration::from_millis(20);
    let short = SqlLimits { time, steps: 1_000_000_000_000, ..SqlLimits::default() };
    assert_eq!(run(short), SqlError::Time { time });
    // The next statement has a budget of its own.
    let database = database();
    database.run(endless).unwrap_err();
    assert_eq!(database.run("SELECT 7").unwrap().rows, [[SqlValue::Integer(7)]]);
}

#[test]
fn statements_run_side_by_side() {
    let database = database();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope
                    .spawn(|| (0..20).map(|_| database.run("SELECT * FROM Person").unwrap().rows.len()).sum())
            })
            .collect();
        for thread in threads {
            let rows: usize = thread.join().unwrap();
            assert_eq!(rows, 60);
        }
    });
}

#[test]
fn only_tables_are_built() {
    let refused = |text: &str| {
        let error = SqlDatabase::built([text], SqlLimits::default()).unwrap_err();
        assert!(matches!(error, DatabaseError::Script { .. }), "{error}");
        error.to_string()
    };
    let folder = Folder::new("building");
    let path = folder.0.join("loot.db").display().to_string();
    assert!(refused(&format!("ATTACH '{path}' AS loot")).contains("ATTACH is not allowed there"));
    assert!(refused(&format!("VACUUM INTO '{path}'")).contains("cannot be built"));
    assert!(refused("PRAGMA journal_mode = DELETE").contains("PRAGMA journal_mode"));
    assert!(refused("SELECT load_extension('x')").contains("cannot be built"));
    assert!(refused("BEGIN; CREATE TABLE a (b);").contains("not ended"));
    assert!(refused("CREATE TABEL a (b)").contains("syntax error"));
    assert!(folder.content().is_empty());
    let none = SqlLimits { rows: 0, ..SqlLimits::default() };
    assert!(SqlDatabase::built(TABLES, none).unwrap_err().to_string().contains("limit of rows is 0"));
}

#[test]
fn a_file_is_read_and_stays_as_it_is() {
    let folder = Folder::new("file");
    let file = folder.database();
    let before = folder.content();
    let database = SqlDatabase::file(&file, SqlLimits::default()).unwrap();
    let rows = database.run("SELECT count(*) FROM Person").unwrap();
    assert_eq!(rows.rows, [[SqlValue::Integer(3)]]);
    assert!(database.run("DELETE FROM Person").is_err());
    drop(database);
    assert_eq!(folder.content(), before);
    let missing = SqlDatabase::file(&folder.0.join("none.db"), SqlLimits::default()).unwrap_err();
    assert!(missing.to_string().contains("cannot be opened"), "{missing}");
    let text = folder.0.join("text.db");
    fs::write(&text, "no database at all, but long enough to have a header of a hundred bytes".repeat(20))
        .unwrap();
    assert!(
        SqlDatabase::file(&text, SqlLimits::default()).unwrap_err().to_string().contains("not a database")
    );
    fs::write(format!("{}-wal", file.display()), "changes").unwrap();
    let unsettled = SqlDatabase::file(&file, SqlLimits::default()).unwrap_err();
    assert!(matches!(unsettled, DatabaseError::Unsettled { .. }));
}

/// Hostile statements, with what stands for themselves written out.
fn hostile(folder: &Path, port: u16) -> Vec<(String, String, Value)> {
    let written_out = |sql: &str| match sql {
        "SELECT MANY" => format!("SELECT {}1", "abs(1) + ".repeat(80)),
        "SELECT NEST" => format!("SELECT {}1{}", "(".repeat(2000), ")".repeat(2000)),
        "SELECT LONG" => format!("SELECT '{}'", "x".repeat(20_000)),
        other => other.replace("FOLDER", &folder.display().to_string()).replace("PORT", &port.to_string()),
    };
    let lines = HOSTILE.lines().map(|line| -> (String, String, Value) {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        (text("what"), written_out(&text("sql")), value)
    });
    lines.collect()
}

/// Everything in the tables.
fn dump(database: &SqlDatabase) -> Vec<String> {
    ["SELECT * FROM Person", "SELECT * FROM \"odd name\"", "SELECT * FROM sqlite_schema"]
        .map(|sql| database.run(sql).unwrap().to_string())
        .to_vec()
}

/// Makes each attempt as an agent does: a call of the tool in the toolbox of a run.
async fn check_hostile(database: SqlDatabase, folder: &Folder) {
    let database = Arc::new(database);
    let shared: Arc<dyn Toolbox> = Arc::new(SqlTools::new(Arc::clone(&database)));
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (tables, files) = (dump(&database), folder.content());
    let all = hostile(&folder.0, listener.local_addr().unwrap().port());
    assert!(all.len() >= 40);
    for (what, sql, line) in all {
        let tools = toolbox_for_run(&shared);
        let start = Instant::now();
        let result = asked(&*tools, &sql).await;
        let took = start.elapsed();
        println!("{took:>12.3?}  {what}");
        assert!(took < PATIENCE, "{what}: {took:?}");
        match (result.is_error, line["error"].as_str()) {
            _ if line["any"] == true => {}
            (true, Some(wanted)) => assert!(result.text.contains(wanted), "{what}: {}", result.text),
            (false, None) => {
                assert!(
                    line["cut"] == true && result.text.contains("\nthe first "),
                    "{what}: {}",
                    result.text
                );
            }
            _ => panic!("{what}: {}", result.text),
        }
        // What an agent tries is its own doing, and no outage.
        assert_eq!(tools.outage(), None, "{what}");
        assert_eq!(dump(&database), tables, "{what}");
        assert_eq!(folder.content(), files, "{what}");
    }
    let nobody = listener.accept().map(|(_, from)| from).unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
#[ignore = "slow"]
async fn hostile_calls_leave_a_database_in_memory_as_it_is() {
    check_hostile(database(), &Folder::new("hostile-memory")).await;
}

#[tokio::test]
#[ignore = "slow"]
async fn hostile_calls_leave_a_file_as_it_is() {
    let folder = Folder::new("hostile-file");
    let file = folder.database();
    check_hostile(SqlDatabase::file(&file, SqlLimits::default()).unwrap(), &folder).await;
}
