//! What nobody asked for: variables that files have sent, programs that files have started, files that files read.

use std::fs;

use crate::child;
use crate::stand_in::{StandIn, say};
use crate::support::{Place, Run};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n  - {id: once, at-most: {call: pay, times: 1}}\n";

const MEDIA: &str = "[numbers]\nurl = \"http://127.0.0.1:9\"\nkey-env = \"CANARY_API_KEY\"\n";

/// A repository with a folder in it, and what the lines of these tests name.
pub(crate) fn repository() -> Place {
    let place = Place::new();
    place.write(".git", "gitdir: elsewhere\n");
    for folder in ["", "sub/"] {
        fs::create_dir_all(place.path("sub")).unwrap();
        place.write(&format!("{folder}rules.yaml"), RULES);
        place.write(&format!("{folder}m.toml"), MEDIA);
    }
    place
}

pub(crate) fn run(place: &Place, folder: &str, words: &[&str]) -> Run {
    let mut command = place.command(words);
    command.current_dir(place.path(folder));
    command.env("CANARY_API_KEY", "canary-0123456789").env("PLANPROOF_TOKEN_MAIL", "canary-9876543210");
    Run::of(command, "")
}

const BENCH: &str = "bench mnms tools@sim/gold --limit 1 -q";

#[test]
#[ignore = "slow"]
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
            // In a folder above, a file of servers is refused before it is read.
            let is_above = folder == "sub" && refused.err.contains("not in the working folder");
            assert!(
                refused.err.contains("planproof.toml") && (refused.err.contains(key) || is_above),
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

/// What a file in a folder above does not decide, the key, and a command line that has an agent of its own.
const DECIDES: [(&str, &str); 12] = [
    ("test.cwd = \"evil\"", "test command:./agent --cases 1 -q"),
    ("limit.cwd = \"evil\"", "limit command:./agent --to 2 --cases-per-pair 1 -q"),
    ("bench.cwd = \"evil\"", "bench gsm8k worker:./agent --limit 1 -q"),
    ("test.env-file = \"x.env\"", "test command:true --cases 1 -q"),
    ("bench.env-file = \"x.env\"", "bench gsm8k command:true --limit 1 -q"),
    ("test.env-file = \"x.env\"", "test command:true --serve-model sim/gold --cases 1 -q"),
    ("test.allow-host = [\"evil.example\"]", "test command:true --cases 1 -q"),
    ("test.isolate = \"none\"", "test command:true --cases 1 -q"),
    ("test.agent-memory = \"none\"", "test command:true --cases 1 -q"),
    ("test.agent-memory = \"8GiB\"", "test command:true --cases 1 -q"),
    ("bench.media = \"m.toml\"", BENCH),
    ("run.tools = \"everyday:m.toml\"", "run tools@sim/gold x"),
];

#[test]
#[ignore = "slow"]
fn a_file_in_a_folder_above_decides_nothing_about_programs_and_servers() {
    for (file, line) in DECIDES {
        let place = repository();
        place.write("planproof.toml", file);
        fs::create_dir_all(place.path("evil")).unwrap();
        for name in ["evil/agent", "evil/true"] {
            place.write(name, &format!("#!/bin/sh\ntouch {}\n", place.path("started").display()));
            #[cfg(unix)]
            fs::set_permissions(place.path(name), std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
        }
        place.write("x.env", &format!("PATH={}:/usr/bin:/bin\n", place.path("evil").display()));
        place.write("m.toml", "player = \"vlc\"\n");
        let words: Vec<&str> = line.split_whitespace().collect();
        let refused = run(&place, "sub", &words).code(2);
        let key = file.split(' ').next().unwrap();
        assert!(refused.err.contains("not in the working folder"), "{file}: {}", refused.err);
        assert!(refused.err.contains(key) && refused.err.contains("on the command line"), "{}", refused.err);
        assert!(!place.path("started").exists() && !place.path("sub/.planproof").exists(), "{file}");
        // The canary: in the folder itself it is followed, and also where it is named.
        for (folder, named) in [("", &[][..]), ("sub", &["--config", "../planproof.toml"])] {
            let followed = run(&place, folder, &[&words[..], named].concat());
            assert!(!followed.err.contains("goes too far"), "{file}: {}", followed.err);
            #[cfg(unix)]
            if file.contains("evil\"") || file.contains("x.env") {
                assert!(place.path("started").exists(), "{file}: {}", followed.err);
                fs::remove_file(place.path("started")).unwrap();
            }
        }
    }
    // What a server says is the same, but nobody waits for one here.
    for (file, line) in [
        ("serve-tools.allow-host = \"evil.example\"", "serve-tools --scenarios s.yaml"),
        ("serve-model.allow-host = \"evil.example\"", "serve-model sim/gold"),
        ("test.prices = \"p.json\"", "test tools@sim/gold --max-cost 1"),
        ("run.system = \"Pay.\"", "run tools@sim/gold x"),
    ] {
        let place = repository();
        place.write("planproof.toml", file);
        let refused = run(&place, "sub", &line.split_whitespace().collect::<Vec<_>>()).code(2);
        assert!(refused.err.contains("not in the working folder"), "{file}: {}", refused.err);
    }
    // All else is followed, and the file does not hide itself.
    let place = repository();
    place.write("planproof.toml", "quiet = true\n[test]\ncases = 1\nhtml = \"r.html\"\n");
    let followed = run(&place, "sub", &["test", "tools@sim/perfect"]).code(0);
    assert!(followed.err.contains("planproof.toml: cases, html"), "{}", followed.err);
    assert!(place.path("r.html").exists());
    assert_eq!(run(&place, "sub", &["test", "tools@sim/perfect", "-q"]).code(0).err, "");
}

#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn a_file_that_nobody_named_writes_only_in_its_folder() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    for folder in ["out", "repo/.git/hooks", "repo/sub"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    let kept = ["out/.bashrc", "out/notes.csv", "repo/.git/hooks/post-commit", "repo/.envrc"];
    kept.iter().for_each(|file| place.write(file, "mine"));
    symlink("../out", place.path("repo/away")).unwrap();
    symlink("../out/notes.csv", place.path("repo/notes.csv")).unwrap();
    symlink("../out/new.csv", place.path("repo/new.csv")).unwrap();
    let absolute = format!("test.csv = \"{}\"", place.path("out/notes.csv").display());
    let test = "test tools@sim/perfect --cases 1 -q";
    for (file, line) in [
        ("test.csv = \"../out/.bashrc\"", test),
        ("test.csv = \".git/hooks/post-commit\"", test),
        ("test.csv = \".git/hooks/pre-commit\"", test),
        ("test.html = \".envrc\"", test),
        ("test.html = \"away/notes.csv\"", test),
        ("test.junit = \"notes.csv\"", test),
        ("test.inspect = \"new.csv\"", test),
        ("test.step-summary = \"../out/.bashrc\"", test),
        ("test.cache = \"../out/cache\"", test),
        ("test.store = \"../out/runs.db\"", test),
        ("store = \"../out/runs.db\"", "runs list"),
        ("demo.html = \"../out/notes.csv\"", "demo"),
        ("bench.csv = \"away/notes.csv\"", "bench gsm8k tools@sim/gold --limit 1"),
        ("bench.models.recordings = \"../out/recordings\"", "bench models sim/perfect"),
        ("serve-media.output = \"../out/media\"", "serve-media"),
        ("media.output = \"../out/media\"", BENCH),
        (&absolute, test),
    ] {
        place.write("repo/planproof.toml", file);
        let words: Vec<&str> = line.split_whitespace().collect();
        for folder in ["repo", "repo/sub"] {
            let refused = run(&place, folder, &words).code(2);
            let key = file.split(' ').next().unwrap();
            assert!(refused.err.contains("that nobody named"), "{file}: {}", refused.err);
            assert!(refused.err.contains(key), "{file}: {}", refused.err);
        }
        assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 2, "{file}");
        assert_eq!(fs::read_dir(place.path("repo/.git/hooks")).unwrap().count(), 1, "{file}");
    }
    // So for a file of servers that only such a file names.
    place.write("repo/planproof.toml", "bench.media = \"m.toml\"");
    place.write("repo/m.toml", "output = \"../out/media\"\n");
    let refused = run(&place, "repo", &BENCH.split_whitespace().collect::<Vec<_>>()).code(2);
    assert!(refused.err.contains("`output`") && refused.err.contains("nobody named"), "{}", refused.err);
    for file in kept {
        assert_eq!(fs::read_to_string(place.path(file)).unwrap(), "mine", "{file}");
    }
    // The canary: below, it is written, and anywhere if the file is named.
    let words: Vec<&str> = test.split_whitespace().collect();
    place.write("repo/planproof.toml", "test.csv = \"sub/r.csv\"\ntest.html = \"r.html\"\n");
    run(&place, "repo/sub", &words).code(0);
    assert!(place.path("repo/sub/r.csv").exists() && place.path("repo/r.html").exists());
    place.write("repo/planproof.toml", "test.csv = \"../out/named.csv\"");
    run(&place, "repo/sub", &[&words[..], &["--config", "../planproof.toml"]].concat()).code(0);
    assert!(place.path("out/named.csv").exists());
}

