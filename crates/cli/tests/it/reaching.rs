//! What nobody asked for: variables that files have sent, programs that files have started, files that files read.

use std::fs;

use crate::child;
use crate::stand_in::{StandIn, say};
use crate::support::{Place, Run};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n  - {id: once, at-most: {call: pay, times: 1}}\n";

const MEDIA: &str = "[numbers]\nurl = \"http://127.0.0.1:9\"\nkey-env = \"CANARY_API_KEY\"\n";

/// A repository with a folder in it, and what the lines of these tests name.
fn repository() -> Place {
    let place = Place::new();
    place.write(".git", "gitdir: elsewhere\n");
    for folder in ["", "sub/"] {
        fs::create_dir_all(place.path("sub")).unwrap();
        place.write(&format!("{folder}rules.yaml"), RULES);
        place.write(&format!("{folder}m.toml"), MEDIA);
    }
    place
}

fn run(place: &Place, folder: &str, words: &[&str]) -> Run {
    let mut command = place.command(words);
    command.current_dir(place.path(folder));
    command.env("CANARY_API_KEY", "canary-0123456789").env("PLANPROOF_TOKEN_MAIL", "canary-9876543210");
    Run::of(command, "")
}

const BENCH: &str = "bench mnms tools@sim/gold --limit 1 -q";

#[test]
fn a_file_that_nobody_named_has_no_variable_sent() {
    for (file, line, key) in [
        (
            "[media.numbers]\nurl = \"http://127.0.0.1:9\"\nkey-env = \"CANARY_API_KEY\"",
            BENCH,
            "media.numbers.key-env",
        ),
        (
            "[media.love]\nurl = \"http://127.0.0.1:9\"\nkey-env = \"HOME\"\nkey-in = \"query:k\"",
            BENCH,
            "media.love.key-env",
        ),
        ("[bench]\nmedia = \"m.toml\"", BENCH, "numbers.key-env"),
        ("[rules.check]\ntools = \"everyday:m.toml\"", "rules check rules.yaml", "numbers.key-env"),
        (
            "[test]\nagent = \"url:http://127.0.0.1:9/x\"\nheader = \"X: ${CANARY_API_KEY}\"",
            "test --cases 1",
            "test.header",
        ),
        ("[test]\nheader = \"X: a${HOME}\"", "test url:http://127.0.0.1:9/x --cases 1", "test.header"),
        (
            "[test]\nenv = \"CANARY_API_KEY\"",
            "test command:true --serve-model sim/gold --cases 1",
            "test.env",
        ),
        ("[run]\ntools = \"mail=mcp+http://127.0.0.1:9\"", "run tools@sim/gold x", "run.tools"),
    ] {
        for folder in ["", "sub"] {
            let place = repository();
            place.write("planproof.toml", file);
            let words: Vec<&str> = line.split_whitespace().collect();
            let refused = run(&place, folder, &words).code(2);
            assert!(
                refused.err.contains("planproof.toml") && refused.err.contains(key),
                "{file}: {}",
                refused.err
            );
            assert!(refused.err.contains("nobody named") || folder == "sub", "{file}: {}", refused.err);
            assert!(!place.path(folder).join(".planproof").exists(), "{file}");
            // The canary: whoever names the file is not refused for that.
            let up = if folder.is_empty() { "planproof.toml" } else { "../planproof.toml" };
            let named = run(&place, folder, &[&words[..], &["--config", up]].concat());
            assert!(!named.err.contains("nobody named"), "{file}: {}", named.err);
        }
    }
    // A file of servers that is typed is named.
    let place = repository();
    let named = run(&place, "", &["bench", "mnms", "tools@sim/gold", "--limit", "1", "--media", "m.toml"]);
    assert!(!named.err.contains("nobody named"), "{}", named.err);
}

#[test]
fn only_a_file_in_the_working_folder_starts_programs_and_asks_servers() {
    for (file, line) in [
        ("[test]\nagent = \"command:touch started\"", "test --cases 1 -q"),
        ("[test]\nagent = \"worker:touch started\"", "test --cases 1 -q"),
        ("[run]\ntools = \"mcp:touch started\"", "run tools@sim/gold x"),
    ] {
        let place = repository();
        place.write("planproof.toml", file);
        let words: Vec<&str> = line.split_whitespace().collect();
        let refused = run(&place, "sub", &words).code(2);
        assert!(refused.err.contains("not in the working folder"), "{file}: {}", refused.err);
        assert!(!place.path("sub/started").exists(), "{file}");
        // The canary: in the folder itself it is followed, and also where it is named.
        if file.contains("agent") {
            run(&place, "", &words);
            assert!(place.path("started").exists(), "{file}");
            run(&place, "sub", &[&words[..], &["--config", "../planproof.toml"]].concat());
            assert!(place.path("sub/started").exists(), "{file}");
        }
    }
}

