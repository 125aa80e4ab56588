import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "../../client/pages.ts";
import { collect } from "../../cli/pages.ts";
import { withCommands } from "../../cli/rest-paths.ts";
import { withInstallation } from "./installation.ts";

interface Listed {
  readonly page_info: { readonly start_cursor: string | null; readonly end_cursor: string | null; readonly count: number };
  readonly data: readonly { readonly id: string; readonly name?: string }[];
}

const component = `export default {
  name: "Hello", key: "hello", version: "0.0.1",
  props: { kind: { type: "string", default: "incident", reloadProps: true } },
  additionalProps() { return { severity: { type: "string", optional: true } }; },
  run(event) { this.$emit({ severity: this.severity ?? null }, { summary: "hello" }); },
};
`;

const headwater = withInstallation();

const write = (name: string, text: string): Promise<void> => writeFile(join(headwater.world.directory, name), text);
const refused = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await headwater.hw(...args);
  expect({ args, stdout, code: code === 0 ? "success" : "failure" }).toEqual({ args, stdout: "", code: "failure" });
  return stderr;
};

beforeAll(async () => {
  await write("hello.mjs", component);
  await headwater.ok("deploy", "hello.mjs", "--name", "hello");
  await headwater.ok("run", "hello", "--event", "{}");
});

describe("times", () => {
  it.each([
    ["--since", "2026-01-01", 1],
    ["--since", "2026-01-01T12:00:00Z", 1],
    ["--since", "1767225600", 1],
    ["--since", "1767225600000", 1],
    ["--since", "1h", 1],
    ["--until", "2026-01-01", 0],
    ["--until", "1h", 0],
  ])("hw events takes %s %s", async (option, value, count) => {
    expect((await headwater.json<Listed>("events", "hello", option, value)).data).toHaveLength(count);
  });

  it("of webhooks and workflows are ages as well", async () => {
    await headwater.ok("webhooks", "create", "http://127.0.0.1:9/", "--name", "aged");
    await headwater.hw("webhooks", "test", "aged");
    const count = async (...options: string[]): Promise<number> =>
      (await headwater.json<Listed>("webhooks", "deliveries", "aged", ...options)).data.length;
    await expect.poll(() => count()).toBe(1); // Attempts are recorded a moment after they were made.
    expect(await count("--since", "1h")).toBe(1);
  });

  it.each(["5", "yesterday", "2001", "2026-13-01", "5 May"])("%j is no time, and neither an expiry", async (value) => {
    expect(await refused("events", "hello", "--since", value)).toContain(`--since "${value}" is invalid`);
    expect(await refused("keys", "create", "never-created", "--expires", value)).toContain(`--expires "${value}" is invalid`);
  });

  it("a key cannot expire in the past", async () => {
    expect(await refused("keys", "create", "never-created", "--expires", "2001-05-01")).toContain("must be later than now");
  });

  it("are refused where they would be ignored", async () => {
    expect(await refused("events", "hello", "-f", "--since", "1h")).toContain("--follow excludes --since");
    expect(await refused("events", "hello", "--legacy", "--channel", "$errors")).toContain("--legacy excludes --channel");
  });
});

