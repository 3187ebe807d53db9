import java.util.Locale;

/**
 * switch: one coroutine that passes out 0, 1, 2, ... A continuation carries no value, so the number
 * goes through a field that both sides see.
 */
final class Switch {
    private long value;
    private long start;

    private Switch() {}

    static void run(Job job) {
        Switch state = new Switch();
        Coroutine counter = new Coroutine(state::count);
        double roundTrip = job.nsPerOp(n -> state.pull(counter, n));
        System.out.printf(Locale.ROOT, "ns %.6f%n", roundTrip / 2);
    }

    private void count() {
        for (long i = 0;; i++) {
            value = i;
            Coroutine.suspend();
        }
    }

    private void pull(Coroutine counter, long n) {
        long sum = 0;
        for (long i = 0; i < n; i++) {
            counter.resume();
            sum += value;
        }
        Job.checkSum(sum, start, n);
        start += n;
    }
}
