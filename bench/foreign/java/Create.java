import java.util.Locale;

/**
 * create: a new continuation each time, run to its end without suspending. A continuation runs on its
 * carrier's stack and is copied to the heap only when it suspends, so there is no stack to reuse.
 */
final class Create {
    private long sum;
    private long start;

    private Create() {}

    static void run(Job job) {
        Create state = new Create();
        System.out.printf(Locale.ROOT, "ns %.6f%n", job.nsPerOp(state::lives));
    }

    private void lives(long n) {
        sum = 0;
        for (long i = start; i < start + n; i++) {
            long own = i;
            new Coroutine(() -> sum += own).resume();
        }
        Job.checkSum(sum, start, n);
        start += n;
    }
}
