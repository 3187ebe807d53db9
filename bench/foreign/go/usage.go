package main

import (
	"os"
	"strconv"
	"strings"
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

// Resident memory and page tables, in bytes.
func memory() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail(1, err)
	}
	bytes := 0.0
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && (fields[0] == "VmRSS:" || fields[0] == "VmPTE:") {
			kibibytes, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				fail(1, err)
			}
			bytes += kibibytes * 1024
		}
	}
	return bytes
}
