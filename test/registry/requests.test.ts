import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { withRegistry } from "./registry-support.ts";

const registry = withRegistry();

describe("headwater-webhook", () => {
  it("emits the request, without what is secret in it, and answers as configured", async () => {
    const source = await registry.source("headwater-webhook", { status: 202, body: "thanks", contentType: "text/plain", token: "t0ken" });
    const given = await source.request({
      path: "/a",
      query: { token: "t0ken", q: "1" },
      headers: { cookie: "c", "x-a": "b" },
      body: { n: 1 },
    });
    expect([given.status, given.answer]).toEqual([202, "thanks"]);
    expect(given.events).toEqual([
      {
        event: { method: "POST", path: "/a", query: { q: "1" }, headers: { "x-a": "b" }, body: { n: 1 }, client_ip: "192.0.2.1" },
        summary: "POST /a",
      },
    ]);
    expect((await source.request({ headers: { authorization: "Bearer t0ken" } })).status).toBe(202);
  });

  it("emits only the body if configured", async () => {
    const source = await registry.source("headwater-webhook", { emits: "body" });
    expect((await source.request({ body: [1, 2] })).events.map(({ event }) => event)).toEqual([[1, 2]]);
    expect((await source.request({})).events.map(({ event }) => event)).toEqual([null]);
  });

  it.each([
    [{ token: "right" }, { query: { token: "wrong" } }, 401],
    [{ token: "right" }, {}, 401],
    [{ token: "right" }, { headers: { authorization: "Basic right" } }, 401],
    [{ allowed: ["post", "PUT"] }, { method: "GET" }, 405],
  ])("with %j refuses %j and emits nothing", async (props, request, status) => {
    const given = await (await registry.source("headwater-webhook", props)).request(request);
    expect([given.status, given.events]).toEqual([status, []]);
  });
});

describe("headwater-signed-webhook", () => {
  const secret = "It's a Secret to Everybody";
  // The example of GitHub's documentation, "Validating webhook deliveries".
  const known = { bodyRaw: "Hello, World!", signature: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" };
  const headers = (signature: string) => ({ "x-hub-signature-256": signature, "x-github-event": "push", "x-github-delivery": "d-1" });

  it("emits what is signed, under the delivery's id", async () => {
    const source = await registry.source("headwater-signed-webhook", { secret, channels: true });
    const given = await source.request({ headers: headers(known.signature), body: known.bodyRaw, bodyRaw: known.bodyRaw });
    expect([given.status, given.answer]).toEqual([200, { accepted: true }]);
    expect(given.events).toEqual([
      { event: { event: "push", delivery: "d-1", body: "Hello, World!" }, id: "d-1", summary: "push", channel: "push" },
    ]);
  });

  it.each([
    ["no signature", {}],
    ["an empty one", headers("")],
    ["that of another body", headers(known.signature.replace("7571", "7572"))],
    ["a longer one", headers(`${known.signature}0`)],
    ["one without its prefix", headers(known.signature.slice(7))],
  ])("answers 401 to %s, and emits nothing", async (_, sent) => {
    const source = await registry.source("headwater-signed-webhook", { secret });
    const given = await source.request({ headers: sent, bodyRaw: known.bodyRaw });
    expect([given.status, given.events]).toEqual([401, []]);
  });

  it("signs the bytes as they came, in each form", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 1]);
    for (const [algorithm, encoding] of [
      ["sha1", "hex"],
      ["sha512", "base64"],
    ] as const) {
      const source = await registry.source("headwater-signed-webhook", {
        secret,
        algorithm,
        encoding,
        signaturePrefix: "",
        signatureHeader: "X-Sig",
      });
      const signature = createHmac(algorithm, secret).update(bytes).digest(encoding);
      expect((await source.request({ headers: { "x-sig": signature }, bodyBase64: bytes.toString("base64") })).status).toBe(200);
    }
  });

  it("answers, and does not emit, kinds that are not asked for", async () => {
    const source = await registry.source("headwater-signed-webhook", { secret, events: ["release"] });
    const given = await source.request({ headers: headers(known.signature), bodyRaw: known.bodyRaw });
    expect([given.status, given.answer, given.events]).toEqual([200, { accepted: false }, []]);
  });
});

