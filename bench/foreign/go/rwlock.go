package main

import "sync"

// Words that goroutines read and write under a lock.
type shared struct {
	lock  sync.RWMutex
	words [4]uint64
}

// rwlock: goroutines that share a lock for readers and writers; one operation in a hundred writes.
func runRWLock(j job) {
	const goroutines, writeEvery = 100, 100
	each := 10_000
	if j.isQuick() {
		each = 1_000
	}
	round := j.costPerOp(func(rounds uint64) {
		for range rounds {
			var s shared
			together(goroutines, func(number int) { s.operate(number*each, (number+1)*each, writeEvery) })
			for _, word := range s.words {
				if word != uint64(goroutines*each/writeEvery) {
					panic("a write is missing")
				}
			}
		}
	})
	round.dividedBy(float64(goroutines * each)).print()
}

// Does the operations with these numbers.
func (s *shared) operate(first, end, writeEvery int) {
	sum := uint64(0)
	for operation := first; operation < end; operation++ {
		if operation%writeEvery == 0 {
			s.lock.Lock()
			for i := range s.words {
				s.words[i]++
			}
			s.lock.Unlock()
		} else {
			s.lock.RLock()
			for _, word := range s.words {
				sum += word
			}
			s.lock.RUnlock()
		}
	}
	if sum%uint64(len(s.words)) != 0 {
		panic("a reader has seen half of a write")
	}
}
