//! Which names, of variables, settings, headers and parts of URLs, say that what they stand for is a secret.

/// Words that say so wherever they stand in a name, also at the end of a longer word (`PGPASSWORD`).
const SECRETS: [&str; 27] = [
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSWORT",
    "KENNWORT",
    "CONTRASENA",
    "PASSPHRASE",
    "PASSCODE",
    "PASSKEY",
    "PWORD",
    "SECRET",
    "SECRETS",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "APIKEYS",
    "TOKEN",
    "SECRETKEY",
    "ACCESSKEY",
    "PRIVATEKEY",
    "PRIVKEY",
    "MNEMONIC",
    "AUTHORIZATION",
    "JSESSIONID",
    "SESSIONID",
    "CONNSTR",
    "WEBHOOK",
];

/// Words that say so as whole parts of a name, unless a part behind them says that it is about something else.
const PARTS: [&str; 31] = [
    "KEY",
    "KEYS",
    "TOKENS",
    "PASS",
    "PASSE",
    "PW",
    "PWD",
    "PASSW",
    "PAT",
    "JWT",
    "JWS",
    "BEARER",
    "AUTH",
    "AUTHTOKEN",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDS",
    "SIG",
    "SIGNATURE",
    "SAS",
    "OTP",
    "TOTP",
    "DSN",
    "CSRF",
    "XSRF",
    "HMAC",
    "SALT",
    "PEPPER",
    "PIN",
    "CONNECTIONSTRING",
];

/// Parts of names that are about a secret, and are not one.
const ABOUT: [&str; 49] = [
    "MAX",
    "MIN",
    "NUM",
    "NUMBER",
    "COUNT",
    "LIMIT",
    "LIMITS",
    "LENGTH",
    "LEN",
    "SIZE",
    "BUDGET",
    "RATE",
    "RATIO",
    "THRESHOLD",
    "TTL",
    "AGE",
    "EXPIRY",
    "EXPIRES",
    "TIMEOUT",
    "INTERVAL",
    "TYPE",
    "METHOD",
    "MODE",
    "FORMAT",
    "ALGORITHM",
    "BINDING",
    "BINDINGS",
    "MAP",
    "MAPPING",
    "LAYOUT",
    "REPEAT",
    "NAME",
    "NAMES",
    "SOCK",
    "SOCKET",
    "TTY",
    "ENABLED",
    "DISABLED",
    "REQUIRED",
    "PARALLELISM",
    "HELPER",
    "PROVIDER",
    "PATH",
    "DIR",
    "FOLDER",
    "HOST",
    "PORT",
    "DOMAIN",
    "FOR",
];

/// Parts that make a number of what follows them: `MAX_TOKENS`.
const COUNTS: [&str; 10] =
    ["MAX", "MIN", "NUM", "NUMBER", "COUNT", "TOTAL", "INPUT", "OUTPUT", "REPLY", "COMPLETION"];

