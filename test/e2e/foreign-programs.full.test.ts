import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProxy, type CuttableProxy } from "../support/cuttable-proxy.ts";
import { missingPrograms } from "../support/on-path.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { blocksOf } from "./support/documented-session.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";

/**
 * Programs that were written for the hosted service run unchanged: they reach Headwater under the service's host names, with the
 * certificate, the forwarder and the variables of docs/migrating.md.
 */
const root = join(import.meta.dirname, "..", "..");
const page = "docs/migrating.md";
const programs = join(root, "fixtures/foreign");
const tools = ["openssl", "bash"];

interface Program {
  /** Its name in the page's table of variables. */
  readonly language: string;
  readonly needs: readonly string[];
  /** Compiles the file first, where the language needs it. */
  readonly build?: string;
  readonly run: string;
}

const node: Program = { language: "Node", needs: [], run: `"${process.execPath}" "${programs}/follow-stream.mjs"` };
const python: Program = { language: "Python", needs: ["python3"], run: `python3 "${programs}/poll_events.py"` };
const go: Program = {
  language: "Go",
  needs: ["go"],
  build: `GO111MODULE=off go build -o receive_webhooks "${programs}/receive_webhooks.go"`,
  run: "./receive_webhooks",
};
const java: Program = {
  language: "Java",
  needs: ["java", "javac", "keytool"],
  build: `javac -d . "${programs}/Accounts.java"`,
  run: "java -cp . Accounts",
};
const curl: Program = { language: "curl", needs: ["curl"], run: `bash "${programs}/endpoint.sh"` };

let directory: TemporaryDirectory;
let headwater: Headwater;
let forwarder: Running;
let cuttable: CuttableProxy;
let [proxyPort, tlsPort] = [0, 0];

