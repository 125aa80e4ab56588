import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, expectRefused, type Session } from "./session.ts";
import { created, dataOf, pageOf, subscription, webhook } from "./shapes.ts";

export const routingRules: readonly Rule[] = [
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
