import { beforeEach, describe, expect, it } from "vitest";
import { withRegistry, withServer } from "./registry-support.ts";

const registry = withRegistry();
const server = withServer();
beforeEach(() => {
  server.asked.length = 0;
});

const item = (n: number): string =>
  `<item><title>Post &amp; ${n}</title><link>https://blog.test/${n}</link><guid isPermaLink="false">post-${n}</guid>` +
  `<pubDate>Sat, 0${n} Nov 2025 10:00:00 GMT</pubDate><description><![CDATA[<b>Hello</b> ${n}]]></description><category>news</category></item>`;
const rss = (...numbers: number[]): string =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title><!-- x > y -->${numbers.map(item).join("")}</channel></rss>`;
const titles = ({ events }: { events: readonly { event: unknown }[] }): unknown[] =>
  events.map(({ event }) => (event as { title: unknown }).title);

describe("headwater-rss", () => {
  it("emits the newest few at first, then what is new, oldest first, and each once", async () => {
    server.answer = () => ({ body: rss(4, 3, 2, 1) });
    const source = await registry.source("headwater-rss", { url: server.url, firstItems: 2 });
    const first = await source.run(undefined, "deploy");
    expect(titles(first)).toEqual(["Post & 3", "Post & 4"]);
    expect(first.events[1]).toEqual({
      id: "post-4",
      summary: "Post & 4",
      event: {
        id: "post-4",
        title: "Post & 4",
        link: "https://blog.test/4",
        published: "2025-11-04T10:00:00.000Z",
        summary: "<b>Hello</b> 4",
        content: null,
        author: null,
        categories: ["news"],
        feed: { title: "Blog", url: server.url },
      },
    });
    server.answer = () => ({ body: rss(6, 5, 4, 3) });
    expect(titles(await source.run())).toEqual(["Post & 5", "Post & 6"]);
    // An item that leaves the feed and comes again was seen.
    server.answer = () => ({ body: rss(6, 1) });
    expect(titles(await source.run())).toEqual([]);
  });

  it.each([
    ["none", 0],
    ["all", 4],
  ])("emits %s of existing items as configured", async (firstRun, count) => {
    server.answer = () => ({ body: rss(4, 3, 2, 1) });
    const source = await registry.source("headwater-rss", { url: server.url, firstRun });
    expect((await source.run()).events).toHaveLength(count);
    server.answer = () => ({ body: rss(5, 4) });
    expect(titles(await source.run())).toEqual(["Post & 5"]);
  });

  it("asks with what the server said of the feed, and takes 304 for no news", async () => {
    server.answer = ({ headers }) =>
      headers["if-none-match"] === '"v1"'
        ? { status: 304 }
        : { headers: { etag: '"v1"', "last-modified": "Sat, 01 Nov 2025 10:00:00 GMT" }, body: rss(1) };
    const source = await registry.source("headwater-rss", { url: server.url });
    expect((await source.run()).events).toHaveLength(1);
    expect((await source.run()).events).toHaveLength(0);
    expect(server.asked.map(({ headers }) => [headers["if-none-match"], headers["if-modified-since"]])).toEqual([
      [undefined, undefined],
      ['"v1"', "Sat, 01 Nov 2025 10:00:00 GMT"],
    ]);
  });

  it("starts again at another address", async () => {
    server.answer = () => ({ body: rss(2, 1) });
    const source = await registry.source("headwater-rss", { url: `${server.url}/a` });
    expect((await source.run()).events).toHaveLength(2);
    source.props = { url: `${server.url}/b` };
    expect((await source.run()).events).toHaveLength(2);
  });

  it.each([
    [
      "Atom",
      `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><id>urn:1</id><title type="html">A &lt;b&gt;</title><link rel="self" href="https://x.test/self"/><link href="https://x.test/1"/><updated>2025-11-01T10:00:00Z</updated><author><name>Ann</name></author><category term="t"/></entry></feed>`,
    ],
    [
      "Atom with prefixes",
      `<atom:feed><atom:title>F</atom:title><atom:entry><atom:id>urn:1</atom:id><atom:title>A &lt;b&gt;</atom:title><atom:link href='https://x.test/1'/><atom:published>2025-11-01T10:00:00Z</atom:published><atom:author><atom:name>Ann</atom:name></atom:author><atom:category term="t"/></atom:entry></atom:feed>`,
    ],
    [
      "RDF",
      `<rdf:RDF><channel rdf:about="https://x.test"><title>F</title></channel><item rdf:about="urn:1"><title>A &#60;b&#x3E;</title><link>https://x.test/1</link><dc:date>2025-11-01T10:00:00Z</dc:date><dc:creator>Ann</dc:creator><dc:subject>t</dc:subject></item></rdf:RDF>`,
    ],
    [
      "JSON Feed",
      JSON.stringify({
        title: "F",
        items: [
          {
            id: "urn:1",
            title: "A <b>",
            url: "https://x.test/1",
            date_published: "2025-11-01T10:00:00Z",
            authors: [{ name: "Ann" }],
            tags: ["t"],
          },
        ],
      }),
    ],
    [
      "RSS that is not closed",
      `<rss><channel><title>F<item><guid>urn:1</guid><title>A &lt;b&gt;</title><link>https://x.test/1</link><pubDate>2025-11-01T10:00:00Z</pubDate><author>Ann</author><category>t</category>`,
    ],
  ])("reads %s", async (form, body) => {
    server.answer = () => ({ body });
    const source = await registry.source("headwater-rss", { url: server.url });
    const [found] = (await source.run()).events;
    expect(found?.event, form).toMatchObject({
      id: "urn:1",
      title: "A <b>",
      link: "https://x.test/1",
      published: "2025-11-01T10:00:00.000Z",
      author: "Ann",
      categories: ["t"],
    });
  });

  it("reads Latin-1 where the feed says it is", async () => {
    server.answer = () => ({
      body: Buffer.from(
        `<?xml version="1.0" encoding="ISO-8859-1"?>${rss(1)
          .replace(/^<\?.*?\?>/, "")
          .replace("Post &amp; 1", "Gr\xfc\xdfe")}`,
        "latin1",
      ),
    });
    const source = await registry.source("headwater-rss", { url: server.url });
    expect(titles(await source.run())).toEqual(["Grüße"]);
  });

  it.each([
    ["a page", { body: "<html><body>No feed</body></html>" }, "is no feed: it begins with"],
    ["an error", { status: 500, body: "down" }, "answered 500: down"],
    ["nothing", { body: "" }, "is no feed"],
    ["JSON that is no feed", { body: "{}" }, "is no feed"],
    ["too much", { body: "x".repeat(9_000_000) }, "answered with more than 8388608 bytes"],
  ])("says what is wrong with %s", async (_, served, message) => {
    server.answer = () => served;
    const source = await registry.source("headwater-rss", { url: server.url });
    await expect(source.run()).rejects.toThrow(message);
  });

  it("takes markup without end, and nesting without end, for what it is", async () => {
    const source = await registry.source("headwater-rss", { url: server.url });
    for (const body of [
      `<rss><channel>${"<a>".repeat(50_000)}`,
      `<rss><channel>${"<a b='".repeat(20_000)}`,
      `<rss><channel>${"<".repeat(100_000)}`,
    ]) {
      server.answer = () => ({ body });
      expect((await source.run()).events).toEqual([]);
    }
  });
});

