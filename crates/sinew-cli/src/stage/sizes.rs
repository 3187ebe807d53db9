//! How large and how long chapters may be on this machine. Every limit of size is here, and nowhere
//! else.

use std::path::Path;
use std::time::Duration;

use sinew::coroutine::GuardKind;

use crate::machine::limits;
use crate::machine::memory::Memory;

/// The time of the whole tour. What a chapter does before and after its measured part comes on top.
const TOUR: Duration = Duration::from_secs(19);

/// The time of the whole tour with `--quick`.
const QUICK_TOUR: Duration = Duration::from_millis(1_500);

/// What a waiting fiber takes: a page of its stack, its part of a page table, and its control
/// block. Without optimisation, frames are larger.
const BYTES_PER_FIBER: u64 = if cfg!(debug_assertions) { 20 << 10 } else { 6 << 10 };

/// What a connection takes on both sides: two fibers, and buffers of the kernel.
const BYTES_PER_CONNECTION: u64 = 64 << 10;

/// Address space for a fiber: its stack, with a guard.
const ADDRESSES_PER_FIBER: u64 = if cfg!(debug_assertions) { 300 << 10 } else { 150 << 10 };

/// Mappings that the rest of the process needs, about.
const MAPPINGS_OF_OTHERS: u64 = 2_000;

/// How large chapters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Fibers that wait at the same time.
    pub(crate) fibers: u64,
    /// What sets that number.
    pub(crate) fibers_by: &'static str,
    /// Connections at the same time. Descriptors may leave room for fewer.
    pub(crate) connections: u64,
    /// Fibers that wait for their child, one below the other.
    pub(crate) depth: u64,
    /// Timers, and waits that are cancelled.
    pub(crate) waits: u64,
    /// The time of all chapters.
    pub(crate) tour: Duration,
}

/// What limits the sizes. `None` and `u64::MAX` are no limit.
#[derive(Clone, Copy, Debug)]
struct Room {
    memory: Option<u64>,
    addresses: Option<u64>,
    mappings: u64,
    guards: GuardKind,
    ports: Option<u64>,
}

impl Sizes {
    /// What fits this machine.
    pub(crate) fn of_this_machine(is_quick: bool) -> Self {
        let room = Room {
            memory: Memory::read(Path::new("/")).free(),
            addresses: limits::address_space(),
            mappings: limits::mappings(),
            guards: GuardKind::best(),
            ports: limits::ports(),
        };
        Self::that_fit(room, is_quick)
    }

    fn that_fit(room: Room, is_quick: bool) -> Self {
        let wanted = if is_quick {
            let fibers_by = "as many as `--quick` starts";
            Self { fibers: 20_000, fibers_by, connections: 200, depth: 500, waits: 1_000, tour: QUICK_TOUR }
        } else {
            let fibers_by = "as many as the tour starts at most";
            Self {
                fibers: 1_000_000,
                fibers_by,
                connections: 5_000,
                depth: 10_000,
                waits: 10_000,
                tour: TOUR,
            }
        };
        let (fibers, limit) = room.fibers();
        Self {
            fibers: wanted.fibers.min(fibers),
            fibers_by: if fibers < wanted.fibers { limit } else { wanted.fibers_by },
            connections: wanted.connections.min(room.connections()),
            depth: wanted.depth.min(fibers),
            waits: wanted.waits.min(fibers),
            tour: wanted.tour,
        }
    }
}

impl Room {
    /// Half of what is free, since the other programs of the machine want some too; and what sets
    /// the number.
    fn fibers(self) -> (u64, &'static str) {
        let by_memory = self.memory.map(|bytes| bytes / 2 / BYTES_PER_FIBER);
        let by_addresses = self.addresses.map(|bytes| bytes / 2 / ADDRESSES_PER_FIBER);
        // A guard that is a mapping cuts the memory around it: two mappings for each stack.
        let by_mappings = match self.guards {
            GuardKind::Protection => Some(self.mappings.saturating_sub(MAPPINGS_OF_OTHERS) / 2),
            GuardKind::Advice => None,
        };
        let limits = [
            (by_memory, "as many as half of the free memory has room for"),
            (by_addresses, "as many as the limit of address space has room for (`ulimit -v`)"),
            (
                by_mappings,
                "as many as the limit of mappings has room for (vm.max_map_count, see `sinew doctor`)",
            ),
        ];
        let tightest = limits.into_iter().filter_map(|(count, words)| Some((count?, words))).min();
        tightest.map_or((u64::MAX, ""), |(count, words)| (count.max(100), words))
    }

    /// Each has a fiber on both sides, and closed ones keep their port for a minute.
    fn connections(self) -> u64 {
        let by_memory = self.memory.map(|bytes| bytes / 4 / BYTES_PER_CONNECTION);
        let by_ports = self.ports.map(|ports| ports / 2);
        [by_memory, by_ports, Some(self.fibers().0)].into_iter().flatten().min().unwrap_or(u64::MAX).max(10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Room =
        Room { memory: None, addresses: None, mappings: 65_530, guards: GuardKind::Advice, ports: None };

    #[test]
    fn a_large_machine_has_a_million_fibers() {
        assert_eq!(Sizes::that_fit(LARGE, false).fibers, 1_000_000);
        assert_eq!(Sizes::that_fit(LARGE, true).fibers, 20_000);
    }

    #[test]
    fn each_limit_makes_chapters_smaller() {
        let fibers = |room| Sizes::that_fit(room, false).fibers;
        assert_eq!(fibers(Room { memory: Some(1 << 30), ..LARGE }), (1 << 29) / BYTES_PER_FIBER);
        assert_eq!(fibers(Room { addresses: Some(1 << 30), ..LARGE }), (1 << 29) / ADDRESSES_PER_FIBER);
        assert_eq!(fibers(Room { guards: GuardKind::Protection, ..LARGE }), 31_765);
        let connections = |room| Sizes::that_fit(room, false).connections;
        assert_eq!(connections(Room { ports: Some(1_000), ..LARGE }), 500);
        assert_eq!(connections(Room { memory: Some(64 << 20), ..LARGE }), 256);
    }

    #[test]
    fn no_limit_leaves_nothing_to_show() {
        let none = Room {
            memory: Some(0),
            addresses: Some(0),
            mappings: 0,
            guards: GuardKind::Protection,
            ports: Some(0),
        };
        let sizes = Sizes::that_fit(none, false);
        assert!([sizes.fibers, sizes.depth, sizes.waits].iter().all(|&size| size >= 100), "{sizes:?}");
        assert_eq!(sizes.connections, 10);
    }
}
