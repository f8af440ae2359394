import io.grpc.testing.integration.TestServiceClient;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Runs cases of grpc-java's interoperability client, which does one and ends, in one process: Cases HOST PORT ENGINE CASE... */
public final class Cases {
  public static void main(String[] args) {
    boolean isWell = true;
    for (int index = 3; index < args.length; index++) {
      try {
        run(args[index], args[0], args[1], args[2]);
        System.out.println("ok " + args[index]);
      } catch (InvocationTargetException failure) {
        isWell = false;
        System.out.println("not ok " + args[index]);
        failure.getCause().printStackTrace(System.out);
      } catch (ReflectiveOperationException failure) {
        throw new IllegalStateException("TestServiceClient is not as it was", failure);
      }
    }
    System.exit(isWell ? 0 : 1);
  }

  private static void run(String name, String host, String port, String engine) throws ReflectiveOperationException {
    var constructor = TestServiceClient.class.getDeclaredConstructor();
    constructor.setAccessible(true);
    var client = constructor.newInstance();
    String[] options = {
      "--server_host=" + host,
      "--server_port=" + port,
      "--use_tls=false",
      "--use_okhttp=" + engine.equals("okhttp"),
      "--test_case=" + name,
    };
    method("parseArgs", String[].class).invoke(client, (Object) options);
    method("setUp").invoke(client);
    try {
      method("run").invoke(client);
    } finally {
      method("tearDown").invoke(client);
    }
  }

  private static Method method(String name, Class<?>... parameters) throws NoSuchMethodException {
    var method = TestServiceClient.class.getDeclaredMethod(name, parameters);
    method.setAccessible(true);
    return method;
  }
}
