import { randomUUID } from "node:crypto";
import { defineSource, type HttpEvent } from "headwater/types";
import { isEqual, sign } from "../shared/signature.ts";
import { readMessage, type Message } from "./message.ts";

export default defineSource({
  name: "New Mail",
  key: "headwater-mail",
  version: "1.0.0",
  type: "source",
  description: "Emits mails that a mail gateway posts to its address: Postmark, Mailgun, SendGrid, CloudMailin and those like them",
  annotations: { released: "2026-11-21" },
  dedupe: "unique",
  props: {
    http: { type: "$.interface.http", label: "Endpoint", description: "Address that the gateway posts mails to", customResponse: true },
    token: {
      type: "string",
      label: "Token",
      description: "Asked for as `?token=…` or as the password of basic authentication; what comes without is answered 401",
      secret: true,
      optional: true,
    },
    mailgunKey: {
      type: "string",
      label: "Mailgun Signing Key",
      description: "When given, mails without Mailgun's signature are answered 401",
      secret: true,
      optional: true,
    },
    attachments: {
      type: "boolean",
      label: "Attachments",
      description: "Emit what is in attachments, or only that there are some",
      default: true,
    },
    mostAttachmentBytes: {
      type: "integer",
      label: "Largest Attachment",
      description: "Bytes of all attachments of a mail together; what is beyond is left out. An event may have 1 MiB.",
      min: 0,
      max: 700_000,
      default: 350_000,
    },
  },
  methods: {
    isAllowed(event: HttpEvent): boolean {
      if (this.token !== undefined && !isEqual(tokenOf(event), this.token)) return false;
      return this.mailgunKey === undefined || isOfMailgun(event.body, this.mailgunKey);
    },
    /** The first ones that fit keep their content. */
    shorten(message: Message): Message {
      let left = this.attachments ? this.mostAttachmentBytes : -1;
      const attachments = message.attachments.map((attachment) => {
        const fits = attachment.size <= left;
        if (fits) left -= attachment.size;
        return fits ? attachment : { ...attachment, content: null };
      });
      return { ...message, attachments };
    },
  },
  run(event) {
    if (!this.isAllowed(event))
      return this.http.respond({ status: 401, body: { error: "the token or the signature is missing or wrong" } });
    const message = readMessage(event.body);
    // Gateways try again what is answered 5xx, and report what is answered 4xx: nothing here gets better by itself.
    if (message === undefined)
      return this.http.respond({ status: 422, body: { error: "this is no mail: it has neither a sender nor a receiver" } });
    const { id, subject, from } = message;
    this.$emit(this.shorten(message), {
      id: id ?? randomUUID(),
      summary: subject === "" ? `Mail from ${from?.address ?? "nobody"}` : subject,
    });
    this.http.respond({ status: 200, body: { success: true } });
  },
});

function tokenOf({ headers, query }: HttpEvent): string {
  const [, basic] = /^basic (.*)$/i.exec(headers["authorization"] ?? "") ?? [];
  if (basic === undefined) return String(query["token"] ?? "");
  return Buffer.from(basic, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
}

function isOfMailgun(body: unknown, key: string): boolean {
  const { timestamp, token, signature } = (typeof body === "object" && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const wanted = sign(key, Buffer.from(`${String(timestamp)}${String(token)}`), { algorithm: "sha256", encoding: "hex" });
  return isEqual(String(signature), wanted);
}