#[test]
fn what_only_checks_or_plans_starts_nothing_that_a_file_names() {
    let server = "mcp:touch started";
    for (file, line) in [
        ("[rules.check]\ntools = \"mcp:touch started\"", "rules check rules.yaml"),
        ("[spec.check]\ntools = [\"calculator\", \"mcp:touch started\"]", "spec check react"),
        ("[spec.check]\ntools = \"mcp+http://127.0.0.1:9\"", "spec check react"),
    ] {
        let place = repository();
        place.write("planproof.toml", file);
        let words: Vec<&str> = line.split_whitespace().collect();
        for named in [&[][..], &["--config", "planproof.toml"]] {
            let refused = run(&place, "", &[&words[..], named].concat()).code(2);
            assert!(refused.err.contains("starts or asks none"), "{file}: {}", refused.err);
        }
        assert!(!place.path("started").exists(), "{file}");
        // The canary: typed, it is started.
        if !file.contains("http") {
            run(&place, "", &[&words[..], &["--config", "none", "--tools", server]].concat()).code(3);
            assert!(place.path("started").exists(), "{file}");
        }
    }
    let place = repository();
    let test = ["test", "tools@openai/m", "--rules", "rules.yaml", "--tools", server];
    let plan = ["shard", "plan", "--for", "slurm", "--shards", "2", "--"];
    let planned = run(&place, "", &[&plan[..], &test].concat()).code(0);
    assert!(planned.err.contains("starts no program"), "{}", planned.err);
    assert!(!place.path("started").exists());
}

/// Names of variables that hold a secret, and of some that do not.
const SECRET: &str = "GH_PAT GPG_PASSPHRASE SMTP_PASS DB_PWD PASSWD PASSPHRASE PASSCODE MY_JWT NPM_AUTH COOKIE BEARER \
    AUTHORIZATION SSH_KEY SIGNING_KEY KEYS SECRETS A_TOKEN api_key DB_PASSWORD";
const PLAIN: &str = "KEYBOARD XAUTHORITY GPG_TTY MAX_TOKENS AUTHOR COMPASS";

fn value_of(name: &str) -> String {
    format!("canary-{}-3f9a8c7b", name.to_lowercase().replace('_', "-"))
}

#[test]
fn a_variable_with_a_secret_is_replaced_and_withheld_alike() {
    let place = Place::new();
    let script = format!("command:sh -c '{} env > seen; env'", child::look_at_tools());
    let run = |served: &[&str]| {
        let words = ["test", script.as_str(), "--cases", "1", "-q", "--html", "page.html"];
        let mut command = place.command(&[&words[..], served].concat());
        for name in SECRET.split_whitespace().chain(PLAIN.split_whitespace()) {
            command.env(name, value_of(name));
        }
        command.env("DATABASE_URL", "postgres://u:canary-password-1@h/d");
        Run::of(command, "");
        let export = place.run("runs export last").code(0).out;
        let page = fs::read_to_string(place.path("page.html")).unwrap();
        (fs::read_to_string(place.path("seen")).unwrap(), export + &page)
    };
    let (seen, written) = run(&[]);
    let (withheld, written_too) = run(&["--serve-model", "sim/perfect"]);
    for name in SECRET.split_whitespace() {
        let value = value_of(name);
        assert!(!written.contains(&value) && !written_too.contains(&value), "{name} is written");
        assert!(!withheld.contains(&value), "{name} is not withheld");
        // The canary: the program has it otherwise.
        assert!(seen.contains(&value), "{name}");
    }
    assert!(!written.contains("canary-password-1") && !withheld.contains("canary-password-1"));
    for name in PLAIN.split_whitespace() {
        assert!(written.contains(&value_of(name)) && withheld.contains(&value_of(name)), "{name}");
    }
}

