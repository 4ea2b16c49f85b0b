//! Who is not answered, and with what words.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use planproof_view::limits::{ADDRESS_BYTES_MAX, CONNECTIONS_MAX, HEAD_BYTES_MAX, LIVE_PAGES_MAX};

use crate::support::{Campaign, Directory, Site, TOKEN};

fn site() -> (Directory, Site) {
    let directory = Directory::new();
    let store = directory.store();
    Campaign::create(&store, "abc", "agent", 1, 1);
    let site = directory.serve();
    (directory, site)
}

#[test]
fn only_this_machine_with_the_token_is_answered() {
    let (_directory, site) = site();
    let host = site.host();
    let good = format!("Host: {host}\r\n");
    let origin = |origin: &str| format!("Host: {host}\r\nOrigin: {origin}\r\n");
    let path = format!("/{TOKEN}/");
    for (status, path, headers) in [
        (200, path.as_str(), good.clone()),
        (200, &path, format!("Host: localhost:{}\r\n", host.split(':').nth(1).expect("has a port"))),
        (200, &path, origin(&format!("http://{host}"))),
        (403, &path, "Host: evil.example\r\n".to_owned()),
        (403, &path, "Host: 127.0.0.1.evil.example\r\n".to_owned()),
        (403, &path, format!("{good}{good}")),
        (403, &path, "X: y\r\n".to_owned()),
        (403, &path, origin("http://evil.example")),
        (403, &path, origin("null")),
        // Another server on this machine.
        (403, &path, origin("http://127.0.0.1:1")),
        (403, &path, origin("http://localhost")),
        (403, "/", good.clone()),
        (403, &path[..path.len() - 2], good.clone()),
        (403, "/0/abc/", good.clone()),
        (403, &format!("/?token={TOKEN}"), good.clone()),
        (403, &format!("/../{TOKEN}/"), good.clone()),
        (404, &format!("{path}../../etc/passwd"), good.clone()),
        (404, &format!("{path}0/..%2f..%2fruns.db/"), good.clone()),
        (404, &format!("{path}1/abc/"), good.clone()),
        (404, &format!("{path}0/ab/"), good.clone()),
        (404, &format!("{path}0/last/"), good.clone()),
        (404, &format!("{path}0/abc/1/0"), good.clone()),
        (404, &format!("{path}0/abc/0/1"), good.clone()),
        (404, &format!("{path}0/abc/report?live"), good.clone()),
        (404, &format!("{path}0/abc/0/0?after=1&live"), good.clone()),
        (404, &format!("{path}assets/view.js"), good.clone()),
        (414, &format!("{path}?text={}", "x".repeat(ADDRESS_BYTES_MAX)), good.clone()),
    ] {
        let answer = site.send(&format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
        assert_eq!(answer.status, status, "{path} {headers} {}", answer.head);
        for name in [
            "content-security-policy: default-src 'none'",
            "referrer-policy: no-referrer",
            "nosniff",
            "no-store",
        ] {
            assert!(answer.head.contains(name), "{name} is missing: {}", answer.head);
        }
        assert!(
            !answer.head.contains("unsafe") && answer.head.contains("frame-ancestors 'none'"),
            "{}",
            answer.head
        );
        // Whoever lacks the token does not get it.
        assert!(status != 403 || !answer.body.contains(TOKEN), "{path}");
    }
}

#[test]
fn nothing_but_reading_is_answered() {
    let (_directory, site) = site();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let answer = site.send(&format!(
            "{method} /{TOKEN}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            site.host()
        ));
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("allow: get, head"), "{}", answer.head);
    }
    let head = format!("HEAD /{TOKEN}/ HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", site.host());
    let answer = site.send(&head);
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
}

#[test]
#[ignore = "slow"]
fn what_is_too_long_or_too_much_is_refused() {
    let (_directory, site) = site();
    let host = site.host();
    let long =
        format!("GET /{TOKEN}/ HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "x".repeat(2 * HEAD_BYTES_MAX));
    assert!([431, 400, 0].contains(&site.send(&long).status), "{:?}", site.send(&long));
    let many = format!("GET /{TOKEN}/ HTTP/1.1\r\nHost: {host}\r\n{}\r\n", "X: y\r\n".repeat(200));
    assert!([431, 400, 0].contains(&site.send(&many).status));
    assert!([400, 0].contains(&site.send("nonsense\r\n\r\n").status));
    assert_eq!(site.get("").status, 200);

    let mut pages: Vec<_> = (0..LIVE_PAGES_MAX).map(|_| site.live("", None)).collect();
    for page in &mut pages {
        assert_eq!(page.next().expect("has a state")[1], "state");
    }
    let refused =
        site.send(&format!("GET /{TOKEN}/?live HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert!(refused.status == 503 && refused.body.contains("200 pages are being watched"), "{refused:?}");
    // Pages that are not live can still be read beside them.
    assert_eq!(site.get("").status, 200);

    // Anybody can open connections: they make room for whoever knows the token, however many there are.
    let open = |count: usize| -> Vec<_> {
        (0..count).map(|_| TcpStream::connect(&host).expect("connects")).collect()
    };
    let mut idle = open(CONNECTIONS_MAX);
    for _ in 0..3 {
        assert_eq!(site.get("").status, 200);
        idle.extend(open(CONNECTIONS_MAX));
    }
    let watched =
        site.send(&format!("GET /{TOKEN}/?live HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert!(watched.status == 503 && watched.body.contains("200 pages"), "pages stay open: {watched:?}");

    // Connections that have shown the token are kept.
    let kept: Vec<_> = (LIVE_PAGES_MAX..CONNECTIONS_MAX)
        .map(|_| {
            let mut stream = TcpStream::connect(&host).expect("connects");
            let head = format!("HEAD /{TOKEN}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("writes");
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).expect("answers");
            assert_eq!(&answer, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let refused = site.get("");
    assert!(refused.status == 503 && refused.body.contains("too many pages"), "{refused:?}");
    drop((pages, idle, kept));
    let again = (0..100).find(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        site.get("").status == 200
    });
    assert!(again.is_some(), "the server recovers");
}
