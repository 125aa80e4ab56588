import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileInTar } from "../../../platform/process/nats/nats-release.ts";
import { assetsIn, findKubeAssets, type KubeAssets } from "./kube-assets.ts";

/** The control plane of controller-runtime's envtest: https://github.com/kubernetes-sigs/controller-tools/blob/main/envtest-releases.yaml */
export const kubeVersion = "1.36.2";

export interface KubeRelease {
  /** Folder of the archives. */
  readonly base: string;
  /** SHA-512 of each archive, by `<platform>-<arch>` as Node names them. */
  readonly archives: Readonly<Record<string, { readonly file: string; readonly sha512: string }>>;
}

const officialRelease: KubeRelease = {
  base: `https://github.com/kubernetes-sigs/controller-tools/releases/download/envtest-v${kubeVersion}`,
  archives: {
    "linux-x64": archive(
      "linux-amd64",
      "ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08",
    ),
    "linux-arm64": archive(
      "linux-arm64",
      "2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac",
    ),
    "darwin-x64": archive(
      "darwin-amd64",
      "b4fe9f973cd1992e3880f8b230ed32c0c243b83371591e3e3315f4404df2cdbef8ee94eeb9bb245b7e5feb987d5c4a76c43e0877654ab73f00d7bbc2b9984514",
    ),
    "darwin-arm64": archive(
      "darwin-arm64",
      "9278f9e5af556b2f1f2d139769c1f0d717c7b4426917fdebdba898bcb725a916e4910d6160886194ff9be9589ea7c5c32c2b8ae0754703874b7c8ba8ddfc41ce",
    ),
  },
};

function archive(target: string, sha512: string): { file: string; sha512: string } {
  return { file: `envtest-v${kubeVersion}-${target}.tar.gz`, sha512 };
}

const programs = ["etcd", "kube-apiserver", "kubectl"] as const;
const timeoutMs = 240_000;
const keptTools = join(import.meta.dirname, "..", "..", "..", ".headwater", "tools");

export interface ProvideOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Folder of downloaded releases. */
  readonly tools?: string;
  readonly release?: KubeRelease;
}

/** The programs from KUBEBUILDER_ASSETS, PATH, an earlier download or the official release, in this order; or the reason why none has them. */
export async function provideKubeAssets(options: ProvideOptions = {}): Promise<{ assets: KubeAssets } | { missing: string }> {
  const { env = process.env, tools = keptTools, release = officialRelease } = options;
  const kept = join(tools, `envtest-v${kubeVersion}`);
  const found = findKubeAssets(env) ?? (env["KUBEBUILDER_ASSETS"] ? undefined : assetsIn([kept]));
  if (found !== undefined) return { assets: found };
  if (env["KUBEBUILDER_ASSETS"]) return { missing: `KUBEBUILDER_ASSETS, ${env["KUBEBUILDER_ASSETS"]}, holds no kube-apiserver and etcd` };
  try {
    await fetchRelease(kept, tools, release);
    const fetched = assetsIn([kept]);
    return fetched === undefined ? { missing: `${kept} holds no kube-apiserver and etcd` } : { assets: fetched };
  } catch (error) {
    return { missing: `neither KUBEBUILDER_ASSETS nor PATH has kube-apiserver and etcd; ${reason(error)}` };
  }
}

async function fetchRelease(kept: string, tools: string, { base, archives }: KubeRelease): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  const wanted = archives[platform];
  if (wanted === undefined) throw new Error(`there is no release for ${platform}`);
  process.stderr.write(`fetching kube-apiserver and etcd ${kubeVersion} for the tests, once\n`);
  const packed = await get(`${base}/${wanted.file}`);
  const sum = createHash("sha512").update(packed).digest("hex");
  if (sum !== wanted.sha512) throw new Error(`${wanted.file} has SHA-512 ${sum}, expected ${wanted.sha512}`);
  await install(packed, kept, tools);
}

async function get(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new Error(`${url} could not be fetched (${reason(error)})`, { cause: error });
  }
}

/** Renamed into place, so that another run at the same time sees all of it or nothing. */
async function install(archive: Buffer, kept: string, tools: string): Promise<void> {
  await mkdir(tools, { recursive: true });
  const partial = await mkdtemp(join(tools, "envtest-"));
  try {
    for (const program of programs) await writeFile(join(partial, program), await fileInTar(archive, program), { mode: 0o755 });
    await rename(partial, kept).catch((error: unknown) => {
      // Another run was faster.
      if (assetsIn([kept]) === undefined) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.message === "fetch failed" ? error.cause.message : error.message;
}
