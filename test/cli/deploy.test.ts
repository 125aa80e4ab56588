import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { SourceTest } from "../../client/generated/operations.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

const greeter = `import { greet } from "./lib/greet.ts";
export default {
  name: "Greeter", version: "0.1.0",
  props: {
    http: { type: "$.interface.http", customResponse: true },
    who: { type: "string", description: "Whom to greet" },
    times: { type: "integer", optional: true },
    token: { type: "string", secret: true, optional: true },
  },
  run(event) {
    if (event?.path === "/boom") throw new Error("boom");
    if (event?.method) this.http.respond({ status: 200, body: greet(this.who) });
    this.$emit({ path: event?.path ?? null, times: this.times ?? null }, { summary: greet(this.who) });
  },
};
`;

beforeAll(async () => {
  const { directory } = headwater.world;
  await mkdir(join(directory, "greeter", "lib"), { recursive: true });
  await writeFile(join(directory, "greeter", "greeter.ts"), greeter);
  await writeFile(join(directory, "greeter", "lib", "greet.ts"), "export const greet = (who: string): string => `hello ${who}`;\n");
  await writeFile(join(directory, "broken.ts"), 'export default {\n  name: "Broken",\n  run() { return = 1; },\n};\n');
  await writeFile(join(directory, "props.yaml"), "who: Grace\ntimes: 3\n");
});

interface Answer {
  readonly data: { readonly id: string; readonly configured_props: Readonly<Record<string, unknown>>; readonly active: boolean };
}

describe("hw deploy", () => {
  it("deploys a file with what it imports, and types values of props", async () => {
    const { data } = await headwater.json<Answer>(
      "deploy",
      "greeter/greeter.ts",
      "--prop",
      "who=Ada",
      "--prop",
      "times=2",
      "--prop",
      "token=t-1",
    );
    expect(data.configured_props).toMatchObject({ who: "Ada", times: 2 });
    const { endpoint_url: url } = data.configured_props["http"] as { endpoint_url: string };
    expect(await (await fetch(url)).text()).toBe("hello Ada");
  });

  it("takes values of props from a file, of which --prop wins", async () => {
    const { data } = await headwater.json<Answer>("deploy", "greeter/greeter.ts", "--props", "props.yaml", "--prop", "who=Bob", "--paused");
    expect(data).toMatchObject({ active: false, configured_props: { who: "Bob", times: 3 } });
  });

  it("tests a file with its props, shows what it would emit, and deploys nothing", async () => {
    const count = async () => (await headwater.call<{ data: readonly unknown[] }>("GET", "/users/me/sources?limit=100")).body.data.length;
    const before = await count();
    const { data } = await headwater.json<{ data: SourceTest }>(
      "deploy",
      "greeter/greeter.ts",
      "--prop",
      "who=Ada",
      "--prop",
      "token=t-1",
      "--test",
    );
    expect(data).toMatchObject({
      dry_run: true,
      status: "succeeded",
      component_id: expect.stringMatching(/^sc_/),
      emits: [{ verdict: "emitted", summary: "hello Ada", event: { path: "/", times: null } }],
      response: { status: 200, body: "hello Ada" },
    });
    await writeFile(
      join(headwater.world.directory, "throws.mjs"),
      `export default { name: "Throws", run() { throw new Error("too far"); } };`,
    );
    const failed = await headwater.hw("deploy", "throws.mjs", "--test");
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("the test failed: too far")]);
    expect((await headwater.hw("deploy", "greeter/greeter.ts", "--test")).stderr).toContain("--prop who=");
    expect(await count()).toBe(before);
  });

  it("names the flag of a missing prop without a terminal", async () => {
    const { code, stderr } = await headwater.hw("deploy", "greeter/greeter.ts");
    expect(code).toBe(2);
    expect(stderr).toContain("\nhw: prop who of type string is missing (Whom to greet)\n    give --prop who=…, or --props FILE\n");
    expect(stderr).toMatch(/^sending greeter\.ts, lib\/greet\.ts$/m);
  });

  it("reports an invalid value without the value of a secret", async () => {
    const { code, stderr } = await headwater.hw(
      "deploy",
      "greeter/greeter.ts",
      "--prop",
      "who=A",
      "--prop",
      "times=many",
      "--prop",
      "token=s3cret",
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/^hw: prop times: "many" is not JSON\n {4}give --prop times=1/m);
    expect(stderr).not.toContain("s3cret");
  });

  it("shows a syntax error with the lines around it", async () => {
    const { code, stderr } = await headwater.hw("deploy", "broken.ts");
    expect(code).toBe(4);
    expect(stderr).toMatch(/broken\.ts:3:18: Unexpected "="/);
    expect(stderr).toContain("> 3 |   run() { return = 1; },");
  });

  it("fails with exit code 3 for what is neither a file nor a component", async () => {
    expect((await headwater.hw("deploy", "missing.ts")).code).toBe(3);
    expect((await headwater.hw("deploy", "no-such-key")).code).toBe(3);
  });

  it("deploys a component of the registry by its key", async () => {
    const { data } = await headwater.json<Answer>("deploy", "headwater-schedule", "--paused", "--prop", "timer=10m");
    expect(data.id).toMatch(/^dc_/);
  });
});

