//! A run of its own for each test.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::{ImageFormat, Rgb, RgbImage};
use planproof_media::{Endpoints, Media, MediaFolders, MediaTools, Operation};
use planproof_suite::Toolbox;
use planproof_trace::{Arguments, CallId, Tool, ToolCall, ToolResult};
use serde_json::Value;

pub(crate) const WHITE: Rgb<u8> = Rgb([255, 255, 255]);
pub(crate) const RED: Rgb<u8> = Rgb([220, 20, 30]);
pub(crate) const BLUE: Rgb<u8> = Rgb([20, 40, 200]);

/// A folder that is removed at the end of its test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("planproof-media-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("in")).expect("the folder of a test");
        Self(path)
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.0.join("in")
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.0.join("out")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The tools of one run.
pub(crate) struct Run {
    pub(crate) folder: Folder,
    pub(crate) tools: MediaTools,
}

impl Run {
    /// A run that asks nobody.
    pub(crate) fn new(name: &str) -> Self {
        Self::with(name, Endpoints::none())
    }

    pub(crate) fn with(name: &str, endpoints: Endpoints) -> Self {
        let folder = Folder::new(name);
        let folders = MediaFolders::new(Some(&folder.input()), &folder.output()).expect("folders");
        let media = Media::new(endpoints).expect("endpoints");
        let tools = MediaTools::new(all_tools(), media, folders.for_run("case 7"));
        Self { folder, tools }
    }

    /// Puts a file into the folder of the user's.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.input().join(name), bytes).expect("a file of a test");
    }

    pub(crate) fn put_picture(&self, name: &str, picture: &RgbImage) {
        self.put(name, &encoded(picture, name));
    }

    /// A picture that the run has written.
    pub(crate) fn written(&self, name: &str) -> RgbImage {
        let path = self.tools.folder().output().expect("the run has written").join(name);
        image::load_from_memory(&fs::read(path).expect("a file of the run")).expect("a picture").into_rgb8()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        call(&self.tools, tool, arguments).await
    }

    /// What a call answers, which has to be no error.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert!(!result.is_error, "{tool}: {}", result.text);
        serde_json::from_str(&result.text).expect("JSON")
    }

    /// What a call is told, which has to be an error of its own.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert!(result.is_error && result.attachments.is_empty(), "{tool}: {}", result.text);
        assert_eq!(self.tools.outage(), None, "{}", result.text);
        result.text
    }
}

pub(crate) async fn call(tools: &dyn Toolbox, tool: &str, arguments: Value) -> ToolResult {
    let arguments = Arguments::from_text(&arguments.to_string());
    tools.execute(&ToolCall { id: CallId::new("c1"), name: tool.to_owned(), arguments }).await
}

pub(crate) fn all_tools() -> Arc<[Tool]> {
    Operation::ALL.map(|operation| Tool::without_arguments(operation.tool_name(), operation.as_str())).into()
}

/// The file of a picture, of the kind that its name says.
pub(crate) fn encoded(picture: &RgbImage, name: &str) -> Vec<u8> {
    let format = ImageFormat::from_path(Path::new(name)).expect("an ending");
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("encoded");
    bytes.into_inner()
}

/// A white picture with a red and a blue box.
pub(crate) fn two_boxes() -> RgbImage {
    RgbImage::from_fn(120, 80, |x, y| match (x, y) {
        (10..50, 20..60) => RED,
        (80..110, 30..50) => BLUE,
        _ => WHITE,
    })
}
