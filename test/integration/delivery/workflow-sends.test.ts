import { hash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { MailOutcome, OutgoingMail } from "../../../domain/mail/outgoing-mail.ts";
import type { CommittedSend } from "../../../domain/workflow/run-commit.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createS3Objects } from "../../../platform/http/s3-objects.ts";
import { createWebhookClient, type WebhookClient } from "../../../platform/http/webhook-client.ts";
import { requestRedelivery } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { createDeliveryRecords, type DeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createSecrets } from "../../../platform/secrets/secrets.ts";
import type { DeliveryParts } from "../../../wiring/roles/delivery-ports.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "../../support/until.ts";
import { startMortalReplica } from "./process.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const world = withWorkflowWorld();
const all = { limit: 100, cursor: null };
let asked: Asked[] = [];
let statuses: number[] = [];
let server: Server;
let client: WebhookClient;
let records: DeliveryRecords;
let keys: TemporaryDirectory;
let mails: [owner: string, mail: Omit<OutgoingMail, "to">][] = [];
let mailOutcomes: MailOutcome[] = [];

beforeAll(async () => {
  keys = await temporaryDirectory("sends");
  client = createWebhookClient({ egress: createEgress({ allow: ["127.0.0.1/32"] }), timeoutMs: 50_000, connections: 8 });
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      asked.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.writeHead(statuses.shift() ?? 200).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
  await keys.remove();
});
beforeEach(() => {
  [asked, statuses, mails, mailOutcomes] = [[], [], [], []];
  records = createDeliveryRecords(world.database());
});
afterEach(world.stopAll);

const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Listening on TCP.
const attemptsOf = async (workflow: string) => (await records.pageAttempts(workflow, all)).items.toReversed();
const deadLettersOf = async (workflow: string) => (await records.pageDeadLetters(workflow, all)).items;

async function start(parts: Partial<DeliveryParts> = {}, nextAttempt: (attempt: number) => number | undefined = () => 50): Promise<void> {
  const sendTo = async (owner: string, mail: Omit<OutgoingMail, "to">): Promise<MailOutcome> => {
    mails.push([owner, mail]);
    return mailOutcomes.shift() ?? { outcome: "sent" };
  };
  const secrets = await createSecrets(keys.path);
  await world.start(world.streams.connection, { poster: client, secrets, mails: { sendTo }, ...parts }, { nextAttempt });
}

/** Resolves when the only delivery of the workflow is a dead letter and its attempts are recorded. */
const untilDead = (workflow: string, attempts = 1): Promise<void> =>
  until(
    async () => (await deadLettersOf(workflow)).length === 1 && (await attemptsOf(workflow)).length === attempts,
    `the dead letter of ${workflow}`,
  );

let runs = 0;
/** Ends a run that has called `$.send`. @returns the ids of the sends */
async function send(
  workflow: string,
  ...sends: readonly (readonly [kind: CommittedSend["kind"], argument: unknown])[]
): Promise<readonly string[]> {
  const run = `r_send${runs++}`;
  const at = Date.UTC(2026, 4, 17, 12);
  const committed = sends.map(([kind, argument], n) => ({ id: `${run}.s${n}`, kind, argument: JSON.stringify(argument), step: "one", at }));
  const workflowPart = { status: "succeeded", number: 1, startedAt: 1, stepCount: 1, sends: committed } as const;
  await world.endRun(workflow, run, { workflow: workflowPart });
  return committed.map(({ id }) => id);
}
const request = (path: string, more: object = {}) => ["http", { method: "POST", url: base() + path, headers: {}, ...more }] as const;

describe("`$.send.http`", () => {
  it("is carried out when the workflow ends, with method, URL, headers and data, and has a delivery record", async () => {
    await start();
    const headers = { "x-kind": "order", "x-two": ["a", "b"], connection: "upgrade", "transfer-encoding": "x" };
    const [id] = await send("p_http", request("/a?b=c", { method: "PUT", headers, data: { n: 1 } }));
    await until(async () => (await attemptsOf("p_http")).length === 1, "the attempt is recorded");
    const [{ method, url, headers: received, body } = expect.fail("no request")] = asked;
    expect([method, url, body]).toEqual(["PUT", "/a?b=c", '{"n":1}']);
    expect(received).toMatchObject({ "x-kind": "order", "x-two": "a, b", "content-type": "application/json", "idempotency-key": id });
    expect((await attemptsOf("p_http"))[0]).toMatchObject({
      webhook: "p_http",
      delivery: id,
      source: "p_http",
      owner: "u_1",
      channel: "$send.http",
      attempt: 1,
      outcome: "delivered",
      status: 200,
      error: null,
    });
    expect(asked).toHaveLength(1);
  });

  it("sends a text as it is, nothing without data, and the user information of the URL as a header", async () => {
    await start();
    await send("p_texts", request("/text", { data: "plain", headers: { "Content-Type": "text/csv" } }));
    await send("p_texts", request("/none", { method: "GET" }));
    await send("p_texts", ["http", { method: "DELETE", url: base().replace("//", "//ada:s%20cret@"), headers: {} }]);
    await until(() => asked.length === 3, "three requests");
    const of = (name: string) => asked.find(({ method }) => method === name);
    expect(of("POST")).toMatchObject({ body: "plain", headers: expect.objectContaining({ "content-type": "text/csv" }) });
    expect([of("GET")?.body, of("GET")?.headers["content-type"]]).toEqual(["", undefined]);
    expect(of("DELETE")?.headers.authorization).toBe(`Basic ${Buffer.from("ada:s cret").toString("base64")}`);
  });

  it("is retried under the same id after a failure, each attempt with a record", async () => {
    await start();
    statuses = [503, 500];
    const [id] = await send("p_retry", request("/"));
    await until(async () => (await attemptsOf("p_retry")).length === 3, "three attempts");
    expect((await attemptsOf("p_retry")).map(({ attempt, outcome, status }) => [attempt, outcome, status])).toEqual([
      [1, "retry", 503],
      [2, "retry", 500],
      [3, "delivered", 200],
    ]);
    expect(asked.map(({ headers }) => headers["idempotency-key"])).toEqual([id, id, id]);
  });

  it("becomes a dead letter without credentials after the last attempt, and a redelivery has them again", async () => {
    await start({}, () => undefined);
    statuses = [500];
    const headers = { authorization: "Bearer topsecret", "x-api-key": "hush" };
    const [id = ""] = await send("p_dead", request("/hooks/secretpath?token=hidden", { headers, data: { n: 2 } }));
    await untilDead("p_dead");
    const [letter] = await deadLettersOf("p_dead");
    expect(letter).toMatchObject({ delivery: id, webhook: "p_dead", attempts: 1, reason: "the endpoint answered 500" });
    expect(JSON.parse(letter?.payload ?? "")).toEqual({
      method: "POST",
      url: `${base()}/***`,
      headers: { authorization: "***", "x-api-key": "***" },
      data: { n: 2 },
    });
    expect(JSON.stringify([await attemptsOf("p_dead"), letter])).not.toMatch(/topsecret|hush|secretpath|hidden/);
    statuses = [502];
    await requestRedelivery(world.streams.connection, { webhook: "p_dead", deliveries: [id] });
    await untilDead("p_dead", 2);
    await requestRedelivery(world.streams.connection, { webhook: "p_dead", deliveries: [id] });
    await until(async () => (await attemptsOf("p_dead")).length === 3, "it is delivered");
    expect(await deadLettersOf("p_dead")).toEqual([]);
    for (const { url, headers: sent, body } of asked) {
      expect([url, sent.authorization, sent["x-api-key"], body]).toEqual([
        "/hooks/secretpath?token=hidden",
        "Bearer topsecret",
        "hush",
        '{"n":2}',
      ]);
    }
  });

  it("reaches no private address that the egress policy does not allow", async () => {
    await start(
      { poster: createWebhookClient({ egress: createEgress({ allow: [] }), timeoutMs: 1_000, connections: 1 }) },
      () => undefined,
    );
    await send("p_egress", request("/"));
    await untilDead("p_egress");
    expect((await attemptsOf("p_egress"))[0]?.error).toContain("egress_denied");
    expect(asked).toEqual([]);
  });

  it.each([
    ["no URL", { method: "POST", url: "file:///etc/passwd", headers: {} }],
    ["a header with a line break", { method: "POST", url: "http://a", headers: { x: "a\r\nb: c" } }],
    ["a tunnel", { method: "CONNECT", url: "http://a", headers: {} }],
    ["no object", 7],
  ])("with an argument that the sandbox would not have made is recorded and not attempted again: %s", async (what, argument) => {
    const workflow = `p_bad${hash("sha256", what).slice(0, 8)}`;
    await start();
    await send(workflow, ["http", argument]);
    await untilDead(workflow);
    expect((await deadLettersOf(workflow))[0]?.reason).toBe("the argument of $.send.http is invalid");
  });

  it("is sent by a run with many of them, each once", async () => {
    await start();
    const ids = await send("p_flood", ...Array.from({ length: 60 }, (_, n) => request(`/${n}`)));
    await until(() => asked.length >= 60, "all requests");
    expect(asked.map(({ headers }) => headers["idempotency-key"]).toSorted()).toEqual(ids.toSorted());
  });

  it("is sent after a kill -9 of the replica, under the same id", async () => {
    const { streams, postgres } = world;
    const replica = await startMortalReplica(streams.server.connection, postgres.urlOf("delivery"));
    statuses = Array<number>(3).fill(503);
    const [id] = await send("p_kill", request("/"));
    await until(() => asked.length > 0, "the first attempt");
    await replica.kill();
    await start();
    await until(async () => (await attemptsOf("p_kill")).some(({ outcome }) => outcome === "delivered"), "it is delivered");
    expect(new Set(asked.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set([id]));
  });
});

describe("`$.send.email`", () => {
  const argument = { subject: "Hello", text: "Ada", html: null };

  it("is handed over once, for the owner's address", async () => {
    await start();
    const [id] = await send("p_mail", ["email", argument]);
    await until(async () => (await attemptsOf("p_mail")).length === 1, "the attempt is recorded");
    expect(mails).toEqual([["u_1", { id, subject: "Hello", text: "Ada" }]]);
    expect((await attemptsOf("p_mail"))[0]).toMatchObject({ channel: "$send.email", outcome: "delivered", status: null });
  });

  it("is retried while the server refuses it for now, and not if it may have been accepted", async () => {
    await start();
    mailOutcomes = [
      { outcome: "retry", reason: "421 busy" },
      { outcome: "unknown", reason: "the connection was closed" },
    ];
    await send("p_mails", ["email", argument]);
    await untilDead("p_mails", 2);
    expect((await attemptsOf("p_mails")).map(({ outcome, error }) => [outcome, error])).toEqual([
      ["retry", "421 busy"],
      ["dead", "the mail server may have accepted the mail, so it is not sent again: the connection was closed"],
    ]);
    expect(mails).toHaveLength(2);
  });

  it("fails with a clear record and is not retried if the installation sends no mails", async () => {
    await world.start(world.streams.connection, { poster: client });
    await send("p_nomail", ["email", argument]);
    await untilDead("p_nomail");
    expect((await attemptsOf("p_nomail")).map(({ outcome, error }) => [outcome, error])).toEqual([
      ["dead", "this installation sends no mails: HEADWATER_SMTP_URL is not set"],
    ]);
  });
});

describe("`$.send.s3`", () => {
  const objects = (bucket?: string, hasOwnerPrefix = true) =>
    createS3Objects({ endpoint: base(), region: "eu-x", accessKeyId: "ada", secretAccessKey: "hush", bucket, hasOwnerPrefix }, client);

  it("stores the payload under `<owner>/<prefix>/<date>/<id>`, signed", async () => {
    await start({ objects: objects() });
    const [id] = await send("p_s3", ["s3", { bucket: "reports", prefix: "a b/daily/", payload: { n: 1 } }]);
    await until(async () => (await attemptsOf("p_s3")).length === 1, "the attempt is recorded");
    const [{ method, url, headers, body } = expect.fail("no request")] = asked;
    expect([method, url, body]).toEqual(["PUT", `/reports/u_1/a%20b/daily/2026-05-17/${id}`, '{"n":1}']);
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=ada\/\d{8}\/eu-x\/s3\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/,
    );
    expect(headers["x-amz-content-sha256"]).toBe(hash("sha256", body));
    expect((await attemptsOf("p_s3"))[0]).toMatchObject({ channel: "$send.s3", outcome: "delivered", status: 200 });
  });

  it("leaves the owner out of the key if the store is set up so", async () => {
    await start({ objects: objects("reports", false) });
    const [id] = await send("p_plain", ["s3", { bucket: "reports", prefix: "daily", payload: "text" }]);
    await until(() => asked.length === 1, "the object is stored");
    expect(asked[0]?.url).toBe(`/reports/daily/2026-05-17/${id}`);
  });

  it.each([
    ["the installation has no store", undefined, {}, "this installation stores no objects: HEADWATER_S3_URL is not set"],
    ["the prefix leaves the bucket", "any", { prefix: "a/../../other" }, "the prefix of $.send.s3 is invalid: it contains . or .."],
    ["the bucket is no name", "any", { bucket: "a/b" }, 'the bucket of $.send.s3 is invalid: "a/b"'],
    [
      "the bucket is not that of the installation",
      "only",
      {},
      "bucket reports cannot be written: $.send.s3 of this installation writes to only",
    ],
  ])("fails with a clear record if %s", async (what, store, changes, error) => {
    const workflow = `p_sthree${hash("sha256", what).slice(0, 8)}`;
    const parts = store === undefined ? {} : { objects: objects(store === "only" ? "only" : undefined) };
    await start(parts, () => undefined);
    await send(workflow, ["s3", { bucket: "reports", prefix: "a", payload: "text", ...changes }]);
    await untilDead(workflow);
    expect((await attemptsOf(workflow)).map((attempt) => [attempt.outcome, attempt.error])).toEqual([["dead", error]]);
    expect(asked).toEqual([]);
  });
});

it("leaves `$.send.emit` and `$.send.sse` to the events of the commit and to live streams", async () => {
  await start();
  await send("p_others", ["emit", { raw_event: 1 }], ["sse", { channel: "a", payload: 1 }], request("/last"));
  await until(async () => (await attemptsOf("p_others")).length === 1, "the request");
  expect((await attemptsOf("p_others"))[0]?.channel).toBe("$send.http");
});