#[test]
fn a_file_in_a_folder_above_has_only_its_own_files_read() {
    let place = Place::new();
    fs::create_dir_all(place.path("repo/sub")).unwrap();
    place.write("repo/.git", "gitdir: elsewhere\n");
    let cases = place.run("synth --count 2").code(0).out;
    let spec = place.run("spec print react").code(0).out;
    for folder in ["", "repo/"] {
        place.write(&format!("{folder}cases.jsonl"), &cases);
        place.write(&format!("{folder}my.spec"), &spec);
        place.write(&format!("{folder}rules.yaml"), RULES);
        place.write(&format!("{folder}policy.md"), "Pay once. [once]\n");
        place.write(
            &format!("{folder}tools.json"),
            r#"[{"name": "pay", "input_schema": {"type": "object"}}]"#,
        );
    }
    let of_rules = "test tools@sim/perfect --rules ../rules.yaml --tools ../tools.json --cases 1 -q";
    let test = "test tools@sim/perfect -q";
    for (key, own, line) in [
        ("test.from", "cases.jsonl", test),
        ("test.rules", "rules.yaml", "test tools@sim/perfect --tools ../tools.json --cases 1 -q"),
        ("test.agent", "spec:my.spec@sim/perfect", "test --cases 1 -q"),
        ("test.policy", "policy.md", of_rules),
        ("rules.check.tools", "tools.json", "rules check ../rules.yaml"),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let away = match own.strip_prefix("spec:") {
            Some(file) => format!("spec:../{file}"),
            None => format!("../{own}"),
        };
        place.write("repo/planproof.toml", &format!("{key} = \"{away}\""));
        let refused = run(&place, "repo/sub", &words).code(2);
        assert!(refused.err.contains(key) && refused.err.contains("not in its folder"), "{}", refused.err);
        // The canary: what is named is read, and so is what lies beside the file, which is where it is looked for.
        let named = run(&place, "repo/sub", &[&words[..], &["--config", "../planproof.toml"]].concat());
        assert!(named.code != 2, "{key} = {away}: {}", named.err);
        place.write("repo/planproof.toml", &format!("{key} = \"{own}\""));
        let read = run(&place, "repo/sub", &words);
        assert!(read.code != 2, "{key} = {own}: {}", read.err);
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
