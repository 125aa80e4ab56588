import { createHash, randomBytes } from "node:crypto";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { decodeProtectedHeader } from "jose";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { startServers } from "../../platform/process/servers.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import { client, say, startOauthServer, type OauthServer } from "../support/oauth-server.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { mainOf } from "../support/process-tree.ts";
import { found, foundInFiles, needle, type Needle } from "./support/needles.ts";

const random = (name: string): string => `${name}-${randomBytes(12).toString("hex")}`;
const planted = {
  prop: random("prop"),
  key: random("credential"),
  changed: random("changed"),
  first: random("refresh"),
  strayed: random("strayed"),
  password: random("password"),
};

/** Makes common mistakes with secrets, each where the runtime may print them. */
const careless = `
import { createHash, createHmac } from "crypto";
import http from "http";
export default {
  name: "Careless",
  props: {
    db: "$.service.db",
    token: { type: "string", secret: true },
    shop: { type: "app", app: "shop" },
    service: { type: "app", app: "service" },
  },
  async run(event) {
    const { token, shop, service } = this;
    const secrets = [token, shop.$auth.key, service.$auth.oauth_access_token];
    const each = async (act) => { for (const secret of secrets) try { await act(secret); } catch (error) { console.error(error); console.error(String(error), error.stack, error.cause); } };
    const mistakes = {
      none: () => secrets.map((secret) => createHash("sha256").update(secret).digest("hex")),
      refused: () => each((secret) => fetch("http://127.0.0.1:1/?access_token=" + secret, { headers: { authorization: "Bearer " + secret } })),
      denied: () => each((secret) => fetch("http://169.254.169.254/" + secret, { method: "POST", body: secret })),
      requested: () => each((secret) => new Promise((resolve, reject) => http.get("http://127.0.0.1:1/" + secret, { headers: { "x-token": secret } }).on("error", reject))),
      header: () => each((secret) => http.request("http://127.0.0.1:1/", { headers: { "x-token": secret + "\\n" } })),
      app: () => console.log(shop, [service], { shop }, JSON.stringify({ shop, service }), String(shop)),
      digest: () => each((secret) => createHmac("no-such-digest", secret)),
      large: () => this.$emit(token.repeat(50000)),
      circle: () => { const event = { token }; event.self = event; this.$emit(event); },
      printed: () => each((secret) => { console.log("GET https://host/?key=" + encodeURIComponent(secret), { headers: { authorization: "Basic " + Buffer.from("ada:" + secret).toString("base64") } }, [secret], Buffer.from(secret).toString("hex")); throw new TypeError("no such key " + secret, { cause: secret }); }),
      named: () => { const error = new Error("refused: " + secrets.join()); error.name = token; throw error; },
      returned: () => ({ secrets, also: secrets.join(" ") }),
      forgotten: async () => { Promise.reject(new Error(secrets.join())); await new Promise((resolve) => setTimeout(resolve, 50)); },
      summarized: () => this.$emit({}, { id: {}, summary: secrets.join() }),
      database: () => this.db.set("all", token.repeat(5000)),
      thrown: () => { throw new Error("the shop says no"); },
      unhandled: async () => { Promise.reject(new Error("no handler")); await new Promise((resolve) => setTimeout(resolve, 50)); },
      loop: () => { while (token.length > 0); },
      memory: () => { const all = []; for (;;) all.push((token + all.length).repeat(1000).split("")); },
    };
    return mistakes[event?.mistake ?? "none"]();
  },
};`;

const mistakes = [
  "refused",
  "denied",
  "requested",
  "header",
  "app",
  "digest",
  "large",
  "circle",
  "printed",
  "named",
  "returned",
  "forgotten",
  "summarized",
  "database",
  "thrown",
  "unhandled",
  "loop",
  "memory",
];

let [headwater, directory, oauth, receiver]: [Headwater, TemporaryDirectory, OauthServer, Receiver] = [] as never;
let signingKey = "";
let outputs = "";
const answers: string[] = [];

async function call<T = { data: { id: string } }>(method: string, path: string, body?: unknown) {
  const answer = await headwater.call<T>(method, path, body);
  answers.push(answer.text);
  return answer;
}

beforeAll(async () => {
  [directory, oauth, receiver] = [await temporaryDirectory("secrets"), await startOauthServer(), await startReceiver(() => 500)];
  Object.assign(oauth, { rotates: true, expiresIn: 5, refreshToken: planted.first });
  headwater = await start();
});

