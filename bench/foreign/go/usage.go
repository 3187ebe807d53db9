package main

import (
	"syscall"
	"time"
)

// User and system time of all threads.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(1, err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
