import java.util.Map;
import java.util.function.Consumer;

/**
 * The Java peer: {@code Main WORKLOAD THREADS [key=value ...]} prints one line {@code metric value} for
 * each metric.
 */
final class Main {
    /** The workloads. Each is in a file of its own and prints its metrics. */
    private static final Map<String, Consumer<Job>> WORKLOADS = Map.of("switch", Switch::run, "create", Create::run);

    private Main() {}

    public static void main(String[] args) {
        if (args.length < 2) {
            fail("usage: Main WORKLOAD THREADS [millis=N]");
        }
        Consumer<Job> workload = WORKLOADS.get(args[0]);
        if (workload == null) {
            fail("the Java peer has no workload '" + args[0] + "'");
        }
        workload.accept(parse(args));
    }

    private static Job parse(String[] args) {
        long millis = 200;
        for (int i = 2; i < args.length; i++) {
            if (!args[i].startsWith("millis=")) {
                fail("unknown setting '" + args[i] + "'");
            }
            millis = Long.parseLong(args[i].substring("millis=".length()));
        }
        return new Job(Integer.parseInt(args[1]), millis * 1_000_000);
    }

    private static void fail(String problem) {
        System.err.println(problem);
        System.exit(2);
    }
}