describe("hw validate", () => {
  it("builds without saving", async () => {
    const before = await headwater.json<{ page_info: { total_count: number } }>("list", "components");
    const entries = async () => (await headwater.json<{ data: unknown[] }>("audit", "--kind", "Component")).data.length;
    const recorded = await entries();
    await writeFile(join(headwater.world.directory, "odd.mjs"), 'export default { name: "Odd", version: "1", dedup: "unique", run() {} };');
    expect(await headwater.ok("validate", "odd.mjs")).toContain("'dedup' is unknown and has no effect: did you mean dedupe?");
    const after = await headwater.json<{ page_info: { total_count: number } }>("list", "components");
    expect(after.page_info.total_count).toBe(before.page_info.total_count);
    expect(await entries()).toBe(recorded);
  });

  it("shows a mistake with the lines around it", async () => {
    const { code, stderr } = await headwater.hw("validate", "broken.ts");
    expect({ code, frame: stderr.includes("> 3 |") }).toEqual({ code: 4, frame: true });
  });
});

describe("a deployed source", () => {
  beforeAll(async () => {
    await headwater.ok("deploy", "greeter/greeter.ts", "--prop", "who=Ada", "--name", "changing", "--prop", "token=t-2");
  });

  it("keeps props and secrets that an update does not name", async () => {
    const { data } = await headwater.json<Answer>("update", "changing", "--prop", "times=5");
    expect(data.configured_props).toMatchObject({ who: "Ada", times: 5 });
    await headwater.ok("update", "changing", "greeter/greeter.ts", "--prop", "who=Eve");
    expect((await headwater.json<Answer>("describe", "changing")).data.configured_props).toMatchObject({ who: "Eve", times: 5 });
    const { code, stderr } = await headwater.hw("update", "changing");
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing is to be changed") as unknown });
  });

  it("lists props with values, and hides secrets", async () => {
    const table = await headwater.ok("props", "changing");
    expect(table).toMatch(/^who +string +yes +"Eve"/m);
    expect(table).toMatch(/^token +string +optional +\(secret\)/m);
    expect(await headwater.ok("props", "greeter/greeter.ts")).toMatch(/^who +string +yes/m);
  });

  it("runs with an event, with the last event, and without storing", async () => {
    const { data } = await headwater.json<{ data: { status: string } }>("run", "changing", "--event", '{"path":"/a"}');
    expect(data.status).toBe("succeeded");
    expect((await headwater.hw("run", "changing", "--last", "--wait")).code).toBe(0);
    expect(await headwater.ok("run", "changing", "--dry-run")).toMatch(/dry_run: +true/);
    expect((await headwater.hw("run", "changing", "--last", "--event", "{}")).code).toBe(2);
  });

  it("ends with exit code 1 when a run fails, and shows the mapped line", async () => {
    const { code, stdout, stderr } = await headwater.hw("run", "changing", "--event", '{"path":"/boom"}');
    expect({ code, stderr }).toEqual({ code: 1, stderr: "hw: the run failed: boom\n" });
    expect(stdout).toContain("greeter.ts:11:");
  });
});
