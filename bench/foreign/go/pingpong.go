package main

// pingpong: two goroutines send back and forth by two channels with room for one.
func runPingpong(j job) {
	j.costPerOp(func(n uint64) {
		there, back := make(chan uint64, 1), make(chan uint64, 1)
		go func() {
			for value := range there {
				back <- value
			}
			close(back)
		}()
		sum := uint64(0)
		for i := range n {
			there <- i
			sum += <-back
		}
		close(there)
		<-back
		checkSum(sum, 0, n)
	}).print()
}
