import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Header } from "tar";
import { describe, expect, it, onTestFinished } from "vitest";
import { provideKubeAssets, kubeVersion, type KubeRelease } from "./kube-release.ts";
import { temporaryDirectory } from "../temporary-directory.ts";

/** An entry of a tar archive. */
function entry(path: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  new Header({ path, size: content.length, mode: 0o644, type: "File" }).encode(header, 0);
  return Buffer.concat([header, Buffer.from(content.padEnd(512, "\0"))]);
}

const files = ["etcd", "kube-apiserver", "kubectl"];
const packed = gzipSync(Buffer.concat(files.map((file) => entry(`controller-tools/envtest/${file}`, `#!/bin/sh\necho ${file}\n`))));

async function serve(status = 200): Promise<{ base: string; requests: () => number }> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.writeHead(status).end(packed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { base: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, requests: () => requests };
}

const releaseOf = (base: string, sha512 = createHash("sha512").update(packed).digest("hex")): KubeRelease => ({
  base,
  archives: { [`${process.platform}-${process.arch}`]: { file: "envtest.tar.gz", sha512 } },
});

async function emptyTools(): Promise<string> {
  const directory = await temporaryDirectory("tools");
  onTestFinished(() => directory.remove());
  return directory.path;
}

describe("the release of the API server", () => {
  const env = { PATH: "" };

  it("is downloaded once, verified and stored as executables", async () => {
    const [tools, { base, requests }] = [await emptyTools(), await serve()];
    const expected = { assets: { etcd: join(tools, `envtest-v${kubeVersion}`, "etcd") } };
    expect(await provideKubeAssets({ env, tools, release: releaseOf(base) })).toMatchObject(expected);
    expect(await provideKubeAssets({ env, tools, release: releaseOf(base) })).toMatchObject(expected);
    expect(requests()).toBe(1);
    expect((await stat(join(tools, `envtest-v${kubeVersion}`, "kubectl"))).mode & 0o111).toBe(0o111);
    expect(await readdir(tools)).toEqual([`envtest-v${kubeVersion}`]);
  });

  it("is the same for two runs at the same time", async () => {
    const [tools, { base }] = [await emptyTools(), await serve()];
    const both = await Promise.all([1, 2].map(() => provideKubeAssets({ env, tools, release: releaseOf(base) })));
    expect(both.every((one) => "assets" in one)).toBe(true);
    expect(await readdir(tools)).toEqual([`envtest-v${kubeVersion}`]);
  });

  it("is not used when its checksum is wrong", async () => {
    const [tools, { base }] = [await emptyTools(), await serve()];
    expect(await provideKubeAssets({ env, tools, release: releaseOf(base, "0") })).toEqual({
      missing: expect.stringMatching(/envtest\.tar\.gz has SHA-512 [0-9a-f]{128}, expected 0/),
    });
    expect(await readdir(tools)).toEqual([]);
  });

  it("is replaced by a reason when the download fails", async () => {
    const { base } = await serve(404);
    const tools = await emptyTools();
    expect(await provideKubeAssets({ env, tools, release: releaseOf(base) })).toEqual({
      missing: expect.stringContaining(`${base}/envtest.tar.gz could not be fetched (it answered 404)`),
    });
    expect(await provideKubeAssets({ env, tools, release: { base, archives: {} } })).toEqual({
      missing: expect.stringContaining(`there is no release for ${process.platform}-${process.arch}`),
    });
  });

  it("is not downloaded when a folder is configured", async () => {
    const { base, requests } = await serve();
    const tools = await emptyTools();
    const env = { PATH: "", KUBEBUILDER_ASSETS: tools };
    expect(await provideKubeAssets({ env, tools, release: releaseOf(base) })).toEqual({
      missing: `KUBEBUILDER_ASSETS, ${tools}, holds no kube-apiserver and etcd`,
    });
    expect(requests()).toBe(0);
  });
});
