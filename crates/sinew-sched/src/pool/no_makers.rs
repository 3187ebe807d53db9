//! Stands in for the threads that make what belongs to a node: the machine has one node. Knows no
//! group.

use sinew_topology::Pinning;

use super::error::BuildError;

/// Has `make` called for all groups at once.
pub(super) fn make_on_nodes<T>(
    _pinning: &Pinning,
    groups: &[usize],
    make: impl Fn(&[usize]) -> Result<Vec<T>, BuildError>,
) -> Result<Vec<T>, BuildError> {
    make(groups)
}