afterAll(async () => {
  await headwater.stop();
  await Promise.all([oauth.close(), receiver.close()]);
  await directory.remove();
});

const start = () => startHeadwater({ dataDirectory: directory.path, env: { HEADWATER_LOG_LEVEL: "debug", HEADWATER_RUN_MEMORY: "64" } });

/** Every secret of the test. Each refresh adds tokens of the service. */
function needles(): readonly Needle[] {
  return [
    needle("the secret prop", planted.prop),
    needle("the credential", planted.key),
    needle("the changed credential", planted.changed),
    needle("the strayed secret", planted.strayed),
    needle("the password of the webhook", planted.password),
    needle("the client's secret", client.clientSecret),
    needle("the first refresh token", planted.first),
    ...oauth.given.flatMap((token, n) => [
      needle(`access token ${n}`, token),
      needle(`refresh token ${n}`, `refresh-${n + 1}-of-the-user`),
    ]),
    needle("the API key", headwater.key),
    needle("the signing key", signingKey),
    needle("the bytes of the signing key", Buffer.from(signingKey.replace("whsec_", ""), "base64")),
  ];
}

async function plant(): Promise<string> {
  const shop = await call("POST", "/accounts", { app: "shop", credentials: { key: planted.key } });
  const service = await call("POST", "/accounts", {
    app: "service",
    oauth: { token_url: oauth.tokenUrl, client_id: client.clientId, client_secret: client.clientSecret, refresh_token: planted.first },
  });
  const webhook = await headwater.call<{ data: { id: string; signing_key: string } }>(
    "POST",
    `/webhooks?url=${encodeURIComponent(receiver.url.replace("://", `://ada:${planted.password}@`))}`,
  );
  answers.push(JSON.stringify({ ...webhook.body.data, signing_key: "" }));
  signingKey = webhook.body.data.signing_key; // Only this response may contain the signing key.
  const source = await call("POST", "/sources", {
    component_code: careless,
    configured_props: { token: planted.prop, shop: { authProvisionId: shop.body.data.id }, service: service.body.data.id },
  });
  expect(source.status, source.text).toBe(200);
  const { id } = source.body.data;
  await call("POST", `/subscriptions?emitter_id=${id}&listener_id=${webhook.body.data.id}`);
  await call("POST", `/subscriptions?emitter_id=${id}&listener_id=${webhook.body.data.id}&event_name=$errors`);
  return id;
}

