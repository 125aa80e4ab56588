import { defineSource, type HttpEvent } from "headwater/types";
import { isEqual } from "../shared/signature.ts";

export default defineSource({
  name: "Webhook",
  key: "headwater-webhook",
  version: "1.0.0",
  type: "source",
  description: "Receives HTTP requests of any kind: emits each one to its address, and answers as you say",
  annotations: { released: "2026-11-21" },
  props: {
    http: { type: "$.interface.http", label: "Endpoint", description: "Where requests are sent to", customResponse: true },
    emits: {
      type: "string",
      label: "What Is Emitted",
      description: "The body alone, or all of the request",
      options: [
        { label: "The body", value: "body" },
        { label: "The request: method, path, query, headers, body", value: "request" },
      ],
      default: "request",
    },
    allowed: { type: "string[]", label: "Methods", description: "Others are answered 405. Without any, all are taken.", optional: true },
    token: {
      type: "string",
      label: "Token",
      description: "Asked for as `Authorization: Bearer …` or `?token=…`; a request without it is answered 401 and not emitted",
      secret: true,
      optional: true,
    },
    status: { type: "integer", label: "Status", description: "Of the answer", min: 200, max: 599, default: 200 },
    contentType: { type: "string", label: "Content Type", description: "Of the answer", default: "application/json" },
    body: { type: "string", label: "Body", description: "Of the answer", default: '{"success":true}' },
  },
  methods: {
    refusal(event: HttpEvent): { status: number; error: string } | undefined {
      const allowed = (this.allowed ?? []).map((method) => method.toUpperCase());
      if (allowed.length > 0 && !allowed.includes(event.method))
        return { status: 405, error: `${event.method} is not taken here: ${allowed.join(", ")} are` };
      if (this.token !== undefined && !isEqual(tokenOf(event), this.token)) return { status: 401, error: "the token is missing or wrong" };
      return undefined;
    },
  },
  run(event) {
    const refusal = this.refusal(event);
    if (refusal !== undefined) return this.http.respond({ status: refusal.status, body: { error: refusal.error } });
    const { method, path, query, headers, body = null, client_ip } = event;
    const summary = `${method} ${path}`;
    if (this.emits === "body") this.$emit(body, { summary });
    else this.$emit({ method, path, query: withoutToken(query), headers: withoutSecrets(headers), body, client_ip }, { summary });
    // Emit first: a caller that gets a success response can rely on it.
    this.http.respond({ status: this.status, headers: { "content-type": this.contentType }, body: this.body });
  },
});

function tokenOf({ headers, query }: HttpEvent): string {
  const [, bearer] = /^bearer (.*)$/i.exec(headers["authorization"] ?? "") ?? [];
  return bearer ?? String(query["token"] ?? "");
}

/** Listeners must not learn how to send a request. */
const withoutSecrets = (headers: HttpEvent["headers"]): HttpEvent["headers"] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "authorization" && name !== "cookie"));
const withoutToken = (query: HttpEvent["query"]): HttpEvent["query"] =>
  Object.fromEntries(Object.entries(query).filter(([name]) => name !== "token"));
