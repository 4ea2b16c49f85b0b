//! The body of a reply, with a limit.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use thiserror::Error;

/// Most bytes of one reply, plain or streamed. The longest replies of today's models are under 1 MiB.
pub(crate) const REPLY_BYTES_MAX: usize = 16 << 20;

/// A reply's body, which ends with an error at [`REPLY_BYTES_MAX`].
pub(crate) struct ReplyBody {
    inner: Incoming,
    left: usize,
}

/// Why a body could not be read to its end.
#[derive(Debug, Error)]
pub(crate) enum BodyError {
    #[error("the connection broke")]
    Cut(#[source] hyper::Error),
    #[error("the reply is larger than {REPLY_BYTES_MAX} bytes")]
    TooLarge,
}

impl ReplyBody {
    /// The body as it comes from the connection.
    pub(super) fn new(inner: Incoming) -> Self {
        Self { inner, left: REPLY_BYTES_MAX }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        polled.map(|frame| match frame? {
            Err(error) => Some(Err(BodyError::Cut(error))),
            Ok(frame) => {
                // A frame without data, such as one of trailers, counts nothing.
                let size = frame.data_ref().map_or(0, Bytes::len);
                match self.left.checked_sub(size) {
                    None => Some(Err(BodyError::TooLarge)),
                    Some(left) => {
                        self.left = left;
                        Some(Ok(frame))
                    }
                }
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
