//! What can be set for a socket for UDP.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::udp_socket::UdpSocket;

impl UdpSocket {
    /// Whether it may send to all of a network.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.handle.get().set_broadcast(broadcast)
    }

    /// What [`set_broadcast`](Self::set_broadcast) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.handle.get().broadcast()
    }

    /// Whether what is sent to a group of IPv4 comes back here, if this socket is in the group.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_multicast_loop_v4(&self, multicast_loop_v4: bool) -> io::Result<()> {
        self.handle.get().set_multicast_loop_v4(multicast_loop_v4)
    }

    /// What [`set_multicast_loop_v4`](Self::set_multicast_loop_v4) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.handle.get().multicast_loop_v4()
    }

    /// How many routers a packet to a group of IPv4 may pass.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_multicast_ttl_v4(&self, multicast_ttl_v4: u32) -> io::Result<()> {
        self.handle.get().set_multicast_ttl_v4(multicast_ttl_v4)
    }

    /// What [`set_multicast_ttl_v4`](Self::set_multicast_ttl_v4) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.handle.get().multicast_ttl_v4()
    }

    /// Whether what is sent to a group of IPv6 comes back here, if this socket is in the group.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_multicast_loop_v6(&self, multicast_loop_v6: bool) -> io::Result<()> {
        self.handle.get().set_multicast_loop_v6(multicast_loop_v6)
    }

    /// What [`set_multicast_loop_v6`](Self::set_multicast_loop_v6) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.handle.get().multicast_loop_v6()
    }

    /// How many routers a packet may pass.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.handle.get().set_ttl(ttl)
    }

    /// What [`set_ttl`](Self::set_ttl) has set.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn ttl(&self) -> io::Result<u32> {
        self.handle.get().ttl()
    }

    /// Joins a group of IPv4, on the network of this address; any, if it is unspecified.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn join_multicast_v4(&self, multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.handle.get().join_multicast_v4(multiaddr, interface)
    }

    /// Joins a group of IPv6, on the network with this number; any, if it is 0.
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.handle.get().join_multicast_v6(multiaddr, interface)
    }

    /// Leaves a group that was joined by [`join_multicast_v4`](Self::join_multicast_v4).
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn leave_multicast_v4(&self, multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()> {
        self.handle.get().leave_multicast_v4(multiaddr, interface)
    }

    /// Leaves a group that was joined by [`join_multicast_v6`](Self::join_multicast_v6).
    ///
    /// # Errors
    ///
    /// As the kernel has them.
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.handle.get().leave_multicast_v6(multiaddr, interface)
    }
}
