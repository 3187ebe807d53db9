package main

import "time"

// One measurement, as the command line asks for it.
type job struct {
	threads int
	target  time.Duration
}

// Whether it is only to be seen that everything works: workloads of a fixed size are smaller then.
func (j job) isQuick() bool {
	return j.target < 100*time.Millisecond
}

// Runs batch(n) with n doubling until it lasts for the job's target: that was the warm-up and the search for
// n. Then the same n again, until a run lasts long enough; that run is the measurement.
func (j job) nsPerOp(batch func(n uint64)) float64 {
	timed := func(n uint64) time.Duration {
		start := time.Now()
		batch(n)
		return time.Since(start)
	}
	n := uint64(1)
	for timed(n) < j.target {
		n *= 2
	}
	for ; ; n *= 2 {
		if taken := timed(n); taken >= j.target {
			return float64(taken.Nanoseconds()) / float64(n)
		}
	}
}

// The values that came back must add up to start + (start + 1) + ..., n of them; unsigned, so wrapping.
func checkSum(sum, start, n uint64) {
	expected := n * (start + (n-1)/2)
	if n%2 == 0 {
		expected = n / 2 * (2*start + n - 1)
	}
	if sum != expected {
		panic("the values that came back do not add up")
	}
}
