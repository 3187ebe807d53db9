package main

import "sync"

// The tasks of a round.
const poolTasks = 100_000

// pool_submit and spawn_batch_100k: goroutines that end at once, and a wait group for all of them.
func runPoolSubmit(j job) {
	round := j.costPerOp(func(rounds uint64) {
		for i := uint64(0); i < rounds; i++ {
			submitRound()
		}
	})
	round.dividedBy(poolTasks).print()
}

func submitRound() {
	var group sync.WaitGroup
	group.Add(poolTasks)
	for i := 0; i < poolTasks; i++ {
		go group.Done()
	}
	group.Wait()
}
