//! The errors of `Select`, which say no more than their names.

use crate::rt::impl_error;

/// An error of [`Select::try_select`](super::Select::try_select): no operation can be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrySelectError;

impl_error!(TrySelectError, "all operations in select would block");

/// An error of [`Select::select_timeout`](super::Select::select_timeout): no operation could be
/// done until the time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectTimeoutError;

impl_error!(SelectTimeoutError, "timed out waiting on select");

/// An error of [`Select::try_ready`](super::Select::try_ready): no operation is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryReadyError;

impl_error!(TryReadyError, "no operation in select is ready");

/// An error of [`Select::ready_timeout`](super::Select::ready_timeout): no operation was ready
/// until the time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyTimeoutError;

impl_error!(ReadyTimeoutError, "timed out waiting for an operation in select to be ready");
