import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * A bare coroutine: the continuation under Java's virtual threads. It is internal to the runtime, so
 * the program is started with that package exported. The compiler may be older than the runtime, so
 * the program reaches it by method handles, which the just-in-time compiler inlines because they are
 * constants.
 */
final class Coroutine {
    private static final MethodHandle CREATE;
    private static final MethodHandle RUN;
    private static final MethodHandle YIELD;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            Class<?> scopeClass = Class.forName("jdk.internal.vm.ContinuationScope");
            Class<?> type = Class.forName("jdk.internal.vm.Continuation");
            Object scope = scopeClass.getConstructor(String.class).newInstance("bench");
            MethodType constructor = MethodType.methodType(void.class, scopeClass, Runnable.class);
            CREATE = lookup.findConstructor(type, constructor)
                    .bindTo(scope).asType(MethodType.methodType(Object.class, Runnable.class));
            RUN = lookup.findVirtual(type, "run", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Object.class));
            YIELD = lookup.findStatic(type, "yield", MethodType.methodType(boolean.class, scopeClass)).bindTo(scope);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Object continuation;

    Coroutine(Runnable body) {
        try {
            continuation = (Object) CREATE.invokeExact(body);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Runs the body until it suspends or ends. */
    void resume() {
        try {
            RUN.invokeExact(continuation);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Returns to the resumer. The body calls it. */
    static void suspend() {
        try {
            boolean resumed = (boolean) YIELD.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
