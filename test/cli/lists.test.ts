import { expect, it } from "vitest";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

const timer = `export default { name: "T", version: "0.0.1", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 900 } } }, run() {} };`;

it("lists sources as a table, as the API's answer and as names", async () => {
  expect(await headwater.ok("list")).toBe("");
  const { body } = await headwater.call<{ data: { id: string } }>("POST", "/sources", { component_code: timer, name: "my timer" });
  const table = (await headwater.ok("list", "so")).split("\n");
  expect(table[0]).toMatch(/^ID +NAME +STATE +LAST RUN +AGE +PROBLEM$/);
  expect(table[1]).toMatch(new RegExp(`^${body.data.id} +my-timer +(active|deploying) `));
  expect(await headwater.ok("list", "sources", "-o", "name")).toBe(`${body.data.id}\n`);
  const { data, page_info: pages } = await headwater.json<{ data: { id: string }[]; page_info: { total_count: number } }>("list");
  expect(data.map(({ id }) => id)).toEqual([body.data.id]);
  expect(pages.total_count).toBe(1);
});

it("lists and describes the state and problem of webhooks and workflows", async () => {
  const { body } = await headwater.call<{ data: { id: string } }>("POST", "/webhooks", { url: "http://10.0.0.1/hook", name: "down" });
  await expect.poll(() => headwater.ok("list", "webhooks"), { timeout: 60_000 }).toMatch(/ failing /);
  const [header = "", row = ""] = (await headwater.ok("list", "webhooks")).split("\n");
  expect(header).toMatch(/^ID +NAME +URL +STATE +AGE +PROBLEM$/);
  expect(row).toMatch(new RegExp(`^${body.data.id} .* failing .* egress to 10\\.0\\.0\\.1 is denied`));
  const described = await headwater.ok("describe", body.data.id);
  expect(described).toMatch(/^state: +failing$/m);
  expect(described).toMatch(/^problem:\n +code: +url_forbidden$/m);
  await headwater.call("POST", "/workflows", { name: "my flow" });
  expect(await headwater.ok("list", "workflows", "-o", "wide")).toMatch(
    /^ID +NAME +STATE +TRIGGERS +STEPS +VERSION +SUCCESS +AGE +PROBLEM\np_\w+ +my flow +active /,
  );
});

it("lists every kind", async () => {
  for (const kind of [
    "workflows",
    "components",
    "webhooks",
    "subscriptions",
    "auto-subscriptions",
    "accounts",
    "apps",
    "oauth-clients",
    "data-stores",
    "orgs",
    "keys",
    "registry",
  ]) {
    const { data } = await headwater.json<{ data: unknown[] }>("list", kind);
    expect(Array.isArray(data), kind).toBe(true);
  }
});

it("rejects an unknown kind, option and format with exit code 2", async () => {
  for (const args of [["list", "towels"], ["list", "--frobnicate"], ["list", "-o", "xml"], ["lst"]]) {
    const { code, stderr } = await headwater.hw(...args);
    expect({ args, code }).toEqual({ args, code: 2 });
    expect(stderr).toMatch(/^hw: /);
  }
});
