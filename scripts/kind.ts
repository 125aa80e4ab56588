import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./checks.ts";
import { isOnPath } from "./programs.ts";

/**
 * `npm run kind [-- --keep]`: a cluster in docker (https://kind.sigs.k8s.io), the image built from our Dockerfile and loaded, and the
 * cluster tests on both. `--keep` keeps the cluster for the next run.
 */
const cluster = "headwater";
const image = "headwater:test";
const images = ["nats:2.15.1-alpine", "postgres:18"];
const keep = process.argv.includes("--keep");
const programs: Readonly<Record<string, string>> = {
  docker: "https://docs.docker.com/get-docker",
  kind: "https://kind.sigs.k8s.io/docs/user/quick-start/#installation",
  kubectl: "https://kubernetes.io/docs/tasks/tools",
  helm: "https://helm.sh/docs/intro/install",
};

const missing = Object.entries(programs).filter(([program]) => !isOnPath(program));
if (missing.length > 0) {
  console.error(`npm run kind needs what is not on PATH:\n${missing.map(([program, where]) => `  ${program}: ${where}`).join("\n")}`);
  process.exitCode = 2;
} else process.exitCode = await main();

async function main(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "headwater-kind-"));
  const kubeconfig = join(directory, "kubeconfig");
  const env = { ...process.env, KUBECONFIG: kubeconfig, HEADWATER_TEST_IMAGE: image };
  const shell = `docker exec ${cluster}-control-plane sh -c`;
  try {
    await step("docker", ["build", "--tag", image, "."], env);
    if (!(await isThere(env)))
      await step("kind", ["create", "cluster", "--name", cluster, "--wait", "120s", "--kubeconfig", kubeconfig], env);
    else await step("kind", ["export", "kubeconfig", "--name", cluster, "--kubeconfig", kubeconfig], env);
    for (const name of images) await step("docker", ["pull", "--quiet", name], env);
    await step("kind", ["load", "docker-image", "--name", cluster, image, ...images], env);
    return await run(process.execPath, [join(root, "scripts/test-cluster.ts")], { ...env, HEADWATER_TEST_NODE_SHELL: shell });
  } finally {
    if (!keep) await run("kind", ["delete", "cluster", "--name", cluster], env);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function isThere(env: NodeJS.ProcessEnv): Promise<boolean> {
  return (await run("docker", ["inspect", "--format", "found", `${cluster}-control-plane`], env, "ignore")) === 0;
}

async function step(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  console.log(`> ${program} ${args.join(" ")}`);
  const code = await run(program, args, env);
  if (code !== 0) throw new Error(`${program} ${args[0] ?? ""} ended with ${code}: what it said is above`);
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, stdio: "inherit" | "ignore" = "inherit"): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
