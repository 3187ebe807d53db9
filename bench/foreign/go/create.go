package main

import (
	"fmt"
	"iter"
)

// create: a new iter.Pull each time, run to its end without yielding. The runtime keeps the
// finished goroutine with its stack and gives it to the next one; the program has nothing to do for
// that.
func runCreate(j job) {
	start := uint64(0)
	ns := j.nsPerOp(func(n uint64) {
		sum := uint64(0)
		for i := start; i < start+n; i++ {
			next, stop := iter.Pull(func(yield func(uint64) bool) { sum += i })
			next()
			stop()
		}
		checkSum(sum, start, n)
		start += n
	})
	fmt.Printf("ns %.6f\n", ns)
}