/** Sends requests with secrets in the wrong fields. */
async function stray(): Promise<void> {
  const { strayed } = planted;
  const wrong: readonly [string, string, unknown][] = [
    ["POST", "/accounts", { app: "shop", credentials: { key: { value: strayed } } }],
    ["POST", "/accounts", { app: "shop", credentials: { key: strayed.repeat(3_000) } }],
    ["POST", "/accounts", { app: "shop", oauth: { refresh_token: strayed } }],
    ["POST", "/accounts", { app: "shop", oauth: { token_url: 1, client_id: "c", client_secret: [strayed], refresh_token: strayed } }],
    ["POST", "/sources", { component_code: careless, configured_props: { token: [strayed] } }],
    ["POST", "/sources", { component_code: careless, configured_props: { token: strayed.repeat(3_000) } }],
    ["POST", "/sources", { component_code: careless, configured_props: { token: strayed, shop: "apn_none" } }],
  ];
  for (const [method, path, body] of wrong) expect((await call(method, path, body)).status, path).toBe(422);
  for (const [authorization, path] of [
    [`Bearer ${strayed}`, "/users/me"],
    [`Basic ${strayed}`, "/users/me"],
    [`Bearer ${headwater.key}`, `/users/me?access_token=${strayed}`],
  ] as const) {
    const answer = await fetch(headwater.apiUrl + path, { headers: { authorization } });
    answers.push(await answer.text());
  }
  const broken = await fetch(`${headwater.apiUrl}/accounts`, {
    method: "POST",
    headers: { authorization: `Bearer ${headwater.key}`, "content-type": "application/json" },
    body: `{"app":"shop","credentials":{"key":"${strayed}`,
  });
  answers.push(await broken.text());
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Hashes of the secrets that a run sees: the secret prop, the credential, the access token. */
async function seenByRuns(): Promise<readonly string[]> {
  const run = await call<{ data: { result: string[] | null } }>("POST", `/sources/${idOfSource}/runs`, {});
  return run.body.data.result ?? [run.text];
}

async function problemOf(account: string): Promise<string | null> {
  return (await call<{ data: { problem: string | null } }>("GET", `/accounts/${account}`)).body.data.problem;
}

let idOfSource = "";

describe("no secret leaks", () => {
  it("that the search would miss, at any offset and in any encoding", () => {
    const planted_ = [needle("it", planted.key)];
    for (const before of ["", "a", "ab", "abc"]) {
      const text = Buffer.from(`${before}${planted.key}:after`);
      for (const form of ["utf8", "base64", "base64url", "hex"] as const)
        expect(found(planted_, "here", text.toString(form))).toEqual(["it in here"]);
    }
    expect(found(planted_, "here", random("credential"))).toEqual([]);
  });

  it("when runs use all secrets", async () => {
    idOfSource = await plant();
    const seen = await seenByRuns();
    expect(seen).toEqual([hash(planted.prop), hash(planted.key), expect.any(String)]);
    expect(oauth.given.map(hash)).toContain(seen[2]);
  });

  it("when credentials change and reach running sources", async () => {
    const { data } = (await call<{ data: { id: string }[] }>("GET", "/accounts?app=shop")).body;
    expect((await call("PUT", `/accounts/${data[0]?.id}`, { credentials: { key: planted.changed } })).status).toBe(200);
    await until(async () => (await seenByRuns())[1] === hash(planted.changed), "a run sees the changed credential");
  });

  it("when tokens are refreshed and refused, and the service repeats them in errors", async () => {
    const { data } = (await call<{ data: { id: string; app: string }[] }>("GET", "/accounts?app=service")).body;
    const account = data[0]?.id ?? "";
    await until(() => oauth.given.length >= 3, "the tokens are refreshed");
    await until(
      async () =>
        oauth.given
          .slice(2)
          .map(hash)
          .includes((await seenByRuns())[2] ?? ""),
      "a run sees a refreshed token",
    );
    oauth.instead = (_, response) =>
      say(response, 400, { error: "invalid_grant", error_description: `no token ${oauth.refreshToken} ${client.clientSecret}` });
    await until(async () => (await problemOf(account))?.includes("invalid_grant") === true, "the account reports the refusal");
    oauth.instead = (_, response) => say(response, 500, { message: `failed with ${oauth.refreshToken}` });
    await call("PUT", `/accounts/${account}`, { oauth: { scope: "all" } });
    await until(async () => (await problemOf(account))?.includes("it answered 500") === true, "the account reports the failure");
    oauth.instead = undefined;
  });

  it("when code mishandles secrets", async () => {
    for (const mistake of mistakes) {
      const run = await call<{ data: { status: string } }>("POST", `/sources/${idOfSource}/runs`, { event: { mistake } });
      expect(["succeeded", "failed"], `${mistake}: ${run.text}`).toContain(run.body.data.status);
      if (mistake === "refused") expect(run.text).toContain("ECONNREFUSED");
    }
    await until(() => receiver.received.length > 0, "errors are delivered");
  });

  it("when requests have secrets in the wrong fields", stray);

  it("when a sealing key is added, all processes are killed, and the next start seals again", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["scripts/launch.mjs", "main.ts", "--rotate-key"], {
      cwd: join(import.meta.dirname, "..", ".."),
      env: { ...process.env, HEADWATER_DATA: directory.path },
    });
    expect(stdout).toContain("A new key was added");
    outputs += headwater.output() + stdout;
    process.kill(mainOf(directory.path), "SIGKILL");
    await headwater.stop();
    headwater = await start();
    const run = await call<{ data: { status: string } }>("POST", `/sources/${idOfSource}/runs`, {});
    expect(run.body.data.status, run.text).toBe("succeeded");
    // The start is ready before it has sealed everything again.
    const isSealed = () => headwater.output().includes("all stored secrets are sealed with the newest key");
    await until(isSealed, "every secret is sealed again", { more: headwater.output });
  });

  it("in responses, metrics, deliveries or output", async () => {
    for (const path of [
      "/users/me",
      "/accounts",
      `/sources/${idOfSource}`,
      "/users/me/sources",
      "/users/me/webhooks",
      "/users/me/subscriptions",
    ])
      await call("GET", path);
    for (const path of ["runs?limit=100", "logs", "event_summaries?expand=event", "events?n=100"])
      await call("GET", `/sources/${idOfSource}/${path}`);
    const metrics = await (await fetch(new URL("/metrics", headwater.apiUrl))).text();
    // Only the endpoint receives the webhook's password.
    expect(receiver.received[0]?.headers["authorization"]).toBe(`Basic ${Buffer.from(`ada:${planted.password}`).toString("base64")}`);
    const received = receiver.received
      .map(({ body, headers: { authorization: _, ...headers } }) => JSON.stringify({ body, headers }))
      .join("\n");
    const found_ = [
      ...answers.flatMap((answer) => found(needles(), `an answer: ${answer.slice(0, 200)}`, answer)),
      ...found(needles(), "metrics", metrics),
      ...found(needles(), "deliveries", received),
      ...(outputs + headwater.output()).split("\n").flatMap((line) => found(needles(), `the line ${line.slice(0, 300)}`, line)),
    ];
    expect(found_).toEqual([]);
    // The link that signs in is for terminals: output elsewhere is stored as a log.
    expect(outputs + headwater.output()).toContain("sign in with the API key");
    expect(outputs + headwater.output()).not.toContain("#link=");
  });

  it("in Postgres, in NATS, or in a file, except for the API key in its own file", async () => {
    await headwater.stop();
    // The default addresses may be those of another installation.
    const [api, ingress] = [`127.0.0.1:${await steadyPort()}`, `127.0.0.1:${await steadyPort()}`];
    const configuration = parseConfiguration({ HEADWATER_DATA: directory.path, HEADWATER_LISTEN: api, HEADWATER_INGRESS_LISTEN: ingress });
    const servers = await startServers({ configuration, needsDatabase: true, logger: createLogger({ level: "silent" }) });
    try {
      expect(await foundInPostgres(servers.databaseUrl ?? "")).toEqual([]);
      expect(await foundInNats(servers.nats)).toEqual([]);
      const { keys } = JSON.parse(await readFile(join(directory.path, "keys", "master.json"), "utf8"));
      expect(await keyIdsInPostgres(servers.databaseUrl ?? "")).toEqual([keys[0].kid]);
    } finally {
      await servers.stop();
    }
    expect(foundInFiles(needles(), directory.path, [join(directory.path, "api-key")])).toEqual([]);
  });
});

