import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { withApi } from "../integration/api/support.ts";

const assets = join(import.meta.dirname, "..", "..", "console", "dist", "assets");
const api = withApi();
const bytesOf = (name: string): Buffer => readFileSync(join(assets, name));

/** Scripts and styles that the page names. */
async function firstFiles(): Promise<readonly string[]> {
  const { text } = await api.ask("GET", "/", { key: null, headers: { accept: "text/html" } });
  return [...text.matchAll(/\/assets\/([\w.-]+)/g)].map(([, name]) => name ?? "");
}

describe("the built console", () => {
  test("needs one script and one style at first, of 160 kB together", async () => {
    const files = await firstFiles();
    expect(files.map((name) => name.split(".").at(-1)).sort()).toEqual(["css", "js"]);
    const sizes = files.map((name) => bytesOf(`${name}.gz`).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(160_000);
  });

  test("has the same content in every encoding", () => {
    const names = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name));
    for (const name of names) {
      expect([name, gunzipSync(bytesOf(`${name}.gz`)).equals(bytesOf(name))]).toEqual([name, true]);
      expect([name, brotliDecompressSync(bytesOf(`${name}.br`)).equals(bytesOf(name))]).toEqual([name, true]);
    }
  });

  test("is served compressed, to be kept forever", async () => {
    const [name = ""] = await firstFiles();
    for (const [accepted, encoding] of [
      ["br, gzip", "br"],
      ["gzip", "gzip"],
      ["identity", null],
    ] as const) {
      const { status, headers, text } = await api.ask("GET", `/assets/${name}`, { key: null, headers: { "accept-encoding": accepted } });
      expect([status, headers.get("content-encoding"), headers.get("vary")]).toEqual([200, encoding, "accept-encoding"]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("content-type")).toMatch(/^text\/(javascript|css)/);
      expect(text).toBe(bytesOf(name).toString());
    }
  });
});
