import { createHash } from "node:crypto";
import { z } from "zod";
import { eventRules } from "./event-rules.ts";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, expectRefused, type Session } from "./session.ts";
import { component, created, dataOf, pageOf, source, subscription, user, webhook } from "./shapes.ts";

const codeOf = ({ tag }: Session): string => `export default {
  name: "Conformance", key: "${tag}", version: "0.1.0", dedupe: "unique",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } }, word: { type: "string", default: "one" }, db: "$.service.db" },
  hooks: { deploy() { for (const n of [1, 2, 2, 3]) this.$emit({ n }, { id: n, summary: "n is " + n, ts: n }); this.$emit({ filler: "x".repeat(2000) }, { id: "long", name: "long" }); } },
  run() {},
};`;

const sources = z.object({ id: z.string() });
const listOf = (session: Session, query: string) => session.get(pageOf(sources), "GET", `/users/me/sources${query}`);

const componentRules: readonly Rule[] = [
  {
    about: "Authentication",
    name: "a request without a key is refused",
    check: async (session) => expectRefused(await session.ask("GET", "/users/me", undefined, null)),
  },
  { about: "Users", name: "GET /users/me", check: async (session) => void (await session.get(dataOf(user), "GET", "/users/me")) },
  {
    about: "Components",
    name: "POST /components saves code",
    check: async (session) => {
      const code = codeOf(session);
      const { data } = await session.get(dataOf(component), "POST", "/components", { component_code: code });
      session.remember("component", data.id);
      expectEqual("code", data.code, code);
      expectEqual("code_hash", data.code_hash, createHash("sha256").update(code).digest("hex"));
      expectEqual("name and version", [data.name, data.version], ["Conformance", "0.1.0"]);
      const timer = data.configurable_props.find(({ name }) => name === "timer");
      expectEqual("the default of the timer", timer?.["default"], { intervalSeconds: 86_400 });
    },
  },
  {
    about: "Components",
    name: "POST /components without code is refused",
    check: async (session) => expectRefused(await session.ask("POST", "/components", {})),
  },
  {
    about: "Components",
    name: "GET /components/{id} and /components/{key}",
    check: async (session) => {
      const id = session.recall("component");
      for (const name of [id, session.tag])
        expectEqual("id", (await session.get(dataOf(component), "GET", `/components/${name}`)).data.id, id);
    },
  },
  {
    about: "Common parameters",
    name: "include and exclude choose fields",
    check: async (session) => {
      const path = `/components/${session.recall("component")}`;
      const { data } = await session.get(dataOf(z.record(z.string(), z.unknown())), "GET", `${path}?include=id,name`);
      expectEqual("fields", Object.keys(data).toSorted(), ["id", "name"]);
      const { data: rest } = await session.get(dataOf(z.record(z.string(), z.unknown())), "GET", `${path}?exclude=code`);
      expectEqual("whether code is there", "code" in rest, false);
    },
  },
];

const sourceRules: readonly Rule[] = [
  {
    about: "Sources",
    name: "POST /sources deploys a component",
    check: async (session) => {
      const body = {
        component_id: session.recall("component"),
        name: session.tag,
        configured_props: { timer: { intervalSeconds: 43_200 } },
      };
      const { data } = await session.get(dataOf(source.extend(created)), "POST", "/sources", body);
      session.keep(`/sources/${data.id}`);
      session.remember("source", data.id);
      expectEqual("component_id", data.component_id, body.component_id);
      expectEqual("active and name", [data.active, data.name], [true, session.tag]);
      expectEqual("the timer", data.configured_props["timer"], { cron: null, interval_seconds: 43_200 });
    },
  },
  {
    about: "Sources",
    name: "POST /sources without a component is refused",
    check: async (session) => expectRefused(await session.ask("POST", "/sources", { name: session.tag })),
  },
  {
    about: "Sources",
    name: "a name that is taken gets another slug",
    check: async (session) => {
      const body = { component_id: session.recall("component"), name: session.tag };
      const { data } = await session.get(dataOf(source), "POST", "/sources", body);
      session.keep(`/sources/${data.id}`);
      session.remember("other source", data.id);
      expectEqual("name_slug", data.name_slug, `${session.tag}-2`);
    },
  },
  {
    about: "Pagination",
    name: "lists have pages: limit, after, before",
    check: async (session) => {
      const [first, second] = (await listOf(session, "?limit=2")).data;
      const one = await listOf(session, "/?limit=1"); // A trailing slash changes nothing.
      expectEqual("the page of one", [one.data, one.page_info.count], [[{ id: first?.id }], 1]);
      const next = await listOf(session, `?limit=1&after=${one.page_info.end_cursor}`);
      expectEqual("the page after it", next.data, [{ id: second?.id }]);
      const back = await listOf(session, `?limit=1&before=${next.page_info.start_cursor}`);
      expectEqual("the page before that", back.data, [{ id: first?.id }]);
      expectRefused(await session.ask("GET", "/users/me/sources?limit=0"));
    },
  },
  {
    about: "Sources",
    name: "PUT /sources/{id} changes, and the id stays",
    check: async (session) => {
      const body = { component_id: session.recall("component"), name: `${session.tag}-off`, active: false };
      const path = `/sources/${session.recall("other source")}`;
      const { data } = await session.get(dataOf(source), "PUT", path, body);
      expectEqual("id, name and active", [data.id, data.name, data.active], [session.recall("other source"), body.name, false]);
    },
  },
  {
    about: "Sources",
    name: "DELETE /sources/{id}",
    check: async (session) => {
      const id = session.recall("other source");
      const { status } = await session.ask("DELETE", `/sources/${id}`);
      if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
      await eventually(async () => {
        const { data } = await listOf(session, "?limit=100");
        expectEqual(
          "whether it is still in the list",
          data.some((each) => each.id === id),
          false,
        );
      });
    },
  },
];

