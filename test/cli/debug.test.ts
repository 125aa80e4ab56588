import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { deploy, subscribe } from "../support/system/sources.ts";
import { hw, startHw } from "./hw.ts";
import { withInstallation } from "./installation.ts";

/** `hw debug`, on a running server: runs of sources, executed again in a sandbox on this machine. */
const headwater = withInstallation();

interface Answer<Data> {
  readonly data: Data;
}
interface InspectorMessage {
  readonly method?: string;
  readonly params?: { readonly url?: string; readonly sourceMapURL?: string };
}
interface Run {
  readonly id: string;
  readonly status: string;
}

/** Runs a source, and waits until its run is recorded. */
async function runOf(source: string, event: unknown): Promise<string> {
  const { status, body, text } = await headwater.call<Answer<Run>>("POST", `/sources/${source}/runs`, { event });
  expect(status, text).toBe(200);
  const { id } = body.data;
  await until(async () => (await headwater.call("GET", `/sources/${source}/runs/${id}`)).status === 200, "the run is recorded");
  return id;
}

const counting = `export default {
  name: "Counting",
  props: { db: "$.service.db", step: { type: "integer", default: 1 }, timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } } },
  run(event) {
    const count = (this.db.get("count") ?? 0) + this.step;
    console.log("counted", count);
    this.db.set("count", count);
    this.$emit({ count });
    if (event.fails) {
      throw new RangeError("no stock");
    }
    return { count };
  },
};`;

