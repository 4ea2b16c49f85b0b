//! Which files tools get to see, and what they make of bad ones.

use std::fs;

use image::RgbImage;
use planproof_media::{
    Endpoints, FolderError, Media, MediaFolders, MediaTools, NAME_BYTES_MAX, OUTPUTS_MAX, PICTURE_BYTES_MAX,
};
use planproof_suite::Toolbox;
use serde_json::json;

use crate::support::{Folder, RED, Run, all_tools, call, encoded};

/// A PNG that says to have this size, and has no pixels.
fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = b"IHDR".to_vec();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    for chunk in [header, b"IDAT".to_vec(), b"IEND".to_vec()] {
        bytes.extend((chunk.len() as u32 - 4).to_be_bytes());
        bytes.extend(&chunk);
        bytes.extend(crc(&chunk).to_be_bytes());
    }
    bytes
}

/// The check sum of PNG.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[tokio::test]
async fn bad_pictures_are_mistakes_of_the_call() {
    let run = Run::new("bad_pictures");
    let good = encoded(&RgbImage::from_pixel(40, 40, RED), "a.png");
    run.put("half.png", &good[..good.len() / 2]);
    let jpeg = encoded(&RgbImage::from_pixel(40, 40, RED), "a.jpg");
    run.put("head.jpg", &jpeg[..20]);
    let mut flipped = good.clone();
    flipped[45] ^= 0xff;
    run.put("flipped.png", &flipped);
    run.put("empty.png", b"");
    run.put("text.png", b"This is a text.");
    run.put("page.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>");
    run.put("moving.png", b"GIF89a\x01\x00\x01\x00");
    run.put("bomb.png", &png_of_size(16_000, 16_000));
    run.put("long.png", &png_of_size(20_000, 1));
    run.put("none.png", &png_of_size(0, 5));
    run.put("big.png", &vec![0; PICTURE_BYTES_MAX + 1]);
    let not_one = "is no picture that can be read: give a PNG or JPEG file";
    let too_big = "a picture may have 16384 pixels along a side and 40000000 in all: give a smaller one";
    for (name, part) in [
        ("half.png", "`half.png` is a corrupt picture ("),
        ("head.jpg", "`head.jpg` is a corrupt picture ("),
        ("flipped.png", "`flipped.png` is a corrupt picture ("),
        ("none.png", "`none.png` is a corrupt picture ("),
        ("empty.png", &format!("`empty.png` {not_one}")),
        ("text.png", &format!("`text.png` {not_one}")),
        ("page.png", &format!("`page.png` {not_one}")),
        ("moving.png", &format!("`moving.png` {not_one}")),
        ("bomb.png", &format!("`bomb.png` is 16000 x 16000; {too_big}")),
        ("long.png", &format!("`long.png` is 20000 x 1; {too_big}")),
        (
            "big.png",
            "`big.png` has more than 20971520 bytes, which are allowed for a picture: give a smaller one",
        ),
    ] {
        for tool in ["image crop left", "image captioning", "object detection", "tag"] {
            let text = run.refused(tool, json!({ "image": name, "objects": [] })).await;
            assert!(text.starts_with(part), "{tool}: {text}");
        }
    }
    assert_eq!(run.tools.folder().output(), None, "nothing was written");
}

/// A decoder that panics would be an outage: `refused` and `done` do not let one pass.
#[tokio::test]
#[ignore = "slow"]
async fn no_damage_to_a_picture_makes_a_decoder_panic() {
    let run = Run::new("damage");
    let picture = RgbImage::from_fn(24, 16, |x, y| image::Rgb([(x * 10) as u8, (y * 15) as u8, 90]));
    let (mut read, mut refused) = (0, 0);
    for name in ["a.png", "a.jpg"] {
        let good = encoded(&picture, name);
        let cut = (0..good.len()).step_by(3).map(|end| good[..end].to_vec());
        let changed = (0..good.len()).flat_map(|place| {
            let good = &good;
            [0x01, 0x80, 0xff].map(|bits| {
                let mut bytes = good.clone();
                bytes[place] ^= bits;
                bytes
            })
        });
        for bytes in cut.chain(changed) {
            run.put(name, &bytes);
            // Without a box the picture is read, and stays as it is.
            let result = run.call("image crop", json!({ "image": name, "object": {} })).await;
            assert_eq!(run.tools.outage(), None);
            *(if result.is_error { &mut refused } else { &mut read }) += 1;
        }
    }
    assert!(read > 100 && refused > 100, "{read} were read, {refused} refused");
}

