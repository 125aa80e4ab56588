import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeAll, describe, expect, it } from "vitest";
import { inherited, program, startHw } from "./hw.ts";
import { withInstallation } from "./installation.ts";

/** Hook, stack and cause of a component whose `activate` requests a private address. */
const cause = [
  /hook activate failed: TypeError: fetch failed/,
  /^ {4}at async Object\.activate \(failing\.mjs:4:\d+\)$/m,
  /\[cause\]: Forbidden: egress to 10\.0\.0\.1 is denied/,
];

const working = `export default {
  name: "Failing", version: "0.0.1",
  run() {},
};
`;
const failing = `export default {
  name: "Failing", version: "0.0.1",
  hooks: { async activate() {
    await fetch("http://10.0.0.1/");
  } },
  run() {},
};
`;

const headwater = withInstallation();

beforeAll(async () => {
  await write("failing.mjs", failing);
});

const write = (name: string, text: string): Promise<void> => writeFile(join(headwater.world.directory, name), text);

function expectCause(text: string): void {
  for (const part of cause) expect(text).toMatch(part);
  expect(text).not.toContain("observation error");
}

describe("an activate hook that fails shows hook, stack and cause", () => {
  it("in hw deploy", async () => {
    const { code, stdout, stderr } = await headwater.hw("deploy", "failing.mjs");
    expect([code, stdout]).toEqual([4, ""]);
    expectCause(stderr);
  });

  it("in hw update, with the version that still runs", async () => {
    await write("working.mjs", working);
    await headwater.ok("deploy", "working.mjs", "--name", "updated");
    const { code, stderr } = await headwater.hw("update", "updated", "failing.mjs");
    expect(code).toBe(4);
    expectCause(stderr);
    expect(stderr).toMatch(/version d_\w+ of .* is still running/);
  });

  it("in hw api", async () => {
    const body = JSON.stringify({ component_files: { "failing.mjs": failing }, component_entry: "failing.mjs" });
    await write("body.json", body);
    const { code, stderr } = await headwater.hw("api", "POST", "/sources", "-d", "@body.json");
    expect(code).toBe(4);
    expectCause(stderr);
  });

  it("in hw dev, at the start and at a later save", async () => {
    const first = await headwater.hw("dev", "failing.mjs");
    expect(first.code).toBe(4);
    expectCause(first.stderr);
    await write("failing.mjs", working);
    const dev = startHw(headwater.world, ["dev", join(headwater.world.directory, "failing.mjs")]);
    try {
      await dev.untilPrinted(/✓ source /);
      await write("failing.mjs", failing);
      await dev.untilPrinted(/the version before it still runs/);
      expectCause(dev.stdout());
    } finally {
      dev.interrupt();
      await dev.ended();
      await write("failing.mjs", failing);
    }
  });

  it("in hw mcp", async () => {
    const { directory, env } = headwater.world;
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program, "mcp", "--write"],
        cwd: directory,
        env: { ...inherited(), ...env },
      }),
    );
    try {
      const { isError, content } = await client.callTool({ name: "deploy", arguments: { component: "failing.mjs" } });
      expect(isError).toBe(true);
      expectCause((content as readonly { text: string }[])[0]?.text ?? ""); // Each tool returns one text.
    } finally {
      await client.close();
    }
  });
});

it("additionalProps that throws shows stack and cause", async () => {
  await write(
    "adding.mjs",
    `export default {
  name: "Adding", version: "0.0.1", props: { board: { type: "string", reloadProps: true } },
  async additionalProps() { await fetch("http://10.0.0.1/"); return {}; },
  run() {},
};
`,
  );
  const { code, stderr } = await headwater.hw("deploy", "adding.mjs", "--prop", "board=a");
  expect(code).toBe(4);
  expect(stderr).toMatch(/additionalProps threw TypeError: fetch failed\n {4}at async .*adding\.mjs:3:\d+/);
  expect(stderr).toMatch(/\[cause\]: Forbidden: egress to 10\.0\.0\.1 is denied/);
});
