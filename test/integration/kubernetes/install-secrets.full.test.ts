import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { z } from "zod";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const kube = await withKubeApi();
const secretShape = z.object({ data: z.record(z.string(), z.string()) });

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await temporaryDirectory("install-secrets");
});
afterAll(() => directory.remove());

/** The printed text. */
async function install(namespace: string, ...flags: string[]): Promise<string> {
  const script = join(import.meta.dirname, "../../../scripts/install-secrets.ts");
  const kubeconfig = parseDocument(kube.kubeconfig);
  kubeconfig.setIn(["contexts", 0, "context", "namespace"], namespace);
  const env = { ...process.env, KUBECONFIG: join(directory.path, namespace) };
  await writeFile(env.KUBECONFIG, kubeconfig.toString(), { mode: 0o600 });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, "--postgres", "db:5432/headwater", ...flags], { env });
  return stdout + stderr;
}

async function tokenIn(namespace: string): Promise<string | undefined> {
  const { status, body } = await kube.client.request("GET", `/api/v1/namespaces/${namespace}/secrets/headwater-admin-token`);
  if (status === 404) return undefined;
  return Buffer.from(secretShape.parse(body).data["admin-token"] ?? "", "base64").toString();
}

/** Runs the script without a cluster. */
async function print(env: Readonly<Record<string, string>>, flags: readonly string[], input = "") {
  const script = join(import.meta.dirname, "../../../scripts/install-secrets.ts");
  const running = promisify(execFile)(process.execPath, [script, "--print", "--postgres", "db.example.com:5432/headwater", ...flags], {
    env: { PATH: process.env["PATH"], ...env },
  });
  running.child.stdin?.end(input);
  return running;
}

describe("--print", () => {
  const environment = { PGUSER: "admin", PGPASSWORD: "a-password" };

  test("takes the administrator from the environment, and derives missing Secrets from those on standard input", async () => {
    const first = await print(environment, []);
    expect(first.stdout).toContain("postgres://admin:a-password@db.example.com:5432/headwater");
    expect(first.stderr).toContain("headwater-backup is new");
    expect(first.stderr).not.toContain("a-password");
    const documents = first.stdout.split(/^---\n/m);
    const existing = documents.filter((text) => !text.includes("name: headwater-backup")).join("---\n");
    const second = await print({}, ["--existing", "-"], existing);
    expect(second.stderr).toBe("headwater-backup is new\n");
    const passwordOf = (text: string) => /headwater_backup:[^@]+/.exec(text)?.[0] ?? "none";
    expect(passwordOf(second.stdout)).toBe(passwordOf(first.stdout));
    const file = join(directory.path, "existing.yaml");
    await writeFile(file, first.stdout, { mode: 0o600 });
    expect(await print({}, ["--existing", file])).toMatchObject({ stdout: "", stderr: "" });
  });

  test("is refused without the administrator of an external Postgres", async () => {
    await expect(print({}, [])).rejects.toMatchObject({ stdout: "", stderr: expect.stringContaining("set PGUSER and PGPASSWORD") });
  });
});

kube.describe("the Job that makes Secrets", () => {
  test("creates an admin token once if requested, and never prints it", async () => {
    const namespace = await kube.namespace();
    await install(namespace);
    expect(await tokenIn(namespace)).toBeUndefined();
    const printed = await install(namespace, "--admin-token");
    const token = await tokenIn(namespace);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(printed).toContain("headwater-admin-token is made");
    expect(printed).not.toContain(token);
    expect(await install(namespace, "--admin-token")).not.toContain("headwater-admin-token");
    expect(await tokenIn(namespace)).toBe(token);
  });
});
