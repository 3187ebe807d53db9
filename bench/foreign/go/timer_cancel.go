package main

import (
	"fmt"
	"time"
)

// A timer is set that is to call back in an hour, and stopped.
func runTimerCancel(j job) {
	cost := j.costPerOp(func(n uint64) {
		for range n {
			if !time.AfterFunc(time.Hour, func() {}).Stop() {
				panic("it was not stopped")
			}
		}
	})
	fmt.Printf("ns %v\n", cost.ns)
}
