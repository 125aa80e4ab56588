import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { deploy } from "../support/system/sources.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { startProxy } from "../support/cuttable-proxy.ts";
import { until } from "../support/until.ts";
import { startHw, type RunningHw } from "./hw.ts";
import { withInstallation } from "./installation.ts";

/** `hw listen`, on a running server and with a real program that receives. */
const headwater = withInstallation();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const code = `export default {
  name: "Listened", props: { http: "$.interface.http" },
  run({ body }) {
    if (body.fail) throw new Error("no stock");
    this.$emit(body, body.channel === undefined ? {} : { name: body.channel });
  },
};`;

interface Created {
  readonly data: { readonly id: string; readonly signing_key: string };
}

/** A source, and a webhook at an address where nothing listens. */
async function connected(name: string, ...channels: readonly string[]) {
  const source = await deploy(headwater, code, {}, { name: `source of ${name}` });
  const { data } = await headwater.json<Created>("webhooks", "create", "http://127.0.0.1:9/hook?a=1", "--name", name);
  for (const channel of channels) await headwater.ok("subscribe", source.id, data.id, ...(channel === "" ? [] : ["--channel", channel]));
  const send = (body: object) =>
    fetch(source.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return { ...data, source: source.id, send };
}

async function receive(status?: () => number): Promise<Receiver> {
  const receiver = await startReceiver(status);
  ends.push(() => receiver.close());
  return receiver;
}

/** Listens until the test ends. */
async function listen(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningHw> {
  const running = startHw({ ...headwater.world, env: { ...headwater.world.env, ...env } }, ["listen", ...args]);
  const stop = async (): Promise<void> => {
    running.interrupt();
    await running.ended();
  };
  ends.push(stop);
  await until(() => /listening: events/.test(running.stderr()), "it listens");
  return running;
}

describe("hw listen", () => {
  it("posts the events of the webhook's channels as they are delivered, signed, and prints each with its response", async () => {
    const { id, signing_key: key, source, send } = await connected("orders", "", "urgent", "$errors");
    const receiver = await receive(() => 202);
    const running = await listen(["orders", "--to", receiver.url, "--signing-key", key]);
    await send({ n: 1, text: "wörld" });
    await send({ n: 2, channel: "other" });
    await send({ n: 3, channel: "urgent" });
    await send({ fail: true });
    await until(() => receiver.received.length === 3, "three events");
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as object);
    expect(bodies).toContainEqual({ n: 1, text: "wörld" });
    expect(bodies).toContainEqual({ n: 3, channel: "urgent" });
    expect(bodies).toContainEqual(expect.objectContaining({ error: expect.objectContaining({ msg: "no stock" }) }));
    for (const { body, headers } of receiver.received) {
      new Webhook(key).verify(body, headers as Record<string, string>); // Each header came once.
      expect(headers["x-pd-emitter-id"]).toBe(source);
    }
    const first = receiver.received.find(({ body }) => body.includes('"n":1'));
    await running.untilPrinted(new RegExp(`^\\S+ ${source} ${String(first?.headers["webhook-id"])} → 202 in \\d+ms$`, "m"));
    await running.untilPrinted(/\[urgent\] \S+ → 202/);
    await running.untilPrinted(/\[\$errors\] \S+ → 202/);

    // The webhook-id, headers and body are those of the delivery itself.
    let delivery = "";
    await until(async () => {
      const attempts = await headwater.json<{ readonly data: readonly { readonly delivery_id: string }[] }>("webhooks", "deliveries", id);
      delivery = attempts.data.find((each) => each.delivery_id.startsWith(`${String(first?.headers["webhook-id"])}.`))?.delivery_id ?? "";
      return delivery !== "";
    }, "the delivery is recorded");
    const { data } = await headwater.json<{
      readonly data: {
        readonly body: string;
        readonly attempts: readonly { readonly request: { readonly headers: readonly { readonly name: string }[] } }[];
      };
    }>("webhooks", "delivery", delivery);
    expect(first?.body).toBe(data.body);
    const names = Object.keys(first?.headers ?? {}).filter((name) => !["host", "connection", "content-length"].includes(name));
    const delivered = data.attempts[0]?.request.headers.map(({ name }) => name) ?? [];
    expect(names.toSorted()).toEqual(delivered.filter((name) => !name.startsWith("trace")).toSorted());
    running.interrupt();
    expect((await running.ended()).code).toBe(130);
  });

  it("goes on while nothing listens at the port, uses the webhook's path, and prints JSON", async () => {
    const { send } = await connected("early", "");
    const server = createServer((request, response) => response.writeHead(request.url === "/hook?a=1" ? 200 : 404).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // Listening on TCP.
    await new Promise((resolve) => server.close(resolve));
    const running = await listen(["early", "--to", String(port), "-o", "json"]);
    expect(running.stderr()).toContain("requests have no signature");
    await send({ n: 1 });
    await running.untilPrinted(new RegExp(`"response_status":null.*"cause":"nothing listens at localhost:${port}"`));
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    ends.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    await send({ n: 2 });
    await running.untilPrinted(/"response_status":200,/);
  });

  it("posts what was emitted while the connection was lost, once", async () => {
    const { send } = await connected("lossy", "");
    const receiver = await receive();
    const proxy = await startProxy(Number(new URL(headwater.apiUrl).port));
    ends.push(() => proxy.close());
    const env = { HEADWATER_URL: `http://127.0.0.1:${proxy.port}`, HEADWATER_API_KEY: headwater.key };
    const running = await listen(["lossy", "--to", receiver.url], env);
    const times = (note: string): number => running.stderr().split(note).length - 1;
    for (const n of [1, 2]) {
      proxy.cut();
      await until(() => times("the connection is lost") === n, "the loss is noted");
      await send({ n });
      await until(() => times("connected again") === n, "it is connected again");
      await until(() => receiver.received.length >= n, "the event arrives");
    }
    await send({ n: 3 });
    await until(() => receiver.received.length >= 3, "the last event arrives");
    expect(receiver.received.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  it("follows all sources of a pattern, and subscriptions that are made in the meantime", async () => {
    const { id, source, send } = await connected("late");
    const receiver = await receive();
    const running = await listen(["late", "--to", receiver.url]);
    expect(running.stderr()).toContain(`nothing is delivered to ${id} yet`);
    await headwater.ok("subscribe", "dc_*", id);
    await until(async () => {
      await send({ n: 1 });
      return receiver.received.length > 0;
    }, "the new subscription is followed");
    expect(receiver.received[0]?.headers["x-pd-emitter-id"]).toBe(source);
  });

  it("says which webhook was meant, and refuses other values", async () => {
    await connected("misspelled");
    const near = await headwater.hw("listen", "mispelled", "--to", "3000");
    expect([near.code, near.stderr]).toEqual([3, expect.stringMatching(/there is no webhook "mispelled"\n.*did you mean misspelled\?/)]);
    // A command that takes things of any kind knows the names of all.
    const any = await headwater.hw("describe", "mispelled");
    expect([any.code, any.stderr]).toEqual([
      3,
      expect.stringMatching(/nothing is named "mispelled"\n.*did you mean misspelled\? searched were: /),
    ]);
    expect((await headwater.hw("listen", "wh_0123456789ab", "--to", "3000")).code).toBe(3);
    expect((await headwater.hw("listen", "misspelled")).code).toBe(2);
    expect((await headwater.hw("listen", "misspelled", "--to", "nowhere")).code).toBe(2);
    const key = await headwater.hw("listen", "misspelled", "--to", "3000", "--signing-key", "whsec_secret");
    expect([key.code, key.stderr.includes("whsec_secret")]).toEqual([2, false]);
  });
});
