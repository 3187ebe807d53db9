package main

import (
	"fmt"
	"time"
)

// pool_idle and idle: the processor time of the process in a while without work, after a round of
// pool_submit and a moment to settle.
func runIdle(j job) {
	submitRound()
	time.Sleep(100 * time.Millisecond)
	quiet := cpuTime()
	if j.isQuick() {
		time.Sleep(300 * time.Millisecond)
	} else {
		time.Sleep(3 * time.Second)
	}
	fmt.Printf("cpu_ms %.6f\n", float64((cpuTime()-quiet).Nanoseconds())/1e6)
}
