package main

import "fmt"

// chan: a goroutine sends to itself by a channel that has room. Go has no channel without a bound.
func runChan(j job) {
	ns := j.nsPerOp(func(n uint64) {
		channel := make(chan uint64, 128)
		sum := uint64(0)
		for i := range n {
			channel <- i
			sum += <-channel
		}
		checkSum(sum, 0, n)
	})
	fmt.Printf("ns %.6f\n", ns)
}
