//! The options of a UDP socket.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::udp_socket::UdpSocket;

impl UdpSocket {
    /// Sets whether the socket may send to broadcast addresses.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.handle.get().set_broadcast(broadcast)
    }

    /// Returns the value of [`set_broadcast`](Self::set_broadcast).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.handle.get().broadcast()
    }

    /// Sets whether IPv4 multicast packets loop back to this host.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_multicast_loop_v4(&self, multicast_loop_v4: bool) -> io::Result<()> {
        self.handle.get().set_multicast_loop_v4(multicast_loop_v4)
    }

    /// Returns the value of [`set_multicast_loop_v4`](Self::set_multicast_loop_v4).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.handle.get().multicast_loop_v4()
    }

    /// Sets the time to live of IPv4 multicast packets: how many routers they may pass.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_multicast_ttl_v4(&self, multicast_ttl_v4: u32) -> io::Result<()> {
        self.handle.get().set_multicast_ttl_v4(multicast_ttl_v4)
    }

    /// Returns the value of [`set_multicast_ttl_v4`](Self::set_multicast_ttl_v4).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.handle.get().multicast_ttl_v4()
    }

    /// Sets whether IPv6 multicast packets loop back to this host.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_multicast_loop_v6(&self, multicast_loop_v6: bool) -> io::Result<()> {
        self.handle.get().set_multicast_loop_v6(multicast_loop_v6)
    }

    /// Returns the value of [`set_multicast_loop_v6`](Self::set_multicast_loop_v6).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.handle.get().multicast_loop_v6()
    }

    /// Sets the time to live of packets: how many routers they may pass.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.handle.get().set_ttl(ttl)
    }

    /// Returns the value of [`set_ttl`](Self::set_ttl).
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn ttl(&self) -> io::Result<u32> {
        self.handle.get().ttl()
    }

    /// Joins an IPv4 multicast group on the interface with this address. The system chooses the
    /// interface if the address is unspecified.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn join_multicast_v4(&self, multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.handle.get().join_multicast_v4(multiaddr, interface)
    }

    /// Joins an IPv6 multicast group on the interface with this index. The system chooses the
    /// interface if the index is 0.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.handle.get().join_multicast_v6(multiaddr, interface)
    }

    /// Leaves a group that [`join_multicast_v4`](Self::join_multicast_v4) joined.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn leave_multicast_v4(&self, multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.handle.get().leave_multicast_v4(multiaddr, interface)
    }

    /// Leaves a group that [`join_multicast_v6`](Self::join_multicast_v6) joined.
    ///
    /// # Errors
    ///
    /// Returns any error of the system call.
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.handle.get().leave_multicast_v6(multiaddr, interface)
    }
}
