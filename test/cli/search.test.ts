import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { startProxy } from "../support/cuttable-proxy.ts";
import { deploy } from "../support/system/sources.ts";
import { until } from "../support/until.ts";
import { startHwProcess } from "./hw.ts";
import { withInstallation } from "./installation.ts";

/** `hw search`, on a running server. */
const headwater = withInstallation();
let [source, endpoint] = ["", ""];

interface Answer {
  readonly data: {
    readonly items: readonly { readonly kind: string; readonly trace_id: string; readonly excerpt: string }[];
    readonly cursor: string | null;
    readonly searched_to_ms: number | null;
  };
}

const code = `export default {
  name: "Stock", props: { http: "$.interface.http" },
  run({ body }) {
    console.warn("low on " + body.item);
    if (body.item === "pears") throw new Error("negative stock of pears");
    this.$emit(body, { summary: "Sold " + body.item });
  },
};`;

beforeAll(async () => {
  const deployed = await deploy(headwater, code, {}, { name: "hw search stock" });
  ({ id: source, endpoint } = deployed);
  for (const item of ["apples", "plums", "pears"])
    await fetch(deployed.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ item }) });
  await until(async () => (await find(`source:${source} kind:run`)).length === 3, "the runs are recorded");
});

const find = async (...args: readonly string[]) => (await headwater.json<Answer>("search", ...args)).data.items;

describe("hw search", () => {
  it("prints what it finds as a table, and as the API answers", async () => {
    const printed = await headwater.ok("search", `source:hw-search* pears`);
    const [header = "", ...rows] = printed.trimEnd().split("\n");
    expect(header).toMatch(/^AT +KIND +SOURCE +TEXT$/);
    const shown = rows.map((row) => row.replace(/^\d{4}-\S+ +/, "").replaceAll(/ {2,}/g, "  "));
    expect(shown.toSorted()).toEqual([
      "error  hw search stock  Error: negative stock of pears",
      "error  hw search stock  Error: negative stock of pears",
      "warn  hw search stock  low on pears",
    ]);
    const [event] = await find(`source:${source} "Sold plums"`);
    expect(event).toMatchObject({
      kind: "event",
      excerpt: "Sold plums",
      trace_id: expect.stringMatching(new RegExp(`^${source}\\.\\d+-\\d+$`)),
    });
    expect(await headwater.ok("search", `source:${source} "Sold plums"`, "-o", "name")).toBe(`${event?.trace_id}\n`);
    expect(await headwater.ok("trace", event?.trace_id ?? "")).toMatch(/^> +└ Event /m);
  });

  it("follows the cursor until it has found enough, and says that there may be more", async () => {
    const { data } = await headwater.json<Answer>("search", `source:${source}`, "-n", "4");
    expect([data.items.length, data.cursor === null]).toEqual([4, false]);
    const { stderr } = await headwater.hw("search", `source:${source}`, "-n", "4");
    expect(stderr).toMatch(/^there may be older ones: use --limit, or add before:\d{4}-\S+Z to the query\n$/);
    const all = await headwater.json<Answer>("search", `source:${source}`, "-n", "500");
    expect([all.data.items.length, all.data.cursor, all.data.searched_to_ms]).toEqual([9, null, null]);
  });

  it("says when there is nothing, and where a query is wrong", async () => {
    const nothing = await headwater.hw("search", `source:${source} absent`);
    expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([0, "", "nothing found\n"]);
    const { code: exit, stderr } = await headwater.hw("search", "stock level:fatal");
    expect([exit, stderr]).toEqual([4, expect.stringContaining("the query is invalid at character 7: level 'fatal' is unknown")]);
  });
});

/** One after the other: a run is a warning, and an event or an error. */
const sell = async (item: string): Promise<void> => {
  const body = JSON.stringify({ item });
  await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body });
};

describe("hw search --follow", () => {
  it("prints what matches as lines of JSON, also after a lost connection, and ends with 130 at SIGINT", async () => {
    const proxy = await startProxy(Number(new URL(headwater.apiUrl).port));
    const { directory, env } = headwater.world;
    const through = { HEADWATER_URL: `http://127.0.0.1:${proxy.port}`, HEADWATER_API_KEY: headwater.key };
    const query = `source:${source} kind:event -cherries`;
    const following = startHwProcess({ directory, env: { ...env, ...through } }, ["search", "-f", query, "-o", "json"]);
    // It prints nothing when it is connected.
    let n = 0;
    const isFollowing = async (): Promise<boolean> => {
      if (following.stdout() === "") await sell(`grapes ${n++}`);
      return following.stdout() !== "";
    };
    await until(isFollowing, "it prints an item", { more: following.stderr });
    proxy.cut();
    for (const item of ["cherries", "melons"]) await sell(item);
    await sell("figs");
    await following.untilPrinted(/Sold figs/);
    following.interrupt();
    const { code: exit, stdout, stderr } = await following.ended();
    expect([exit, stderr]).toEqual([130, expect.stringContaining("connected again")]);
    const items = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Answer["data"]["items"][number]);
    expect(items.slice(-2).map(({ excerpt }) => excerpt)).toEqual(["Sold melons", "Sold figs"]);
    expect(items.every(({ kind, trace_id: id }) => kind === "event" && id.startsWith(`${source}.`))).toBe(true);
    await proxy.close();
  });

  it("prints a line for people, and says where a query is wrong", async () => {
    const following = startHwProcess(headwater.world, ["search", "--follow", `source:${source} level:error`]);
    const isFollowing = async (): Promise<boolean> => {
      if (following.stdout() === "") await sell("pears");
      return following.stdout() !== "";
    };
    await until(isFollowing, "it prints an item", { more: following.stderr });
    following.interrupt();
    const { code: exit, stdout } = await following.ended();
    expect([exit, stdout.split("\n")[0]]).toEqual([
      130,
      expect.stringMatching(/^\d{4}-\S+Z error hw search stock {2}Error: negative stock of pears$/),
    ]);
    for (const [args, message, expected] of [
      [["stock before:-1h"], "the query is invalid at character 7: a live search finds what is new: leave out before", 4],
      [["stock", "-n", "3"], "--follow excludes --limit", 2],
    ] as const) {
      const refused = await headwater.hw("search", "-f", ...args);
      expect([refused.code, refused.stderr]).toEqual([expected, expect.stringContaining(message)]);
    }
  });

  it("says what is not shown", async () => {
    const frames = [
      { commits: 1, items: 0 },
      { commits: 3, items: 1 },
      { commits: 0, items: 20 },
      { commits: null, items: 0 },
    ];
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(frames.map((frame) => `event: skipped\ndata: ${JSON.stringify(frame)}\n\n`).join(""));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const { directory, env } = headwater.world;
    const given = { HEADWATER_URL: `http://127.0.0.1:${port}`, HEADWATER_API_KEY: headwater.key };
    const following = startHwProcess({ directory, env: { ...env, ...given } }, ["search", "-f"]);
    await until(() => following.stderr().split("\n").length > frames.length, "it prints all", { more: following.stderr });
    following.interrupt();
    const { stderr } = await following.ended();
    const why = "because too much came at once or a source is new: search without --follow to see them";
    expect(stderr.trimEnd().split("\n")).toEqual([
      `hw: not shown: all matches in 1 commit, ${why}`,
      `hw: not shown: 1 match and all matches in 3 commits, ${why}`,
      `hw: not shown: 20 matches, ${why}`,
      "hw: not shown: matches from the time without a connection: search without --follow to see them",
    ]);
    server.closeAllConnections();
    server.close();
  });
});
