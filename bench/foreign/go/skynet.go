package main

import "fmt"

// skynet: a tree of goroutines, each of which starts ten and receives their sums by a channel: one
// without room, and one with room for all ten.
func runSkynet(j job) {
	tree := skynetTrees(j, skynetByChannels(0))
	fmt.Printf("ms %.6f\ncpu_ms %.6f\n", tree.ns/1e6, tree.cpuNs/1e6)
	tree = skynetTrees(j, skynetByChannels(skynetChildren))
	fmt.Printf("buffered_ms %.6f\nbuffered_cpu_ms %.6f\n", tree.ns/1e6, tree.cpuNs/1e6)
}

// Returns the function that sums up a tree by channels with this room.
func skynetByChannels(room int) func(leaves uint64) uint64 {
	return func(leaves uint64) uint64 {
		root := make(chan uint64, room)
		go skynetSend(root, 0, leaves, room)
		return <-root
	}
}

// Sends the sum of the leaves from the first one on to the parent. With one leaf, the goroutine is
// a leaf itself.
func skynetSend(parent chan<- uint64, first, leaves uint64, room int) {
	if leaves == 1 {
		parent <- first
		return
	}
	children := make(chan uint64, room)
	each := leaves / skynetChildren
	for i := range uint64(skynetChildren) {
		go skynetSend(children, first+i*each, each, room)
	}
	sum := uint64(0)
	for range skynetChildren {
		sum += <-children
	}
	parent <- sum
}