describe("hw debug", () => {
  it("executes a run with its event, props and db, shows what it would emit and store, and finds it equal", async () => {
    const source = await deploy(headwater, counting, { step: 2 }, { name: "debug counting" });
    await runOf(source.id, {});
    const id = await runOf(source.id, { big: "x".repeat(200_000) });
    await runOf(source.id, {}); // The db of now is another one.
    const events = await headwater.ok("events", source.id);
    const printed = await headwater.ok("debug", id, "--event", "{}");
    expect(printed).toContain(`run      ${id} of ${source.id}, by manual`);
    expect(printed).toMatch(/version {2}d_\w+/);
    expect(printed).toMatch(/log {3}counted 4/);
    expect(printed).toMatch(/would emit: .*\{"count":4\}/);
    expect(printed).toContain("would store: db.count = 4");
    expect(printed).toMatch(/^= db +db.count changed \(1 bytes\)$/m);
    expect(printed).toMatch(/^= result +\{"count":4\}$/m);
    expect(await headwater.ok("events", source.id)).toBe(events);
  });

  it("executes a failed run with the event that it received, however large, and compares the error with its line", async () => {
    const source = await deploy(headwater, counting, {}, { name: "debug failing" });
    const id = await runOf(source.id, { fails: true, big: "x".repeat(500_000) });
    const { data } = await headwater.json<Answer<{ readonly is_equal: boolean; readonly comparison: readonly object[] }>>("debug", id);
    expect(data.is_equal).toBe(true);
    expect(data.comparison).toContainEqual({
      aspect: "error",
      recorded: "RangeError: no stock",
      local: "RangeError: no stock",
      is_equal: true,
    });
    expect(data.comparison).toContainEqual(
      expect.objectContaining({ aspect: "error at", recorded: expect.stringMatching(/component\.js:10$/) }),
    );
  });

  it("finds an error of dedupe again", async () => {
    const code = `export default { name: "Deduped", dedupe: "unique", run() { this.$emit({}); } };`;
    const source = await deploy(headwater, code, {}, { name: "debug deduped" });
    const printed = await headwater.ok("debug", await runOf(source.id, {}));
    expect(printed).toMatch(/^= error +\w+: .*id/m);
  });

  it("reports the differences after a changed prop with exit code 6", async () => {
    const source = await deploy(headwater, counting, {}, { name: "debug changed" });
    const id = await runOf(source.id, {});
    const { code, stdout, stderr } = await headwater.hw("debug", id, "--event", "{}", "--prop", "step=100");
    expect([code, stderr]).toEqual([6, expect.stringContaining("differs from the recorded one: event 1, db, result")]);
    expect(stdout).toMatch(/^≠ event 1 +recorded \{"count":1\}, here \{"count":100\}$/m);
  });

  it("names what is not stored, or not given", async () => {
    const secret = `export default { name: "Secret", props: { key: { type: "string", secret: true } }, run() { return this.key.length; } };`;
    const source = await deploy(headwater, secret, { key: "abcdef" }, { name: "debug secret" });
    const id = await runOf(source.id, { n: 1 });
    const missing = await headwater.hw("debug", id, "--event", "{}");
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/missing: key\n +give --prop key=…/)]);
    const expired = await headwater.hw("debug", id, "--prop", "key=abcdef");
    expect([expired.code, expired.stderr]).toEqual([
      1,
      expect.stringMatching(/the event of run r_\w+ is not stored.*\n +give it with --event/),
    ]);
    expect(await headwater.ok("debug", id, "--prop", "key=abcdef", "--event", "{}")).toMatch(/^= result +6$/m);
    for (const [wrong, says] of [
      [["--event", "{"], "--event is not JSON"],
      [["--event", "{}", "--db", "[]"], "--db must be an object"],
      [["--event", "{}", "--inspect", "70000"], "--inspect 70000 is no port"],
    ] as const)
      expect((await headwater.hw("debug", id, "--prop", "key=abcdef", ...wrong)).stderr).toContain(says);

    const update = { component_code: secret.replace("this.key.length", "0"), name: "debug secret" };
    expect((await headwater.call("PUT", `/sources/${source.id}`, update)).status).toBe(200);
    const gone = await headwater.hw("debug", id, "--prop", "key=abcdef", "--event", "{}");
    expect([gone.code, gone.stderr]).toEqual([4, expect.stringContaining("`hw debug --current` uses the code and props of now")]);
    const now = await headwater.hw("debug", id, "--prop", "key=abcdef", "--event", "{}", "--current");
    expect([now.code, now.stderr]).toEqual([6, expect.stringContaining("differs from the recorded one: result")]);
  });

  it("takes the event that started the run, with its metadata, while it is stored", async () => {
    const emitter = await deploy(headwater, counting, {}, { name: "debug emitter" });
    const code = `export default { name: "Listening", run(event, metadata) { return { event, summary: metadata.summary ?? null }; } };`;
    const listener = await deploy(headwater, code, {}, { name: "debug listener" });
    await subscribe(headwater, emitter.id, listener.id);
    await runOf(emitter.id, {});
    let id = "";
    await until(async () => {
      const { body } = await headwater.call<Answer<readonly Run[]>>("GET", `/sources/${listener.id}/runs`);
      return (id = body.data[0]?.id ?? "") !== "";
    }, "the listener has run");
    expect(await headwater.ok("debug", id)).toMatch(/^= result +\{"event":\{"count":1\},"summary":null\}$/m);
    expect((await headwater.call("DELETE", `/sources/${emitter.id}/events`)).status).toBe(202);
    await until(
      async () => (await headwater.hw("debug", id)).stderr.includes("it was deleted, or too many events came after it"),
      "it is gone",
    );
  });

  it("finds no unknown run, no run of another owner, and refuses a key that only reads", async () => {
    const source = await deploy(headwater, counting, {}, { name: "debug owned" });
    const id = await runOf(source.id, {});
    expect((await headwater.hw("debug", "r_000000000000")).code).toBe(3);
    expect((await headwater.hw("debug", source.id)).stderr).toContain("is not the id of a run");
    const other = await headwater.addUser();
    const url = headwater.apiUrl.replace(/\/v1$/, "");
    const world = (key: string) => ({ ...headwater.world, env: { ...headwater.world.env, HEADWATER_URL: url, HEADWATER_API_KEY: key } });
    expect((await hw(world(other.key), ["debug", id])).code).toBe(3);
    const path = `${headwater.apiUrl}/sources/${source.id}/runs/${id}/debug`;
    const foreign = await fetch(path, { method: "POST", headers: { authorization: `Bearer ${other.key}` } });
    expect(foreign.status).toBe(404);
    const { data } = await headwater.json<Answer<{ readonly key: string }>>("keys", "create", "debug reading", "--read-only");
    expect((await hw(world(data.key), ["debug", id])).code).toBe(4);
  });

  it("ends with Ctrl-C while it waits for a debugger", async () => {
    const source = await deploy(headwater, counting, {}, { name: "debug interrupted" });
    const running = startHw(headwater.world, ["debug", await runOf(source.id, {}), "--event", "{}", "--inspect", "0"]);
    await until(() => /ws:\/\/\S+/.test(running.stderr()), "it waits for a debugger");
    running.interrupt();
    expect((await running.ended()).code).toBe(130);
  });

  it("waits with --inspect for a debugger on this machine only, which pauses the run and lets it go on", async () => {
    const source = await deploy(headwater, counting, {}, { name: "debug inspected" });
    const id = await runOf(source.id, {});
    const running = startHw(headwater.world, ["debug", id, "--event", "{}", "--inspect", "0"]);
    await until(() => /ws:\/\/\S+/.test(running.stderr()), "it waits for a debugger");
    const url = /ws:\/\/127\.0\.0\.1:(\d+)\/\S+/.exec(running.stderr()) ?? [];
    const list = await fetch(`http://127.0.0.1:${url[1]}/json/list`);
    expect(await list.json()).toEqual([expect.objectContaining({ type: "node", webSocketDebuggerUrl: url[0] })]);
    const socket = new WebSocket(url[0] ?? "");
    const messages: InspectorMessage[] = [];
    socket.addEventListener("message", ({ data }) => messages.push(JSON.parse(String(data)) as InspectorMessage));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    for (const [index, method] of ["Runtime.enable", "Debugger.enable", "Runtime.runIfWaitingForDebugger"].entries())
      socket.send(JSON.stringify({ id: index + 1, method }));
    await until(() => messages.some(({ method }) => method === "Debugger.paused"), "the run is paused");
    const { params } = messages.find((message) => message.params?.url === "component.js") ?? {};
    const map = Buffer.from(params?.sourceMapURL?.split("base64,")[1] ?? "", "base64").toString();
    expect((JSON.parse(map) as { readonly sourcesContent: readonly unknown[] }).sourcesContent).toContain(counting);
    socket.send(JSON.stringify({ id: 9, method: "Debugger.resume" }));
    expect(await running.ended()).toMatchObject({ code: 0, stdout: expect.stringContaining("= status    succeeded") });
  });
});
