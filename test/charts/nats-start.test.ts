import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLink } from "../../platform/jetstream/connection/link.ts";
import { hasExited } from "../../platform/process/processes.ts";
import { createAuthority, type TestAuthority } from "../support/certificate-authority.ts";
import { trusting } from "../support/certificate-files.ts";
import { chart } from "../support/helm.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const [first, second] = [createAuthority("first authority"), createAuthority("second authority")];

describe("the start of the chart's NATS with TLS", () => {
  let directory: TemporaryDirectory;
  let server: ChildProcess;
  let port: number;
  let versions = 0;

  beforeEach(async () => {
    directory = await temporaryDirectory("nats-start");
    port = await steadyPort();
    await mkdir(tlsPath());
    await mount(first);
    for (const name of ["tls.crt", "tls.key", "ca.crt"]) await symlink(join("..data", name), join(tlsPath(), name));
    const files = `cert_file: "${tlsPath()}/tls.crt", key_file: "${tlsPath()}/tls.key", ca_file: "${tlsPath()}/ca.crt"`;
    await writeFile(configuration(), `listen: 127.0.0.1:${port}\ntls { ${files}, verify: false, timeout: 5 }\n`);
    const path = `${dirname(await natsBinary())}:${process.env["PATH"] ?? ""}`;
    const script = join(chart, "files/nats-start.sh");
    server = spawn("sh", [script, configuration(), tlsPath(), "0.2"], { stdio: "ignore", detached: true, env: { PATH: path } });
  });
  afterEach(async () => {
    // The loop beside the server is in its process group.
    if (server.pid !== undefined && !hasExited(server)) {
      const exited = once(server, "exit");
      process.kill(-server.pid, "SIGKILL");
      await exited;
    }
    await directory.remove();
  });

  const tlsPath = (): string => join(directory.path, "tls");
  const configuration = (): string => join(directory.path, "nats-server.conf");

  /** As the kubelet does: a directory for each version of a Secret, and a link that is replaced. */
  async function mount(authority: TestAuthority): Promise<void> {
    const version = `..version-${versions++}`;
    const { certificate, key } = authority.issue();
    await mkdir(join(tlsPath(), version));
    for (const [name, text] of Object.entries({ "tls.crt": certificate, "tls.key": key, "ca.crt": authority.certificate }))
      await writeFile(join(tlsPath(), version, name), text);
    await symlink(version, join(tlsPath(), "..data_tmp"));
    await rename(join(tlsPath(), "..data_tmp"), join(tlsPath(), "..data"));
  }

  async function isTrustedBy(authority: TestAuthority): Promise<boolean> {
    const tlsFiles = trusting(directory.path, "client", authority.certificate);
    const server = { servers: `nats://127.0.0.1:${port}`, tlsFiles };
    const link = await openLink({ server, name: "test", startTimeoutMs: 1_000 }).catch(() => undefined);
    await link?.close();
    return link !== undefined;
  }

  it("reloads certificates when the Secret changes, in the same process", async () => {
    await expect.poll(() => isTrustedBy(first)).toBe(true);
    await mount(second);
    await expect.poll(() => isTrustedBy(second)).toBe(true);
    expect(await isTrustedBy(first)).toBe(false);
    expect(hasExited(server)).toBe(false);
  });

  it("ends with the signal that Kubernetes sends", async () => {
    await expect.poll(() => isTrustedBy(first)).toBe(true);
    const exited = once(server, "exit");
    server.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
});
