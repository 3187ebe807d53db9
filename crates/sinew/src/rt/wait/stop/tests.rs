//! Tests of nodes, without waiters.

use std::panic::Location;
use std::sync::Arc;
use std::thread;

use super::super::reason::WaitKind;
use super::super::thread_block::ThreadBlock;
use super::super::word::Ends;
use super::{Member, Node, What, Why};

#[track_caller]
fn why(reason: &'static str) -> Arc<Why> {
    Arc::new(Why { what: What::Token, by: Location::caller(), reason: Some(reason.into()) })
}

fn reason(node: &Node) -> Option<String> {
    node.why()?.reason.as_deref().map(str::to_owned)
}

#[test]
fn cancelling_reaches_all_below_and_no_other_node() {
    let root = Node::root();
    let [left, right] = [(); 2].map(|()| Node::below([root.clone()]));
    let leaf = Node::below([left.clone()]);
    left.cancel(&why("left"));
    assert!(left.is_cancelled() && leaf.is_cancelled());
    assert!(!root.is_cancelled() && !right.is_cancelled());
    root.cancel(&why("root"));
    assert!(right.is_cancelled());
    let reasons = [&left, &leaf, &right].map(|node| reason(node));
    assert_eq!(reasons, ["left", "left", "root"].map(|name| Some(name.to_owned())), "the first one stands");
}

#[test]
fn a_node_below_one_that_is_cancelled_is_cancelled() {
    let root = Node::root();
    root.cancel(&why("early"));
    let late = Node::below([Node::root(), root]);
    assert_eq!(reason(&late).as_deref(), Some("early"));
}

#[test]
fn a_joint_is_cancelled_by_either() {
    for first in [0, 1] {
        let above = [(); 2].map(|()| Node::root());
        let joint = Node::below(above.clone());
        assert!(above.iter().all(|node| joint.is_below(node)));
        above[first].cancel(&why("one of two"));
        assert!(joint.is_cancelled() && !above[1 - first].is_cancelled());
    }
}

#[test]
fn chains_may_be_longer_than_a_stack_is_deep() {
    const LENGTH: usize = 100_000;
    for is_dropped_from_above in [false, true] {
        let mut chain = vec![Node::root()];
        for _ in 0..LENGTH {
            chain.push(Node::below(chain.last().cloned()));
        }
        chain[0].cancel(&why("all"));
        assert!(chain.iter().all(|node| node.is_cancelled()));
        if is_dropped_from_above {
            chain.reverse();
        }
        let last = chain.pop().unwrap();
        drop(chain);
        drop(last);
    }
}

#[test]
fn what_is_gone_is_not_kept() {
    let root = Node::root();
    for _ in 0..100_000 {
        drop(Node::below([root.clone()]));
    }
    let wide: Vec<_> = (0..1_000).map(|_| Node::below([root.clone()])).collect();
    assert_eq!(root.counts(), (1_000, 0));
    root.cancel(&why("wide"));
    assert!(wide.iter().all(|node| node.is_cancelled()));
    drop(wide);
    assert_eq!((root.counts(), Arc::strong_count(&root)), ((0, 0), 1));
}

#[test]
fn a_member_that_has_left_is_not_poked() {
    let block: &'static ThreadBlock = Box::leak(Box::new(ThreadBlock::new()));
    let node = Node::root();
    let stays = node.enrol(Member::new(block));
    let leaves = node.enrol(Member::new(block));
    assert_eq!(node.counts(), (0, 2));
    drop((leaves, stays));
    assert_eq!(node.counts(), (0, 0));
    let waiter = block.begin_wait(WaitKind::Sleep.alone(), Ends::EventOrCancel);
    node.cancel(&why("no member"));
    assert!(block.is_waiting(waiter), "no member was poked");
    node.enrol_for_good(Member::new(block));
    node.poke_all();
    assert!(!block.is_waiting(waiter));
}

#[test]
fn nodes_are_below_those_that_they_were_made_below() {
    let [one, other] = [Node::root(), Node::root()];
    let child = Node::below([one.clone()]);
    let grandchild = Node::below([child.clone(), other.clone()]);
    assert!([&one, &child, &other].into_iter().all(|node| grandchild.is_below(node)));
    assert!(child.is_below(&one) && !child.is_below(&other) && !one.is_below(&child));
    assert!(!grandchild.is_below(&grandchild));
}

#[test]
fn many_threads_cancel_and_make_at_once() {
    for _ in 0..50 {
        let root = Node::root();
        let makers = [(); 4].map(|()| {
            let root = root.clone();
            thread::spawn(move || (0..200).map(|_| Node::below([root.clone()])).collect::<Vec<_>>())
        });
        let cancellers = [(); 2].map(|()| {
            let root = root.clone();
            thread::spawn(move || {
                root.cancel(&why("at once"));
                assert!(root.is_cancelled());
            })
        });
        for canceller in cancellers {
            canceller.join().unwrap();
        }
        for maker in makers {
            assert!(maker.join().unwrap().iter().all(|node| node.is_cancelled()));
        }
        assert_eq!(root.counts(), (0, 0));
    }
}
