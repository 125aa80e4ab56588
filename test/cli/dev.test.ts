import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { startProxy } from "../support/cuttable-proxy.ts";
import { missingPrograms } from "../support/on-path.ts";
import { startInTerminal, type TerminalProgram } from "../support/terminal.ts";
import { inherited, program, startHw, type RunningHw } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();
let folder: string;
const running: RunningHw[] = [];

const counter = `import { word } from "./word.ts";
export default {
  name: "Counter", version: "0.1.0",
  props: { db: "$.service.db", http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    console.log("running", event?.path ?? "by hand");
    if (event?.path === "/boom") throw new Error("boom");
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    if (event?.method) this.http.respond({ status: 201, headers: { "x-word": word }, body: { count, sent: event.body ?? null } });
    this.$emit({ count }, { summary: word + " " + count });
  },
};
`;

const writeWord = (text: string): Promise<void> => writeFile(join(folder, "word.ts"), text);

afterEach(async () => {
  for (const { interrupt, ended } of running.splice(0)) {
    interrupt();
    await ended();
  }
});

async function writeCounter(name: string): Promise<string> {
  folder = join(headwater.world.directory, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "counter.ts"), counter);
  await writeWord('export const word = "one";\n');
  return join(folder, "counter.ts");
}

function startDev(file: string, args: readonly string[] = [], world = headwater.world): RunningHw {
  const dev = startHw(world, ["dev", file, ...args]);
  running.push(dev);
  return dev;
}

async function endpointOf(dev: RunningHw): Promise<string> {
  await dev.untilPrinted(/(http:\/\/127\.0\.0\.1:\d+) → http/);
  const [, url = ""] = /(http:\/\/127\.0\.0\.1:\d+) → http/.exec(dev.stdout()) ?? [];
  return url;
}

