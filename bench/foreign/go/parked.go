package main

import (
	"fmt"
	"sync"
)

// parked: goroutines that wait for a channel to be closed. Memory is given back before each part of
// them, in time that does not count.
func runParked(j job) {
	// How many goroutines come at a time, and about what one takes in bytes.
	const part, bytes = 10_000, 2_816
	many, fewer := 1_000_000, 100_000
	if j.isQuick() {
		many, fewer = 20_000, 10_000
	}
	var all crowd
	reserve := newReserve(bytes * many)
	before := memory()
	var spent cost
	for there := part; there <= many; there += part {
		reserve.release(bytes * part)
		spent = spent.plus(costOf(func() { all.park(part) }))
		// In place of the released memory, this process now holds goroutines.
		held := func() float64 { return (memory() - before + float64(bytes*there)) / float64(there) }
		one := spent.dividedBy(float64(there))
		if there == fewer {
			fmt.Printf("bytes_100k %.6f\npark_ns_100k %.6f\n", held(), one.ns)
		}
		if there == many {
			fmt.Printf("bytes %.6f\npark_ns %.6f\npark_cpu_ns %.6f\n", held(), one.ns, one.cpuNs)
		}
	}
	wake := costOf(all.wake).dividedBy(float64(many))
	warm := costOf(func() { all.park(fewer) }).dividedBy(float64(fewer))
	wakeFewer := costOf(all.wake).dividedBy(float64(fewer))
	warmPart := costOf(func() { all.park(part) }).dividedBy(part)
	all.wake()
	fmt.Printf("wake_ns %.6f\nwake_cpu_ns %.6f\n", wake.ns, wake.cpuNs)
	fmt.Printf("warm_park_ns %.6f\nwake_ns_100k %.6f\n", warm.ns, wakeFewer.ns)
	fmt.Printf("warm_park_ns_10k %.6f\n", warmPart.ns)
}

// Goroutines that wait.
type crowd struct {
	gate chan struct{}
	done sync.WaitGroup
}

// Starts `more` goroutines, and returns when all of them wait.
func (c *crowd) park(more int) {
	if c.gate == nil {
		c.gate = make(chan struct{})
	}
	gate := c.gate
	var there sync.WaitGroup
	there.Add(more)
	c.done.Add(more)
	for i := 0; i < more; i++ {
		go func() {
			defer c.done.Done()
			there.Done()
			<-gate
		}()
	}
	there.Wait()
}

// Wakes all goroutines, and returns when they have ended.
func (c *crowd) wake() {
	close(c.gate)
	c.gate = nil
	c.done.Wait()
}
