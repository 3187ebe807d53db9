package main

import (
	"fmt"
	"iter"
)

// switch: a sequence that passes out 0, 1, 2, ..., pulled value by value. iter.Pull is Go's bare
// coroutine: its next() switches straight to the other goroutine and back, without the scheduler.
func runSwitch(j job) {
	next, stop := iter.Pull(func(yield func(uint64) bool) {
		for i := uint64(0); yield(i); i++ {
		}
	})
	defer stop()
	start := uint64(0)
	roundTrip := j.nsPerOp(func(n uint64) {
		sum := uint64(0)
		for i := uint64(0); i < n; i++ {
			value, _ := next()
			sum += value
		}
		checkSum(sum, start, n)
		start += n
	})
	fmt.Printf("ns %.6f\n", roundTrip/2)
}
