//! The servers: what the program does when it is started as a server. A peer takes part by one
//! function here, and one entry in the workload's table.

use super::stream::{converse, serve as accept};
use super::talk::Talk;
use super::watch::{Mio, Rustix, Watch};
use super::{epoll, listener};
use crate::peers::{self, Peer};
use crate::runtimes::{self, Flavour};
use may::go;
use sinew::fiber;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long `epoll-busy` searches for events before it sleeps.
const SPIN: Duration = Duration::from_micros(50);

/// A server in this process. It prints its port, and then serves until the process ends.
struct Server {
    peer: &'static Peer,
    serve: fn(&Setting),
}

/// The settings of a server.
struct Setting {
    /// Threads for the work.
    threads: usize,
    /// The flavour of ours.
    flavour: Flavour,
}

/// All servers.
static ALL: [Server; 11] = [
    Server { peer: &peers::SINEW, serve: sinew },
    Server { peer: &peers::SINEW_MIGRATING, serve: sinew },
    Server { peer: &peers::SINEW_SHARED, serve: sinew },
    Server { peer: &peers::SINEW_SHARED_MIGRATING, serve: sinew },
    Server {
        peer: &peers::EPOLL_RAW,
        serve: |setting| event_loops::<Rustix>(setting.threads, Duration::ZERO),
    },
    Server { peer: &peers::EPOLL_BUSY, serve: |setting| event_loops::<Rustix>(setting.threads, SPIN) },
    Server { peer: &peers::EPOLL_MIO, serve: |setting| event_loops::<Mio>(setting.threads, Duration::ZERO) },
    Server { peer: &peers::TOKIO, serve: tokio },
    Server { peer: &peers::TOKIO_CT, serve: |_| tokio_ct() },
    Server { peer: &peers::MAY, serve: may },
    Server { peer: &peers::THREADS, serve: |_| threads() },
];

/// Serves as this peer, for ever.
///
/// # Errors
///
/// The peer has no server here.
pub(crate) fn serve(peer: &Peer, threads: usize) -> Result<(), String> {
    let server = ALL.iter().find(|server| server.peer.name == peer.name);
    let server = server.ok_or_else(|| format!("{} has no server in this program", peer.name))?;
    (server.serve)(&Setting { threads, flavour: peer.flavour() });
    Err("the server has ended".to_owned())
}

/// Prints the port, for the process that has started this one.
fn announced(listener: TcpListener) -> TcpListener {
    println!("{}", listener::port(&listener));
    listener
}

fn sinew(setting: &Setting) {
    runtimes::flavoured(setting.flavour, setting.threads).run(|| {
        let listener = sinew::net::TcpListener::from(announced(listener::one()));
        accept(
            || listener.accept(),
            |(stream, _)| {
                fiber::spawn(move || converse(stream));
            },
        )
    });
}

fn event_loops<W: Watch>(threads: usize, spin: Duration) {
    let mut listeners = listener::sharing(threads);
    let last = announced(listeners.remove(0));
    for listener in listeners {
        thread::spawn(move || epoll::serve::<W>(listener, spin));
    }
    epoll::serve::<W>(last, spin)
}

fn tokio(setting: &Setting) {
    runtimes::in_tokio(&runtimes::tokio(setting.threads), accept_by_tasks());
}

fn tokio_ct() {
    runtimes::tokio_ct().block_on(accept_by_tasks());
}

async fn accept_by_tasks() {
    let listener = announced(listener::one());
    listener.set_nonblocking(true).expect("a socket can be so");
    let listener = tokio::net::TcpListener::from_std(listener).expect("it can be watched");
    loop {
        let (stream, _) = listener.accept().await.expect("it can accept");
        tokio::spawn(converse_by_task(stream));
    }
}

/// Does the same as [`converse`], in a task.
async fn converse_by_task(mut stream: tokio::net::TcpStream) {
    let mut talk = Talk::new();
    while let Ok(bytes @ 1..) = stream.read(talk.room()).await {
        let answers = talk.received(bytes);
        if !answers.is_empty() && stream.write_all(answers).await.is_err() {
            return;
        }
    }
}

fn may(setting: &Setting) {
    runtimes::may(setting.threads).run(|| {
        let listener = runtimes::may_listener(announced(listener::one()));
        accept(
            || listener.accept(),
            |(stream, _)| {
                go!(move || converse(stream));
            },
        )
    });
}

fn threads() {
    let listener = announced(listener::one());
    accept(
        || listener.accept(),
        |(stream, _)| {
            thread::spawn(move || converse(stream));
        },
    )
}

#[cfg(test)]
mod tests {
    use super::{ALL, serve};
    use crate::peers;
    use crate::workloads::http::WORKLOADS;

    #[test]
    fn every_peer_measured_here_has_a_server() {
        let entries = WORKLOADS.iter().flat_map(|workload| workload.all_entries());
        let here = entries.filter(|entry| !matches!(entry.peer.home, peers::Home::Foreign(_)));
        for entry in here {
            assert!(ALL.iter().any(|server| server.peer.name == entry.peer.name), "{}", entry.peer.name);
        }
    }

    #[test]
    fn peers_without_a_server_are_refused() {
        assert!(serve(&peers::RAYON, 1).unwrap_err().contains("rayon has no server"));
    }
}
