import { execFile, spawn, type ChildProcess } from "node:child_process";
import { promisify } from "node:util";
import { Failure, exitCodes } from "../failure.ts";
import { nonEmpty } from "./config-file.ts";
import type { OpenProfile } from "./profile.ts";

/**
 * The installation in the cluster of kubectl's current context: reads the first user's key from its Secret and forwards a port to its API for
 * as long as the command runs.
 */
export async function openCluster(env: NodeJS.ProcessEnv): Promise<OpenProfile | undefined> {
  const context = await kubectl(["config", "current-context"], env).catch(() => undefined);
  if (context === undefined) return undefined;
  const found = await findSecret(env);
  if (found === undefined) return undefined;
  const { port, stop } = await forwardPort(found.namespace, env);
  const origin = `cluster ${context.trim()}, namespace ${found.namespace}`;
  return {
    profile: { name: "cluster", origin, url: `http://127.0.0.1:${port}`, apiKey: found.apiKey, org: undefined },
    close: stop,
  };
}

const secretName = "headwater-api-key";
const requestTimeout = "--request-timeout=10s";

async function findSecret(env: NodeJS.ProcessEnv): Promise<{ readonly namespace: string; readonly apiKey: string } | undefined> {
  const named = nonEmpty(env["HEADWATER_NAMESPACE"]);
  const template = '{range .items[*]}{.metadata.namespace} {.data.api-key}{"\\n"}{end}';
  const scope = named === undefined ? ["--all-namespaces"] : ["--namespace", named];
  const selector = ["--field-selector", `metadata.name=${secretName}`];
  const text = await kubectl(["get", "secrets", ...scope, ...selector, requestTimeout, "-o", `jsonpath=${template}`], env).catch(
    (error: unknown) => {
      throw new Failure(`the cluster of kubectl's current context does not list Secrets: ${firstLineOf(error)}`, {
        exitCode: exitCodes.unreachable,
        hint: "name the namespace in HEADWATER_NAMESPACE, or run `hw login`",
      });
    },
  );
  const [line] = text.trim().split("\n");
  const [namespace = "", key = ""] = (line ?? "").split(" ");
  return namespace === "" ? undefined : { namespace, apiKey: Buffer.from(key, "base64").toString() };
}

const kubectl = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  (await promisify(execFile)("kubectl", args, { env })).stdout;

async function forwardPort(
  namespace: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  const args = ["--namespace", namespace, "port-forward", "service/headwater-api", ":3000"];
  const child = spawn("kubectl", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  try {
    return { port: await portOf(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** kubectl prints `Forwarding from 127.0.0.1:40123 -> 3000` once it listens. */
function portOf({ stdout, stderr, ...child }: ChildProcess): Promise<number> {
  void child;
  return new Promise((resolve, reject) => {
    let errors = "";
    stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    stdout?.on("data", (chunk: Buffer) => {
      const port = /127\.0\.0\.1:(\d+)/.exec(chunk.toString())?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    stdout?.on("close", () => reject(new Failure(`kubectl port-forward ended: ${errors.trim()}`, { exitCode: exitCodes.unreachable })));
  });
}

const firstLineOf = (error: unknown): string =>
  (error instanceof Error && "stderr" in error ? String(error.stderr) : String(error)).trim().split("\n")[0] ?? "";
