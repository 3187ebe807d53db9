//! The `Iterator` implementation of coroutines that only yield values. Knows no switch.

use core::iter::FusedIterator;

use crate::coroutine::Coroutine;
use crate::stack::Stack;

/// A coroutine that takes no values in and returns none is an iterator over the values that it
/// yields. This turns recursion into iteration.
///
/// ```
/// # use sinew_coroutine::{Coroutine, MmapStack, Suspender};
/// enum Tree {
///     Leaf(u32),
///     Node(Vec<Tree>),
/// }
///
/// fn visit(tree: &Tree, out: &Suspender<(), u32>) {
///     match tree {
///         Tree::Leaf(value) => out.suspend(*value),
///         Tree::Node(children) => children.iter().for_each(|child| visit(child, out)),
///     }
/// }
///
/// use Tree::{Leaf, Node};
/// let tree = Node(vec![Leaf(1), Node(vec![Leaf(2), Leaf(3)]), Leaf(4)]);
/// // The coroutine must own the tree. To share a tree with it, use an `Rc`.
/// let leaves = Coroutine::new(MmapStack::new(64 * 1024)?, move |out, ()| visit(&tree, out));
/// assert_eq!(leaves.map(|leaf| leaf * 10).collect::<Vec<_>>(), [10, 20, 30, 40]);
/// # Ok::<(), std::io::Error>(())
/// ```
impl<Out: 'static, S: Stack> Iterator for Coroutine<(), Out, (), S> {
    type Item = Out;

    fn next(&mut self) -> Option<Out> {
        self.try_resume(()).ok()?.yielded()
    }
}

impl<Out: 'static, S: Stack> FusedIterator for Coroutine<(), Out, (), S> {}
