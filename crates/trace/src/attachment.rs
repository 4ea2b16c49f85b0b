//! Small pictures beside the text of a tool result, for people who inspect a run.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// Most bytes of a picture, before it is written in base64.
pub const ATTACHMENT_BYTES_MAX: usize = 48 << 10;
/// Most pictures of one result.
pub const ATTACHMENTS_MAX: usize = 4;
/// Most bytes of the name of a picture.
pub const ATTACHMENT_NAME_BYTES_MAX: usize = 200;

/// Base64 writes this number of bytes as [`BASE64_GROUP_LETTERS`] letters.
const BASE64_GROUP_BYTES: usize = 3;
const BASE64_GROUP_LETTERS: usize = 4;
/// Most letters of a picture in base64.
const DATA_LETTERS_MAX: usize = ATTACHMENT_BYTES_MAX.div_ceil(BASE64_GROUP_BYTES) * BASE64_GROUP_LETTERS;

/// What kind of picture it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureType {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

impl PictureType {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Png, Self::Jpeg];

    /// Its media type, as in files and in `data:` URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

impl fmt::Display for PictureType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a picture cannot be attached to a result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AttachmentError {
    /// Its name is empty or too long.
    #[error("its name has {bytes} bytes; 1 to {ATTACHMENT_NAME_BYTES_MAX} are allowed")]
    Name {
        /// Its length.
        bytes: usize,
    },
    /// It is too big.
    #[error("it is bigger than {ATTACHMENT_BYTES_MAX} bytes")]
    TooBig,
    /// Its text is not base64.
    #[error("its data is no base64 (letters, digits, `+`, `/`, and `=` to fill the last group of four)")]
    NotBase64,
    /// There are too many.
    #[error("there are {count}; {ATTACHMENTS_MAX} are the most that a result has")]
    TooMany {
        /// Their number.
        count: usize,
    },
}

/// A small picture. A clone shares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    name: Arc<str>,
    picture: PictureType,
    data: Arc<str>,
}

impl Attachment {
    /// The picture with these bytes in base64, under its name in the result's text. The content of the bytes is not
    /// checked.
    ///
    /// # Errors
    /// A limit is exceeded, or the text is not base64.
    pub fn new(name: &str, picture: PictureType, base64: &str) -> Result<Self, AttachmentError> {
        if !(1..=ATTACHMENT_NAME_BYTES_MAX).contains(&name.len()) {
            return Err(AttachmentError::Name { bytes: name.len() });
        }
        if base64.len() > DATA_LETTERS_MAX {
            return Err(AttachmentError::TooBig);
        }
        if !is_base64(base64) {
            return Err(AttachmentError::NotBase64);
        }
        Ok(Self { name: name.into(), picture, data: base64.into() })
    }

    /// What the text of the result calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What kind of picture it is.
    pub fn picture(&self) -> PictureType {
        self.picture
    }

    /// Its bytes in base64: letters, digits, `+`, `/` and `=`, and nothing else.
    pub fn base64(&self) -> &str {
        &self.data
    }
}

/// Pictures beside the text of a result. They are in the trace, in its files and in reports; no model gets them, and
/// no verdict depends on them. Without pictures, this takes just two words of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachments(Option<Arc<[Attachment]>>);

impl Attachments {
    /// These pictures.
    ///
    /// # Errors
    /// There are more than [`ATTACHMENTS_MAX`].
    pub fn new(pictures: Vec<Attachment>) -> Result<Self, AttachmentError> {
        match pictures.len() {
            0 => Ok(Self::default()),
            1..=ATTACHMENTS_MAX => Ok(Self(Some(pictures.into()))),
            count => Err(AttachmentError::TooMany { count }),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The pictures, in their order.
    pub fn as_slice(&self) -> &[Attachment] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Whether it is base64 in complete groups, which every decoder accepts.
fn is_base64(text: &str) -> bool {
    let letters = text.trim_end_matches('=');
    !letters.is_empty()
        && text.len().is_multiple_of(BASE64_GROUP_LETTERS)
        // At most two letters are missing: the last group holds at least one byte.
        && text.len() - letters.len() < BASE64_GROUP_BYTES
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_pictures_in_base64_are_taken() {
        let with = |name: &str, data: &str| Attachment::new(name, PictureType::Png, data).map(|_| ());
        for data in ["AAAA", "AAA=", "AA==", "ab+/"] {
            assert_eq!(with("a.png", data), Ok(()), "{data}");
        }
        for data in ["", "AAA", "A===", "====", "AA A", "AA\"A", "AAA\n", "AÄA", "A=AA"] {
            assert_eq!(with("a.png", data), Err(AttachmentError::NotBase64), "{data}");
        }
        let most = "A".repeat(DATA_LETTERS_MAX);
        assert_eq!(with("a.png", &most), Ok(()));
        assert_eq!(with("a.png", &(most + "AAAA")), Err(AttachmentError::TooBig));
        assert_eq!(with("", "AAAA"), Err(AttachmentError::Name { bytes: 0 }));
        assert_eq!(with(&"x".repeat(201), "AAAA"), Err(AttachmentError::Name { bytes: 201 }));
    }

    #[test]
    fn a_result_has_few_of_them() {
        let one = Attachment::new("a.png", PictureType::Jpeg, "AAAA").expect("small");
        assert!(Attachments::new(Vec::new()).expect("none").is_empty());
        let most = Attachments::new(vec![one.clone(); ATTACHMENTS_MAX]).expect("few");
        assert_eq!(most.as_slice().len(), ATTACHMENTS_MAX);
        let error = Attachments::new(vec![one; ATTACHMENTS_MAX + 1]).expect_err("too many");
        assert_eq!(error, AttachmentError::TooMany { count: ATTACHMENTS_MAX + 1 });
    }
}
