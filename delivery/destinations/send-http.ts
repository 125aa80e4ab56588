import { connectionHeaders } from "../../domain/connection-headers.ts";
import { parseSendArgument, type HttpSend } from "../../domain/workflow/send-arguments.ts";
import type { Delivery } from "../routing/delivery.ts";
import { sendKindOf } from "../routing/sends.ts";
import { impossible } from "./destination.ts";
import type { Poster, Secrets } from "./ports.ts";
import { outcomeOf } from "./post-outcome.ts";
import { contentTypeOf, textOf, type Send } from "./send.ts";

/** `$.send.http`: a request to any URL that the egress policy allows. */
export const httpSend = (poster: Poster): Send<"http"> => ({
  kind: "http",
  storesBeforeFirstAttempt: false,
  circuitOf,
  async carryOut({ method, url: given, headers, data }, { id }, trace) {
    if (method === "CONNECT") return impossible("the argument of $.send.http is invalid");
    const { url, authorization } = withoutUserInfo(given);
    const ofUser = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const result = await poster.post({
      method,
      url,
      headers: {
        ...trace,
        // Repetitions after a crash have the same id.
        "idempotency-key": id,
        ...(data === undefined ? {} : { "content-type": contentTypeOf(data) }),
        ...authorization,
        ...Object.fromEntries(ofUser.filter(([name]) => !connectionHeaders.has(name))),
      },
      ...(data === undefined ? {} : { body: textOf(data) }),
    });
    return outcomeOf(result, "redirects are not followed, give $.send.http the final address");
  },
});

/** By host: failures of one do not delay requests to others. */
function circuitOf({ event }: Delivery): string {
  const argument = event.sealed === undefined ? parseSendArgument("http", event.payload) : undefined;
  return argument === undefined ? "http" : new URL(argument.url).host;
}

/** `user:password@` of a URL becomes a header, as browsers do. */
function withoutUserInfo(text: string): { readonly url: string; readonly authorization: Readonly<Record<string, string>> } {
  const url = new URL(text);
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (username === "" && password === "") return { url: url.href, authorization: {} };
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { url: url.href, authorization: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The delivery as a dead letter keeps it: the argument of `$.send.http` may contain credentials in its headers and URL, so what the owner
 * can read of it has neither, and the whole is sealed for a redelivery.
 */
export async function sealedSend(delivery: Delivery, secrets: Pick<Secrets, "seal">): Promise<Delivery> {
  const { event } = delivery;
  if (sendKindOf(delivery) !== "http" || event.sealed !== undefined) return delivery;
  const argument = parseSendArgument("http", event.payload);
  const shown = argument === undefined ? null : shownRequest(argument);
  const sealed = secrets.seal === undefined || argument === undefined ? {} : { sealed: await secrets.seal(event.payload) };
  return { ...delivery, event: { ...event, payload: JSON.stringify(shown), ...sealed } };
}

const hidden = "***";

function shownRequest({ method, url, headers, data }: HttpSend): HttpSend {
  const { origin, pathname, search } = new URL(url);
  const names = Object.keys(headers).map((name) => [name, hidden]);
  return {
    method,
    // Paths of incoming webhooks are secrets.
    url: pathname === "/" && search === "" ? origin : `${origin}/${hidden}`,
    headers: Object.fromEntries(names),
    ...(data === undefined ? {} : { data }),
  };
}
