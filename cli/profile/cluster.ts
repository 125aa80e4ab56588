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
  const found = await findInstallation(env);
  if (found === undefined) return undefined;
  const { port, stop } = await forwardPort(found, env);
  const origin = `cluster ${context.trim()}, namespace ${found.namespace}`;
  return {
    profile: { name: "cluster", origin, url: `http://127.0.0.1:${port}`, apiKey: found.apiKey, org: undefined },
    close: stop,
  };
}

const secretName = "headwater-api-key";
const requestTimeout = "--request-timeout=10s";
const definition = "sources.headwater.dev";
/** The chart annotates the definitions, which only admins of the cluster write; Helm does as well. */
const namespaceAnnotations = ["headwater.dev/namespace", "meta.helm.sh/release-namespace"];
const ofHeadwater = "app.kubernetes.io/name=headwater";
const apiLabels = `${ofHeadwater},app.kubernetes.io/component=api`;
/** It exists with the admin API, and has the rest of the API too. */
const adminLabels = `${ofHeadwater},app.kubernetes.io/component=admin`;

export interface Installation {
  readonly namespace: string;
  /** The Service of the admin API if there is one, otherwise that of the API. */
  readonly service: string;
  readonly port: number;
  readonly apiKey: string;
}

/**
 * The installation in the namespace that HEADWATER_NAMESPACE names, otherwise in that of the definitions. Other namespaces are not searched:
 * any tenant may create a Secret and a Service with these names in his own, and would get the requests. @throws Failure
 */
export async function findInstallation(env: NodeJS.ProcessEnv): Promise<Installation | undefined> {
  const namespace = nonEmpty(env["HEADWATER_NAMESPACE"]) ?? (await namespaceOfDefinitions(env));
  if (namespace === undefined) return undefined;
  const inNamespace = ["--namespace", namespace, requestTimeout, "-o"];
  const find = async (labels: string): Promise<Service | undefined> => {
    const services = servicesIn(await read(["get", "services", "-l", labels, ...inNamespace, "json"], env));
    if (services.length <= 1) return services[0];
    const names = services.map(({ service }) => service).join(", ");
    throw unusable(`namespace ${namespace} has several Services of Headwater's API: ${names}`);
  };
  const found = (await find(adminLabels)) ?? (await find(apiLabels));
  if (found === undefined) throw unusable(`namespace ${namespace} has no Service of Headwater's API (${apiLabels})`);
  const key = await read(["get", "secret", secretName, ...inNamespace, "jsonpath={.data.api-key}"], env);
  return { namespace, ...found, apiKey: Buffer.from(key, "base64").toString() };
}

/** Undefined if the cluster has no Headwater. */
async function namespaceOfDefinitions(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const text = await read(["get", "customresourcedefinition", definition, "--ignore-not-found", requestTimeout, "-o", "json"], env);
  if (text.trim() === "") return undefined;
  const { metadata } = JSON.parse(text) as { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }; // As of any object.
  const namespace = namespaceAnnotations.map((name) => nonEmpty(metadata.annotations?.[name])).find((each) => each !== undefined);
  if (namespace === undefined) throw unusable(`${definition} does not name the namespace of Headwater`);
  return namespace;
}

type Service = Pick<Installation, "service" | "port">;

interface ServiceObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly ports: readonly { readonly port: number }[] };
}

function servicesIn(text: string): readonly Service[] {
  const { items } = JSON.parse(text) as { readonly items: readonly ServiceObject[] }; // As of any list of Services.
  return items.map(({ metadata, spec }) => ({ service: metadata.name, port: spec.ports[0]?.port ?? 80 }));
}

const unusable = (message: string): Failure =>
  new Failure(message, { exitCode: exitCodes.unreachable, hint: "name the namespace in HEADWATER_NAMESPACE, or run `hw login`" });

const read = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  kubectl(args, env).catch((error: unknown) => {
    throw unusable(`the cluster of kubectl's current context does not show its Headwater: ${firstLineOf(error)}`);
  });

const kubectl = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> =>
  (await promisify(execFile)("kubectl", args, { env })).stdout;

async function forwardPort(
  { namespace, service, port }: Installation,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  const args = ["--namespace", namespace, "port-forward", `service/${service}`, `:${port}`];
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
