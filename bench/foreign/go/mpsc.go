package main

// mpsc: four goroutines send to one by a channel with room for 1,024.
func runMpsc(j job) {
	messages := uint64(5_000_000)
	if j.isQuick() {
		messages = 100_000
	}
	costPerMessage(j, messages, mpscRound).print()
}

// Times one message. `round` sends the given number of messages, 0, 1, 2, ..., and returns the sum
// of those that arrived.
func costPerMessage(j job, messages uint64, round func(messages uint64) uint64) cost {
	all := j.costPerOp(func(rounds uint64) {
		for range rounds {
			checkSum(round(messages), 0, messages)
		}
	})
	return all.dividedBy(float64(messages))
}

// The sum of what has arrived.
func mpscRound(messages uint64) uint64 {
	channel := make(chan uint64, 1_024)
	sendShares(channel, 4, messages)
	sum := uint64(0)
	for message := range channel {
		sum += message
	}
	return sum
}
