package main

import "sync"

// fib: each number starts a goroutine for the one before it, computes the one before that itself,
// and waits.
func runFib(j job) {
	n := 27
	if j.isQuick() {
		n = 18
	}
	expected, next := uint64(0), uint64(1)
	for i := 0; i < n; i++ {
		expected, next = next, expected+next
	}
	number := j.costPerOp(func(times uint64) {
		for i := uint64(0); i < times; i++ {
			if fib(n) != expected {
				panic("the number is wrong")
			}
		}
	})
	// Each number beyond the first two starts one, which makes one less than the number after the
	// last.
	number.dividedBy(float64(next - 1)).print()
}

func fib(n int) uint64 {
	if n < 2 {
		return uint64(n)
	}
	var child uint64
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		child = fib(n - 1)
	}()
	own := fib(n - 2)
	group.Wait()
	return own + child
}
