package main

import (
	"runtime"
	"sync"
)

// pool_yield and yield: goroutines that yield in turn.
func runPoolYield(j job) {
	const tasks = 1_000
	yields := 5_000
	if j.isQuick() {
		yields = 100
	}
	round := j.costPerOp(func(rounds uint64) {
		for i := uint64(0); i < rounds; i++ {
			yieldRound(tasks, yields)
		}
	})
	round.dividedBy(float64(tasks * yields)).print()
}

func yieldRound(tasks, yields int) {
	var group sync.WaitGroup
	group.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			defer group.Done()
			for k := 0; k < yields; k++ {
				runtime.Gosched()
			}
		}()
	}
	group.Wait()
}
