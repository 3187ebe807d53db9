import java.util.function.LongConsumer;

/** One measurement, as the command line asks for it. */
record Job(int threads, long targetNanos) {
    /**
     * Runs {@code batch(n)} with n doubling until it lasts for the target: that was the warm-up (the compiler's too) and
     * the search for n. Then the same n again, until a run lasts long enough; that run is the measurement.
     */
    double nsPerOp(LongConsumer batch) {
        long n = 1;
        while (time(batch, n) < targetNanos) {
            n *= 2;
        }
        for (;; n *= 2) {
            long taken = time(batch, n);
            if (taken >= targetNanos) {
                return (double) taken / n;
            }
        }
    }

    private static long time(LongConsumer batch, long n) {
        long start = System.nanoTime();
        batch.accept(n);
        return System.nanoTime() - start;
    }

    /** The values that came back must add up to start + (start + 1) + ..., n of them; wrapping. */
    static void checkSum(long sum, long start, long n) {
        long expected = n % 2 == 0 ? n / 2 * (2 * start + n - 1) : n * (start + (n - 1) / 2);
        if (sum != expected) {
            throw new AssertionError("the values that came back do not add up");
        }
    }
}