/// Ends of names that look as if they did: keys that are public, and those of tables.
const OTHERS: [&str; 7] =
    ["PUBLIC_KEY", "PUB_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "PARTITION_KEY", "SORT_KEY", "CACHE_KEY"];

/// Words at the end of whose last part `KEY` is a key of a keyboard, or none.
const NOT_KEYS: [&str; 8] = ["MONKEY", "TURKEY", "DONKEY", "HOTKEY", "HOCKEY", "JOCKEY", "WHISKEY", "LACKEY"];

/// Whether a name says that it stands for a secret: a key, a token, a password. Its parts decide, which `_`, `-`, `.`,
/// other punctuation and capitals (`apiKey`) separate: `DB_PASS`, `GH_PAT`, `X-Api-Key` and `accessToken` do, and
/// `PATH`, `KEYBOARD`, `MAX_TOKENS` and `SSH_AUTH_SOCK` do not. Takes time in proportion to the name.
pub fn names_secret(name: &str) -> bool {
    let parts = parts(name);
    let whole = parts.join("_");
    let is_end =
        |other: &&str| whole.strip_suffix(*other).is_some_and(|it| it.is_empty() || it.ends_with('_'));
    // The shell's own variable of that name is a folder; that of a database is a password.
    if name == "PWD" || OTHERS.iter().any(is_end) {
        return false;
    }
    let joined = |at: usize| parts.get(at..at + 2).is_some_and(|two| two == ["CONNECTION", "STRING"]);
    parts.iter().enumerate().any(|(at, part)| {
        let (before, behind) = (&parts[..at], &parts[at + 1..]);
        let is_about = behind.iter().any(|other| ABOUT.contains(&other.as_str()));
        let is_count = part.ends_with('S') && before.iter().any(|other| COUNTS.contains(&other.as_str()));
        let is_part = PARTS.contains(&part.as_str()) || joined(at);
        let is_last_key = behind.is_empty() && part.ends_with("KEY") && !NOT_KEYS.contains(&part.as_str());
        // A limit on tokens is a number, and a file of a password leads to it.
        let is_weak = part.ends_with("TOKEN") || part.ends_with("WEBHOOK");
        let is_secret = SECRETS.iter().any(|word| part.ends_with(word)) && !(is_weak && is_about);
        is_secret || ((is_part || is_last_key) && !is_about && !is_count)
    })
}

/// The parts of a name in capitals.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let is_part = letter.is_alphanumeric();
        if (!is_part || (was_small && letter.is_uppercase()))
            && parts.last().is_some_and(|part| !part.is_empty())
        {
            parts.push(String::new());
        }
        if is_part && let Some(part) = parts.last_mut() {
            part.extend(letter.to_uppercase());
        }
        was_small = letter.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        let names = "KEY KEYS A_KEY APIKEY api_key MYKEY X-Api-Key apiKey OPENAI_API_KEY OPENAI_API_KEYS SSH_KEY SIGNING_KEY \
            ENCRYPTION_KEY PRIVATE_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY TOKEN A_TOKEN GITHUB_TOKENS accessToken \
            AWS_SESSION_TOKEN SECRET SECRETS A_SECRET CLIENT_SECRET clientSecret PASSWORD DB_PASSWORD PGPASSWORD \
            db_password PASSWD MYSQL_PASSWD PASS SMTP_PASS DB_PASS Db_Pass MYSQL_PWD DB_PWD PASSPHRASE GPG_PASSPHRASE \
            PASSCODE GH_PAT AZURE_DEVOPS_EXT_PAT JWT MY_JWT BEARER AUTH NPM_AUTH HTTP_BASIC_AUTH DOCKER_AUTH_CONFIG \
            _authToken AUTH_HEADER AUTHORIZATION Proxy-Authorization COOKIE SESSION_COOKIE Set-Cookie CREDENTIAL \
            CREDENTIALS GOOGLE_APPLICATION_CREDENTIALS AWS_CREDS SAS AZURE_STORAGE_CONNECTION_STRING SENTRY_DSN \
            SLACK_WEBHOOK WEBHOOK_URL sig X-Amz-Signature access_token id_token MY_OTP SECRET_SALT PASSWORT \
            DB_PASSWORD_FILE TOKEN_2 KEY1_KEY";
        for name in names.split_whitespace() {
            assert!(names_secret(name), "{name}");
        }
    }

    #[test]
    fn false_friends_are_none() {
        let names = "PATH PWD OLDPWD HOME KEYBOARD MY_KEYBOARD KEYMAP KEY_BINDINGS KEYRING_BACKEND SSH_AUTH_SOCK XAUTHORITY \
            GPG_TTY GIT_AUTHOR_NAME AUTHOR AUTHORS TOKENIZERS_PARALLELISM MAX_TOKENS tokens-max OPENAI_MAX_TOKENS \
            TOKEN_LIMIT MONKEY monkeys-max SECRETARY COMPASS BYPASS PASSED PASS_RATE PATIENCE PATTERN PYTHONPATH \
            AUTH_TYPE AUTH_METHOD KEY_NAME COOKIE_DOMAIN PUBLIC_KEY SSH_PUBLIC_KEY PRIMARY_KEY cases serve-model \
            key-for SIGNAL DESIGN SASS PINS SALTED HOTKEY DESKTOP_SESSION XDG_SESSION_ID DBUS_SESSION_BUS_ADDRESS LANG \
            TERM USER AWS_REGION OPENAI_BASE_URL query tool";
        for name in names.split_whitespace() {
            assert!(!names_secret(name), "{name}");
        }
        assert!(!names_secret("") && !names_secret("___"));
    }
}