describe("headwater-http-poll", () => {
  const json = (value: unknown) => () => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

  it("emits when what lies at the path has changed, with what was there before", async () => {
    const source = await registry.source("headwater-http-poll", { url: server.url, path: "data.items[0].price" });
    const seen = async (price: number, noise: number) => {
      server.answer = json({ data: { items: [{ price }] }, noise });
      return (await source.run({ timestamp: 1_700_000_000, interval_seconds: 300 })).events.map(({ event }) => event);
    };
    expect(await seen(1, 1)).toEqual([]);
    expect(await seen(1, 2)).toEqual([]);
    expect(await seen(2, 3)).toEqual([{ url: server.url, value: 2, previous: 1, first: false }]);
    source.props = { ...source.props, path: "noise" };
    expect(await seen(2, 4)).toEqual([]);
    expect(await seen(2, 5)).toEqual([{ url: server.url, value: 5, previous: 4, first: false }]);
  });

  it("emits the first response if configured, also text, and takes 304 for no change", async () => {
    const source = await registry.source("headwater-http-poll", { url: server.url, emitFirst: true });
    server.answer = ({ headers }) => (headers["if-none-match"] === "1" ? { status: 304 } : { headers: { etag: "1" }, body: "hello" });
    expect((await source.run()).events.map(({ event }) => event)).toEqual([
      { url: server.url, value: "hello", previous: null, first: true },
    ]);
    expect((await source.run()).events).toEqual([]);
    expect(server.asked.at(-1)?.headers["if-none-match"]).toBe("1");
  });

  it("sends the configured headers and the token", async () => {
    server.answer = json({ ok: true });
    await (
      await registry.source("headwater-http-poll", { url: server.url, method: "POST", body: "q", headers: { "X-Key": 5 }, token: "t" })
    ).run();
    expect(server.asked[0]?.method).toBe("POST");
    expect(server.asked[0]?.headers).toMatchObject({ "x-key": "5", authorization: "Bearer t" });
  });

  it.each([
    [{ body: "<html>" }, { path: "a.b" }, "answered with what is no JSON"],
    [{ body: "{}" }, { path: "a[" }, "cannot be read at"],
    [{ status: 404, body: "gone" }, {}, "answered 404: gone"],
  ])("says what is wrong: %j %j", async (served, props, message) => {
    server.answer = () => served;
    await expect((await registry.source("headwater-http-poll", { url: server.url, ...props })).run()).rejects.toThrow(message);
  });

  it("finds nothing at what objects inherit", async () => {
    server.answer = json({ a: 1 });
    const source = await registry.source("headwater-http-poll", { url: server.url, path: "constructor.name", emitFirst: true });
    expect((await source.run()).events.map(({ event }) => (event as { value: unknown }).value)).toEqual([null]);
  });
});
