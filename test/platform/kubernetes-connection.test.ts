import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { ClusterAccess } from "../../platform/kubernetes/access/access.ts";
import { connectKubernetes, type Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import { findAccess } from "../../platform/kubernetes/access/find-access.ts";
import { readKubeconfig } from "../../platform/kubernetes/access/kubeconfig.ts";
import { findServiceAccount } from "../../platform/kubernetes/access/service-account.ts";
import { watchObjects } from "../../platform/kubernetes/resources/watch.ts";
import { certificate, privateKey } from "../sandbox/net/certificate.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

/** Behaves like an API server in cases that a real one does not produce on demand. */
async function startServer(answer: Answer): Promise<{ url: string; readonly asked: IncomingMessage[]; close(): Promise<void> }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => answer(request, response, asked.push(request)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const status = (code: number, more: object = {}): string => JSON.stringify({ kind: "Status", status: "Failure", code, ...more });
const reply = (response: ServerResponse, code: number, body: string, headers: Record<string, string> = {}): void =>
  void response.writeHead(code, { "content-type": "application/json", ...headers }).end(body);

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await temporaryDirectory("kubernetes-connection");
});
afterAll(() => directory.remove());

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ends.splice(0)) await end();
});

async function connected(
  answer: Answer,
  access: Partial<ClusterAccess> = {},
  timeoutMs = 20_000,
): Promise<{ kubernetes: Kubernetes; asked: IncomingMessage[] }> {
  const server = await startServer(answer);
  const base = { server: server.url, namespace: "default", headers: {}, credentials: async () => ({ tls: {} }) };
  const kubernetes = await connectKubernetes({ access: { ...base, ...access }, timeoutMs });
  ends.push(
    () => kubernetes.close(),
    () => server.close(),
  );
  return { kubernetes, asked: server.asked };
}

const get = { method: "GET", path: "/api/v1/namespaces/x" } as const;
const post = { method: "POST", path: "/api/v1/namespaces", body: {} } as const;