beforeAll(async () => {
  if (missingPrograms(tools).length > 0) return;
  directory = await temporaryDirectory("foreign");
  await finished(start(blockWith("openssl req")));
  [proxyPort, tlsPort] = [await steadyPort(), await steadyPort()];
  headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env: documentedSettings() });
  forwarder = start(`exec "${process.execPath}" "${root}/docs/examples/known-names.mjs"`, {
    API_URL: new URL(headwater.apiUrl).origin,
    INGRESS_URL: headwater.ingressUrl,
    PROXY_PORT: String(proxyPort),
    TLS_PORT: String(tlsPort),
  });
  await until(() => forwarder.output().includes("HTTPS_PROXY="), "the forwarder listens", { more: forwarder.output });
  cuttable = await startProxy(proxyPort);
});
afterAll(async () => {
  if (missingPrograms(tools).length > 0) return;
  forwarder.child.kill();
  await cuttable.close();
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

function blockWith(text: string): string {
  const block = blocksOf(page).find((each) => each.text.includes(text));
  if (block === undefined) throw new Error(`no block of ${page} has '${text}'`);
  return block.text;
}

function documentedSettings(): Record<string, string> {
  const settings = blockWith("npm start").matchAll(/(HEADWATER_\w+)=(\S+)/g);
  return Object.fromEntries([...settings].map(([, name = "", value = ""]) => [name, value]));
}

/** The variables that the page's table lists for a language, in shell syntax. */
function variablesFor({ language }: Program): string {
  const row = readFileSync(join(root, page), "utf8")
    .split("\n")
    .find((line) => line.startsWith(`| ${language} | \``));
  const variables = /`(.*)`/.exec(row ?? "")?.[1];
  if (variables === undefined) throw new Error(`${page} gives no variables for ${language}`);
  return variables;
}

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
}

function start(script: string, env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn("bash", ["-c", script], {
    cwd: directory.path,
    env: { ...bareEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return { child, output: () => output };
}

/** The environment of a user: without this machine's settings for certificates and proxies. */
function bareEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "JAVA_HOME", "GOCACHE", "GOPATH", "GOROOT", "LANG", "TMPDIR"];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

/** @returns its output @throws when it fails */
async function finished({ child, output }: Running): Promise<string> {
  if (child.exitCode === null) await once(child, "close");
  if (child.exitCode !== 0) throw new Error(`ended with ${child.exitCode}:\n${output()}`);
  return output();
}

/** Starts a program with the page's variables and a key of its own. */
async function launch(program: Program, port = proxyPort, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  if (program.build !== undefined) await finished(start(program.build));
  const key = await headwater.call<{ data: { id: string; key: string } }>("POST", "/users/me/keys", { name: program.language });
  const variables = variablesFor(program).replaceAll("8080", String(port));
  const { id, key: secret } = key.body.data;
  const credentials = { PIPEDREAM_API_KEY: secret, PIPEDREAM_CLIENT_ID: id, PIPEDREAM_CLIENT_SECRET: secret };
  return start(`export ${variables}\nexec ${program.run}`, { ...credentials, ...env });
}

/** A test, or a skipped test whose name lists the missing programs. */
function runs(program: Program, what: string, test: () => Promise<void>): void {
  const missing = missingPrograms([...tools, ...program.needs]);
  const why = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} not found on PATH)`;
  (missing.length === 0 ? it : it.skip)(`${program.language}: ${what}${why}`, test);
}

const createOrderedQueueStore = (printed: string): readonly string[] => printed.split("\n").filter((line) => line !== "");

async function leavesNothing(): Promise<void> {
  for (const list of ["sources", "webhooks", "subscriptions"])
    expect((await headwater.call<{ data: unknown[] }>("GET", `/users/me/${list}`)).body.data, list).toEqual([]);
}

describe("programs written for the hosted service", () => {
  runs(python, "deploys a source, polls and pages its events, deletes them", async () => {
    const printed = await finished(await launch(python));
    expect(createOrderedQueueStore(printed)).toEqual([
      "hello local",
      "deployed My Orders my-orders",
      ...[1, 2, 3, 4, 5].map((number) => `order order-${number} ${number}0`),
      "pages 5",
      "updated my-orders",
      "order order-6 60",
      "deleted all events",
      expect.stringMatching(/^after the deletion 404 ./),
    ]);
    await leavesNothing();
  });

  runs(node, "follows a live stream over a cut connection, with no event missing or repeated", async () => {
    const running = await launch(node, cuttable.port);
    const { output } = running;
    const printed = (text: string | RegExp): Promise<void> =>
      until(() => (typeof text === "string" ? output().includes(text) : text.test(output())), `it prints ${text}`, { more: output });
    await printed(/endpoint https:\/\/sources\.m\.pipedream\.net\/\w+/);
    await printed("connected sse");
    await printed("connected observations");
    const path = new URL(/endpoint (\S+)/.exec(output())?.[1] ?? "").pathname;
    const visit = async (query = ""): Promise<void> => {
      const answer = await fetch(`${headwater.ingressUrl}${path}${query}`);
      expect([answer.status, await answer.text()]).toEqual([200, "thank you"]);
    };
    await visit();
    await printed("event 1 visit 1");
    cuttable.cut();
    await visit();
    await visit();
    await visit("?last=yes");
    const lines = (await finished(running)).split("\n").filter((line) => /^(event|again|log|deleted)/.test(line));
    expect(lines).toEqual([
      ...[1, 2, 3, 4].map((number) => `event ${number} visit ${number}`),
      expect.stringMatching(/^log console\.log visit 1 from /),
      "deleted",
    ]);
    expect(output()).toContain("disconnected");
    await leavesNothing();
  });

  runs(go, "receives signed webhooks and errors, and sends again what failed", async () => {
    const printed = await finished(await launch(go));
    expect(createOrderedQueueStore(printed)).toEqual([
      "error Error: closed: Ada",
      "signup Ada",
      "vip Grace",
      "forgery 401 0",
      "later true ReferenceError nothing is not defined",
      "subscribed to $errors",
      "webhooks left 0",
    ]);
    await leavesNothing();
  });

  runs(java, "uses an account and an organization with a token by OAuth", async () => {
    await finished(start(blockWith("keytool"), { JAVA_HOME: await javaHome() }));
    await headwater.call("POST", "/accounts", { app: "tickets", credentials: { user: "support" } });
    await headwater.call("POST", "/orgs", { name: "Acme" });
    const printed = await finished(await launch(java));
    expect(createOrderedQueueStore(printed).filter((line) => !line.startsWith("Picked up"))).toEqual([
      "user local local@localhost",
      "organization acme",
      '{"user":"support","queue":"first","axios":"function"}',
      '{"user":"support","queue":"second ü","urgent":true,"limits":[1,2],"axios":"function"}',
      "organization's true",
      "organization's true",
      "mine []",
      expect.stringMatching(/^refused /),
    ]);
    await leavesNothing();
  });

  runs(curl, "calls an endpoint, lists, repeats and deletes its events", async () => {
    const printed = await finished(await launch(curl));
    // `curl -i` also prints the proxy's response.
    expect(createOrderedQueueStore(printed).filter((line) => !line.endsWith("Connection established"))).toEqual([
      "HTTP/1.1 201 Created",
      "x-greeting: hello",
      '{"method":"POST","path":"/a/b","query":{"c":"d"},"body":{"name":"Luke"}}',
      "-- events",
      ...["Han", "Leia", "Luke"].map((name) => `"event":{"name":"${name}"}`),
      "-- again",
      '"event":{"name":"Han"}',
      "-- components",
      "found by key",
      '{"data":{"name":"Echo","version":"0.0.1"}}',
      "-- delete",
      "202",
      "200",
      "404",
      "204",
      expect.stringContaining('"error"'),
      "404",
    ]);
    await leavesNothing();
  });

  runs(curl, "does the same where DNS leads to the forwarder", async () => {
    await writeFile(join(directory.path, ".curlrc"), `connect-to = "::127.0.0.1:${tlsPort}"\n`);
    const running = await launch({ ...curl, run: `env -u HTTPS_PROXY ${curl.run}` }, proxyPort, { CURL_HOME: directory.path });
    expect(await finished(running)).toContain("-- delete");
    await leavesNothing();
  });
});

(missingPrograms(tools).length === 0 ? describe : describe.skip)("docs/examples/known-names.mjs", () => {
  const ask = async (port: number, text: string): Promise<string> => {
    const socket = connect(port, "127.0.0.1");
    socket.end(text);
    return Buffer.concat(await socket.toArray()).toString();
  };

  it("passes requests for other hosts through unchanged, and rejects plain HTTP for its own", async () => {
    const other = createServer((socket) => socket.once("data", (data) => socket.end(`heard ${data.toString()}`)));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo; // Listening on TCP.
    expect(await ask(proxyPort, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\nhello`)).toMatch(/ 200 [^]*heard hello$/);
    other.close();
    expect(await ask(proxyPort, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 502 /);
    for (const name of ["nonsense", "a:99999", ":443"])
      expect(await ask(proxyPort, `CONNECT ${name} HTTP/1.1\r\n\r\n`), name).toMatch(/^HTTP\/1.1 400 /);
    expect(await ask(proxyPort, "GET http://api.pipedream.com/v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toContain(" 405 ");
  });

  it("forwards a path unchanged, and serves no other host name", async () => {
    const request = (path: string, host: string): string => {
      const key = `-H "Authorization: Bearer ${headwater.key}"`;
      return `curl -sS --cacert ca.pem --connect-to ::127.0.0.1:${tlsPort} -H "Host: ${host}" ${key} "https://api.pipedream.com${path}"`;
    };
    expect(await finished(start(request("//v1//users/me?include=id", "api.pipedream.com")))).toBe('{"data":{"id":"u_localuser"}}');
    expect(await finished(start(request("/v1/users/me", "example.com")))).toContain("does not serve example.com");
  });
});

async function javaHome(): Promise<string> {
  if (process.env["JAVA_HOME"] !== undefined) return process.env["JAVA_HOME"];
  const found = (await finished(start('readlink -f "$(command -v java)"'))).trim();
  return dirname(dirname(found));
}
