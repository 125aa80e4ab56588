import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { KubeApiClient, kubeconfigOf, type KubeAccess } from "./kube-api-client.ts";
import type { KubeAssets } from "./kube-assets.ts";
import type { BrokerAnswer, BrokerRequest } from "./kube-broker.ts";
import { installCrds } from "./kube-crds.ts";
import { kubeObjects, type KubeObjects } from "./kube-objects.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../temporary-directory.ts";
import { reportMissing } from "../required-tools.ts";

export interface KubeApiOptions {
  /**
   * A server for this file only: for tests that stop it, or that change cluster-scoped resources. An
   * operator on the shared server reads its namespaces only, see integration/kubernetes/support.ts.
   */
  readonly own?: boolean;
  /** Further flags of an own kube-apiserver, such as --min-request-timeout=5. */
  readonly flags?: readonly string[];
  /** False: an own server comes without our CRDs. */
  readonly crds?: boolean;
}

/** `describe` and `missing` are available at once, the other fields from `beforeAll` on. */
export interface KubeApi {
  /** `describe`; without a kube-apiserver the tests are skipped, with the reason in their title. */
  readonly describe: (name: string, tests: () => void) => void;
  /** Why there is no server. */
  readonly missing: string | undefined;
  readonly access: KubeAccess;
  /** Text of a kubeconfig with all rights. */
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  /** The plain REST interface with all rights. */
  readonly client: KubeApiClient;
  readonly objects: KubeObjects;
  /** Is it a namespace that this file has created by `namespace`? */
  isOwn(namespace: string): boolean;
  /** Name of a new namespace. It is never removed: the controller that empties namespaces does not run here. */
  namespace(labels?: Readonly<Record<string, string>>): Promise<string>;
  installCrds(): Promise<void>;
  /** @param input for `-f -` */
  kubectl(args: readonly string[], input?: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  readonly hasKubectl: boolean;
  /** These three require `own`. The port and all data stay. */
  stopServer(how?: "stop" | "kill"): Promise<void>;
  startServer(): Promise<void>;
  restart(): Promise<void>;
}

/**
 * A real kube-apiserver with etcd and our CRDs for the test file that awaits this at its top level. No controllers run: nothing
 * collects garbage, empties a deleted namespace or starts pods.
 */
export async function withKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  const found = await ask({ ask: "assets" });
  const missing = "missing" in found ? found.missing : undefined;
  if (missing !== undefined) reportMissing(missing);
  const assets = "assets" in found ? found.assets : undefined;
  const suite = missing === undefined ? describe : describe.skip;
  const own = options.own === true;
  const namespaces = new Set<string>();
  const running = started(assets, own, options);
  const owned = async (request: "stopServer" | "killServer" | "startServer"): Promise<void> => {
    if (!own) throw new Error("the shared API server is not stopped: use withKubeApi({ own: true })");
    await ask({ ask: request, url: running().access.url });
  };
  const stopServer = (how: "stop" | "kill" = "stop"): Promise<void> => owned(how === "stop" ? "stopServer" : "killServer");
  return {
    describe: (name, tests) => {
      const why = missing === undefined ? "" : ` (skipped: ${missing})`;
      suite(`${name}${why}`, tests);
    },
    missing,
    hasKubectl: assets?.kubectl !== undefined,
    get access() {
      return running().access;
    },
    get kubeconfig() {
      return kubeconfigOf(running().access);
    },
    get kubeconfigPath() {
      return running().kubeconfigPath;
    },
    get client() {
      return running().client;
    },
    objects: kubeObjects(() => running().client),
    isOwn: (name) => namespaces.has(name),
    namespace: async (labels = {}) => {
      const name = `test-${randomBytes(6).toString("hex")}`;
      namespaces.add(name);
      await running().client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
      return name;
    },
    installCrds: () => installCrds(running().client),
    kubectl: (args, input) => runKubectl(assets, running().kubeconfigPath, args, input),
    stopServer,
    startServer: () => owned("startServer"),
    restart: async () => {
      await stopServer();
      await owned("startServer");
    },
  };
}

interface Running {
  readonly access: KubeAccess;
  readonly client: KubeApiClient;
  readonly directory: TemporaryDirectory;
  readonly kubeconfigPath: string;
}

/** Registers the hooks; the servers run from `beforeAll` on. */
function started(assets: KubeAssets | undefined, own: boolean, { flags = [], crds = true }: KubeApiOptions): () => Running {
  let running: Running | undefined;
  beforeAll(async () => {
    if (assets === undefined) return;
    const answer = await ask(own ? { ask: "own", flags } : { ask: "shared" });
    if (!("access" in answer)) throw new Error("the broker of API servers gave no access");
    const directory = await temporaryDirectory("kubeconfig");
    const kubeconfigPath = join(directory.path, "kubeconfig");
    await writeFile(kubeconfigPath, kubeconfigOf(answer.access), { mode: 0o600 });
    running = { access: answer.access, client: new KubeApiClient(answer.access), directory, kubeconfigPath };
    if (own && crds) await installCrds(running.client);
  });
  afterAll(async () => {
    await running?.client.close();
    await running?.directory.remove();
    if (own && running !== undefined) await ask({ ask: "stop", url: running.access.url });
  });
  return () => {
    if (running === undefined) throw new Error("the API server is there from beforeAll on");
    return running;
  };
}

async function ask(request: BrokerRequest): Promise<BrokerAnswer> {
  const response = await fetch(inject("kubeBroker"), { method: "POST", body: JSON.stringify(request) });
  const answer = (await response.json()) as BrokerAnswer; // Only kube-broker.ts answers here.
  if ("error" in answer) throw new Error(answer.error);
  return answer;
}

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

function runKubectl(assets: KubeAssets | undefined, kubeconfig: string, args: readonly string[], input = ""): Promise<Ran> {
  const program = assets?.kubectl;
  if (program === undefined) throw new Error("kubectl was not found");
  return new Promise((resolve) => {
    const options = { env: { ...process.env, KUBECONFIG: kubeconfig }, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