describe("a request", () => {
  test("is repeated after a 429 when the server's Retry-After is over, also a write", async () => {
    const { kubernetes, asked } = await connected((_, response, nth) =>
      nth === 1 ? reply(response, 429, status(429), { "retry-after": "1" }) : reply(response, 200, '{"ok":true}'),
    );
    const startedAt = performance.now();
    expect(await kubernetes.request(post)).toEqual({ ok: true });
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(asked).toHaveLength(2);
  });

  test("fails at once when Retry-After is longer than the request may take", async () => {
    const { kubernetes, asked } = await connected((_, response) => reply(response, 429, status(429), { "retry-after": "60" }));
    await expect(kubernetes.request(get)).rejects.toMatchObject({ status: 503, details: { retryAfterMs: 60_000 } });
    expect(asked).toHaveLength(1);
  });

  test("is repeated after a broken connection if it is a read, not if it is a write that may have happened", async () => {
    const { kubernetes, asked } = await connected((request, response, nth) =>
      nth === 1 || request.method === "POST" ? request.socket.destroy() : reply(response, 200, "{}"),
    );
    expect(await kubernetes.request(get)).toEqual({});
    expect(asked).toHaveLength(2);
    await expect(kubernetes.request(post)).rejects.toMatchObject({ status: 503, code: "kubernetes_unavailable" });
    expect(asked).toHaveLength(3);
  });

  test("throws Unavailable when the server does not respond", async () => {
    const { kubernetes } = await connected(() => undefined, {}, 200);
    await expect(kubernetes.request(post)).rejects.toMatchObject({ status: 503 });
  });

  test("throws Unavailable when no server listens", async () => {
    const access = { server: "http://127.0.0.1:1", namespace: "default", headers: {}, credentials: async () => ({ tls: {} }) };
    const kubernetes = await connectKubernetes({ access });
    await expect(kubernetes.request(post)).rejects.toMatchObject({
      code: "kubernetes_unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    await kubernetes.close();
  });

  test("renews a refused token once", async () => {
    const renewals: boolean[] = [];
    const credentials = async (renew: boolean) => {
      renewals.push(renew);
      return { authorization: renew ? "Bearer new" : "Bearer old", tls: {} };
    };
    const answer: Answer = ({ headers }, response) =>
      headers.authorization === "Bearer new" ? reply(response, 200, "{}") : reply(response, 401, status(401));
    const { kubernetes } = await connected(answer, { credentials });
    expect(await kubernetes.request(post)).toEqual({});
    expect(renewals).toEqual([false, true]);
  });

  test("reports credentials that stay refused as an internal error, not as the caller's", async () => {
    const { kubernetes, asked } = await connected((_, response) => reply(response, 401, status(401)));
    await expect(kubernetes.request(get)).rejects.toMatchObject({ status: 503, code: "kubernetes_unauthenticated" });
    expect(asked).toHaveLength(2);
  });

  test("throws the signal's reason when it is aborted", async () => {
    const { kubernetes } = await connected(() => undefined);
    const stop = new AbortController();
    const asking = kubernetes.request({ ...get, signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
  });
});

describe("a watch", () => {
  test("throws Gone when the server was restored to an earlier version", async () => {
    const { kubernetes } = await connected(({ url = "" }, response) => {
      if (url.includes("watch=true")) response.writeHead(200).write("{", () => response.destroy());
      else reply(response, 200, JSON.stringify({ metadata: { resourceVersion: "90" }, items: [] }));
    });
    const watching = watchObjects(kubernetes, { path: "/api/v1/pods" }, "100", { signal: AbortSignal.timeout(50_000) });
    await expect(watching.next()).rejects.toMatchObject({ code: "gone", message: expect.stringContaining("it was reset") });
  });

  test("parses an event split at any byte once, and drops an incomplete one", async () => {
    const object = { metadata: { name: "ü😀", uid: "1", resourceVersion: "101", creationTimestamp: "2026-11-21T00:00:00Z" } };
    const line = Buffer.from(`${JSON.stringify({ type: "ADDED", object })}\n`);
    const { kubernetes } = await connected((_, response) => {
      response.writeHead(200);
      void (async () => {
        for (const byte of line) await new Promise((resolve) => response.write(Uint8Array.of(byte), resolve));
        response.end(line.subarray(0, 20));
      })();
    });
    const stop = new AbortController();
    const watching = watchObjects(kubernetes, { path: "/api/v1/pods" }, "100", { signal: stop.signal });
    expect((await watching.next()).value).toMatchObject({ type: "added", object: { metadata: { name: "ü😀" } } });
    stop.abort();
    expect((await watching.next()).done).toBe(true);
  });
});

describe("access", () => {
  const config = (user: object, server = "https://10.0.0.1:6443"): string =>
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server, "certificate-authority-data": Buffer.from("CA").toString("base64") } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "team" } }],
      "current-context": "x",
    });
  const written = async (name: string, content: string): Promise<string> => {
    const path = join(directory.path, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, content);
    return path;
  };

  const inPod = (host: string | undefined): void => {
    vi.stubEnv("KUBERNETES_SERVICE_HOST", host);
    vi.stubEnv("KUBERNETES_SERVICE_PORT", "6443");
  };
  const account = "var/run/secrets/kubernetes.io/serviceaccount";

  test("is never guessed: there is none without a service account and KUBECONFIG", async () => {
    inPod(undefined);
    vi.stubEnv("KUBECONFIG", undefined);
    await written("home/.kube/config", config({ token: "t" }));
    vi.stubEnv("HOME", join(directory.path, "home"));
    await expect(findAccess()).rejects.toMatchObject({ code: "no_cluster", message: expect.stringContaining("KUBECONFIG") });
    vi.stubEnv("KUBECONFIG", join(directory.path, "home/.kube/config"));
    expect(await findAccess()).toMatchObject({ namespace: "team" });
  });

  test("rereads the service account's token regularly, and at once when it was refused", async () => {
    const root = join(directory.path, "pod");
    await written(`pod/${account}/token`, "first\n");
    await written(`pod/${account}/ca.crt`, "CA");
    await written(`pod/${account}/namespace`, "hw-system");
    inPod("fd00::1");
    const access = await findServiceAccount(root);
    expect(access).toMatchObject({ server: "https://[fd00::1]:6443", namespace: "hw-system" });
    expect(await access?.credentials(false)).toEqual({ authorization: "Bearer first", tls: { ca: "CA" } });
    await written(`pod/${account}/token`, "second\n");
    expect(await access?.credentials(false)).toMatchObject({ authorization: "Bearer first" });
    expect(await access?.credentials(true)).toMatchObject({ authorization: "Bearer second" });
    expect(await findServiceAccount(join(directory.path, "nowhere"))).toBeUndefined();
  });

  test("takes a token, a client certificate by relative path, or impersonation from a kubeconfig", async () => {
    await written("certs/me.crt", "CERT");
    await written("certs/me.key", "KEY");
    const user = { "client-certificate": "certs/me.crt", "client-key": "certs/me.key", as: "jane", "as-groups": ["a", "b"] };
    const access = await readKubeconfig(await written("by-certificate", config(user)));
    expect(access).toMatchObject({ namespace: "team", headers: { "impersonate-user": "jane", "impersonate-group": ["a", "b"] } });
    expect(await access.credentials(false)).toEqual({ tls: { ca: "CA", cert: "CERT", key: "KEY" } });
    const byToken = await readKubeconfig(await written("by-token", config({ token: "t" }, "https://10.0.0.1:6443/prefix/")));
    expect(byToken.server).toBe("https://10.0.0.1:6443/prefix");
    expect(await byToken.credentials(false)).toMatchObject({ authorization: "Bearer t" });
  });

  test("uses the first of several kubeconfig files that defines a name", async () => {
    const first = await written("first", JSON.stringify({ users: [{ name: "u", user: { token: "mine" } }] }));
    const second = await written("second", config({ token: "theirs" }));
    const access = await readKubeconfig([first, join(directory.path, "missing"), second].join(process.platform === "win32" ? ";" : ":"));
    expect(await access.credentials(false)).toMatchObject({ authorization: "Bearer mine" });
  });

  test("runs a credential plugin once until its credential expires or is refused", async () => {
    const log = join(directory.path, "asked");
    const plugin = await written(
      "bin/plugin.sh",
      `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> '${log}'\nn=$(wc -l < '${log}')\necho "{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$GIVEN-$n\\",\\"expirationTimestamp\\":\\"2999-01-01T00:00:00Z\\"}}"\n`,
    );
    await chmod(plugin, 0o755);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "bin/plugin.sh", env: [{ name: "GIVEN", value: "token" }] };
    const access = await readKubeconfig(await written("by-exec", config({ exec })));
    expect(await access.credentials(false)).toMatchObject({ authorization: "Bearer token-1", tls: { ca: "CA" } });
    expect(await access.credentials(false)).toMatchObject({ authorization: "Bearer token-1" });
    expect(await access.credentials(true)).toMatchObject({ authorization: "Bearer token-2" });
  });

  test("rereads a token file that a kubeconfig names when its token was refused", async () => {
    await written("tokens/mine", "first\n");
    const access = await readKubeconfig(await written("by-token-file", config({ tokenFile: "tokens/mine", token: "ignored" })));
    expect(await access.credentials(false)).toMatchObject({ authorization: "Bearer first", tls: { ca: "CA" } });
    await written("tokens/mine", "second\n");
    expect(await access.credentials(true)).toMatchObject({ authorization: "Bearer second" });
    const missing = await readKubeconfig(await written("by-no-token-file", config({ tokenFile: "tokens/missing" })));
    await expect(missing.credentials(false)).rejects.toMatchObject({ message: expect.stringMatching(/ENOENT .*tokens\/missing/) });
  });

  const idToken = (claims: object): string =>
    [{ alg: "RS256" }, claims, {}].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const byOpenId = (settings: object): object => ({ "auth-provider": { name: "oidc", config: settings } });

  test("uses an OpenID Connect token until it expires, and reports an expired one that cannot be renewed without its content", async () => {
    const lasting = idToken({ exp: 32_472_144_000 });
    const access = await readKubeconfig(await written("by-oidc", config(byOpenId({ "id-token": lasting }))));
    expect(await access.credentials(false)).toMatchObject({ authorization: `Bearer ${lasting}` });
    const late = await readKubeconfig(await written("by-late-oidc", config(byOpenId({ "id-token": idToken({ exp: 1 }) }))));
    await expect(late.credentials(false)).rejects.toMatchObject({
      code: "kubernetes_unauthenticated",
      message: expect.stringMatching(/auth provider 'oidc'$/),
    });
  });

  test("renews an expired OpenID Connect token with its issuer, once", async () => {
    let refreshed = 0;
    const issuer = createSecureServer({ cert: certificate, key: privateKey }, ({ url, headers: { host } }, response) => {
      const iss = `https://${host}`;
      if (url?.includes(".well-known")) return reply(response, 200, JSON.stringify({ issuer: iss, token_endpoint: `${iss}/token` }));
      refreshed++;
      const now = Math.floor(Date.now() / 1_000);
      const token = idToken({ iss, sub: "jane", aud: "headwater", iat: now, exp: now + 3_600 });
      return reply(response, 200, JSON.stringify({ access_token: "a", token_type: "bearer", expires_in: 3_600, id_token: token }));
    });
    await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
    ends.push(async () => {
      issuer.closeAllConnections();
      await new Promise((resolve) => issuer.close(resolve));
    });
    const address = issuer.address();
    const user = byOpenId({
      "idp-issuer-url": `https://localhost:${typeof address === "object" ? address?.port : 0}`,
      "client-id": "headwater",
      "id-token": idToken({ exp: 1 }),
      "refresh-token": "r",
    });
    // Not by idp-certificate-authority-data: with that, client-node 2.0.1 fails to read the answer.
    const authorities = getCACertificates();
    setDefaultCACertificates([...authorities, certificate]);
    ends.push(async () => setDefaultCACertificates(authorities));
    const access = await readKubeconfig(await written("by-refresh", config(user)));
    const { authorization } = await access.credentials(false);
    expect(authorization).toMatch(/^Bearer ey/);
    expect(await access.credentials(true)).toMatchObject({ authorization });
    expect(refreshed).toBe(1);
  });

  test("runs the plugin once more when many requests are refused at once", async () => {
    const log = join(directory.path, "asked-together");
    const plugin = await written("bin/together.sh", `#!/bin/sh\necho x >> '${log}'\necho '{"status":{"token":"t"}}'\n`);
    await chmod(plugin, 0o755);
    const access = await readKubeconfig(await written("by-exec-together", config({ exec: { command: "bin/together.sh" } })));
    await Promise.all(Array.from({ length: 8 }, () => access.credentials(true)));
    expect(await readFile(log, "utf8")).toBe("x\n");
  });

  test.each([
    ["prints no credential", "echo never-logged"],
    ["complains", "echo never-logged >&2; exit 1"],
    ["prints half a credential", "echo '{\"never-logged\":1}'"],
    ["prints an empty one", 'echo \'{"status":{"clientKeyData":"never-logged"}}\''],
  ])("names a plugin that %s, and does not repeat its output", async (name, script) => {
    const file = `bad-${name.replaceAll(" ", "-")}.sh`;
    await chmod(await written(`bin/${file}`, `#!/bin/sh\n${script}\n`), 0o755);
    const user = { exec: { command: `bin/${file}`, args: ["--secret=never-logged"] } };
    const access = await readKubeconfig(await written(`by-${file}`, config(user)));
    const error: unknown = await access.credentials(false).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ code: "kubernetes_unauthenticated", message: expect.stringContaining(file) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("never-logged");
  });

  test.each([
    ["no file", undefined, "does not exist"],
    ["no YAML", "a: [", "not a kubeconfig in YAML"],
    ["no context", "{}", "current-context"],
    ["an unknown context", JSON.stringify({ "current-context": "x" }), "'x' is not among"],
    ["no address", config({}, "10.0.0.1"), "not an http or https URL"],
    ["an address in the clear", config({}, "http://10.0.0.1"), "insecure-skip-tls-verify"],
    ["a plugin without command", config({ exec: { args: ["never-logged"] } }), "needs a command"],
    ["a cluster without server", JSON.stringify({ clusters: [{ name: "c", cluster: {} }] }), "clusters[0].cluster.server is missing"],
    ["an unknown user", config({}).replace('"user":"u"', '"user":"v"'), "'v' is not among"],
    ["a token among what is no YAML", "users:\n- token: never-logged\n  - a: [", "not a kubeconfig in YAML"],
  ])("refuses a kubeconfig with %s", async (name, content, why) => {
    const path = content === undefined ? join(directory.path, "absent") : await written(`broken-${name.replaceAll(" ", "-")}`, content);
    const error: unknown = await readKubeconfig(path).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ status: 422, message: expect.stringContaining(why) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("never-logged");
  });
});
