import { z } from "zod";
import type { Rule } from "./rule.ts";
import { expectEqual, type Session } from "./session.ts";
import { account, created, dataOf, source, subscription, user, webhook } from "./shapes.ts";

const myId = async (session: Session): Promise<string> => (await session.get(dataOf(user), "GET", "/users/me")).data.id;

export const clientRules: readonly Rule[] = [
  {
    about: "Components",
    name: "GET /components/search answers keys of sources and actions",
    check: async (session) => {
      const keys = z.array(z.string());
      await session.get(
        z.strictObject({ sources: keys, actions: keys }),
        "GET",
        "/components/search?query=new+item&similarity_threshold=0.5",
      );
      await session.get(z.strictObject({ sources: keys, actions: keys }), "GET", "/components/search?query=message&app=slack");
    },
  },
  {
    about: "Accounts",
    name: "an account shows its app as an object and its times as ISO 8601",
    check: async (session) => {
      const { data } = await session.get(dataOf(account), "POST", "/accounts", { app: "conformance", credentials: { api_key: "x" } });
      session.keep(`/accounts/${data.id}`);
      const { data: listed } = await session.get(dataOf(z.array(account)), "GET", "/accounts?app=conformance");
      expectEqual(
        "whether it is listed",
        listed.some(({ id }) => id === data.id),
        true,
      );
      expectEqual("the slug", data.app.name_slug, "conformance");
    },
  },
  {
    about: "Accounts",
    name: "another token_url needs the secrets again",
    check: async (session) => {
      const oauth = { token_url: "https://example.com/token", client_id: "c", client_secret: "s", refresh_token: "r" };
      const { data } = await session.get(dataOf(account), "POST", "/accounts", { app: "conformance", oauth });
      session.keep(`/accounts/${data.id}`);
      const change = { oauth: { token_url: "https://example.org/token" } };
      expectEqual("the status", (await session.ask("PUT", `/accounts/${data.id}`, { body: change })).status, 422);
    },
  },
  ...["$errors", "$logs"].map((channel) => ({
    about: "Subscriptions",
    name: `an emitter may be the user, for ${channel}`,
    check: async (session: Session) => {
      const query = `emitter_id=${await myId(session)}&listener_id=${session.recall("webhook")}&event_name=${encodeURIComponent(channel)}`;
      const { data } = await session.get(dataOf(subscription), "POST", `/subscriptions?${query}`);
      session.keep(`/subscriptions?${query}`);
      expectEqual("the channel", data.event_name, channel);
    },
  })),
  {
    about: "Requests",
    name: "JSON without a content type is read",
    check: async (session) => {
      const raw = JSON.stringify({ url: "https://example.com/untyped", name: session.tag });
      const answer = await session.ask("POST", "/webhooks", { raw });
      expectEqual(`the status (${answer.text.slice(0, 120)})`, answer.status, 200);
      session.keep(`/webhooks/${dataOf(webhook.extend(created)).parse(answer.body).data.id}`);
    },
  },
  {
    about: "Requests",
    name: "fields of a body may be in the query",
    check: async (session) => {
      const query = `component_id=${session.recall("component")}&name=${session.tag}-query`;
      const { data } = await session.get(dataOf(source), "POST", `/sources?${query}`);
      session.keep(`/sources/${data.id}`);
      expectEqual("the name", data.name, `${session.tag}-query`);
    },
  },
];
