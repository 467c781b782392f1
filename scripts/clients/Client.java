import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** The client of the JDK, as scripts/clients.mjs has it; arguments and words are those of client.go. */
public class Client {
    public static void main(String[] args) throws Exception {
        var lanes = Integer.parseInt(args[1]);
        var trust = SSLContext.getInstance("TLS");
        trust.init(null, new TrustManager[] {new AnyCertificate()}, null);
        var client = HttpClient.newBuilder().sslContext(trust).build();
        var body = args[2].equals("POST") ? BodyPublishers.ofByteArray(new byte[2000]) : BodyPublishers.noBody();
        var request = HttpRequest.newBuilder(URI.create(args[0])).method(args[2], body).build();
        var asked = new AtomicInteger();
        var unserved = new AtomicInteger(lanes);
        Map<String, Integer> lost = new TreeMap<>();
        var all = new Thread[lanes];
        for (var lane = 0; lane < lanes; lane++) {
            all[lane] = new Thread(() -> {
                var isServed = false;
                while (true) {
                    String why = null;
                    try {
                        asked.incrementAndGet();
                        var response = client.send(request, BodyHandlers.ofString());
                        if (response.statusCode() != 200) why = "status " + response.statusCode();
                    } catch (ConnectException refused) {
                        return;
                    } catch (Exception error) {
                        why = error.toString();
                    }
                    if (why != null) {
                        synchronized (lost) {
                            lost.merge(why.replace('"', '\''), 1, Integer::sum);
                        }
                    } else if (!isServed) {
                        isServed = true;
                        if (unserved.decrementAndGet() == 0) System.out.println("serving");
                    }
                    try {
                        Thread.sleep((long) (Math.random() * 40));
                    } catch (InterruptedException interrupted) {
                        return;
                    }
                }
            });
            all[lane].start();
        }
        for (var thread : all) thread.join();
        var losses = new StringBuilder();
        lost.forEach((why, count) -> losses.append(losses.isEmpty() ? "" : ",").append('"').append(why).append("\":").append(count));
        System.out.println("{\"asked\":" + asked + ",\"lost\":{" + losses + "}}");
        System.exit(0);
    }

    /** With this one, unlike a plain X509TrustManager, the name in the certificate is not compared either. */
    private static final class AnyCertificate extends X509ExtendedTrustManager {
        public void checkClientTrusted(java.security.cert.X509Certificate[] chain, String type) {}
        public void checkServerTrusted(java.security.cert.X509Certificate[] chain, String type) {}
        public void checkClientTrusted(java.security.cert.X509Certificate[] chain, String type, java.net.Socket socket) {}
        public void checkServerTrusted(java.security.cert.X509Certificate[] chain, String type, java.net.Socket socket) {}
        public void checkClientTrusted(java.security.cert.X509Certificate[] chain, String type, javax.net.ssl.SSLEngine engine) {}
        public void checkServerTrusted(java.security.cert.X509Certificate[] chain, String type, javax.net.ssl.SSLEngine engine) {}
        public java.security.cert.X509Certificate[] getAcceptedIssuers() {
            return new java.security.cert.X509Certificate[0];
        }
    }
}
