package main

// spawn_seq: a goroutine starts another one, which sends its number and ends, and then the next.
func runSpawnSeq(j job) {
	j.costPerOp(func(n uint64) {
		sum := uint64(0)
		number := make(chan uint64)
		for i := uint64(0); i < n; i++ {
			go func() { number <- i }()
			sum += <-number
		}
		checkSum(sum, 0, n)
	}).print()
}
