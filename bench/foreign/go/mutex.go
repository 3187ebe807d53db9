package main

import (
	"runtime"
	"sync"
)

// A number that goroutines count up under a lock.
type counter struct {
	mutex sync.Mutex
	count int
}

// mutex: goroutines that lock the same mutex, count up, and unlock it.
func runMutex(j job) {
	mutexRounds(j, func(c *counter, locks int) {
		for range locks {
			c.mutex.Lock()
			c.count++
			c.mutex.Unlock()
		}
	})
}

// mutex_yield: the same, yielding before the unlock.
func runMutexYield(j job) {
	mutexRounds(j, func(c *counter, locks int) {
		for range locks {
			c.mutex.Lock()
			c.count++
			runtime.Gosched()
			c.mutex.Unlock()
		}
	})
}

// Times one lock. `one` is what a goroutine does in a round.
func mutexRounds(j job, one func(c *counter, locks int)) {
	const goroutines = 1_000
	locks := 1_000
	if j.isQuick() {
		locks = 100
	}
	round := j.costPerOp(func(rounds uint64) {
		for range rounds {
			var c counter
			together(goroutines, func(int) { one(&c, locks) })
			if c.count != goroutines*locks {
				panic("the count is wrong")
			}
		}
	})
	round.dividedBy(float64(goroutines * locks)).print()
}
