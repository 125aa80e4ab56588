import { orders, reply } from "../child.ts";
import { RawClient, startReceiver } from "../baseline/raw-http.ts";
import { RoundTrips, type Load } from "./round-trip-ledger.ts";

/**
 * Load generator and webhook endpoint in one process: a request goes out, its event comes back. First it sends the ports of its
 * webhook endpoints; then each load that it receives is answered with the result.
 */
const { receivers } = await orders<{ readonly receivers: number }>();
let current: RoundTrips | undefined;
const started = await Promise.all(Array.from({ length: receivers }, () => startReceiver((body) => current?.onBody(body))));
process.on("message", (load: Load) => {
  current = new RoundTrips(load, (port) => new RawClient(port));
  void current.run().then(reply);
});
reply({ ports: started.map(({ port }) => port) });
