//! The limits of a store.

/// Limits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// Maximum size of the file in pages of 4 KiB; `None` if only the disk limits it. Writing more fails with
    /// [`StoreError::Full`](crate::StoreError::Full).
    pub pages_max: Option<u32>,
    /// Maximum number of bytes queued for the writing thread; a caller that appends more blocks until there is
    /// room.
    pub queue_bytes_max: usize,
    /// Maximum size of one event in bytes.
    pub event_bytes_max: usize,
    /// How long to wait, in milliseconds, for other programs that lock the file.
    pub busy_ms: u32,
}

impl Default for StoreLimits {
    /// No limit on pages, 16 MiB in the queue, 64 MiB per event, 10 seconds.
    fn default() -> Self {
        Self { pages_max: None, queue_bytes_max: 16 << 20, event_bytes_max: 64 << 20, busy_ms: 10_000 }
    }
}

/// Longest label of a campaign, in characters.
pub const LABEL_CHARACTERS_MAX: usize = 80;