describe("hw dev", () => {
  it("deploys on each save of a file or of what it imports, and prints events, logs and errors with their lines", async () => {
    const dev = startDev(await writeCounter("first"));
    const url = await endpointOf(dev);
    const response = await fetch(`${url}/a?b=1`, { method: "POST", headers: { "content-type": "application/json" }, body: '{"x":1}' });
    expect({ status: response.status, word: response.headers.get("x-word"), body: await response.json() }).toEqual({
      status: 201,
      word: "one",
      body: { count: 1, sent: { x: 1 } },
    });
    await dev.untilPrinted(/◆ .* one 1 \{"count":1\}/);
    await dev.untilPrinted(/log +running \/a/);
    await writeWord('export const word = "two";\n');
    await dev.untilPrinted(/✓ deployed in \d+ms/);
    expect((await fetch(url)).headers.get("x-word")).toBe("two");
    await dev.untilPrinted(/two 2/);
    await fetch(`${url}/boom`);
    await dev.untilPrinted(/Error: boom/);
    await dev.untilPrinted(/counter\.ts:7:/);
  });

  it("keeps the version before a syntax error running, and shows the lines around it", async () => {
    const dev = startDev(await writeCounter("second"));
    const url = await endpointOf(dev);
    await writeWord('export const word = "two";\nconst y = = 2;\n');
    await dev.untilPrinted(/✗ .*word\.ts:2:11: Unexpected "="/);
    await dev.untilPrinted(/> 2 \| const y = = 2;/);
    await dev.untilPrinted(/the version before it still runs/);
    expect((await fetch(url)).headers.get("x-word")).toBe("one");
    await writeWord('export const word = "three";\n');
    await dev.untilPrinted(/✓ deployed in/);
    expect((await fetch(url)).headers.get("x-word")).toBe("three");
  });

  it("notices a file that an editor replaces, and a file that is imported newly", async () => {
    const file = await writeCounter("third");
    const dev = startDev(file);
    const url = await endpointOf(dev);
    await writeFile(join(folder, "other.ts"), 'export const word = "four";\n');
    await writeFile(join(folder, "new.ts"), counter.replace("./word.ts", "./other.ts"));
    await rename(join(folder, "new.ts"), join(folder, "counter.ts"));
    await dev.untilPrinted(/✓ deployed in/);
    expect((await fetch(url)).headers.get("x-word")).toBe("four");
    await writeFile(join(folder, "other.ts"), 'export const word = "five";\n');
    await until(async () => (await fetch(url)).headers.get("x-word") === "five", "the new import is deployed", { more: dev.stdout });
  });

  it("finds its source again, pauses it on SIGINT, and deletes it when asked", async () => {
    const file = await writeCounter("fourth");
    const first = startDev(file);
    const slug = `dev-${headwater.username}-fourth-counter`;
    await first.untilPrinted(new RegExp(`✓ source ${slug} created`));
    await endpointOf(first);
    first.interrupt();
    const { code, stderr } = await first.ended();
    expect({ code, paused: stderr.includes("is paused") }).toEqual({ code: 130, paused: true });
    const stateOf = async () =>
      (await headwater.json<{ data: { name_slug: string; state: string }[] }>("list", "sources")).data.find(
        (source) => source.name_slug === slug,
      )?.state;
    expect(await stateOf()).toBe("paused");
    const second = startDev(file, ["--delete"]);
    await second.untilPrinted(new RegExp(`✓ source ${slug} updated`));
    await endpointOf(second);
    second.interrupt();
    await second.ended();
    expect(await stateOf()).toBeUndefined();
  });

  it("writes an existing source with -dc, which goes on at the end", async () => {
    const file = await writeCounter("existing");
    await headwater.ok("deploy", file, "--name", "existing source");
    const dev = startDev(file, ["-dc", "existing-source"]);
    await dev.untilPrinted(/✓ source existing-source updated/);
    dev.interrupt();
    await dev.ended();
    const { data } = await headwater.json<{ data: { active: boolean } }>("describe", "existing-source");
    expect(data.active).toBe(true);
  });

  it("goes on after a lost connection", async () => {
    const proxy = await startProxy(Number(new URL(headwater.apiUrl).port));
    const { directory, env } = headwater.world;
    const through = { HEADWATER_URL: `http://127.0.0.1:${proxy.port}`, HEADWATER_API_KEY: headwater.key };
    const dev = startDev(await writeCounter("away"), [], { directory, env: { ...env, ...through } });
    await endpointOf(dev);
    proxy.cut();
    await until(() => dev.stderr().includes("the connection is lost"), "the loss is reported", { more: dev.stderr });
    await until(() => dev.stderr().includes("connected again"), "the connection is back", { more: dev.stderr });
    await writeWord('export const word = "two";\n');
    await dev.untilPrinted(/✓ deployed in/);
    dev.interrupt();
    await dev.ended();
    await proxy.close();
  });

  it("prints lines of JSON with -o json", async () => {
    const dev = startDev(await writeCounter("fifth"), ["-o", "json"]);
    await dev.untilPrinted(/"type":"endpoint"/);
    const lines = dev
      .stdout()
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(lines).toEqual(["deployed", "endpoint"]);
  });
});

describe.skipIf(missingPrograms(["python3"]).length > 0)("hw dev in a terminal, which needs python3", () => {
  let terminal: TerminalProgram | undefined;
  afterEach(() => terminal?.kill());

  it("runs, repeats, opens and quits by keys", async () => {
    const file = await writeCounter("sixth");
    const { directory, env } = headwater.world;
    const command = [process.execPath, program, "dev", file];
    terminal = startInTerminal(command, { cwd: directory, env: { ...inherited(), ...env, BROWSER: "true" } });
    await terminal.untilShown(/r run now · l last event again · o open the endpoint · q quit/);
    terminal.type("r");
    await terminal.untilShown(/one 1 \{"count":1\}/);
    terminal.type("l");
    await terminal.untilShown(/one 2 \{"count":2\}/);
    const [, url = ""] = /(http:\/\/127\.0\.0\.1:\d+) → http/.exec(terminal.screen()) ?? [];
    terminal.type("o");
    await terminal.untilShown(new RegExp(`^${url}$`, "m"));
    terminal.type("q");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.screen()).toContain("is paused");
  });
});