const routingRules: readonly Rule[] = [
  {
    about: "Webhooks",
    name: "POST /webhooks, with parameters in the query",
    check: async (session) => {
      const url = "https://example.com:8443/hook";
      const { data } = await session.get(
        dataOf(webhook.extend(created)),
        "POST",
        `/webhooks?url=${encodeURIComponent(url)}&name=${session.tag}`,
      );
      session.keep(`/webhooks/${data.id}`);
      session.remember("webhook", data.id);
      expectEqual("url, name, description", [data.url, data.name, data.description], [url, session.tag, null]);
    },
  },
  ...["example.com/hook", "ftp://example.com/hook", ""].map((url) => ({
    about: "Webhooks",
    name: `POST /webhooks refuses the URL '${url}'`,
    check: async (session: Session) => expectRefused(await session.ask("POST", `/webhooks?url=${encodeURIComponent(url)}`)),
  })),
  {
    about: "Webhooks",
    name: "GET /users/me/webhooks",
    check: async (session) => {
      const { data } = await session.get(pageOf(webhook), "GET", "/users/me/webhooks?limit=100");
      expectEqual(
        "whether the new one is there",
        data.some(({ id }) => id === session.recall("webhook")),
        true,
      );
    },
  },
  ...["", "long", "$errors"].map((channel) => ({
    about: "Subscriptions",
    name: `subscriptions to '${channel}' are made, listed and deleted`,
    check: async (session: Session) => {
      const [emitter, listener] = [session.recall("source"), session.recall("webhook")];
      const query = `emitter_id=${emitter}&listener_id=${listener}&event_name=${encodeURIComponent(channel)}`;
      const list = async (): Promise<readonly string[]> => {
        const { data } = await session.get(dataOf(z.array(subscription)), "GET", "/users/me/subscriptions");
        return data
          .filter(({ listener_id, emitter_id }) => listener_id === listener && emitter_id === emitter)
          .map((each) => each.event_name);
      };
      await session.get(z.unknown(), "POST", `/subscriptions?${query}`);
      await eventually(async () => expectEqual("channels", await list(), [channel]));
      const { status } = await session.ask("DELETE", `/subscriptions?${query}`);
      if (status < 200 || status > 299) throw new Error(`DELETE answered ${status}`);
      await eventually(async () => expectEqual("channels", await list(), []));
    },
  })),
  {
    about: "Subscriptions",
    name: "an emitter may be dc_*, all sources",
    check: async (session) => {
      const query = `emitter_id=dc_*&listener_id=${session.recall("webhook")}&event_name=%24errors`;
      await session.get(z.unknown(), "POST", `/subscriptions?${query}`);
      session.keep(`/subscriptions?${query}`);
    },
  },
  {
    about: "Subscriptions",
    name: "a subscription without a listener is refused",
    check: async (session) => expectRefused(await session.ask("POST", `/subscriptions?emitter_id=${session.recall("source")}`)),
  },
];

export const rules: readonly Rule[] = [...componentRules, ...sourceRules, ...eventRules, ...routingRules];