async function foundInPostgres(url: string): Promise<readonly string[]> {
  const database = new pg.Client(url);
  await database.connect();
  try {
    const { rows: tables } = await database.query<{ name: string }>(
      "select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    );
    expect(tables.length).toBeGreaterThan(10);
    const all: string[] = [];
    for (const { name } of tables) {
      const { rows } = await database.query<{ row: string }>(`select t::text as row from ${name} t`);
      all.push(...rows.flatMap(({ row }) => found(needles(), `table ${name}: ${row.slice(0, 200)}`, row)));
    }
    return all;
  } finally {
    await database.end();
  }
}

/** Ids of the keys that seal the secrets in resources. */
async function keyIdsInPostgres(url: string): Promise<readonly (string | undefined)[]> {
  const database = new pg.Client(url);
  await database.connect();
  try {
    const { rows } = await database.query<{ text: string }>("select spec::text || status::text as text from resources");
    const sealed = rows.flatMap(({ text }) => text.match(/eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/g) ?? []);
    expect(sealed.length).toBeGreaterThan(5);
    return [...new Set(sealed.map((text) => decodeProtectedHeader(text).kid))];
  } finally {
    await database.end();
  }
}

async function foundInNats(nats: Parameters<typeof connect>[0]["server"]): Promise<readonly string[]> {
  const connection = await connect({ server: nats, name: "test" });
  try {
    const { streams } = connection.manager;
    const all: string[] = [];
    let messages = 0;
    for await (const { config, state } of streams.list()) {
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await streams.getMessage(config.name, { seq }).catch(() => null);
        if (message === null) continue;
        messages++;
        all.push(
          ...found(
            needles(),
            `stream ${config.name}, ${message.subject}`,
            Buffer.concat([message.data, Buffer.from(`${message.subject}${[...message.header].join()}`)]),
          ),
        );
      }
    }
    expect(messages).toBeGreaterThan(10);
    return all;
  } finally {
    await connection.close();
  }
}
