package main

import (
	"fmt"
	"time"
)

// One measurement, as the command line describes it.
type job struct {
	threads int
	target  time.Duration
}

// Whether the run should only show that everything works: workloads of a fixed size are smaller
// then.
func (j job) isQuick() bool {
	return j.target < 100*time.Millisecond
}

// What one operation takes, in nanoseconds: wall-clock time, and processor time of all threads
// together.
type cost struct {
	ns, cpuNs float64
}

// The cost of one of `parts` parts of the operation.
func (c cost) dividedBy(parts float64) cost {
	return cost{c.ns / parts, c.cpuNs / parts}
}

// The sum of both.
func (c cost) plus(other cost) cost {
	return cost{c.ns + other.ns, c.cpuNs + other.cpuNs}
}

func (c cost) print() {
	fmt.Printf("ns %.6f\ncpu_ns %.6f\n", c.ns, c.cpuNs)
}

// The cost of running work once.
func costOf(work func()) cost {
	before := cpuTime()
	start := time.Now()
	work()
	taken := time.Since(start)
	cpu := cpuTime() - before
	return cost{float64(taken.Nanoseconds()), float64(cpu.Nanoseconds())}
}

// Runs batch(n), doubling n until a run lasts for the job's target: that is the warm-up and the
// search for n. Then runs the same n again, until a run lasts long enough; that run is the
// measurement.
func (j job) costPerOp(batch func(n uint64)) cost {
	target := float64(j.target.Nanoseconds())
	n := uint64(1)
	for costOf(func() { batch(n) }).ns < target {
		n *= 2
	}
	for ; ; n *= 2 {
		if all := costOf(func() { batch(n) }); all.ns >= target {
			return all.dividedBy(float64(n))
		}
	}
}

// The same without processor time.
func (j job) nsPerOp(batch func(n uint64)) float64 {
	return j.costPerOp(batch).ns
}

// Checks that the values that came back add up to start + (start + 1) + ..., n of them; unsigned,
// so wrapping.
func checkSum(sum, start, n uint64) {
	expected := n * (start + (n-1)/2)
	if n%2 == 0 {
		expected = n / 2 * (2*start + n - 1)
	}
	if sum != expected {
		panic("the values that came back do not add up")
	}
}
