//! Digests, against which a finished run, its case and the row of its campaign are checked when they are read.
//!
//! A digest is the SHA-256 of length-prefixed fields, so that no two lists of fields give the same bytes. The
//! digest of a trace is the exception: it covers the bytes that `runs export` writes, so that anybody can recompute
//! it.

use ring::digest::{Context, SHA256};

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 32;

/// SHA-256.
pub(crate) type Digest = [u8; DIGEST_BYTES];

/// Feeds the fields of a digest into the hash.
pub(crate) struct Fields(Context);

impl Fields {
    /// Starts a digest of this kind; digests of different kinds never coincide.
    pub(crate) fn new(kind: &str) -> Self {
        Self(Context::new(&SHA256)).bytes(kind.as_bytes())
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn optional(self, bytes: Option<&[u8]>) -> Self {
        match bytes {
            Some(bytes) => self.number(1).bytes(bytes),
            None => self.number(0),
        }
    }

    pub(crate) fn number(mut self, number: i64) -> Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    pub(crate) fn optional_number(self, number: Option<i64>) -> Self {
        match number {
            Some(number) => self.number(1).number(number),
            None => self.number(0),
        }
    }

    pub(crate) fn finish(self) -> Digest {
        finish(self.0)
    }
}

/// The digest of a trace, line by line as it is exported.
#[derive(Clone)]
pub(crate) struct TraceDigest(Context);

impl TraceDigest {
    pub(crate) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    /// The digest of a whole trace; each line includes its line break.
    pub(crate) fn of(trace: &[u8]) -> Digest {
        let mut context = Context::new(&SHA256);
        context.update(trace);
        finish(context)
    }

    /// Adds lines, given without the last line break.
    pub(crate) fn lines(&mut self, lines: &[u8]) {
        self.0.update(lines);
        self.0.update(b"\n");
    }

    pub(crate) fn finish(self) -> Digest {
        finish(self.0)
    }
}

fn finish(context: Context) -> Digest {
    let mut digest = [0; DIGEST_BYTES];
    let found = context.finish();
    // Both have 32 bytes; copying needs no conversion that could fail.
    digest.iter_mut().zip(found.as_ref()).for_each(|(to, from)| *to = *from);
    digest
}

/// The digest of a case.
pub(crate) fn of_case(id: &[u8], json: &[u8], summary: Option<&[u8]>) -> Digest {
    Fields::new("case").bytes(id).bytes(json).optional(summary).finish()
}

/// The digest of a verdict.
pub(crate) fn of_verdict(verdict: &[u8]) -> Digest {
    Fields::new("verdict").bytes(verdict).finish()
}

/// The digests of what a run consists of, besides its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) case: Digest,
    pub(crate) trace: Digest,
    pub(crate) verdict: Digest,
}

impl Parts {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [self.case, self.trace, self.verdict].concat()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (parts, rest) = bytes.as_chunks::<DIGEST_BYTES>();
        match (parts, rest) {
            ([case, trace, verdict], []) => Some(Self { case: *case, trace: *trace, verdict: *verdict }),
            _ => None,
        }
    }
}

/// The position of a finished run in its campaign, and its outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Came<'a> {
    /// The campaign's full id.
    pub(crate) campaign: &'a [u8],
    pub(crate) ordinal: i64,
    pub(crate) repeat: i64,
    pub(crate) passed: Option<i64>,
    pub(crate) class: Option<&'a [u8]>,
    pub(crate) wall_ms: Option<i64>,
    pub(crate) summary: Option<&'a [u8]>,
}

impl Came<'_> {
    /// The digest of the run.
    pub(crate) fn digest(&self, parts: &Parts) -> Digest {
        Fields::new("run")
            .bytes(self.campaign)
            .number(self.ordinal)
            .number(self.repeat)
            .optional_number(self.passed)
            .optional(self.class)
            .optional_number(self.wall_ms)
            .optional(self.summary)
            .bytes(&parts.case)
            .bytes(&parts.trace)
            .bytes(&parts.verdict)
            .finish()
    }
}