#[test]
fn secrets_of_urls_and_files_of_variables_are_replaced_however_they_are_escaped() {
    let place = Place::new();
    place.write(
        "e.env",
        "DATABASE_URL=postgres://u:cana%72y-pw/91@h/x\nSMTP_PASS=canary-smtp-1\nPLAIN=canary-plain\n",
    );
    let says = r#"printf "%s\n" "$DATABASE_URL" canary-pw%2f91 canary\\u002dpw\\/91 "$SMTP_PASS" "$PLAIN""#;
    let script = format!("command:sh -c '{} {says}'", child::look_at_tools());
    place.run_words(&["test", &script, "--cases", "1", "-q", "--env-file", "e.env"]);
    let export = place.run("runs export last").code(0).out;
    for leak in ["pw/91", "pw%2f91", "pw\\\\/91", "canary-smtp", "cana%72y"] {
        assert!(!export.contains(leak), "{leak}: {export}");
    }
    // The canary: what is no secret is there.
    assert!(export.contains("canary-plain"), "{export}");

    // A key in the URL of a service.
    let server =
        StandIn::start(|_, _| say("I was asked with api_key=canary-key-123456 and sk-canary0123456789."));
    let agent = format!("url:{}/?api_key=canary-key-123456&x=sk-canary0123456789", server.base_url());
    let run = place.run_words(&["test", &agent, "--cases", "1", "--html", "page.html"]);
    let all = [
        run.out,
        run.err,
        place.run("runs export last").out,
        place.run("runs list --json").out,
        fs::read_to_string(place.path("page.html")).unwrap(),
    ];
    let url = server.base_url();
    let authority = url.trim_start_matches("http://").split('/').next().unwrap();
    assert!(all.iter().any(|text| text.contains(authority)), "{all:?}");
    for text in all {
        assert!(!text.contains("canary-key-123456") && !text.contains("sk-canary0123456789"), "{text}");
    }
    place.write("planproof.toml", "[test]\nagent = \"url:http://127.0.0.1:9/?api_key=canary-key-123456\"\n");
    let refused = place.run("test --cases 1").code(2);
    assert!(refused.err.contains("`test.agent` holds") && !refused.err.contains("canary"), "{}", refused.err);
}

#[cfg(unix)]
#[test]
fn files_name_only_files_in_their_folder_also_by_links() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    fs::create_dir_all(place.path("in/deep")).unwrap();
    place.write("tools.json", r#"[{"name": "pay", "input_schema": {"type": "object"}}]"#);
    place.write("in/deep/tools.json", r#"[{"name": "pay", "input_schema": {"type": "object"}}]"#);
    place.write("rules.yaml", RULES);
    place.write("in/deep/rules.yaml", RULES);
    symlink("..", place.path("in/up")).unwrap();
    symlink("../tools.json", place.path("in/out.json")).unwrap();
    symlink("../rules.yaml", place.path("in/out.yaml")).unwrap();
    symlink("deep/tools.json", place.path("in/near.json")).unwrap();
    symlink("in", place.path("there")).unwrap();
    let check = |tools: &str, rules: &str, file: &str| {
        let text = format!(
            "schema: planproof/scenario/v1\ntools: {tools}\nrules: {rules}\ncases:\n  - {{id: a, query: Pay., expect: \
             [{{do: [pay]}}]}}\n"
        );
        place.write(file, &text);
        place.run(&format!("scenario check {file}"))
    };
    for (tools, rules) in [
        ("up/tools.json", "deep/rules.yaml"),
        ("out.json", "deep/rules.yaml"),
        ("deep/tools.json", "out.yaml"),
        ("deep/tools.json", "up/rules.yaml"),
    ] {
        let refused = check(tools, rules, "in/shop.yaml").code(2);
        let text = refused.out + &refused.err;
        assert!(text.contains("not in the folder of the file that names it"), "{tools}, {rules}: {text}");
    }
    // So for the rules of a specification, and the prompts of roles.
    let react = place.run("spec print react").code(0).out;
    for rules in ["../rules.yaml", "out.yaml", "up/rules.yaml"] {
        place.write("in/a.spec", &react.replacen('\n', &format!("\n  (:rules \"{rules}\")\n"), 1));
        let refused = place.run("spec check in/a.spec").code(2);
        assert!(refused.err.contains("not in the folder of the file that names it"), "{rules}: {refused:?}");
    }
    place.write("prompt.txt", "{{task}}");
    symlink("../prompt.txt", place.path("in/out.txt")).unwrap();
    for prompt in ["../prompt.txt", "out.txt", "up/prompt.txt"] {
        place.write("in/crew.toml", &format!("[prompts]\nmanager = \"{prompt}\"\n"));
        let refused = place.run("bench gsm8k team:roles=in/crew.toml@sim/gold --limit 1").code(2);
        assert!(refused.err.contains("not in the folder of the file that names it"), "{prompt}: {refused:?}");
    }
    // The canary: what lies there is read, also by a link, and also where the folder itself is reached by one.
    for (tools, file) in
        [("deep/tools.json", "in/shop.yaml"), ("near.json", "in/shop.yaml"), ("near.json", "there/shop.yaml")]
    {
        let read = check(tools, "deep/rules.yaml", file);
        assert!(read.code != 2, "{tools}: {read:?}");
    }
}