describe("names", () => {
  it("of a source win over the component that it runs, which needs its kind", async () => {
    await headwater.ok("deploy", "hello.mjs", "--name", "hello two");
    const [source] = (await headwater.json<Listed>("list", "sources", "-n", "1")).data;
    const [saved] = (await headwater.json<Listed>("list", "components", "-n", "1")).data;
    expect(await headwater.ok("describe", "hello", "-o", "name")).toMatch(/^dc_/);
    expect(await headwater.ok("describe", "component/hello", "-o", "name")).toBe(`${saved?.id}\n`);
    expect(await headwater.ok("update", "hello-two", "--name", "hello three")).toContain(source?.id);
    expect(await headwater.ok("delete", "hello-three", "--yes")).toContain(`source ${source?.id} deleted`);
    expect(await headwater.ok("list", "components", "-o", "name")).toContain(saved?.id);
  });

  it("of a source and a webhook are ambiguous, and the error names the kinds", async () => {
    await headwater.ok("webhooks", "create", "http://127.0.0.1:9/", "--name", "hello");
    expect(await refused("describe", "hello")).toMatch(/names source dc_\w+ and webhook wh_\w+\n.*name the kind: (source|webhook)\/hello/);
    await headwater.ok("delete", "webhook/hello", "--yes");
  });

  it("may name the organization of --org, which must be one of yours", async () => {
    await headwater.ok("orgs", "create", "Acme Inc", "--orgname", "acme");
    const [organization] = (await headwater.json<Listed>("list", "orgs")).data;
    await headwater.ok("--org", "acme", "deploy", "hello.mjs", "--name", "owned");
    for (const org of ["acme", "Acme Inc", organization?.id ?? ""]) {
      expect((await headwater.json<Listed>("--org", org, "list", "sources")).data.map(({ name }) => name)).toEqual(["owned"]);
      expect(await headwater.ok("--org", org, "usage", "-o", "json")).not.toContain(headwater.username);
      expect(await headwater.ok("usage", org, "-o", "json")).not.toContain(headwater.username);
      expect(await headwater.ok("--org", org, "audit", "-o", "json")).toContain("Source");
    }
    for (const command of [["usage"], ["list", "sources"], ["audit"]]) {
      expect(await refused("--org", "nope", ...command)).toContain('you belong to no organization "nope"');
    }
    expect(await refused("usage", "nope")).toContain('you belong to no organization "nope"');
  });
});

describe("lists", () => {
  it("have the cursors of the API in JSON, also over several pages", async () => {
    const { page_info: info } = (await headwater.call<Listed>("GET", "/users/me/sources?limit=1")).body;
    expect((await headwater.json<Listed>("list", "sources", "-n", "1")).page_info).toMatchObject(info);
  });

  it("of several pages end with the cursor of their last item, so that the next request continues behind it", async () => {
    const numbers = Array.from({ length: 300 }, (_value, index) => index);
    const readPage = async ({ limit, after = "-1" }: { readonly limit: number; readonly after?: string }): Promise<Page<number>> => {
      const data = numbers.slice(Number(after) + 1, Number(after) + 1 + limit);
      return { page_info: { total_count: 300, start_cursor: String(data[0]), end_cursor: String(data.at(-1)) }, data };
    };
    const { data, page_info: info } = await collect(readPage, 150);
    expect([data.length, info]).toEqual([150, { total_count: 300, count: 150, start_cursor: "0", end_cursor: "149" }]);
  });

  it.each([["list"], ["events", "hello"], ["logs", "hello"], ["runs", "hello"]])(
    "of no items are refused: hw %s -n 0",
    async (...command) => {
      expect(await refused(...command, "-n", "0")).toContain("--limit 0 is invalid: it must be an integer from 1");
    },
  );

  it("show a quota that does not exist as no limit", async () => {
    expect(await headwater.ok("usage")).toMatch(/daily_invocations_quota: +no limit/);
    expect(await headwater.ok("usage")).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });
});

describe("unknown commands", () => {
  it.each([
    ["sources", "`hw list sources` lists sources"],
    ["dc", "`hw list sources` lists sources"],
    ["subscriptions", "`hw list subscriptions` lists subscriptions"],
    ["deplyo", "did you mean `hw deploy`?"],
    ["frobnicate", "`hw --help` lists the commands"],
  ])("hw %s: %s", async (name, hint) => {
    expect(await headwater.hw(name)).toMatchObject({ code: 2, stderr: `hw: unknown command "${name}"\n    ${hint}\n` });
  });
});