#[cfg(unix)]
#[tokio::test]
async fn no_name_leads_out_of_the_folders() {
    use std::os::unix::fs::symlink;

    let run = Run::new("names");
    let picture = encoded(&RgbImage::from_pixel(40, 40, RED), "a.png");
    fs::write(run.folder.0.join("secret.png"), &picture).expect("a file outside");
    fs::create_dir(run.folder.input().join("more")).expect("a folder");
    run.put("more/a.png", &picture);
    let input = run.folder.input();
    symlink(run.folder.0.join("secret.png"), input.join("link.png")).expect("a link");
    symlink(&run.folder.0, input.join("up")).expect("a link");
    symlink(input.join("more/a.png"), input.join("inner.png")).expect("a link");
    symlink(input.join("loop.png"), input.join("loop.png")).expect("a link");
    let absolute = run.folder.0.join("secret.png").display().to_string();
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let plain =
        "is not the name of a file here: give it without `/` at the beginning and without `.` and `..`";
    let odd = "is not the name of a file here: control characters, `\\` and `:` may not stand in it";
    let not_there = "give the name of a file that the task names, or that a tool has answered with";
    for (name, why) in [
        ("../secret.png", plain),
        ("more/../../secret.png", plain),
        ("..", plain),
        (".", plain),
        (absolute.as_str(), plain),
        ("..\\secret.png", odd),
        ("c:secret.png", odd),
        ("a\0.png", odd),
        ("", "a name has 1 to 200 bytes"),
        (long.as_str(), "a name has 1 to 200 bytes"),
        ("link.png", "`link.png` leads out of the folder with the media, which is not allowed"),
        ("up/secret.png", "`up/secret.png` leads out of the folder with the media, which is not allowed"),
        ("loop.png", not_there),
        ("missing.png", not_there),
        // Before the run has written it.
        ("out-0.png", not_there),
        ("more", "`more` is no file: give the name of a picture"),
    ] {
        let text = run.refused("image crop left", json!({ "image": name })).await;
        assert!(text.contains(why), "{name}: {text}");
    }
    let text = run.refused("automatic speech recognition", json!({ "audio": "../secret.wav" })).await;
    assert!(text.contains(plain), "{text}");
    run.done("image crop left", json!({ "image": "more/a.png" })).await;
    run.done("image crop left", json!({ "image": "inner.png" })).await;
    run.done("image crop left", json!({ "image": "out-1.png" })).await;
    for name in ["out-3.png", "out-01.png", "out-+1.png", "out-.png", "out-99999999999999999999.png"] {
        let text = run.refused("image crop left", json!({ "image": name })).await;
        assert!(text.contains(not_there), "{name}: {text}");
    }
    assert_eq!(run.written("out-2.png").dimensions(), (10, 38));
}

#[tokio::test]
async fn a_pipe_is_no_file_and_is_not_waited_for() {
    let run = Run::new("pipe");
    let pipe = run.folder.input().join("pipe.png");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo makes a pipe");
    let text = run.refused("image crop left", json!({ "image": "pipe.png" })).await;
    assert_eq!(text, "`pipe.png` is no file: give the name of a picture");
}

#[tokio::test]
async fn what_a_run_writes_is_its_own() {
    let folder = Folder::new("own");
    fs::write(folder.input().join("a.png"), encoded(&RgbImage::from_pixel(9, 9, RED), "a.png"))
        .expect("a file");
    // The user has one of this name as well, which is seen until the run has written its own.
    fs::write(folder.input().join("out-0.png"), encoded(&RgbImage::new(30, 30), "a.png")).expect("a file");
    let folders = MediaFolders::new(Some(&folder.input()), &folder.output()).expect("folders");
    let media = Media::new(Endpoints::none()).expect("no endpoints");
    let one = MediaTools::new(all_tools(), media, folders.for_run("../c:7/ä"));
    let other = one.for_run().expect("another run");
    assert!(!folder.output().exists(), "nothing is made before it is needed");
    for expected in [(15, 29), (7, 28)] {
        let result = call(&one, "image crop left", json!({ "image": "out-0.png" })).await;
        assert!(!result.is_error, "{}", result.text);
        let name = if expected.0 == 15 { "out-0.png" } else { "out-1.png" };
        let path = one.folder().output().expect("written").join(name);
        assert_eq!(image::image_dimensions(path).expect("a picture"), expected);
    }
    let result = call(&*other, "image crop left", json!({ "image": "out-1.png" })).await;
    assert!(result.is_error, "another run's file: {}", result.text);
    let result = call(&*other, "image crop left", json!({ "image": "a.png" })).await;
    assert_eq!(result.text, r#"{"image":"out-0.png"}"#);
    let mut made: Vec<String> = fs::read_dir(folder.output())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    made.sort();
    assert_eq!(made, ["___c_7__-1", "___c_7__-2"]);
}

#[tokio::test]
async fn a_run_writes_only_so_much() {
    let run = Run::new("so_much");
    run.put("a.png", &encoded(&RgbImage::from_pixel(4, 4, RED), "a.png"));
    for _ in 0..OUTPUTS_MAX {
        run.done("image crop left", json!({ "image": "a.png" })).await;
    }
    let text = run.refused("image crop left", json!({ "image": "a.png" })).await;
    assert_eq!(text, "the run has written as much as it may, which is 1000 files and 1073741824 bytes");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_no_fault_of_the_call() {
    let run = Run::new("no_room");
    run.put("a.png", &encoded(&RgbImage::from_pixel(4, 4, RED), "a.png"));
    fs::write(run.folder.output(), "a file where the folder should be").expect("a file");
    let result = run.call("image crop left", json!({ "image": "a.png" })).await;
    assert!(result.is_error && result.text.contains("cannot be written"), "{}", result.text);
    let outage = run.tools.outage().expect("the world's fault");
    assert!(outage.starts_with("the tool `image crop left` could not do its work: "), "{outage}");
}

#[test]
fn the_folder_of_the_user_has_to_be_there() {
    let folder = Folder::new("there");
    let missing = MediaFolders::new(Some(&folder.0.join("x")), &folder.output()).expect_err("missing");
    assert!(missing.to_string().contains("cannot be used"), "{missing}");
    fs::write(folder.0.join("file"), "").expect("a file");
    let error = MediaFolders::new(Some(&folder.0.join("file")), &folder.output()).expect_err("a file");
    assert!(matches!(error, FolderError::NoFolder { .. }), "{error}");
}
