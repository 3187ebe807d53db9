//! The macros: what is written as arms becomes a [`Select`](super::Select), and a match on what was selected. Knows nothing that users could not write.

/// Of several operations on channels, does one: the first that can be done, or by chance one of those that can be now. Waits until there is
/// one. With the syntax of crossbeam-channel's macro of the same name:
///
/// - `recv(receiver) -> result => body`: the result is that of [`recv`](crate::channel::Receiver::recv).
/// - `send(sender, message) -> result => body`: the result is that of [`send`](crate::channel::Sender::send). The message is made when it is clear
///   that this is the one, and not at all otherwise.
/// - `default => body`, at most once: if none can be done now, that is, if there was a moment at
///   which none of them could be done.
/// - `default(timeout) => body` instead: if none could be done for so long, a
///   [`Duration`](std::time::Duration).
///
/// An arm that receives from a channel of capacity 0 and meets another `select` waits for the message of
/// that one, [whatever the `default`](crate::channel#capacity-0-and-select).
///
/// The macro is an expression: its value is that of the body. An operation on a channel whose other side is gone can be done, and its result is
/// an error.
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
///             default(Duration::from_secs(60)) => panic!("nobody came"),
///         }
///     }
/// });
/// (1..=4).for_each(|number| numbers.send(number).unwrap());
/// drop(quit);
/// assert_eq!(adder.join().unwrap(), 10);
/// ```
///
/// A handle is borrowed until the operation is done, and not by the bodies, which may change it, or what it is part of:
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
/// Without any arm it waits for ever; with `default` alone, it does that. It is not stopped by cancellation:
/// [`Select::select_cancellable`](crate::channel::Select::select_cancellable) is.
#[macro_export]
macro_rules! select {
    ($($arms:tt)*) => {
        $crate::__select!(@begin ($crate::channel::Select::new()) $($arms)*)
    };
}

/// [`select!`](crate::select), but of those that can be done now the first one is done.
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

/// Takes the arms one by one, each with a variable for its handle and one for its index, and then writes out what they make.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@begin ($new:expr) $($arms:tt)*) => {
        $crate::__select!(@arms ($new) () () $($arms)*)
    };

    // Nothing is left.
    (@arms $new:tt $done:tt $default:tt) => {
        $crate::__select!(@run $new $done $default)
    };

    // What to receive. The body is a block, or ends with a comma or with all.
    (@arms $new:tt $done:tt $default:tt recv($handle:expr $(,)?) -> $result:pat => $body:block, $($rest:tt)*) => {
        $crate::__select!(@recv $new $done $default ($handle) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt recv($handle:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::__select!(@recv $new $done $default ($handle) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt recv($handle:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@recv $new $done $default ($handle) ($result) ($body) $($($rest)*)?)
    };

    // What to send.
    (@arms $new:tt $done:tt $default:tt send($handle:expr, $message:expr $(,)?) -> $result:pat => $body:block, $($rest:tt)*) => {
        $crate::__select!(@send $new $done $default ($handle) ($message) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt send($handle:expr, $message:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::__select!(@send $new $done $default ($handle) ($message) ($result) ($body) $($rest)*)
    };
    (@arms $new:tt $done:tt $default:tt send($handle:expr, $message:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@send $new $done $default ($handle) ($message) ($result) ($body) $($($rest)*)?)
    };

    // What to do otherwise.
    (@arms $new:tt $done:tt () default $(($($timeout:expr)? $(,)?))? => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $new $done (($($($timeout)?)?) $body) $($rest)*)
    };
    (@arms $new:tt $done:tt () default $(($($timeout:expr)? $(,)?))? => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $new $done (($($($timeout)?)?) $body) $($rest)*)
    };
    (@arms $new:tt $done:tt () default $(($($timeout:expr)? $(,)?))? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $new $done (($($($timeout)?)?) $body) $($($rest)*)?)
    };

    // What is wrong with an arm.
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

    // A match keeps what the handle may be part of until all is over.
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

    // All is written out.
    (@run $new:tt () ()) => {
        loop {
            $crate::fiber::park();
        }
    };
    (@run $new:tt () (() $otherwise:expr)) => {
        $otherwise
    };
    (@run $new:tt $done:tt ()) => {
        $crate::__select!(@match $new (select => Ok::<_, ()>(select.select())) $done (::std::unreachable!("it waits for ever")))
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
        // Younger than the handles, and gone before the bodies, which may change what the handles are part of.
        let (selected, ($($index,)*)) = {
            let mut $select = $new;
            $(let $index = $select.$kind($handle);)*
            let selected = $selected;
            (selected, ($($index,)*))
        };
        let which = selected.as_ref().ok().map($crate::channel::SelectedOperation::index);
        $(if which == ::std::option::Option::Some($index) {
            // It is moved as a whole, or a part of it would be there until the end.
            let $operation = selected.unwrap();
            let $result = $do;
            $body
        } else)* {
            ::std::mem::drop(selected);
            $otherwise
        }
    }};
}
