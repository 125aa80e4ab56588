import { defineAction } from "headwater/types";
import nodemailer from "nodemailer@10.6.0";

export default defineAction({
  name: "Send Mail",
  key: "headwater-send-mail",
  version: "1.0.0",
  type: "action",
  description: "Sends an email through your SMTP server, or through the installation's to the owner of the workflow",
  annotations: { released: "2026-11-23" },
  props: {
    subject: { type: "string", label: "Subject", description: "Subject of the mail" },
    text: { type: "string", label: "Text", description: "The mail as plain text", optional: true },
    html: { type: "string", label: "HTML", description: "The mail as HTML", optional: true },
    host: {
      type: "string",
      label: "SMTP Host",
      description: "Your SMTP server. Without one, the installation sends the mail to the owner of the workflow when the run ends",
      optional: true,
    },
    port: { type: "integer", label: "SMTP Port", description: "587, or 465 for TLS from the start", min: 1, max: 65_535, default: 587 },
    security: {
      type: "string",
      label: "Security",
      description: "How the connection is encrypted",
      options: [
        { label: "TLS from the start on port 465, otherwise STARTTLS", value: "required" },
        { label: "None: for servers in your own network", value: "none" },
      ],
      default: "required",
    },
    ca: {
      type: "string",
      label: "CA Certificate",
      description: "Certificate, as PEM, by which the server's is checked; without it, that of a public authority",
      optional: true,
    },
    user: { type: "string", label: "User", description: "User of the SMTP server", optional: true },
    password: { type: "string", label: "Password", description: "Password of the SMTP server", secret: true, optional: true },
    from: { type: "string", label: "From", description: "Sender, such as `Shop <shop@example.com>`; needs a host", optional: true },
    to: { type: "string[]", label: "To", description: "Recipients; needs a host", optional: true },
    cc: { type: "string[]", label: "Cc", description: "Recipients of copies", optional: true },
    bcc: { type: "string[]", label: "Bcc", description: "Recipients of copies that the others do not see", optional: true },
    replyTo: { type: "string", label: "Reply To", description: "Address for replies, if it is not the sender's", optional: true },
  },
  methods: {
    recipients(): readonly string[] {
      return [this.to, this.cc, this.bcc].flatMap((list) => list ?? []);
    },
    /** Fails before anything is sent if the props do not fit together. */
    check(): void {
      if (this.text === undefined && this.html === undefined) throw new Error("the mail is empty: set text, html or both");
      if (this.host !== undefined && (this.from === undefined || this.recipients().length === 0))
        throw new Error("from and to are missing: a mail through your SMTP server needs a sender and a recipient");
      if (this.host === undefined && (this.from !== undefined || this.recipients().length > 0))
        throw new Error("host is missing: without an SMTP server of yours, a mail goes to the owner of the workflow only");
    },
  },
  async run({ $ }) {
    this.check();
    const { subject, text, html, host, port, security, ca, user, password, from, to, cc, bcc, replyTo } = this;
    if (host === undefined) {
      $.send.email({ subject, text, html });
      $.export("$summary", `Mails "${subject}" to the owner when the run ends`);
      return { queued: true };
    }
    const transport = nodemailer.createTransport({
      host,
      port,
      secure: security !== "none" && port === 465,
      requireTLS: security !== "none",
      ignoreTLS: security === "none",
      ...(ca === undefined ? {} : { tls: { ca } }),
      ...(user === undefined ? {} : { auth: { user, pass: password ?? "" } }),
      connectionTimeout: 20_000,
      socketTimeout: 60_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const { messageId, accepted, rejected } = await transport.sendMail({ from, to, cc, bcc, replyTo, subject, text, html });
      $.export("$summary", `Sent "${subject}" to ${accepted.length === 1 ? accepted[0] : `${accepted.length} recipients`}`);
      return { message_id: messageId, accepted, rejected };
    } finally {
      transport.close();
    }
  },
});
