package main

import (
	"fmt"
	"time"
)

// timer_cancel: a timer that would call back in an hour is set and stopped.
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
