import java.util.function.LongConsumer;

/** One measurement, as the command line describes it. */
record Job(int threads, long targetNanos) {
    /**
     * Runs {@code batch(n)}, doubling n until a run lasts for the target: that is the warm-up (the
     * compiler's too) and the search for n. Then runs the same n again, until a run lasts long
     * enough; that run is the measurement.
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

    /** Checks that the values that came back add up to start + (start + 1) + ..., n of them; wrapping. */
    static void checkSum(long sum, long start, long n) {
        long expected = n % 2 == 0 ? n / 2 * (2 * start + n - 1) : n * (start + (n - 1) / 2);
        if (sum != expected) {
            throw new AssertionError("the values that came back do not add up");
        }
    }
}
