package main

import (
	"fmt"
	"sync"
)

// How many children an inner goroutine has.
const skynetChildren = 10

// skynet_join: a tree of goroutines, each of which starts ten and waits for them.
func runSkynetJoin(j job) {
	tree := skynetTrees(j, func(leaves uint64) uint64 { return skynet(0, leaves) })
	fmt.Printf("ms %.6f\ncpu_ms %.6f\n", tree.ns/1e6, tree.cpuNs/1e6)
}

// Returns the cost of one tree. `sum` gets the number of its leaves and returns the result.
func skynetTrees(j job, sum func(leaves uint64) uint64) cost {
	leaves := uint64(1_000_000)
	if j.isQuick() {
		leaves = 10_000
	}
	return j.costPerOp(func(n uint64) {
		for range n {
			checkSum(sum(leaves), 0, leaves)
		}
	})
}

// Returns the sum of the leaves from the first one on. With one leaf, the goroutine is a leaf
// itself.
func skynet(first, leaves uint64) uint64 {
	if leaves == 1 {
		return first
	}
	var sums [skynetChildren]uint64
	var group sync.WaitGroup
	group.Add(skynetChildren)
	for i := range sums {
		go func() {
			defer group.Done()
			sums[i] = skynet(first+uint64(i)*(leaves/skynetChildren), leaves/skynetChildren)
		}()
	}
	group.Wait()
	total := uint64(0)
	for _, sum := range sums {
		total += sum
	}
	return total
}
