import { Agent, request } from "undici";
import { z } from "zod";

/** Address of a test's API server, and a token of the group system:masters. */
export interface KubeAccess {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
  readonly etcdUrl: string;
}

export interface KubeAnswer {
  readonly status: number;
  /** Parsed JSON, or the text when it is not JSON. */
  readonly body: unknown;
  /** Texts of the Warning headers. */
  readonly warnings: readonly string[];
}

const kubeObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
/** A list of custom resources; the items of other lists have no `kind`. */
export const kubeList = z.object({ items: z.array(kubeObject) });
export type KubeObject = z.infer<typeof kubeObject>;

/** A plain REST client, so that tests of our clients do not depend on our clients. */
export class KubeApiClient {
  readonly #access: KubeAccess;
  readonly #agent: Agent;

  constructor(access: KubeAccess) {
    this.#access = access;
    this.#agent = new Agent({ connect: { ca: access.ca }, connections: 8 });
  }

  async request(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<KubeAnswer> {
    const answer = await request(this.#access.url + path, {
      method,
      dispatcher: this.#agent,
      headers: {
        authorization: `Bearer ${this.#access.token}`,
        "content-type": "application/json",
        accept: "application/json",
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    const warnings = [answer.headers["warning"] ?? []].flat();
    return { status: answer.statusCode, body: parsed(text), warnings };
  }

  /** Server-side apply of one object. @throws with the server's message when it refuses */
  async apply(path: string, value: unknown): Promise<KubeObject> {
    const answer = await this.request("PATCH", `${path}?fieldManager=test&force=true`, value, {
      "content-type": "application/apply-patch+yaml",
    });
    return expectObject(answer);
  }

  async create(path: string, value: unknown): Promise<KubeObject> {
    return expectObject(await this.request("POST", path, value));
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** @throws with the server's message when the response is not an object */
export function expectObject(answer: KubeAnswer): KubeObject {
  if (answer.status < 300) return kubeObject.parse(answer.body);
  throw new Error(`${answer.status}: ${messageOf(answer)}`);
}

/** The server's message about a refusal, in kubectl's form. */
export function messageOf(answer: KubeAnswer): string {
  const status = z.object({ message: z.string() }).safeParse(answer.body);
  return status.success ? status.data.message : JSON.stringify(answer.body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A kubeconfig with this server only. */
export function kubeconfigOf({ url, ca, token }: KubeAccess): string {
  const data = Buffer.from(ca).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": data } }],
    users: [{ name: "test-admin", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test-admin" } }],
    "current-context": "test",
  });
}
