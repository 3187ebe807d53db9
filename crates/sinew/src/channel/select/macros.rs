//! The macros: they turn the arms into a [`Select`](super::Select) and a match on the selected
//! operation. They use only what users could write.

/// Waits until one of several operations on channels is possible, and does it: the first that
/// becomes possible, or a random one of those that are possible now. The syntax is that of
/// crossbeam-channel's macro of the same name:
///
/// - `recv(receiver) -> result => body`: the result is that of
///   [`recv`](crate::channel::Receiver::recv).
/// - `send(sender, message) -> result => body`: the result is that of
///   [`send`](crate::channel::Sender::send). The message is evaluated when this operation has been
///   selected, and not otherwise.
/// - `default => body`, at most once: if there was a moment at which no operation was possible.
/// - `default(timeout) => body` instead: if no operation became possible during this
///   [`Duration`](std::time::Duration).
///
/// An arm that receives from a channel of capacity 0 and meets another `select` waits for its
/// message, [even if there is a `default`](crate::channel#capacity-0-and-select).
///
/// The macro is an expression with the value of the body. An operation on a channel whose other
/// side is gone is possible, and its result is an error.
///
/// ```
/// use sinew::{channel, fiber, select};
/// use std::time::Duration;
///
/// let (numbers, receiver) = channel::bounded(0);
/// let (quit, stop) = channel::bounded::<()>(0);
/// let adder = fiber::spawn(move || {
///     let mut sum = 0;
///     loop {
///         select! {
///             recv(receiver) -> number => sum += number.unwrap(),
///             recv(stop) -> _ => break sum,
///             default(Duration::from_secs(60)) => panic!("no number arrived"),
///         }
///     }
/// });
/// (1..=4).for_each(|number| numbers.send(number).unwrap());
/// drop(quit);
/// assert_eq!(adder.join().unwrap(), 10);
/// ```
///
/// Each handle is borrowed until the operation is done. The bodies may change it, or a value of
/// which it is a part:
///
/// ```
/// use sinew::{channel, select};
///
/// let (sender, mut receiver) = channel::bounded::<u32>(1);
/// drop(sender);
/// for _ in 0..2 {
///     select! {
///         recv(receiver) -> number => if number.is_err() { receiver = channel::never() },
///         default => drop(std::mem::replace(&mut receiver, channel::never())),
///     }
/// }
/// ```
///
/// Without any arm it waits forever. With `default` alone, it evaluates that. Cancellation does not
/// stop it: use [`Select::select_cancellable`](crate::channel::Select::select_cancellable) for
/// that.
#[macro_export]
macro_rules! select {
    ($($arms:tt)*) => {
        $crate::__select!(@begin ($crate::channel::Select::new()) $($arms)*)
    };
}

/// Like [`select!`](crate::select), but selects the first of several possible operations.
///
/// ```
/// use sinew::{channel, select_biased};
///
/// let (sender, receiver) = channel::bounded(2);
/// sender.send("first").unwrap();
/// let done = select_biased! {
///     recv(receiver) -> message => message.unwrap(),
///     send(sender, "second") -> result => { result.unwrap(); "sent" }
/// };
/// assert_eq!(done, "first");
/// ```
#[macro_export]
macro_rules! select_biased {
    ($($arms:tt)*) => {
        $crate::__select!(@begin ($crate::channel::Select::new_biased()) $($arms)*)
    };
}

