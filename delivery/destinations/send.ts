import { connectionHeaders } from "../../domain/connection-headers.ts";
import { assertNever } from "../../domain/errors.ts";
import { traceContext, type TraceContext } from "../../domain/traces.ts";
import { parseSendArgument, type EmailSend, type HttpSend, type S3Send } from "../../domain/workflow/send-arguments.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { Delivery } from "../routing/delivery.ts";
import { sendKindOf, type DeliveredSend } from "../routing/sends.ts";
import { outcomeOf, type Outcome } from "./webhook.ts";

type Ports = Pick<DeliveryPorts, "poster" | "secrets" | "mails" | "objects">;

/** Carries out what `$.send` asked for. Arguments come from runners, which run user code: they are checked again here. */
export class SendDeliverer {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** @param traceparent of the attempt's span, which the receiver continues */
  async attempt(delivery: Delivery, kind: DeliveredSend, traceparent: string | undefined): Promise<Outcome> {
    const { event } = delivery;
    const text = event.sealed === undefined ? event.payload : await this.#ports.secrets.open(event.sealed);
    switch (kind) {
      case "http": {
        const trace = traceContext({ traceparent, tracestate: event.tracestate });
        return this.#request(delivery, parseSendArgument(kind, text), trace);
      }
      case "email":
        return this.#mail(delivery, parseSendArgument(kind, text));
      case "s3":
        return this.#store(delivery, parseSendArgument(kind, text));
      default:
        return assertNever(kind);
    }
  }

  async #request({ id }: Delivery, send: HttpSend | undefined, trace: TraceContext): Promise<Outcome> {
    if (send === undefined || send.method === "CONNECT") return impossible("the argument of $.send.http is invalid");
    const { method, data } = send;
    const { url, authorization } = withoutUserInfo(send.url);
    const given = Object.entries(send.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const result = await this.#ports.poster.post({
      method,
      url,
      headers: {
        ...trace,
        // Repetitions after a crash have the same id.
        "idempotency-key": id,
        ...(data === undefined ? {} : { "content-type": contentTypeOf(data) }),
        ...authorization,
        ...Object.fromEntries(given.filter(([name]) => !connectionHeaders.has(name))),
      },
      ...(data === undefined ? {} : { body: textOf(data) }),
    });
    return outcomeOf(result, "redirects are not followed, give $.send.http the final address");
  }

  async #mail({ id, event }: Delivery, send: EmailSend | undefined): Promise<Outcome> {
    if (send === undefined) return impossible("the argument of $.send.email is invalid");
    if (this.#ports.mails === undefined) return impossible("this installation sends no mails: HEADWATER_SMTP_URL is not set");
    const { subject, text, html } = send;
    const htmlPart = typeof html === "string" && html !== "" ? { html } : {};
    const sent = await this.#ports.mails.sendTo(event.owner, { id, subject, text: text ?? "", ...htmlPart });
    switch (sent.outcome) {
      case "sent":
        return { outcome: "delivered", status: null };
      case "retry":
        return { outcome: "retry", status: null, error: sent.reason, retryAfter: undefined };
      case "refused":
      case "limited":
        return impossible(sent.reason);
      case "unknown":
        return impossible(`the mail server may have accepted the mail, so it is not sent again: ${sent.reason}`);
      default:
        return assertNever(sent);
    }
  }

  async #store({ id, event }: Delivery, send: S3Send | undefined): Promise<Outcome> {
    if (send === undefined) return impossible("the argument of $.send.s3 is invalid");
    const { objects } = this.#ports;
    if (objects === undefined) return impossible("this installation stores no objects: HEADWATER_S3_URL is not set");
    const { bucket, prefix, payload } = send;
    const ownerParts = objects.hasOwnerPrefix ? [event.owner] : [];
    const key = [...ownerParts, ...prefix.split("/").filter((part) => part !== ""), new Date(event.ts).toISOString().slice(0, 10), id];
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
      return impossible(`the bucket of $.send.s3 is invalid: ${JSON.stringify(bucket)}`);
    if (objects.bucket !== undefined && bucket !== objects.bucket)
      return impossible(`bucket ${bucket} cannot be written: $.send.s3 of this installation writes to ${objects.bucket}`);
    if (key.some((part) => part === "." || part === "..")) return impossible("the prefix of $.send.s3 is invalid: it contains . or ..");
    const result = await objects.put({ bucket, key, body: textOf(payload), contentType: contentTypeOf(payload) });
    return outcomeOf(result, "HEADWATER_S3_URL must have the final address");
  }
}

/** An attempt that no repetition can change. */
const impossible = (error: string): Outcome => ({ outcome: "listener-gone", status: null, error });

const textOf = (data: unknown): string => (typeof data === "string" ? data : JSON.stringify(data));
const contentTypeOf = (data: unknown): string => (typeof data === "string" ? "text/plain; charset=utf-8" : "application/json");

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

/** The circuit of a send: its failures do not delay sends to other hosts. */
export function circuitOf({ listener, event }: Delivery, kind: DeliveredSend): string {
  const url = kind === "http" && event.sealed === undefined ? parseSendArgument(kind, event.payload)?.url : undefined;
  return `${listener} ${url === undefined ? kind : new URL(url).host}`;
}

/**
 * The delivery as a dead letter keeps it: the argument of `$.send.http` may contain credentials in its headers and URL, so what the owner
 * can read of it has neither, and the whole is sealed for a redelivery.
 */
export async function sealedSend(delivery: Delivery, secrets: DeliveryPorts["secrets"]): Promise<Delivery> {
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