describe("headwater-mail", () => {
  const expected = {
    id: "m1@x.test",
    from: { address: "ann@x.test", name: "Ann, the Boss" },
    to: [{ address: "bob@y.test", name: null }],
    subject: "Hi",
    text: "Text",
    html: "<p>Text</p>",
  };
  const file = { filename: "a.txt", contentType: "text/plain", size: 2, content: "aGk=" };
  const attachment = { filename: "a.txt", content_type: "text/plain", size: 2, content: "aGk=" };
  const from = '"Ann, the Boss" <ann@x.test>';

  it.each([
    [
      "Postmark",
      {
        From: "ann@x.test",
        FromFull: {},
        from,
        To: "bob@y.test",
        ToFull: [{ Email: "bob@y.test", Name: "" }],
        Subject: "Hi",
        TextBody: "Text",
        HtmlBody: "<p>Text</p>",
        MessageID: "guid",
        Headers: [{ Name: "Message-ID", Value: "<m1@x.test>" }],
        Attachments: [{ Name: "a.txt", ContentType: "text/plain", Content: "aGk=" }],
      },
    ],
    [
      "Mailgun",
      {
        from,
        recipient: "bob@y.test",
        subject: "Hi",
        "body-plain": "Text",
        "body-html": "<p>Text</p>",
        "Message-Id": "<m1@x.test>",
        "message-headers": '[["X-A","b"]]',
        "attachment-1": file,
      },
    ],
    [
      "SendGrid",
      {
        from,
        to: "bob@y.test",
        subject: "Hi",
        text: "Text",
        html: "<p>Text</p>",
        headers: "Message-ID: <m1@x.test>\nX-Long: a\n b",
        attachment1: file,
      },
    ],
    [
      "CloudMailin",
      {
        headers: { from, to: "bob@y.test", subject: "Hi", message_id: "<m1@x.test>" },
        envelope: { to: "bob@y.test" },
        plain: "Text",
        html: "<p>Text</p>",
        attachments: [{ file_name: "a.txt", content_type: "text/plain", content: "aGk=" }],
      },
    ],
  ])("reads what %s posts", async (gateway, body) => {
    const given = await (await registry.source("headwater-mail")).request({ body });
    expect(given.status).toBe(200);
    const message = given.events[0]?.event;
    const wanted = gateway === "Postmark" ? { ...expected, id: "guid", from: { address: "ann@x.test", name: null } } : expected;
    expect(message, gateway).toMatchObject({ ...wanted, attachments: [attachment] });
    expect(given.events[0]).toMatchObject({ id: wanted.id, summary: "Hi" });
  });

  it("leaves attachments out that are too large, or all of them", async () => {
    const body = {
      from: "a@x.test",
      attachments: [
        { name: "1", content: "aGk=" },
        { name: "2", content: "aGkh" },
        { name: "3", content: "aGk=" },
      ],
    };
    const contents = async (props: object) => {
      const [found] = (await (await registry.source("headwater-mail", { ...props })).request({ body })).events;
      return (found as { event: { attachments: { content: unknown }[] } }).event.attachments.map(({ content }) => content);
    };
    expect(await contents({ mostAttachmentBytes: 4 })).toEqual(["aGk=", null, "aGk="]);
    expect(await contents({ attachments: false })).toEqual([null, null, null]);
  });

  it("asks for the token, in the query or as a password", async () => {
    const source = await registry.source("headwater-mail", { token: "right" });
    const body = { from: "a@x.test" };
    const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`user:${password}`).toString("base64")}` });
    expect((await source.request({ body, query: { token: "right" } })).status).toBe(200);
    expect((await source.request({ body, headers: basic("right") })).status).toBe(200);
    for (const request of [{}, { query: { token: "no" } }, { headers: basic("no") }]) {
      const given = await source.request({ body, ...request });
      expect([given.status, given.events]).toEqual([401, []]);
    }
  });

  it("checks Mailgun's signature when it has the key", async () => {
    const source = await registry.source("headwater-mail", { mailgunKey: "key" });
    const signature = createHmac("sha256", "key").update("123abc").digest("hex");
    const body = { from: "a@x.test", timestamp: "123", token: "abc" };
    expect((await source.request({ body: { ...body, signature } })).status).toBe(200);
    for (const wrong of [body, { ...body, signature: "0" }, { ...body, timestamp: "124", signature }, "text", null]) {
      expect((await source.request({ body: wrong })).status).toBe(401);
    }
  });

  it.each([[null], ["text"], [[1]], [{}], [{ subject: "x" }], [{ from: {} }]])("answers 422 to %j, which is no mail", async (body) => {
    const given = await (await registry.source("headwater-mail")).request({ body });
    expect([given.status, given.events]).toEqual([422, []]);
  });
});
