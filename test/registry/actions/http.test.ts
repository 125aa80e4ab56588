import { describe, expect, it } from "vitest";
import { withRegistry } from "../registry-support.ts";
import { withReceiver } from "./receiver.ts";

const registry = withRegistry();
const receiver = withReceiver();
const json = { "content-type": "application/json" };

describe("headwater-http-request", () => {
  const send = (props: object, event?: unknown) => registry.step("headwater-http-request", { url: receiver.url, ...props }, event);

  it("returns status, headers and the parsed data", async () => {
    receiver.answer = () => ({ status: 201, headers: { ...json, "x-id": "7" }, body: '{"id":7}' });
    const { result, exports } = await send({ url: `${receiver.url}/orders?a=1`, query: { b: "2 3", list: ["x", 5], none: null } });
    expect(result).toMatchObject({ status: 201, headers: { "x-id": "7" }, data: { id: 7 } });
    expect(exports).toEqual({ $summary: `GET ${receiver.url}/orders answered 201` });
    expect(receiver.received).toMatchObject([{ method: "GET", url: "/orders?a=1&b=2+3&list=x&list=5" }]);
  });

  it.each([
    ["an object as JSON", { body: { id: [1, "é"] } }, '{"id":[1,"é"]}', "application/json"],
    ["a string as it is", { body: "<a/>", headers: { "Content-Type": "text/xml" } }, "<a/>", "text/xml"],
    [
      "an object as a form",
      { body: { a: "1 2", b: { c: 3 } }, headers: { "content-type": "application/x-www-form-urlencoded" } },
      "a=1+2&b=%7B%22c%22%3A3%7D",
      "application/x-www-form-urlencoded",
    ],
    ["false as JSON", { body: false }, "false", "application/json"],
  ])("sends %s", async (_, props, body, type) => {
    await send({ method: "POST", ...props });
    expect(receiver.received.map((request) => [request.body.toString(), request.headers["content-type"]])).toEqual([[body, type]]);
  });

  it("sends no body with GET, and none if there is none", async () => {
    await send({ body: { a: 1 } });
    await send({ method: "POST" });
    expect(receiver.received.map(({ body }) => body.length)).toEqual([0, 0]);
  });

  it("authenticates with a bearer token or with user and password", async () => {
    await send({ token: "secret-token" });
    await send({ user: "ann", password: "p:é" });
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer secret-token",
      `Basic ${Buffer.from("ann:p:é").toString("base64")}`,
    ]);
  });

  it("fails for a status of 400 and above, without the query in the message", async () => {
    receiver.answer = () => ({ status: 422, headers: json, body: '{"error":"no such order"}' });
    await expect(send({ method: "PUT", url: `${receiver.url}/orders?key=hidden` })).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/PUT http:\/\/127\.0\.0\.1:\d+\/orders answered 422: \{.*no such order/) as string,
      }) as Error,
    );
    await expect(send({ url: `${receiver.url}/orders?key=hidden` })).rejects.not.toThrow("hidden");
  });

  it("returns responses with a status of 400 and above if configured", async () => {
    receiver.answer = () => ({ status: 404, body: "none" });
    expect((await send({ acceptErrors: true })).result).toMatchObject({ status: 404, data: "none" });
  });

  it.each([
    ["no body", {}, null],
    ["JSON that is invalid", { headers: json, body: "{" }, "{"],
    ["text in Latin-1", { headers: { "content-type": "text/plain; charset=iso-8859-1" }, body: Buffer.from("Grüße", "latin1") }, "Grüße"],
    ["bytes", { headers: { "content-type": "image/png" }, body: Buffer.from([0xff, 0x00, 0xfe]) }, "/wD+"],
    ["a problem document", { headers: { "content-type": "application/problem+json" }, body: '{"a":1}' }, { a: 1 }],
  ])("returns %s", async (_, answer, data) => {
    receiver.answer = () => answer;
    expect((await send({})).result).toMatchObject({ data });
  });

  it("refuses a response that no step may return", async () => {
    receiver.answer = () => ({ body: "x".repeat(3_000_000) });
    await expect(send({})).rejects.toThrow("answered with more than 2621440 bytes");
  });

  it.each(["example.com", "ftp://example.com/", ""])("refuses the URL %j", async (url) => {
    await expect(send({ url })).rejects.toThrow("it must begin with http:// or https://");
  });

  it("names the cause if the server cannot be reached", async () => {
    await expect(send({ url: "http://127.0.0.1:1/" })).rejects.toThrow(/GET http:\/\/127\.0\.0\.1:1\/ failed: .*ECONNREFUSED/);
  });

  it("reads its props from expressions", async () => {
    await send({ method: "POST", body: { id: "{{steps.trigger.event.id}}", text: "No. {{steps.trigger.event.id}}" } }, { id: 7 });
    expect(receiver.received.map(({ body }) => JSON.parse(body.toString()) as unknown)).toEqual([{ id: 7, text: "No. 7" }]);
  });
});

describe("headwater-slack-message", () => {
  const post = (props: object) => registry.step("headwater-slack-message", { url: `${receiver.url}/services/T0/B0/secret`, ...props });

  it("posts text and blocks as Slack's incoming webhooks expect them", async () => {
    receiver.answer = () => ({ body: "ok" });
    const blocks = [{ type: "section", text: { type: "mrkdwn", text: "*Paid*" } }];
    const { result, exports } = await post({ text: "Paid", blocks, fields: { thread_ts: "1.2" } });
    expect(result).toEqual({ status: 200, answer: "ok" });
    expect(exports).toEqual({ $summary: "Posted the message" });
    expect(receiver.received).toMatchObject([{ method: "POST", url: "/services/T0/B0/secret", headers: json }]);
    expect(receiver.received.map(({ body }) => JSON.parse(body.toString()) as unknown)).toEqual([
      { text: "Paid", blocks, thread_ts: "1.2" },
    ]);
  });

  it("fails with the status and the answer, and not with the address", async () => {
    receiver.answer = () => ({ status: 429, headers: { "retry-after": "30" }, body: "rate_limited" });
    const failed = post({ text: "x" });
    await expect(failed).rejects.toThrow("the incoming webhook answered 429: rate_limited (retry after 30 s)");
    await expect(failed).rejects.not.toThrow("/services/");
  });

  it("refuses a message without text and blocks, and an address that is none", async () => {
    await expect(post({})).rejects.toThrow("the message is empty: set text, blocks or both");
    await expect(post({ text: "x", url: "hooks.slack.com/services/secret" })).rejects.not.toThrow("hooks.slack.com");
    expect(receiver.received).toEqual([]);
  });
});