/// Parses the arms one by one, adds a variable for each handle and each index, and writes out the
/// code.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@begin ($new:expr) $($arms:tt)*) => {
        $crate::__select!(@arms ($new) () () $($arms)*)
    };

    // All arms are parsed.
    (@arms $new:tt $done:tt $default:tt) => {
        $crate::__select!(@run $new $done $default)
    };

    // Receive arms. The body is a block, or ends with a comma or at the end of the input.
    (@arms $new:tt $done:tt $default:tt recv($handle:expr $(,)?) -> $result:pat => $body:block, $($rest:tt)*) => {
        $crate::__select!(@recv $new $done $default ($handle) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt recv($handle:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::__select!(@recv $new $done $default ($handle) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt recv($handle:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@recv $new $done $default ($handle) ($result) ($body) $($($rest)*)?)
    };

    // Send arms.
    (@arms $new:tt $done:tt $default:tt send($handle:expr, $message:expr $(,)?) -> $result:pat => $body:block, $($rest:tt)*) => {
        $crate::__select!(@send $new $done $default ($handle) ($message) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt send($handle:expr, $message:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::__select!(@send $new $done $default ($handle) ($message) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt send($handle:expr, $message:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@send $new $done $default ($handle) ($message) ($result) ($body) $($($rest)*)?)
    };

    // The `default` arm.
    (@arms $new:tt $done:tt () default $(($($timeout:expr)? $(,)?))? => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $new $done (($($($timeout)?)?) $body) $($rest)*)
    };
    (@arms $new:tt $done:tt () default $(($($timeout:expr)? $(,)?))? => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $new $done (($($($timeout)?)?) $body) $($rest)*)
    };
    (@arms $new:tt $done:tt () default $(($($timeout:expr)? $(,)?))? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $new $done (($($($timeout)?)?) $body) $($($rest)*)?)
    };

    // Errors in an arm.
    (@arms $new:tt $done:tt ($($first:tt)+) default $($rest:tt)*) => {
        ::std::compile_error!("there can be only one `default` in `select!`")
    };
    (@arms $new:tt $done:tt $default:tt $wrong:ident $($rest:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "`", ::std::stringify!($wrong $($rest)*), "` does not begin with an arm of `select!`: write ",
            "`recv(receiver) -> result => body`, `send(sender, message) -> result => body`, `default => body` or ",
            "`default(timeout) => body`, with a comma after a body that is no block"
        ))
    };
    (@arms $new:tt $done:tt $default:tt $($wrong:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "expected an arm of `select!`, found `", ::std::stringify!($($wrong)*), "`"
        ))
    };

    // A match extends the life of temporaries of which the handle may be a part.
    (@recv $new:tt ($($done:tt)*) $default:tt ($handle:expr) ($result:pat) ($body:expr) $($rest:tt)*) => {
        match &$handle {
            handle => {
                let handle: &$crate::channel::Receiver<_> = handle;
                $crate::__select!(@arms $new
                    ($($done)* { recv handle index (operation => $result = operation.recv(handle)) $body }) $default $($rest)*)
            }
        }
    };
    (@send $new:tt ($($done:tt)*) $default:tt ($handle:expr) ($message:expr) ($result:pat) ($body:expr) $($rest:tt)*) => {
        match &$handle {
            handle => {
                let handle: &$crate::channel::Sender<_> = handle;
                $crate::__select!(@arms $new
                    ($($done)* { send handle index (operation => $result = operation.send(handle, $message)) $body }) $default $($rest)*)
            }
        }
    };

    // The code that is written out.
    (@run $new:tt () ()) => {
        loop {
            $crate::fiber::park();
        }
    };
    (@run $new:tt () (() $otherwise:expr)) => {
        $otherwise
    };
    (@run $new:tt $done:tt ()) => {
        $crate::__select!(@match $new (select => Ok::<_, ()>(select.select())) $done (::std::unreachable!("it waits forever")))
    };
    (@run $new:tt $done:tt (() $otherwise:expr)) => {
        $crate::__select!(@match $new (select => select.try_select()) $done ($otherwise))
    };
    (@run $new:tt $done:tt (($timeout:expr) $otherwise:expr)) => {
        $crate::__select!(@match $new (select => select.select_timeout($timeout)) $done ($otherwise))
    };
    (@match ($new:expr) ($select:ident => $selected:expr)
        ($({ $kind:ident $handle:ident $index:ident ($operation:ident => $result:pat = $do:expr) $body:expr })*)
        ($otherwise:expr)
    ) => {{
        // Made after the handles and dropped before the bodies, which may change the values of
        // which the handles are parts.
        let (selected, ($($index,)*)) = {
            let mut $select = $new;
            $(let $index = $select.$kind($handle);)*
            let selected = $selected;
            (selected, ($($index,)*))
        };
        let which = selected.as_ref().ok().map($crate::channel::SelectedOperation::index);
        $(if which == ::std::option::Option::Some($index) {
            // Moved as a whole: a partial move would keep the rest until the end of the block.
            let $operation = selected.unwrap();
            let $result = $do;
            $body
        } else)* {
            ::std::mem::drop(selected);
            $otherwise
        }
    }};
}