describe("a webhook's test", () => {
  let server: Server;
  let status = 200;
  beforeAll(async () => {
    server = createServer((_request, response) => void response.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await headwater.ok("webhooks", "create", `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, "--name", "tested"); // A port was asked for.
  });
  afterAll(() => server.close());

  it("ends with exit code 1 unless the event was delivered", async () => {
    expect(await headwater.hw("webhooks", "test", "tested")).toMatchObject({ code: 0 });
    status = 500;
    const { code, stdout, stderr } = await headwater.hw("webhooks", "test", "tested");
    expect({ code, stdout, stderr }).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/response_status: +500/) as unknown,
      stderr: expect.stringContaining("the test event was not delivered") as unknown,
    });
  });
});

describe("props", () => {
  it("that additionalProps adds get values of their type, when deployed and when updated", async () => {
    await headwater.ok("deploy", "hello.mjs", "--name", "typed", "--prop", "severity=12345");
    expect(await headwater.ok("describe", "typed", "-o", "json")).toContain('"severity": "12345"');
    await headwater.ok("update", "typed", "--prop", "severity=67890");
    expect(await headwater.ok("describe", "typed", "-o", "json")).toContain('"severity": "67890"');
  });

  it("with a misspelled name are not recommended", async () => {
    await write("plain.mjs", 'export default { name: "Plain", props: { timer: "$.interface.timer" }, run() {} };');
    const stderr = await refused("deploy", "plain.mjs", "--prop", "timer=60s", "--prop", "tmer=60s");
    expect(stderr).toContain("did you mean timer?");
    expect(stderr).not.toContain("--prop tmer=");
  });
});

describe("a workflow in YAML", () => {
  beforeAll(async () => {
    await write("step.ts", 'export default { type: "action", name: "Step", version: "0.0.1", run() { return 1; } };\n');
    await write("broken.ts", "export default {\n  run( { }\n};\n");
    await write("good.yaml", "name: good\nsteps:\n  - { name: first, file: step.ts }\n");
    await write("bad.yaml", "name: bad\nsteps:\n  - { name: first, file: step.ts }\n  - { name: second, file: broken.ts }\n");
  });

  it("is validated step by step", async () => {
    expect(await headwater.ok("validate", "good.yaml")).toContain("step first can be built");
    const { code, stderr } = await headwater.hw("validate", "bad.yaml");
    expect([code, stderr]).toEqual([4, expect.stringMatching(/step second: broken\.ts:\d:.*\n.*\|/)]);
  });

  it.each(["dev", "publish", "props"])("is no component for hw %s", async (command) => {
    expect(await refused(command, "good.yaml")).toBe(
      "hw: good.yaml is a workflow, not a component\n    `hw deploy good.yaml` deploys it\n",
    );
  });
});

describe("messages of the API", () => {
  it("name commands instead of requests", async () => {
    await headwater.ok("deploy", "hello.mjs", "--name", "asleep", "--paused");
    expect(await refused("run", "asleep", "--event", "{}")).toMatch(/is inactive: activate it with `hw resume dc_\w+`/);
  });

  it("name no request that has no command", async () => {
    const requests: string[] = [];
    const root = join(import.meta.dirname, "..", "..");
    const folders = ["api", "domain", "operator", "platform", "builder", "wiring"].map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true })).map((file) => join(folder, file)),
    );
    for (const file of (await Promise.all(folders)).flat().filter((each) => each.endsWith(".ts"))) {
      const text = (await readFile(join(root, file), "utf8")).replaceAll(/(?<=["/])\$\{[^}]*\}/g, "id_1").replaceAll(/\$\{[^}]*\}/g, "");
      // Comments and descriptions of the API are for its programmers.
      for (const [line] of text.matchAll(
        /^(?! *(?:\/\/|\*|\/\*|.*(?:\.describe\(|description: ))).*["'`;: ](?:GET|POST|PUT|DELETE) \/v1\/.*$/gm,
      )) {
        if (/\b(?:GET|POST|PUT|DELETE) \/v1\//.test(withCommands(line))) requests.push(`${file}: ${line.trim()}`);
      }
    }
    expect(requests).toEqual([]);
  });
});
