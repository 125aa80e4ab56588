import { once } from "node:events";
import { request as sendHttps } from "node:https";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { like, type Exchange, type Family } from "./connector-runs/contract.ts";
import { startDouble, type Double } from "./connector-runs/double.ts";
import { bearerForm, bearerJson, ghost, queryKey, s3, token } from "./connector-runs/families.ts";

/** The double of all services refuses what a case does not expect. */
let double: Double;
beforeAll(async () => {
  double = await startDouble();
});
afterAll(() => double.stop());

interface Sent {
  readonly method?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const right = {
  method: "POST",
  address: "https://api.example.com/v1/notes?draft=true",
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  body: '{"text":"tea"}',
};

/** As a client sends it whose connections the double leads. @returns the status */
async function send({ method, address, headers, body }: Sent): Promise<number> {
  const url = new URL(address ?? right.address);
  const socket = double.dial({ host: "192.88.98.1", port: 443 });
  const client = sendHttps(url, {
    method: method ?? right.method,
    headers: headers ?? right.headers,
    defaultPort: 443,
    createConnection: () => connectTls({ socket, servername: url.hostname, ca: double.certificate }),
  });
  client.end(body ?? right.body);
  const [response] = (await once(client, "response")) as [{ readonly statusCode: number; resume(): void }]; // Node's event.
  response.resume();
  return response.statusCode;
}

const expected: Exchange = { request: `${right.method} ${right.address}`, body: { text: "tea" }, status: 201, json: {} };

async function problemsOf(sent: readonly Sent[], exchange: Exchange = expected, family: Family = bearerJson): Promise<readonly string[]> {
  return double.expecting(family, [exchange], async () => {
    for (const each of sent) await send(each);
  });
}

it("answers the expected request, whatever the order of its query and fields", async () => {
  const exchange = { ...expected, request: "POST https://api.example.com/v1/notes?a=1&b=*", body: { a: 1, b: like(/x/) } };
  expect(await problemsOf([{ address: "https://api.example.com/v1/notes?b=2&a=1", body: '{"b":"x","a":1}' }], exchange)).toEqual([]);
});

it.each<[what: string, sent: Sent, problem: RegExp]>([
  ["another method", { method: "PUT" }, /is unexpected/],
  ["another path", { address: "https://api.example.com/v1/note?draft=true" }, /is unexpected/],
  ["another host", { address: "https://api.example.org/v1/notes?draft=true" }, /is unexpected/],
  ["another query", { address: "https://api.example.com/v1/notes?draft=false" }, /is unexpected/],
  ["a longer query", { address: `${right.address}&more=1` }, /is unexpected/],
  ["another token", { headers: { ...right.headers, authorization: "Bearer other" } }, /headers\.authorization/],
  ["no token", { headers: { "content-type": "application/json" } }, /headers\.authorization: absent/],
  ["a further header", { headers: { ...right.headers, "x-more": "1" } }, /headers\.x-more/],
  ["another type", { headers: { ...right.headers, "content-type": "text/plain" } }, /content-type/],
  ["another body", { body: '{"text":"cake"}' }, /body\.text/],
  ["a further field", { body: '{"text":"tea","more":null}' }, /body\.more/],
  ["no JSON", { body: "text=tea" }, /body/],
])("reports %s", async (_what, sent, problem) => {
  expect(await problemsOf([sent])).toContainEqual(expect.stringMatching(problem));
});

it("reports a request that arrives twice, and one that does not arrive", async () => {
  expect(await problemsOf([{}, {}])).toEqual([expect.stringMatching(/is unexpected/)]);
  expect(await problemsOf([])).toEqual([`the request ${expected.request} has not arrived`]);
});

it("has addresses for the hosts of the case alone", async () => {
  const asked = async (host: string): Promise<unknown> => double.egress.resolve(host).catch((error: unknown) => String(error));
  const problems = await double.expecting(bearerJson, [], async () => {
    expect(await asked("api.example.com")).toMatch(/ENOTFOUND/);
    expect(await asked("127.0.0.1")).toMatch(/denied/);
  });
  expect(problems).toEqual(["the unexpected host api.example.com is asked for"]);
});

it("reads forms and the query of a key, and refuses wrong signatures", async () => {
  const form = { ...expected, body: { a: ["1", "2"], b: "x y" } };
  const headers = { ...right.headers, "content-type": "application/x-www-form-urlencoded" };
  expect(await problemsOf([{ headers, body: "a=1&b=x+y&a=2" }], form, bearerForm)).toEqual([]);
  const bare = { "content-type": "application/json" };
  expect(await problemsOf([{ headers: bare, address: `${right.address}&key=k` }], expected, queryKey({ key: "k" }))).toEqual([]);
  const signed = { ...bare, authorization: "AWS4-HMAC-SHA256 Credential=AK/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=00" };
  const dated = { ...signed, "x-amz-date": "20260101T000000Z" };
  const raw = { ...expected, headers: bare, body: right.body };
  expect(await problemsOf([{ headers: dated }], raw, s3("eu", "AK", "secret"))).toEqual([expect.stringMatching(/signature is wrong/)]);
  const forged = { ...bare, authorization: "Ghost e30.e30.AA" };
  expect(await problemsOf([{ headers: forged }], expected, ghost("id", "ab"))).toEqual([expect.stringMatching(/not signed with the key/)]);
});
